#include "numeric/selection.h"

#include "base/memory.h"
#include "numeric/selection_passes.h"

/*
 * What is left is gathered once it is less than 1/GATHERED_SHARE of all, or few enough. A sample of
 * SAMPLE keys places a rank with a standard deviation of 45 of them at the most; 4 of those are its
 * MARGIN. Among more than SORTED gathered keys the ranks are selected once more.
 */
enum { GATHERED_SHARE = 8, FEW = 4096, SAMPLE = 8192, MARGIN = 181, SORTED = 65536 };

uint64_t clr_runs_count(const struct clr_run *runs)
{
    uint64_t count = 0;

    for (; runs != NULL; runs = runs->next)
        count += runs->count;
    return count;
}

static enum clr_key_order order_of(const struct clr_run *runs)
{
    bool integers = false, reals = false;

    for (; runs != NULL; runs = runs->next) {
        if (runs->count != 0)
            *(runs->kind == CLR_KIND_INTEGER ? &integers : &reals) = true;
    }
    return !reals ? CLR_ORDER_INTEGERS : integers ? CLR_ORDER_MIXED : CLR_ORDER_REALS;
}

/* The digits by which a range is parted: a key's part is (key >> shift) - (low >> shift). The keys
   of a range agree in all bits above the first 11 in which its ends differ. */
static int shift_of(const struct clr_key_range *range)
{
    int width = 64 - __builtin_clzll(range->low ^ range->high);
    return width > CLR_KEY_PART_BITS ? width - CLR_KEY_PART_BITS : 0;
}

/* Narrows the range to the part of it in which the ranks are; stores whether they are found. */
static enum clr_code narrow(struct clr_selection *selection, bool *done)
{
    struct clr_key_range *range = &selection->range;
    uint64_t base, low, high;
    const uint64_t *counts;
    size_t part = 0, next;
    enum clr_code code;
    int shift;

    selection->shift = shift = shift_of(range);
    code = clr_selection_count_parts(selection, &counts);
    if (code != CLR_OK)
        return code;
    while (range->rank >= counts[part])
        range->rank -= counts[part++];
    base = range->low >> shift;
    next = part;
    if (range->has_next && range->rank + 1 == counts[part]) {
        for (next = part + 1; counts[next] == 0; next++)
            continue;
        selection->first_end = ((base + part + 1) << shift) - 1;
        selection->second_start = (base + next) << shift;
        *done = true;
        return clr_selection_find_neighbours(selection);
    }
    low = (base + part) << shift;
    high = low | (((uint64_t)1 << shift) - 1);
    /* The first and the last part may stick out of the range before. */
    range->low = low > range->low ? low : range->low;
    range->high = high < range->high ? high : range->high;
    range->count = counts[part];
    range->found = range->next = range->low;
    *done = range->low == range->high;
    return CLR_OK;
}

static enum clr_code find_keys(struct clr_selection *selection, uint64_t total);

/* Selects among gathered keys, in as many portions. */
static enum clr_code select_gathered(struct clr_selection *selection, size_t count, uint64_t rank)
{
    const size_t portions = (size_t)selection->portions->count;
    struct clr_portions inner_portions = *selection->portions;
    struct clr_selection inner = {
        .portions = &inner_portions, .order = CLR_ORDER_KEYS, .findings = selection->findings};
    struct clr_run *runs = clr_memory_alloc(portions * sizeof *runs);
    const struct clr_run **starts = clr_memory_alloc((portions + 1) * sizeof *starts);
    enum clr_code code = CLR_NOMEM;
    size_t i, first = 0, last;

    if (runs != NULL && starts != NULL) {
        for (i = 0; i < portions; i++, first = last) {
            last = count / portions * (i + 1) + (i + 1 == portions ? count % portions : 0);
            runs[i] = (struct clr_run){i + 1 < portions ? &runs[i + 1] : NULL, CLR_KIND_INTEGER,
                                       selection->keys + first, last - first};
            starts[i] = &runs[i];
        }
        starts[portions] = NULL;
        inner_portions.starts = starts;
        inner.range =
            (struct clr_key_range){0, UINT64_MAX, count, rank, selection->range.has_next, 0, 0};
        code = find_keys(&inner, count);
        selection->range.found = inner.range.found;
        selection->range.next = inner.range.next;
    }
    clr_memory_free(starts);
    clr_memory_free(runs);
    return code;
}

/* Returns room for gathered keys, and for sorting them. */
static uint64_t *alloc_keys(size_t count)
{
    return clr_memory_alloc((count + (count < SORTED ? count : SORTED)) * sizeof(uint64_t));
}

/* Finds a rank among the gathered keys, and the next. */
static enum clr_code find_gathered(struct clr_selection *selection, size_t count, uint64_t rank)
{
    uint64_t *keys = selection->keys;

    if (count > SORTED)
        return select_gathered(selection, count, rank);
    clr_radix_sort(keys, keys + count, count);
    selection->range.found = keys[rank];
    selection->range.next = keys[rank + selection->range.has_next];
    return CLR_OK;
}

/* Gathers the keys of the range. */
static enum clr_code gather_rest(struct clr_selection *selection)
{
    struct clr_key_range *range = &selection->range;
    enum clr_code code;
    uint64_t below;

    selection->room = range->count;
    selection->keys = selection->few;
    if (range->count > CLR_INSERTION_LIMIT)
        selection->keys = alloc_keys(range->count);
    if (selection->keys == NULL)
        return CLR_NOMEM;
    code = clr_selection_gather(selection, &below);
    if (code == CLR_OK)
        code = find_gathered(selection, range->count, range->rank);
    if (selection->keys != selection->few)
        clr_memory_free(selection->keys);
    return code;
}

/* Takes keys at equal distances, as far as there are so many, from all runs; sorts them, with
   scratch behind them. Returns how many there are. */
static size_t take_sample(const struct clr_selection *selection, uint64_t total, uint64_t *keys)
{
    const struct clr_run *runs = selection->portions->starts[0];
    uint64_t step = total / SAMPLE, start = 0, next = 0;
    size_t count = 0;

    for (; runs != NULL; start += runs->count, runs = runs->next) {
        for (; next < start + runs->count && count < SAMPLE; next += step)
            clr_selection_copy_keys(runs, next - start, 1, selection->order, &keys[count++]);
    }
    clr_radix_sort(keys, keys + SAMPLE, count);
    return count;
}

/*
 * Tries to find the ranks in one pass: a sample tells a small range in which they very likely are.
 * Stores whether they were there, and in few enough keys to gather.
 *
 * Source: Floyd and Rivest, "Expected time bounds for selection", CACM 18 (1975).
 */
static enum clr_code try_sample(struct clr_selection *selection, uint64_t total, bool *done)
{
    const struct clr_key_range all = selection->range;
    struct clr_key_range *range = &selection->range;
    size_t room = total / GATHERED_SHARE, samples, place;
    uint64_t *keys = alloc_keys(room), below;
    enum clr_code code;

    if (keys == NULL)
        return CLR_OK;
    samples = take_sample(selection, total, keys);
    place = (size_t)((double)range->rank / (double)total * (double)samples);
    range->low = place < MARGIN ? 0 : keys[place - MARGIN];
    range->high = place + MARGIN + 1 >= samples ? UINT64_MAX : keys[place + MARGIN + 1];
    selection->keys = keys;
    selection->room = room;
    code = clr_selection_gather(selection, &below);
    room = atomic_load(&selection->gathered);
    *range = all;
    if (code == CLR_OK && room <= selection->room && range->rank >= below &&
        range->rank - below + range->has_next < room) {
        code = find_gathered(selection, room, range->rank - below);
        *done = true;
    }
    clr_memory_free(keys);
    return code;
}

/* Of numbers of both types with one floor key, which may be a few INTEGERs and a REAL: the one of
   the rank among all. */
static enum clr_code find_mixed(struct clr_selection *selection, uint64_t key, uint64_t rank,
                                struct clr_value *value)
{
    const uint64_t *tails;
    uint64_t tail = 0, below;
    enum clr_code code;

    selection->key = key;
    code = clr_selection_count_tails(selection, &tails, &below);
    if (code != CLR_OK)
        return code;
    rank -= below;
    while (rank >= tails[tail])
        rank -= tails[tail++];
    *value = clr_place_to_value((clr_u128)key << 64 | tail);
    return CLR_OK;
}

static enum clr_code find_value(struct clr_selection *selection, uint64_t key, uint64_t rank,
                                struct clr_value *value)
{
    value->kind = CLR_KIND_REAL;
    if (selection->order == CLR_ORDER_INTEGERS) {
        value->kind = CLR_KIND_INTEGER;
        value->as.integer = clr_key_to_integer(key);
        return CLR_OK;
    }
    value->as.real = clr_key_to_double(key);
    /* Below 2^53 every INTEGER is a double. */
    if (selection->order == CLR_ORDER_MIXED &&
        (value->as.real >= 0x1p53 || value->as.real < -0x1p53))
        return find_mixed(selection, key, rank, value);
    return CLR_OK;
}

static enum clr_code find_keys(struct clr_selection *selection, uint64_t total)
{
    struct clr_key_range *range = &selection->range;
    uint64_t enough = total / GATHERED_SHARE > FEW ? total / GATHERED_SHARE : FEW;
    enum clr_code code = CLR_OK;
    bool done = false;

    if (total / GATHERED_SHARE >= 2 * SAMPLE)
        code = try_sample(selection, total, &done);
    if (code == CLR_OK && !done && total > FEW) {
        code = clr_selection_find_range(selection);
        done = range->low == range->high;
        while (code == CLR_OK && !done && range->count > enough)
            code = narrow(selection, &done);
    }
    return code == CLR_OK && !done ? gather_rest(selection) : code;
}

static enum clr_code select_all(struct clr_selection *selection, uint64_t rank,
                                struct clr_value found[2])
{
    const uint64_t total = clr_runs_count(selection->portions->starts[0]);
    struct clr_key_range range = {0, UINT64_MAX, total, rank, rank + 1 < total, 0, 0};
    enum clr_code code;

    selection->order = order_of(selection->portions->starts[0]);
    selection->range = range;
    code = find_keys(selection, total);
    if (code == CLR_OK)
        code = find_value(selection, selection->range.found, rank, &found[0]);
    found[1] = found[0];
    if (code == CLR_OK && rank + 1 < total)
        code = find_value(selection, selection->range.next, rank + 1, &found[1]);
    return code;
}

enum clr_code clr_select(const struct clr_run *runs, uint64_t rank, struct clr_value found[2])
{
    const struct clr_run *const starts[] = {runs, NULL};
    const struct clr_portions portions = {.count = 1, .starts = starts};
    struct clr_finding finding;
    struct clr_selection selection = {.portions = &portions, .findings = &finding};

    return select_all(&selection, rank, found);
}

enum clr_code clr_portions_select(const struct clr_portions *portions, uint64_t rank,
                                  struct clr_value found[2])
{
    struct clr_selection selection = {.portions = portions};
    enum clr_code code;

    selection.findings = clr_memory_alloc((size_t)portions->count * sizeof *selection.findings);
    if (selection.findings == NULL)
        return CLR_NOMEM;
    code = select_all(&selection, rank, found);
    clr_memory_free(selection.findings);
    return code;
}

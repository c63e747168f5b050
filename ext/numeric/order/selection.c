#include "numeric/order/selection.h"

#include "base/memory.h"
#include "numeric/order/selection_sample.h"

/*
 * What is left is gathered once it is less than 1/GATHERED_SHARE of all, or few enough. Among more
 * than SORTED gathered keys the ranks are selected once more.
 */
enum { GATHERED_SHARE = 8, FEW = 4096, SORTED = 65536 };

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

static enum clr_code find_keys(struct clr_selection *selection, struct clr_key_range *ranges,
                               int count, uint64_t total);

/* Selects among gathered keys, in as many portions. */
static enum clr_code select_gathered(struct clr_selection *selection, const uint64_t *keys,
                                     size_t count, uint64_t rank, struct clr_key_range *range)
{
    const size_t portions = (size_t)selection->portions->count;
    struct clr_portions inner_portions = *selection->portions;
    struct clr_selection inner = {
        .portions = &inner_portions, .order = CLR_ORDER_KEYS, .findings = selection->findings};
    struct clr_key_range inner_range = {0, UINT64_MAX, count, rank, range->has_next, 0, 0};
    struct clr_run *runs = clr_memory_alloc(portions * sizeof *runs);
    const struct clr_run **starts = clr_memory_alloc((portions + 1) * sizeof *starts);
    enum clr_code code = CLR_NOMEM;
    size_t i, first = 0, last;

    if (runs != NULL && starts != NULL) {
        for (i = 0; i < portions; i++, first = last) {
            last = count / portions * (i + 1) + (i + 1 == portions ? count % portions : 0);
            runs[i] = (struct clr_run){.next = i + 1 < portions ? &runs[i + 1] : NULL,
                                       .kind = CLR_KIND_INTEGER,
                                       .values = keys + first,
                                       .count = last - first};
            starts[i] = &runs[i];
        }
        starts[portions] = NULL;
        inner_portions.starts = starts;
        code = find_keys(&inner, &inner_range, 1, count);
        range->found = inner_range.found;
        range->next = inner_range.next;
    }
    clr_memory_free(starts);
    clr_memory_free(runs);
    return code;
}

/* Returns how much room it takes to sort so many gathered keys. */
static size_t scratch_size(size_t count)
{
    return count < SORTED ? count : SORTED;
}

/* Finds a rank among gathered keys, and the next, for the range. */
static enum clr_code find_gathered(struct clr_selection *selection, uint64_t *keys,
                                   uint64_t *scratch, size_t count, uint64_t rank,
                                   struct clr_key_range *range)
{
    if (count > SORTED)
        return select_gathered(selection, keys, count, rank, range);
    clr_radix_sort(keys, scratch, count);
    range->found = keys[rank];
    range->next = keys[rank + range->has_next];
    return CLR_OK;
}

/* Gathers the keys of the range. */
static enum clr_code gather_rest(struct clr_selection *selection)
{
    struct clr_key_range *range = &selection->range;
    uint64_t few[2 * CLR_INSERTION_LIMIT];
    struct clr_window window = {range->low, range->high, few, range->count, 0, 0};
    enum clr_code code;

    if (window.room > CLR_INSERTION_LIMIT)
        window.keys =
            clr_memory_alloc((window.room + scratch_size(window.room)) * sizeof(uint64_t));
    if (window.keys == NULL)
        return CLR_NOMEM;
    code = clr_selection_gather(selection, &window, 1);
    if (code == CLR_OK)
        code = find_gathered(selection, window.keys, window.keys + window.room, window.room,
                             range->rank, range);
    if (window.keys != few)
        clr_memory_free(window.keys);
    return code;
}

/* Tries to find the ranks of some ranges in one pass. Stores which of them were where a sample says
   that they are, among few enough keys to gather. */
static enum clr_code try_sample(struct clr_selection *selection, struct clr_key_range *ranges,
                                int count, uint64_t total, bool *done)
{
    /* All rooms together are a quarter of the numbers at the most. */
    const size_t room = total / (count > 2 ? 4 * (size_t)count : GATHERED_SHARE);
    const size_t rooms = room * (size_t)count;
    struct clr_window windows[CLR_MOST_WINDOWS];
    uint64_t *keys = clr_memory_alloc((rooms + scratch_size(room)) * sizeof *keys);
    enum clr_code code;
    int i;

    if (keys == NULL)
        return CLR_OK;
    for (i = 0; i < count; i++)
        windows[i] = (struct clr_window){.keys = keys + (size_t)i * room, .room = room};
    code = clr_selection_gather_sampled(selection, ranges, windows, count, total);
    for (i = 0; i < count && code == CLR_OK; i++) {
        if (!clr_window_has_rank(&windows[i], &ranges[i]))
            continue;
        code = find_gathered(selection, windows[i].keys, keys + rooms,
                             atomic_load(&windows[i].gathered), ranges[i].rank - windows[i].below,
                             &ranges[i]);
        done[i] = true;
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

/* Finds the keys of the selection's range, by radix. */
static enum clr_code find_range(struct clr_selection *selection, uint64_t total)
{
    struct clr_key_range *range = &selection->range;
    uint64_t enough = total / GATHERED_SHARE > FEW ? total / GATHERED_SHARE : FEW;
    enum clr_code code = CLR_OK;
    bool done = false;

    if (total > FEW) {
        code = clr_selection_find_range(selection);
        done = range->low == range->high;
        while (code == CLR_OK && !done && range->count > enough)
            code = narrow(selection, &done);
    }
    return code == CLR_OK && !done ? gather_rest(selection) : code;
}

/* Finds the keys of so many ranges, CLR_MOST_WINDOWS at the most, which are of all numbers. */
static enum clr_code find_keys(struct clr_selection *selection, struct clr_key_range *ranges,
                               int count, uint64_t total)
{
    bool done[CLR_MOST_WINDOWS] = {false};
    enum clr_code code = CLR_OK;
    int i;

    if (total / GATHERED_SHARE >= 2 * CLR_SAMPLE)
        code = try_sample(selection, ranges, count, total, done);
    for (i = 0; i < count && code == CLR_OK; i++) {
        if (done[i])
            continue;
        selection->range = ranges[i];
        code = find_range(selection, total);
        ranges[i] = selection->range;
    }
    return code;
}

static enum clr_code find_values(struct clr_selection *selection, const struct clr_key_range *range,
                                 uint64_t rank, struct clr_value found[2])
{
    enum clr_code code = find_value(selection, range->found, rank, &found[0]);

    found[1] = found[0];
    if (code == CLR_OK && range->has_next)
        code = find_value(selection, range->next, rank + 1, &found[1]);
    return code;
}

static enum clr_code select_all(struct clr_selection *selection, const uint64_t *ranks, int count,
                                struct clr_value (*found)[2])
{
    const uint64_t total = clr_runs_count(selection->portions->starts[0]);
    struct clr_key_range ranges[CLR_MOST_WINDOWS];
    enum clr_code code = CLR_OK;
    int i, n;

    selection->order = order_of(selection->portions->starts[0]);
    for (; count > 0 && code == CLR_OK; ranks += n, found += n, count -= n) {
        n = count < CLR_MOST_WINDOWS ? count : CLR_MOST_WINDOWS;
        for (i = 0; i < n; i++)
            ranges[i] =
                (struct clr_key_range){0, UINT64_MAX, total, ranks[i], ranks[i] + 1 < total, 0, 0};
        code = find_keys(selection, ranges, n, total);
        for (i = 0; i < n && code == CLR_OK; i++)
            code = find_values(selection, &ranges[i], ranks[i], found[i]);
    }
    return code;
}

enum clr_code clr_select(const struct clr_run *runs, uint64_t rank, struct clr_value found[2])
{
    const struct clr_run *const starts[] = {runs, NULL};
    const struct clr_portions portions = {.count = 1, .starts = starts};
    struct clr_finding finding;
    struct clr_selection selection = {.portions = &portions, .findings = &finding};

    return select_all(&selection, &rank, 1, (struct clr_value(*)[2])found);
}

enum clr_code clr_portions_select(const struct clr_portions *portions, const uint64_t *ranks,
                                  int count, struct clr_value (*found)[2])
{
    struct clr_selection selection = {.portions = portions};
    enum clr_code code;

    selection.findings = clr_memory_alloc((size_t)portions->count * sizeof *selection.findings);
    if (selection.findings == NULL)
        return CLR_NOMEM;
    code = select_all(&selection, ranks, count, found);
    clr_memory_free(selection.findings);
    return code;
}

#include "numeric/order/selection.h"

#include "base/memory.h"
#include "numeric/exact/sum.h"
#include "numeric/order/keys.h"

#include <string.h>

struct clr_position clr_percentile_position(double fraction, uint64_t count)
{
    double place = fraction * (double)(count - 1);
    struct clr_position position = {.rank = (uint64_t)place};

    /* Past 2^53 values the product may be rounded up to beyond the last one. */
    if (position.rank >= count - 1)
        position.rank = count - 1;
    else
        position.beyond = place - (double)position.rank;
    return position;
}

static void add_product(struct clr_sum *sum, const struct clr_value *value, double factor,
                        int weight)
{
    if (value->kind == CLR_KIND_INTEGER)
        clr_sum_add_mixed_product(sum, value->as.integer, factor, weight);
    else
        clr_sum_add_product(sum, value->as.real, factor, weight);
}

static double interpolate(const struct clr_value value[2], double beyond)
{
    struct clr_sum sum;

    clr_sum_clear(&sum);
    add_product(&sum, &value[0], 1.0, 1);
    if (beyond != 0.0) {
        add_product(&sum, &value[1], beyond, 1);
        add_product(&sum, &value[0], beyond, -1);
    }
    return clr_sum_round(&sum, 1);
}

double clr_percentile_at(const struct clr_value value[2], double beyond, bool interpolated)
{
    if (interpolated)
        return interpolate(value, beyond);
    return value->kind == CLR_KIND_INTEGER ? (double)value->as.integer : value->as.real;
}

/*
 * ---- Passes: each goes over all portions, and finds out one thing about the keys of their
 * numbers. All return CLR_OK or CLR_STOPPED.
 */

/* Into how many equal parts a range of keys is cut. */
enum { CLR_KEY_PART_BITS = 11, CLR_KEY_PARTS = 1 << CLR_KEY_PART_BITS };

/* How the numbers of a list become keys; or that they are keys. */
enum key_order { CLR_ORDER_INTEGERS, CLR_ORDER_REALS, CLR_ORDER_MIXED, CLR_ORDER_KEYS };

/* The range of keys in which the ranks sought are; it has more than one key. */
struct key_range {
    uint64_t low, high;   /* both included */
    uint64_t count;       /* of the numbers in the range */
    uint64_t rank;        /* among them */
    bool has_next;        /* whether the next rank exists and is sought as well, in the range */
    uint64_t found, next; /* the answer, once there is one: the keys of the two ranks */
};

/* What a pass finds out about a portion. */
struct finding {
    uint64_t greatest, least;
    uint64_t counts[CLR_KEY_PARTS];
};

enum { CLR_MOST_WINDOWS = 4 };

_Static_assert((int)CLR_KEY_PARTS > (int)CLR_KEY_TAILS, "tails are counted in the same place");

/* A range of keys that is gathered. */
struct window {
    uint64_t low, high;     /* both included */
    uint64_t *keys;         /* where they go */
    size_t room;            /* for so many */
    atomic_size_t gathered; /* how many there are; beyond the room not all of them */
    uint64_t below;         /* how many keys are below low, if there was room */
};

struct selection {
    const struct clr_portions *portions;
    enum key_order order;
    struct key_range range;
    int shift;                /* of the pass that counts parts */
    uint64_t key;             /* of the pass that tells tails apart */
    struct window *windows;   /* of the pass that gathers */
    int window_count;         /* CLR_MOST_WINDOWS at the most */
    struct finding *findings; /* one for each portion */
};

/* Keys that stay in the first-level cache. */
enum { BLOCK = 512 };

/* A pass over all keys of a portion, a block at a time. */
struct pass {
    struct clr_portion_reader reader;
    enum key_order order;
    uint64_t keys[BLOCK];
};

static void begin_pass(struct pass *pass, const struct selection *selection, int portion,
                       const atomic_bool *stop)
{
    clr_portion_begin(&pass->reader, selection->portions, portion, stop);
    pass->order = selection->order;
}

/* Stores the keys of some of a run's numbers, 512 at most. */
static void selection_copy_keys(const struct clr_run *run, size_t first, size_t count,
                                enum key_order order, uint64_t *keys)
{
    int64_t room[BLOCK];
    const void *values = clr_run_values(run, first, count, room);
    size_t i;

    if (run->kind == CLR_KIND_REAL) {
        const clr_stored_real *reals = values;
        for (i = 0; i < count; i++)
            keys[i] = clr_double_to_key(reals[i]);
    } else if (order == CLR_ORDER_KEYS) {
        memcpy(keys, values, count * sizeof *keys);
    } else {
        const int64_t *integers = values;
        if (order == CLR_ORDER_INTEGERS) {
            for (i = 0; i < count; i++)
                keys[i] = clr_integer_to_key(integers[i]);
        } else {
            for (i = 0; i < count; i++)
                keys[i] = clr_integer_to_floor_key(integers[i]);
        }
    }
}

/* Fills pass->keys; returns how many there are, 0 at the end. */
static size_t next_block(struct pass *pass)
{
    const struct clr_portion_reader *reader = &pass->reader;
    const size_t count = clr_portion_next(&pass->reader, BLOCK);

    if (count > 0)
        selection_copy_keys(reader->run, reader->position - count, count, pass->order, pass->keys);
    return count;
}

/* Runs a pass over all portions. */
static enum clr_code run(struct selection *selection, clr_portion_work *work)
{
    return clr_portions_run(selection->portions, work, selection) ? CLR_OK : CLR_STOPPED;
}

/* Adds the counts of all portions to those of the first, and returns them. */
static const uint64_t *add_counts(const struct selection *selection, size_t count)
{
    uint64_t *counts = selection->findings[0].counts;
    size_t i;
    int portion;

    for (portion = 1; portion < selection->portions->count; portion++) {
        for (i = 0; i < count; i++)
            counts[i] += selection->findings[portion].counts[i];
    }
    return counts;
}

/* Finds a portion's greatest and least key. */
static void find_ends(void *argument, int portion, const atomic_bool *stop)
{
    const struct selection *selection = argument;
    uint64_t greatest = 0, least = UINT64_MAX;
    struct pass pass;
    size_t i, count;

    begin_pass(&pass, selection, portion, stop);
    while ((count = next_block(&pass)) != 0) {
        for (i = 0; i < count; i++) {
            greatest = pass.keys[i] > greatest ? pass.keys[i] : greatest;
            least = pass.keys[i] < least ? pass.keys[i] : least;
        }
    }
    selection->findings[portion].greatest = greatest;
    selection->findings[portion].least = least;
}

/* Sets the range to the least and the greatest key; found and next to the least. */
static enum clr_code selection_find_range(struct selection *selection)
{
    struct key_range *range = &selection->range;
    enum clr_code code = run(selection, find_ends);
    int i;

    range->low = UINT64_MAX;
    range->high = 0;
    for (i = 0; i < selection->portions->count; i++) {
        const struct finding *finding = &selection->findings[i];
        range->high = finding->greatest > range->high ? finding->greatest : range->high;
        range->low = finding->least < range->low ? finding->least : range->low;
    }
    range->found = range->next = range->low;
    return code;
}

/* Counts the keys of each part of the range: part (key >> shift) - (low >> shift). */
static void count_parts(void *argument, int portion, const atomic_bool *stop)
{
    const struct selection *selection = argument;
    const struct key_range *range = &selection->range;
    const int shift = selection->shift;
    const uint64_t first = range->low >> shift, parts = (range->high >> shift) - first;
    uint64_t *counts = selection->findings[portion].counts;
    struct pass pass;
    size_t i, count;

    memset(counts, 0, CLR_KEY_PARTS * sizeof *counts);
    begin_pass(&pass, selection, portion, stop);
    while ((count = next_block(&pass)) != 0) {
        for (i = 0; i < count; i++) {
            uint64_t part = (pass.keys[i] >> shift) - first;
            if (part <= parts)
                counts[part]++;
        }
    }
}

/* Gathers the keys of a block that are in the window. Returns whether there was room for them. */
static bool gather_block(const struct pass *pass, size_t count, struct window *window,
                         uint64_t *below)
{
    const uint64_t low = window->low, width = window->high - low;
    uint64_t keys[BLOCK];
    size_t i, kept, place;

    /* Kept without a branch that depends on the key. */
    for (i = kept = 0; i < count; i++) {
        *below += pass->keys[i] < low;
        keys[kept] = pass->keys[i];
        kept += pass->keys[i] - low <= width;
    }
    if (kept == 0)
        return true;
    place = atomic_fetch_add(&window->gathered, kept);
    if (place + kept > window->room)
        return false;
    memcpy(window->keys + place, keys, kept * sizeof *keys);
    return true;
}

static void gather(void *argument, int portion, const atomic_bool *stop)
{
    struct selection *selection = argument;
    const int windows = selection->window_count;
    uint64_t *below = selection->findings[portion].counts;
    bool full[CLR_MOST_WINDOWS] = {false};
    int open = windows, i;
    struct pass pass;
    size_t count;

    memset(below, 0, (size_t)windows * sizeof *below);
    begin_pass(&pass, selection, portion, stop);
    while (open > 0 && (count = next_block(&pass)) != 0) {
        for (i = 0; i < windows; i++) {
            if (full[i] || gather_block(&pass, count, &selection->windows[i], &below[i]))
                continue;
            full[i] = true;
            open--;
        }
    }
}

/* Gathers the keys of the windows, as far as there is room, and counts those below each. */
static enum clr_code selection_gather(struct selection *selection, struct window *windows,
                                      int count)
{
    const uint64_t *below;
    enum clr_code code;
    int i;

    for (i = 0; i < count; i++)
        atomic_init(&windows[i].gathered, 0);
    selection->windows = windows;
    selection->window_count = count;
    code = run(selection, gather);
    below = add_counts(selection, (size_t)count);
    for (i = 0; i < count; i++)
        windows[i].below = below[i];
    return code;
}

/* Counts the numbers below a floor key, and, behind them, the tails of those whose floor key it
   is. */
static void count_tails(void *argument, int portion, const atomic_bool *stop)
{
    const struct selection *selection = argument;
    uint64_t *counts = selection->findings[portion].counts;
    const uint64_t key = selection->key;
    int64_t room[BLOCK];
    struct pass pass;
    size_t i, count;

    memset(counts, 0, (1 + CLR_KEY_TAILS) * sizeof *counts);
    begin_pass(&pass, selection, portion, stop);
    while ((count = next_block(&pass)) != 0) {
        const struct clr_run *run = pass.reader.run;
        const int64_t *integers =
            run->kind == CLR_KIND_INTEGER
                ? clr_run_values(run, pass.reader.position - count, count, room)
                : NULL;
        for (i = 0; i < count; i++) {
            counts[0] += pass.keys[i] < key;
            if (pass.keys[i] == key)
                counts[1 + (integers != NULL ? clr_integer_tail(integers[i], key) : 0)]++;
        }
    }
}

/* ---- Where a rank very likely is, by a sample (Floyd and Rivest, "Expected time bounds for
   selection", CACM 18, 1975). */

/* How many keys a sample has at the most. */
enum { CLR_SAMPLE = 8192 };

/* A sample places a rank with a standard deviation of 45 of its keys at the most; 4 of those. */
enum { MARGIN = 181 };

/* Takes keys at equal distances, as far as there are so many, from all runs; sorts them, with
   scratch behind them. Returns how many there are. */
static size_t take_sample(const struct selection *selection, uint64_t total, uint64_t *keys)
{
    const struct clr_run *runs = selection->portions->starts[0];
    uint64_t step = total / CLR_SAMPLE, start = 0, next = 0;
    size_t count = 0;

    for (; runs != NULL; start += runs->count, runs = runs->next) {
        for (; next < start + runs->count && count < CLR_SAMPLE; next += step)
            selection_copy_keys(runs, next - start, 1, selection->order, &keys[count++]);
    }
    clr_radix_sort(keys, keys + CLR_SAMPLE, count);
    return count;
}

/* Returns the window in which the sample says that the range's rank is, yet without memory. */
static struct window window_at(const struct key_range *range, uint64_t total,
                               const uint64_t *sample, size_t samples)
{
    size_t place = (size_t)((double)range->rank / (double)total * (double)samples);

    return (struct window){.low = place < MARGIN ? 0 : sample[place - MARGIN],
                           .high = place + MARGIN + 1 >= samples ? UINT64_MAX
                                                                 : sample[place + MARGIN + 1]};
}

/* Whether a range's rank, and the next if that is sought, are among what its window gathered. */
static bool window_has_rank(const struct window *window, const struct key_range *range)
{
    const size_t gathered = atomic_load(&window->gathered);

    return gathered <= window->room && range->rank >= window->below &&
           range->rank - window->below + range->has_next < gathered;
}

/* ---- The selection. */

/*
 * What is left is gathered once it is less than 1/GATHERED_SHARE of all, or few enough. Among more
 * than SORTED gathered keys the ranks are selected once more.
 */
enum { GATHERED_SHARE = 8, FEW = 4096, SORTED = 65536 };

static enum key_order order_of(const struct clr_run *runs)
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
static int shift_of(const struct key_range *range)
{
    int width = 64 - __builtin_clzll(range->low ^ range->high);
    return width > CLR_KEY_PART_BITS ? width - CLR_KEY_PART_BITS : 0;
}

/* Narrows the range to the part of it in which the rank is. */
static enum clr_code narrow(struct selection *selection)
{
    struct key_range *range = &selection->range;
    const int shift = selection->shift = shift_of(range);
    enum clr_code code = run(selection, count_parts);
    const uint64_t *counts;
    uint64_t low, high;
    size_t part = 0;

    if (code != CLR_OK)
        return code;
    counts = add_counts(selection, CLR_KEY_PARTS);
    while (range->rank >= counts[part])
        range->rank -= counts[part++];
    low = ((range->low >> shift) + part) << shift;
    high = low | (((uint64_t)1 << shift) - 1);
    /* The first and the last part may stick out of the range before. */
    range->low = low > range->low ? low : range->low;
    range->high = high < range->high ? high : range->high;
    range->count = counts[part];
    range->has_next = range->has_next && range->rank + 1 < range->count;
    range->found = range->next = range->low;
    return CLR_OK;
}

static enum clr_code find_keys(struct selection *selection, struct key_range *ranges, int count,
                               uint64_t total);

/* Selects among gathered keys, in as many portions. */
static enum clr_code select_gathered(struct selection *selection, const uint64_t *keys,
                                     size_t count, uint64_t rank, struct key_range *range)
{
    const size_t portions = (size_t)selection->portions->count;
    struct clr_portions inner_portions = *selection->portions;
    struct selection inner = {
        .portions = &inner_portions, .order = CLR_ORDER_KEYS, .findings = selection->findings};
    struct key_range inner_range = {0, UINT64_MAX, count, rank, range->has_next, 0, 0};
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
static enum clr_code find_gathered(struct selection *selection, uint64_t *keys, uint64_t *scratch,
                                   size_t count, uint64_t rank, struct key_range *range)
{
    if (count > SORTED)
        return select_gathered(selection, keys, count, rank, range);
    clr_radix_sort(keys, scratch, count);
    range->found = keys[rank];
    range->next = keys[rank + range->has_next];
    return CLR_OK;
}

/* Gathers the keys of the range. */
static enum clr_code gather_rest(struct selection *selection)
{
    struct key_range *range = &selection->range;
    uint64_t few[2 * CLR_INSERTION_LIMIT];
    struct window window = {range->low, range->high, few, range->count, 0, 0};
    enum clr_code code;

    if (window.room > CLR_INSERTION_LIMIT)
        window.keys =
            clr_memory_alloc((window.room + scratch_size(window.room)) * sizeof(uint64_t));
    if (window.keys == NULL)
        return CLR_NOMEM;
    code = selection_gather(selection, &window, 1);
    if (code == CLR_OK)
        code = find_gathered(selection, window.keys, window.keys + window.room, window.room,
                             range->rank, range);
    if (window.keys != few)
        clr_memory_free(window.keys);
    return code;
}

/* Tries to find the ranks of some ranges in one pass. Stores which of them were where a sample says
   that they are, among few enough keys to gather. */
static enum clr_code try_sample(struct selection *selection, struct key_range *ranges, int count,
                                uint64_t total, bool *done)
{
    /* All rooms together are a quarter of the numbers at the most, and at first have the sample. */
    const size_t room = total / (count > 2 ? 4 * (size_t)count : GATHERED_SHARE);
    const size_t rooms = room * (size_t)count;
    struct window windows[CLR_MOST_WINDOWS];
    uint64_t *keys = clr_memory_alloc((rooms + scratch_size(room)) * sizeof *keys);
    enum clr_code code;
    size_t samples;
    int i;

    if (keys == NULL)
        return CLR_OK;
    samples = take_sample(selection, total, keys);
    for (i = 0; i < count; i++) {
        windows[i] = window_at(&ranges[i], total, keys, samples);
        windows[i].keys = keys + (size_t)i * room;
        windows[i].room = room;
    }
    code = selection_gather(selection, windows, count);
    for (i = 0; i < count && code == CLR_OK; i++) {
        if (!window_has_rank(&windows[i], &ranges[i]))
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
static enum clr_code find_mixed(struct selection *selection, uint64_t key, uint64_t rank,
                                struct clr_value *value)
{
    const uint64_t *counts;
    uint64_t place = 0;
    enum clr_code code;

    selection->key = key;
    code = run(selection, count_tails);
    if (code != CLR_OK)
        return code;
    counts = add_counts(selection, 1 + CLR_KEY_TAILS);
    while (rank >= counts[place])
        rank -= counts[place++];
    *value = clr_place_to_value((clr_u128)key << 64 | (place - 1));
    return CLR_OK;
}

static enum clr_code find_value(struct selection *selection, uint64_t key, uint64_t rank,
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

/* Finds the keys of a range of all numbers, by radix. */
static enum clr_code find_range(struct selection *selection, struct key_range *sought,
                                uint64_t total)
{
    const uint64_t enough = total / GATHERED_SHARE > FEW ? total / GATHERED_SHARE : FEW;
    struct key_range *range = &selection->range;
    enum clr_code code = CLR_OK;
    struct key_range next;

    *range = *sought;
    if (total > FEW)
        code = selection_find_range(selection);
    while (code == CLR_OK && range->low < range->high && range->count > enough)
        code = narrow(selection);
    if (code == CLR_OK && range->low < range->high)
        code = gather_rest(selection);
    sought->found = range->found;
    sought->next = range->next;
    if (code != CLR_OK || range->has_next == sought->has_next)
        return code;
    /* The next rank is in another part. */
    next = (struct key_range){0, UINT64_MAX, total, sought->rank + 1, false, 0, 0};
    code = find_range(selection, &next, total);
    sought->next = next.found;
    return code;
}

/* Finds the keys of so many ranges, CLR_MOST_WINDOWS at the most, which are of all numbers. */
static enum clr_code find_keys(struct selection *selection, struct key_range *ranges, int count,
                               uint64_t total)
{
    bool done[CLR_MOST_WINDOWS] = {false};
    enum clr_code code = CLR_OK;
    int i;

    if (total / GATHERED_SHARE >= 2 * CLR_SAMPLE)
        code = try_sample(selection, ranges, count, total, done);
    for (i = 0; i < count && code == CLR_OK; i++) {
        if (!done[i])
            code = find_range(selection, &ranges[i], total);
    }
    return code;
}

static enum clr_code find_values(struct selection *selection, const struct key_range *range,
                                 uint64_t rank, struct clr_value found[2])
{
    enum clr_code code = find_value(selection, range->found, rank, &found[0]);

    found[1] = found[0];
    if (code == CLR_OK && range->has_next)
        code = find_value(selection, range->next, rank + 1, &found[1]);
    return code;
}

static enum clr_code select_all(struct selection *selection, const uint64_t *ranks, int count,
                                struct clr_value (*found)[2])
{
    const uint64_t total = clr_runs_count(selection->portions->starts[0]);
    struct key_range ranges[CLR_MOST_WINDOWS];
    enum clr_code code = CLR_OK;
    int i, n;

    selection->order = order_of(selection->portions->starts[0]);
    for (; count > 0 && code == CLR_OK; ranks += n, found += n, count -= n) {
        n = count < CLR_MOST_WINDOWS ? count : CLR_MOST_WINDOWS;
        for (i = 0; i < n; i++)
            ranges[i] =
                (struct key_range){0, UINT64_MAX, total, ranks[i], ranks[i] + 1 < total, 0, 0};
        code = find_keys(selection, ranges, n, total);
        for (i = 0; i < n && code == CLR_OK; i++)
            code = find_values(selection, &ranges[i], ranks[i], found[i]);
    }
    return code;
}

enum clr_code clr_portions_select(const struct clr_portions *portions, const uint64_t *ranks,
                                  int count, struct clr_value (*found)[2])
{
    struct finding only;
    struct selection selection = {.portions = portions, .findings = &only};
    enum clr_code code;

    if (portions->count > 1)
        selection.findings = clr_memory_alloc((size_t)portions->count * sizeof only);
    if (selection.findings == NULL)
        return CLR_NOMEM;
    code = select_all(&selection, ranks, count, found);
    if (portions->count > 1)
        clr_memory_free(selection.findings);
    return code;
}

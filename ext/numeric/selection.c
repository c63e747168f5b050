#include "numeric/selection.h"

#include "base/memory.h"
#include "numeric/keys.h"
#include "numeric/radix_sort.h"

#include <stdbool.h>
#include <string.h>

/*
 * A pass takes blocks of keys that stay in the first-level cache. What is left is gathered once it
 * is less than 1/GATHERED_SHARE of all, or few enough. A sample of SAMPLE keys places a rank with a
 * standard deviation of 45 of them at the most; 4 of those are its MARGIN.
 */
enum {
    BLOCK = 512,
    PART_BITS = 11,
    PARTS = 1 << PART_BITS,
    GATHERED_SHARE = 8,
    FEW = 4096,
    SAMPLE = 8192,
    MARGIN = 181
};

/* How the numbers of a list become keys. */
enum order { INTEGERS, REALS, MIXED };

/* A pass over all keys of the runs, a block at a time. */
struct pass {
    const struct clr_run *run;
    size_t position;
    enum order order;
    uint64_t keys[BLOCK];
};

/* The range of keys in which the ranks sought are; it has more than one key. */
struct range {
    uint64_t low, high;   /* both included */
    uint64_t count;       /* of the numbers in the range */
    uint64_t rank;        /* among them */
    bool has_next;        /* whether the next rank exists and is sought as well */
    uint64_t found, next; /* the answer, once there is one: the keys of the two ranks */
};

uint64_t clr_runs_count(const struct clr_run *runs)
{
    uint64_t count = 0;

    for (; runs != NULL; runs = runs->next)
        count += runs->count;
    return count;
}

static enum order order_of(const struct clr_run *runs)
{
    bool integers = false, reals = false;

    for (; runs != NULL; runs = runs->next) {
        if (runs->count != 0)
            *(runs->kind == CLR_KIND_INTEGER ? &integers : &reals) = true;
    }
    return !reals ? INTEGERS : integers ? MIXED : REALS;
}

static void begin_pass(struct pass *pass, const struct clr_run *runs, enum order order)
{
    pass->run = runs;
    pass->position = 0;
    pass->order = order;
}

/* Fills pass->keys; returns how many there are, 0 at the end. */
static size_t next_block(struct pass *pass)
{
    const struct clr_run *run;
    size_t i, count;

    while (pass->run != NULL && pass->position == pass->run->count) {
        pass->run = pass->run->next;
        pass->position = 0;
    }
    run = pass->run;
    if (run == NULL)
        return 0;
    count = run->count - pass->position < BLOCK ? run->count - pass->position : BLOCK;
    if (run->kind == CLR_KIND_REAL) {
        const double *reals = (const double *)run->values + pass->position;
        for (i = 0; i < count; i++)
            pass->keys[i] = clr_double_to_key(reals[i]);
    } else {
        const int64_t *integers = (const int64_t *)run->values + pass->position;
        if (pass->order == INTEGERS) {
            for (i = 0; i < count; i++)
                pass->keys[i] = clr_integer_to_key(integers[i]);
        } else {
            for (i = 0; i < count; i++)
                pass->keys[i] = clr_integer_to_floor_key(integers[i]);
        }
    }
    pass->position += count;
    return count;
}

/* Finds the least and the greatest key. */
static void find_range(const struct clr_run *runs, enum order order, struct range *range)
{
    struct pass pass;
    uint64_t low = UINT64_MAX, high = 0;
    size_t i, count;

    begin_pass(&pass, runs, order);
    while ((count = next_block(&pass)) != 0) {
        for (i = 0; i < count; i++) {
            low = pass.keys[i] < low ? pass.keys[i] : low;
            high = pass.keys[i] > high ? pass.keys[i] : high;
        }
    }
    range->low = low;
    range->high = high;
}

/* The digits by which a range is parted: a key's part is (key >> shift) - (low >> shift). The keys
   of a range agree in all bits above the first 11 in which its ends differ. */
static int shift_of(const struct range *range)
{
    int width = 64 - __builtin_clzll(range->low ^ range->high);
    return width > PART_BITS ? width - PART_BITS : 0;
}

static void count_parts(const struct clr_run *runs, enum order order, const struct range *range,
                        int shift, uint64_t counts[PARTS])
{
    struct pass pass;
    uint64_t first = range->low >> shift, parts = (range->high >> shift) - first;
    size_t i, count;

    memset(counts, 0, PARTS * sizeof *counts);
    begin_pass(&pass, runs, order);
    while ((count = next_block(&pass)) != 0) {
        for (i = 0; i < count; i++) {
            uint64_t part = (pass.keys[i] >> shift) - first;
            if (part <= parts)
                counts[part]++;
        }
    }
}

/* The two ranks are in two parts: the greatest key of the one and the least of the other. */
static void find_neighbours(const struct clr_run *runs, enum order order, uint64_t first_end,
                            uint64_t second_start, struct range *range)
{
    struct pass pass;
    uint64_t found = 0, next = UINT64_MAX;
    size_t i, count;

    begin_pass(&pass, runs, order);
    while ((count = next_block(&pass)) != 0) {
        for (i = 0; i < count; i++) {
            uint64_t key = pass.keys[i];
            if (key <= first_end && key > found)
                found = key;
            if (key >= second_start && key < next)
                next = key;
        }
    }
    range->found = found;
    range->next = next;
}

/* Narrows the range to the part of it in which the ranks are; returns true if they are found. */
static bool narrow(const struct clr_run *runs, enum order order, struct range *range)
{
    uint64_t counts[PARTS], base, low, high;
    int shift = shift_of(range);
    size_t part = 0, next;

    count_parts(runs, order, range, shift, counts);
    while (range->rank >= counts[part])
        range->rank -= counts[part++];
    base = range->low >> shift;
    next = part;
    if (range->has_next && range->rank + 1 == counts[part]) {
        for (next = part + 1; counts[next] == 0; next++)
            continue;
        find_neighbours(runs, order, ((base + part + 1) << shift) - 1, (base + next) << shift,
                        range);
        return true;
    }
    low = (base + part) << shift;
    high = low | (((uint64_t)1 << shift) - 1);
    /* The first and the last part may stick out of the range before. */
    range->low = low > range->low ? low : range->low;
    range->high = high < range->high ? high : range->high;
    range->count = counts[part];
    range->found = range->next = range->low;
    return range->low == range->high;
}

/* Gathers the keys of the range and sorts them. */
static enum clr_code sort_rest(const struct clr_run *runs, enum order order, struct range *range)
{
    uint64_t few[2 * CLR_INSERTION_LIMIT], *keys = few, kept = 0;
    struct pass pass;
    size_t i, count;

    if (range->count > CLR_INSERTION_LIMIT)
        keys = clr_memory_alloc(2 * range->count * sizeof *keys);
    if (keys == NULL)
        return CLR_NOMEM;
    begin_pass(&pass, runs, order);
    /* Kept without a branch that depends on the key: there is room for one past the last. */
    while (kept < range->count && (count = next_block(&pass)) != 0) {
        for (i = 0; i < count; i++) {
            keys[kept] = pass.keys[i];
            kept += pass.keys[i] - range->low <= range->high - range->low;
        }
    }
    clr_radix_sort(keys, keys + range->count, range->count);
    range->found = keys[range->rank];
    range->next = keys[range->rank + range->has_next];
    if (keys != few)
        clr_memory_free(keys);
    return CLR_OK;
}

/* Takes keys at equal distances, as far as there are so many, from all runs; sorts them, with
   scratch behind them. Returns how many there are. */
static size_t take_sample(const struct clr_run *runs, enum order order, uint64_t total,
                          uint64_t *keys)
{
    uint64_t step = total / SAMPLE, start = 0, next = 0;
    size_t count = 0;
    struct pass pass;

    for (; runs != NULL; start += runs->count, runs = runs->next) {
        struct clr_run one = *runs;
        for (; next < start + runs->count && count < SAMPLE; next += step) {
            one.values = (const int64_t *)runs->values + (next - start);
            one.count = 1;
            one.next = NULL;
            begin_pass(&pass, &one, order);
            next_block(&pass);
            keys[count++] = pass.keys[0];
        }
    }
    clr_radix_sort(keys, keys + SAMPLE, count);
    return count;
}

/*
 * Tries to find the ranks in one pass: a sample tells a small range in which they very likely are.
 * Returns whether they were there, and in few enough keys to gather.
 *
 * Source: Floyd and Rivest, "Expected time bounds for selection", CACM 18 (1975).
 */
static bool try_sample(const struct clr_run *runs, enum order order, uint64_t total,
                       struct range *range)
{
    const uint64_t room = total / GATHERED_SHARE;
    uint64_t below = 0, kept = 0, low, high, *keys = clr_memory_alloc(2 * room * sizeof *keys);
    size_t samples, place, i, count;
    struct pass pass;
    bool found = false;

    if (keys == NULL)
        return false;
    samples = take_sample(runs, order, total, keys);
    place = (size_t)((double)range->rank / (double)total * (double)samples);
    low = place < MARGIN ? 0 : keys[place - MARGIN];
    high = place + MARGIN + 1 >= samples ? UINT64_MAX : keys[place + MARGIN + 1];
    begin_pass(&pass, runs, order);
    while (kept + BLOCK <= room && (count = next_block(&pass)) != 0) {
        for (i = 0; i < count; i++) {
            below += pass.keys[i] < low;
            keys[kept] = pass.keys[i];
            kept += pass.keys[i] - low <= high - low;
        }
    }
    if (pass.run == NULL && range->rank >= below && range->rank - below + range->has_next < kept) {
        clr_radix_sort(keys, keys + room, kept);
        range->found = keys[range->rank - below];
        range->next = keys[range->rank - below + range->has_next];
        found = true;
    }
    clr_memory_free(keys);
    return found;
}

/* Of numbers of both types with one floor key, which may be a few INTEGERs and a REAL: the one of
   the rank among all. */
static struct clr_value find_mixed(const struct clr_run *runs, uint64_t key, uint64_t rank)
{
    uint64_t tails[CLR_KEY_TAILS] = {0}, below = 0, tail = 0;
    struct pass pass;
    size_t i, count;

    begin_pass(&pass, runs, MIXED);
    while ((count = next_block(&pass)) != 0) {
        const int64_t *integers = pass.run->kind == CLR_KIND_INTEGER
                                      ? (const int64_t *)pass.run->values + pass.position - count
                                      : NULL;
        for (i = 0; i < count; i++) {
            below += pass.keys[i] < key;
            if (pass.keys[i] == key)
                tails[integers != NULL ? clr_integer_tail(integers[i], key) : 0]++;
        }
    }
    rank -= below;
    while (rank >= tails[tail])
        rank -= tails[tail++];
    return clr_place_to_value((clr_u128)key << 64 | tail);
}

static struct clr_value value_of(const struct clr_run *runs, enum order order, uint64_t key,
                                 uint64_t rank)
{
    struct clr_value value = {.kind = CLR_KIND_REAL};

    if (order == INTEGERS) {
        value.kind = CLR_KIND_INTEGER;
        value.as.integer = clr_key_to_integer(key);
        return value;
    }
    value.as.real = clr_key_to_double(key);
    /* Below 2^53 every INTEGER is a double. */
    if (order == MIXED && (value.as.real >= 0x1p53 || value.as.real < -0x1p53))
        return find_mixed(runs, key, rank);
    return value;
}

enum clr_code clr_select(const struct clr_run *runs, uint64_t rank, struct clr_value found[2])
{
    const enum order order = order_of(runs);
    const uint64_t total = clr_runs_count(runs);
    struct range range = {0, UINT64_MAX, total, rank, rank + 1 < total, 0, 0};
    uint64_t enough = total / GATHERED_SHARE > FEW ? total / GATHERED_SHARE : FEW;
    bool done = false;

    if (total / GATHERED_SHARE >= 2 * SAMPLE)
        done = try_sample(runs, order, total, &range);
    if (!done && total > FEW) {
        find_range(runs, order, &range);
        range.found = range.next = range.low;
        done = range.low == range.high;
        while (!done && range.count > enough)
            done = narrow(runs, order, &range);
    }
    if (!done && sort_rest(runs, order, &range) != CLR_OK)
        return CLR_NOMEM;
    found[0] = value_of(runs, order, range.found, rank);
    found[1] = found[0];
    if (rank + 1 < total)
        found[1] = value_of(runs, order, range.next, rank + 1);
    return CLR_OK;
}

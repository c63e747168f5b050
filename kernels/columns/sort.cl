/*
 * Sorts a column's values as keys: signed integers in their order, see clr_real_to_key() in
 * ext/numeric/values/value.h. A radix sort from the lowest digit up, 8 bits at a time, each pass in
 * three kernels: every group counts the digits of its span of keys, the counts are summed up over
 * the digits and groups before, and every group takes its keys to where those sums say. A group's
 * span is `span` keys; a launch has the groups from number `first` on, so that a pass may be split.
 * No group waits for another one, which OpenCL has no promise for (1.2, 3.4.3).
 *
 * Follows loads.cl. Any number of keys below 2^32, of groups and of work-items a group; no size
 * need be a power of two.
 *
 * Defined by the host: CPU (1: groups have one work-item), DOUBLES (1: the device has exact ones),
 * KEYS_PER_ITEM.
 */
enum { DIGITS = 256, LANES = 32 };

#if CPU
#define COUNT(counter) ((void)(counter)++)
#else
#define COUNT(counter) ((void)atomic_inc(&(counter)))
#endif

/* What all keys are like: differing has the bits in which any two of them differ. */
typedef struct {
    long least, greatest;
    ulong differing;
} extent;

/* Runs of equal keys: how many, and of the longest ones the first. */
typedef struct {
    ulong distinct, length;
    long key;
} runs;

/* A group's part of the keys. */
#define SPAN_BEGIN(first, span) (((first) + get_group_id(0)) * (span))
#define SPAN_END(begin, span, count) min((begin) + (span), count)

/* Leaves what all of the group have in work-item 0's variable. */
#define MERGE_IN_GROUP(mine, scratch, merge)                                                       \
    for (uint live = get_local_size(0), middle; live > 1; live = middle) {                         \
        middle = (live + 1) / 2;                                                                   \
        scratch[get_local_id(0)] = mine;                                                           \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        if (get_local_id(0) + middle < live)                                                       \
            merge(&mine, scratch[get_local_id(0) + middle]);                                       \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
    }

/* Returns the sum of what the work-items before have, and stores that of all. scratch has room for
   two numbers of each. */
uint scan_group(uint mine, __local uint *scratch, uint *total)
{
    uint item = get_local_id(0), items = get_local_size(0), sum = mine;
    __local uint *sums = scratch, *other = scratch + items;

    sums[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < items; step *= 2) {
        __local uint *read = sums;
        sum += item >= step ? read[item - step] : 0;
        sums = other;
        other = read;
        sums[item] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    *total = sums[items - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum - mine;
}

long key_of(long bits, uint real)
{
    return real ? bits ^ ((bits >> 63) & LONG_MAX) : bits;
}

void extent_merge(extent *a, extent b)
{
    a->least = min(a->least, b.least);
    a->greatest = max(a->greatest, b.greatest);
    a->differing |= b.differing;
}

/* Makes keys of a column's values (bytes to reciprocal: as in loads.cl; real: bits of doubles), and
   what each group's are like, compared with the column's first. */
__kernel void sort_begin(__global const void *values, uint bytes, long least, long power,
                         ulong reciprocal, uint real, ulong count, ulong span, ulong first,
                         __global long *keys, __global extent *result, __local extent *scratch)
{
    ulong begin = SPAN_BEGIN(first, span), end = SPAN_END(begin, span, count);
    column from = {values, bytes, least, power, reciprocal};
    long any = key_of(load_value(&from, 0), real);
    extent mine = {any, any, 0};

    for (ulong i = begin + get_local_id(0); i < end; i += get_local_size(0)) {
        long key = key_of(load_value(&from, i), real);
        extent one = {key, key, (ulong)(key ^ any)};
        keys[i] = key;
        extent_merge(&mine, one);
    }
    MERGE_IN_GROUP(mine, scratch, extent_merge)
    if (get_local_id(0) == 0)
        result[first + get_group_id(0)] = mine;
}

/* The digit of a pass: of the distance from the least key, whose upper digits are mostly 0. */
uint digit_of(long key, long least, uint shift)
{
    return (uint)(((ulong)key - (ulong)least) >> shift) & (DIGITS - 1);
}

/* Counters of a digit, for neighbouring work-items, since those of one counter take turns; and the
   keys of a work-item that are on their way from memory at a time. */
#if CPU
enum { COUNTERS = 1, LOADS = 1 };
#else
enum { COUNTERS = 8, LOADS = 4 };
#endif

/* counts: of all groups for digit 0, of all groups for digit 1, and so on. */
__kernel void sort_count(__global const long *keys, ulong count, long least, uint shift, ulong span,
                         ulong first, ulong groups, __global uint *counts)
{
    __local uint histogram[DIGITS * COUNTERS];
    ulong begin = SPAN_BEGIN(first, span), end = SPAN_END(begin, span, count);
    uint item = get_local_id(0), items = get_local_size(0);

    for (uint i = item; i < DIGITS * COUNTERS; i += items)
        histogram[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong start = begin + item; start < end; start += LOADS * items) {
        long loaded[LOADS];
        for (uint k = 0; k < LOADS; k++)
            loaded[k] = keys[min(start + k * items, end - 1)];
        for (uint k = 0; k < LOADS; k++) {
            if (start + k * items < end)
                COUNT(histogram[digit_of(loaded[k], least, shift) * COUNTERS + item % COUNTERS]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint digit = item; digit < DIGITS; digit += items) {
        uint sum = 0;
        for (uint i = 0; i < COUNTERS; i++)
            sum += histogram[digit * COUNTERS + i];
        counts[digit * groups + first + get_group_id(0)] = sum;
    }
}

/* Turns a digit's counts into the sums of those before; a work-group for each digit. totals: of
   the digits. */
__kernel void sort_scan(__global uint *counts, ulong groups, __global uint *totals,
                        __local uint *scratch)
{
    __global uint *row = counts + get_group_id(0) * groups;
    uint sum = 0, total;

    for (ulong start = 0; start < groups; start += get_local_size(0)) {
        ulong i = start + get_local_id(0);
        uint mine = i < groups ? row[i] : 0;
        uint before = scan_group(mine, scratch, &total);
        if (i < groups)
            row[i] = sum + before;
        sum += total;
    }
    if (get_local_id(0) == 0)
        totals[get_group_id(0)] = sum;
}

/* Stores where the group's first key of each digit goes. */
void find_places(__global const uint *counts, ulong groups, ulong group,
                 __global const uint *totals, __local uint *next, __local uint *scratch)
{
    uint sum = 0, total;

    for (uint start = 0; start < DIGITS; start += get_local_size(0)) {
        uint digit = start + get_local_id(0);
        uint mine = digit < DIGITS ? totals[digit] : 0;
        uint before = scan_group(mine, scratch, &total);
        if (digit < DIGITS)
            next[digit] = sum + before + counts[digit * groups + group];
        sum += total;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

#if !CPU
/*
 * A tile is sorted by a digit in local memory. Each LANES work-items are a row, which has a run of
 * the tile's keys, LANES of them at a time: the work-items of those that have the same digit leave
 * their bits in one mask, and each of them sees how many come before it there.
 */
typedef struct {
    uint row, bit;
    uint first, step; /* where in the tile the work-item's first key lies, and how far the next */
    uint stride;      /* a digit's counters: one for each row; odd, so that banks differ */
} part;

part part_of_item(void)
{
    uint item = get_local_id(0), items = get_local_size(0), row = item / LANES;
    part mine = {row, 1u << item % LANES, row * LANES * KEYS_PER_ITEM + item % LANES,
                 min((uint)LANES, items - row * LANES), (items + LANES - 1) / LANES | 1};

    return mine;
}

/*
 * Stores how many of the row's keys before each of the work-item's have its digit; counts are, in
 * the end, those of all the row's keys. counts and masks are 0 before.
 *
 * GPUs' compilers unroll the loops over k by themselves, so that the arrays are registers. PoCL 3.1
 * makes wrong code if it is told to.
 */
void rank_in_row(const long *keys, part mine, uint live, long least, uint shift,
                 __local uint *counts, __local uint *masks, uint *ranks)
{
    for (uint k = 0; k < KEYS_PER_ITEM; k++) {
        bool there = mine.first + k * mine.step < live;
        uint counter = digit_of(keys[k], least, shift) * mine.stride + mine.row;
        uint same, before;

        if (there)
            atomic_or(&masks[counter], mine.bit);
        barrier(CLK_LOCAL_MEM_FENCE);
        same = masks[counter];
        before = same & (mine.bit - 1);
        ranks[k] = counts[counter] + popcount(before);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (there && before == 0) {
            counts[counter] += popcount(same);
            masks[counter] = 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* Turns counters into the sums of those before. */
void scan_counters(__local uint *counters, uint count, __local uint *scratch)
{
    uint own = (count + get_local_size(0) - 1) / get_local_size(0);
    uint begin = min(own * (uint)get_local_id(0), count), end = min(begin + own, count);
    uint sum = 0, total;

    for (uint i = begin; i < end; i++)
        sum += counters[i];
    sum = scan_group(sum, scratch, &total);
    for (uint i = begin; i < end; i++) {
        uint here = counters[i];
        counters[i] = sum;
        sum += here;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/*
 * Takes the `live` keys of a tile to target, those of digit d to next[d] and on, which is
 * increased. room: first for the counters and their masks, then for the tile's keys. offsets: for
 * DIGITS.
 */
void scatter_tile(__global const long *source, uint live, long least, uint shift,
                  __global long *target, __local uint *next, __local uint *offsets,
                  __local long *room, __local uint *scratch)
{
    uint item = get_local_id(0), items = get_local_size(0);
    part mine = part_of_item();
    uint counters = DIGITS * mine.stride;
    __local uint *counts = (__local uint *)room;
    long keys[KEYS_PER_ITEM];
    uint ranks[KEYS_PER_ITEM];

    for (uint k = 0; k < KEYS_PER_ITEM; k++)
        keys[k] = source[min(mine.first + k * mine.step, live - 1)];
    for (uint i = item; i < 2 * counters; i += items)
        counts[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    rank_in_row(keys, mine, live, least, shift, counts, counts + counters, ranks);
    scan_counters(counts, counters, scratch);
    for (uint k = 0; k < KEYS_PER_ITEM; k++)
        ranks[k] += counts[digit_of(keys[k], least, shift) * mine.stride + mine.row];
    for (uint digit = item; digit < DIGITS; digit += items) {
        uint begin = counts[digit * mine.stride];
        uint end = digit + 1 < DIGITS ? counts[(digit + 1) * mine.stride] : live;
        offsets[digit] = next[digit] - begin;
        next[digit] += end - begin;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < KEYS_PER_ITEM; k++) {
        if (mine.first + k * mine.step < live)
            room[ranks[k]] = keys[k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < live; i += items)
        target[offsets[digit_of(room[i], least, shift)] + i] = room[i];
    barrier(CLK_LOCAL_MEM_FENCE);
}
#endif

/*
 * Takes the keys to their places in target, those of one digit in the order that they had. On a GPU
 * a tile at a time, sorted in local memory first, so that neighbours mostly go to neighbours.
 */
__kernel void sort_scatter(__global const long *source, ulong count, long least, uint shift,
                           ulong span, ulong first, ulong groups, __global const uint *counts,
                           __global const uint *totals, __global long *target, __local long *room,
                           __local uint *scratch)
{
    __local uint next[DIGITS];
    ulong begin = SPAN_BEGIN(first, span), end = SPAN_END(begin, span, count);

    find_places(counts, groups, first + get_group_id(0), totals, next, scratch);
#if CPU
    for (ulong i = begin; i < end; i++) {
        long key = source[i];
        target[next[digit_of(key, least, shift)]++] = key;
    }
#else
    __local uint offsets[DIGITS];
    uint tile = get_local_size(0) * KEYS_PER_ITEM;

    for (ulong start = begin; start < end; start += tile)
        scatter_tile(source + start, (uint)min(end - start, (ulong)tile), least, shift, target,
                     next, offsets, room, scratch);
#endif
}

/* The key as runs have it: -0.0 is equal to +0.0. */
long run_key(long key, uint real)
{
    return real && key == -1 ? 0 : key;
}

void runs_merge(runs *a, runs b)
{
    a->distinct += b.distinct;
    if (b.length > a->length || (b.length == a->length && b.key < a->key)) {
        a->length = b.length;
        a->key = b.key;
    }
}

/* Returns how many keys from number `begin` on are equal to it; `known` (1 and up) of them are. */
ulong run_length(__global const long *keys, ulong count, uint real, ulong begin, ulong known)
{
    long key = run_key(keys[begin], real);
    ulong low = begin + known - 1, high, step = 1;

    for (; step < count - low && run_key(keys[low + step], real) == key; step *= 2)
        low += step;
    high = min(low + step, count);
    while (high - low > 1) {
        ulong middle = low + (high - low) / 2;
        if (run_key(keys[middle], real) == key)
            low = middle;
        else
            high = middle;
    }
    return high - begin;
}

/* The runs of sorted keys that begin in each group's span. */
__kernel void sort_runs(__global const long *keys, uint real, ulong count, ulong span, ulong first,
                        __global runs *result, __local runs *scratch)
{
    ulong begin = SPAN_BEGIN(first, span), end = SPAN_END(begin, span, count);
    runs mine = {0, 0, 0};

    for (ulong i = begin + get_local_id(0); i < end; i += get_local_size(0)) {
        long key = run_key(keys[i], real);
        if (i > 0 && run_key(keys[i - 1], real) == key)
            continue;
        mine.distinct++;
        /* One look tells that most runs are no longer than the longest so far. */
        if (mine.length < count - i && run_key(keys[i + mine.length], real) == key) {
            mine.length = run_length(keys, count, real, i, mine.length + 1);
            mine.key = key;
        }
    }
    MERGE_IN_GROUP(mine, scratch, runs_merge)
    if (get_local_id(0) == 0)
        result[first + get_group_id(0)] = mine;
}

/* Stores the keys of some ranks. */
__kernel void sort_find(__global const long *keys, __global const ulong *ranks, uint count,
                        __global long *found)
{
    for (uint i = get_global_id(0); i < count; i += get_global_size(0))
        found[i] = keys[ranks[i]];
}

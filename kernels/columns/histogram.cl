/*
 * Counts a column's values by bins. What bins are is said by the first key of each, in order: keys
 * are signed integers, see clr_real_to_key() in ext/numeric/values/value.h, so that only integers
 * are compared, and a value's slot is the number of first keys that are not above its own. Where a
 * guess in doubles is good (struct clr_bin_bounds in ext/numeric/bins/bin_bounds.h says what that
 * means), one comparison finds it, else a search.
 *
 * Follows loads.cl, whose column says how the values lie there. A launch goes through the
 * values from number `begin` on up to `end`, fewer than 2^32, and adds to
 * the counts, one for each slot. Any number of groups and of work-items a group.
 *
 * Defined by the host: DOUBLES (1: the device has exact ones), LOADS (values that a work-item loads
 * before it counts the first of them).
 */

/* What is constant in a kernel, or in a branch of it, is to be so in its loops; and what is behind
   a pointer is to be in registers. */
#define INLINE static inline __attribute__((always_inline))

/* How slots are found: by a search, or by a guess for values of a type. */
enum { BY_SEARCH, BY_REAL, BY_INTEGER };

/* What is known of the bins: count first keys, in the group's memory if it has them, and the guess,
   of which scale and offset are the bits of doubles. */
typedef struct {
    bool in_group;
    __local const long *own_firsts;
    __global const long *firsts;
    uint count, real;
    long origin;
    ulong scale, offset;
} bounds;

#define FIRST(by, i) ((by)->in_group ? (by)->own_firsts[i] : (by)->firsts[i])

INLINE long key_of(long bits, uint real)
{
    return real ? bits ^ ((bits >> 63) & LONG_MAX) : bits;
}

#if DOUBLES
/* The slot is this or one more. */
INLINE uint guess_slot(const bounds *by, uint method, long bits)
{
    double distance = 0.0;

    if (method == BY_REAL)
        distance = as_double(bits) - as_double(by->origin);
    else if (bits > by->origin)
        distance = convert_double((ulong)bits - (ulong)by->origin);
    return min(convert_uint_sat_rtz(distance * as_double(by->scale) + as_double(by->offset)),
               by->count - 1);
}
#endif

/* All values take the same steps, so that neighbours stay together. */
INLINE uint search_slot(const bounds *by, long key)
{
    uint slot = 0, step;

    for (uint rest = by->count; rest > 0; rest -= step) {
        step = (rest + 1) / 2;
        slot += FIRST(by, slot + step - 1) <= key ? step : 0;
    }
    return slot;
}

INLINE uint find_slot(const bounds *by, uint method, long bits)
{
#if DOUBLES
    if (method != BY_SEARCH) {
        uint guess = guess_slot(by, method, bits);
        return guess + (FIRST(by, guess) <= key_of(bits, method == BY_REAL));
    }
#endif
    return search_slot(by, key_of(bits, by->real));
}

/*
 * Where a work-item counts: in the group's memory, in its copy of the counters, so that neighbours
 * do not wait for each other; or in that of all, where it adds up values of one slot that follow
 * each other first, since many items may have the same.
 */
typedef struct {
    __local uint *counters; /* those of its copy, `copies` apart */
    uint copies;
    __global uint *counts;
    uint slot, run;
} tally;

INLINE void take_slot(const bounds *by, tally *to, uint slot)
{
    if (by->in_group) {
        (void)atomic_inc(&to->counters[slot * to->copies]);
        return;
    }
    if (slot != to->slot) {
        (void)atomic_add(to->counts + to->slot, to->run);
        to->slot = slot;
        to->run = 0;
    }
    to->run++;
}

INLINE void count_by(const bounds *by, uint method, tally *to, const column *from, ulong begin,
                     ulong end)
{
    ulong i = begin + get_global_id(0), stride = get_global_size(0);

    for (; i + (LOADS - 1) * stride < end; i += LOADS * stride) {
        long loaded[LOADS];
        uint slots[LOADS];
        load_values(from, i, stride, LOADS, loaded);
#pragma unroll
        for (uint load = 0; load < LOADS; load++)
            slots[load] = find_slot(by, method, loaded[load]);
#pragma unroll
        for (uint load = 0; load < LOADS; load++)
            take_slot(by, to, slots[load]);
    }
    for (; i < end; i += stride)
        take_slot(by, to, find_slot(by, method, load_value(from, i)));
}

INLINE void count_values(const bounds *by, uint guesses, tally *to, const column *from, ulong begin,
                         ulong end)
{
    if (DOUBLES && guesses && by->real)
        count_by(by, BY_REAL, to, from, begin, end);
    else if (DOUBLES && guesses)
        count_by(by, BY_INTEGER, to, from, begin, end);
    else
        count_by(by, BY_SEARCH, to, from, begin, end);
}

/*
 * Counts in each group's memory first, which has room for the first keys and for `copies` counters
 * of each slot. All copies of a slot's counter follow each other: work-items that are neighbours
 * have theirs in different banks.
 */
__kernel void histogram_in_group(__global const void *values, uint bytes, long least, long power,
                                 ulong reciprocal, ulong begin, ulong end,
                                 __global const long *firsts, uint count, uint real, uint guesses,
                                 long origin, ulong scale, ulong offset, __global uint *counts,
                                 uint copies, __local long *own_firsts, __local uint *counters)
{
    uint item = get_local_id(0), items = get_local_size(0);
    column from = {values, bytes, least, power, reciprocal};
    bounds by = {true, own_firsts, firsts, count, real, origin, scale, offset};
    tally to = {counters + item % copies, copies, counts, 0, 0};

    for (uint i = item; i < count; i += items)
        own_firsts[i] = firsts[i];
    for (uint i = item; i < (count + 1) * copies; i += items)
        counters[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    count_values(&by, guesses, &to, &from, begin, end);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint slot = item; slot <= count; slot += items) {
        uint sum = 0;
        for (uint copy = 0; copy < copies; copy++)
            sum += counters[slot * copies + (item + copy) % copies];
        if (sum != 0)
            (void)atomic_add(counts + slot, sum);
    }
}

/* For more bins than a group's memory has room for. */
__kernel void histogram_in_memory(__global const void *values, uint bytes, long least, long power,
                                  ulong reciprocal, ulong begin, ulong end,
                                  __global const long *firsts, uint count, uint real, uint guesses,
                                  long origin, ulong scale, ulong offset, __global uint *counts)
{
    column from = {values, bytes, least, power, reciprocal};
    bounds by = {false, 0, firsts, count, real, origin, scale, offset};
    tally to = {0, 0, counts, 0, 0};

    count_values(&by, guesses, &to, &from, begin, end);
    (void)atomic_add(counts + to.slot, to.run);
}

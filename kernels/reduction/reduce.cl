/*
 * A reduction: takes values to one partial result a work-group. Follows the operation's file, which
 * defines partial, running and the functions on them, and group.cl.
 *
 * Any number of values, of groups and of work-items a group: nothing need be a power of two.
 *
 * Each work-item's result is merged into its group's by a tree in local memory.
 */
/* Values of each operand that a work-item loads before it adds the first of them. */
#ifndef LOADS
#define LOADS 4
#endif

#if REAL
#define WIDE_BEGIN                                                                                 \
    __local uint wide[WIDE_LOCAL_WORDS];                                                           \
    wide_clear(wide);
#define WIDE_END wide_flush(wide, result);
#else
#define WIDE_BEGIN
#define WIDE_END
#endif

/*
 * x: from its value number `begin` on count values, and at the distance of `second` values from
 * there those of y, if there are two operands (0: x itself, for squares). scratch: a partial result
 * for each work-item. results: from word `place` on what the reduction leaves.
 */
__kernel void reduce(__global const element *x, ulong begin, ulong second, ulong count,
                     __global uint *results, __local partial *scratch, uint place)
{
    __global uint *result = results + place;
    running sum = running_zero();
    partial mine;
    WIDE_BEGIN

    x += begin;
    /* Neighbouring work-items load neighbouring values; several loads are in flight at a time. */
    ulong i = get_global_id(0), step = get_global_size(0);

    for (; i + (LOADS - 1) * step < count; i += LOADS * step) {
        element x_loaded[LOADS], y_loaded[LOADS];
#pragma unroll
        for (uint load = 0; load < LOADS; load++) {
            x_loaded[load] = x[i + load * step];
            y_loaded[load] = OPERANDS == 2 ? x[i + load * step + second] : 0;
        }
#pragma unroll
        for (uint load = 0; load < LOADS; load++)
            running_take(&sum, x_loaded[load], y_loaded[load] WIDE_ARGUMENT);
    }
    for (; i < count; i += step)
        running_take(&sum, x[i], x[i + (OPERANDS - 1) * second] WIDE_ARGUMENT);
    mine = running_finish(sum WIDE_ARGUMENT);
    mine = group_merge(mine, scratch WIDE_ARGUMENT);
    if (get_local_id(0) == 0)
        *(__global partial *)(result + WIDE_RESULT_WORDS + PARTIAL_WORDS * get_group_id(0)) = mine;
    WIDE_END
}

/*
 * The passes of a reduction. The first takes values to one partial result a work-group; the next
 * ones take partial results to fewer of them, until one is left. Follows the operation's file,
 * which defines partial, running and the functions on them, and group.cl.
 *
 * Any number of values, of groups and of work-items a group: nothing need be a power of two.
 *
 * Each work-item's result is merged into its group's by a tree in local memory.
 *
 * All kernels end with these arguments: result, a partial result for each group; scratch, one for
 * each work-item; wide_result, WIDE_WORDS words and those of counts, zero before the first pass, to
 * which every pass adds; results and number, for publish().
 */
/* Values of each operand that a work-item loads before it adds the first of them. */
#ifndef LOADS
#define LOADS 4
#endif

#if REAL
#define WIDE_BEGIN                                                                                 \
    __local uint wide[WIDE_LOCAL_WORDS];                                                           \
    wide_clear(wide);
#define WIDE_END wide_flush(wide, wide_result);
#define PUBLISHED_WORDS WIDE_RESULT_WORDS
#else
#define WIDE_BEGIN
#define WIDE_END
#define PUBLISHED_WORDS 0
#endif

/*
 * x: from its value number `begin` on count values, and at the distance of `second` values from
 * there those of y, if there are two operands (0: x itself, for squares).
 */
__kernel void reduce_first(__global const element *x, ulong begin, ulong second, ulong count,
                           __global partial *result, __local partial *scratch,
                           __global uint *wide_result, __global uint *results, uint number)
{
    WIDE_BEGIN
    running sum = running_zero();
    partial mine;

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
        result[get_group_id(0)] = mine;
    WIDE_END
    publish(get_num_groups(0) == 1, mine, wide_result, PUBLISHED_WORDS,
            results + number * RESULT_WORDS);
}

/* parts: count partial results. */
__kernel void reduce_next(__global const partial *parts, ulong count, __global partial *result,
                          __local partial *scratch, __global uint *wide_result,
                          __global uint *results, uint number)
{
    WIDE_BEGIN
    partial mine = partial_zero();

    for (ulong i = get_global_id(0); i < count; i += get_global_size(0))
        partial_merge(&mine, parts[i] WIDE_ARGUMENT);
    mine = group_merge(mine, scratch WIDE_ARGUMENT);
    if (get_local_id(0) == 0)
        result[get_group_id(0)] = mine;
    WIDE_END
    publish(get_num_groups(0) == 1, mine, wide_result, PUBLISHED_WORDS,
            results + number * RESULT_WORDS);
}

/*
 * A scan: goes through the rows of columns, evaluates expressions, and reduces what they give at
 * once, so that no argument is ever written to memory. Several steps, each with an operation and
 * expressions of its own, share the pass over their columns: a value is loaded once for all of
 * them. Follows the files of the steps' kinds, row.cl for each step, narrow.cl, and the text of
 * ext/opencl/scan/row_text.c, which defines:
 *
 * ROW_FORMALS, ROW_ARGUMENTS: as in row.cl, and what passes them on
 * STEPS: how many steps; FOR_EACH_STEP(X): X(number, kind, width) for each, where the width is WIDE
 * if there is a long accumulator behind the kind, DISTANCES for a sum of those that a narrow column
 * has, from BASE_number, and else NARROW
 * LOADS: rows that a work-item looks at before it takes the first of them
 */
#define WIDE_OF(number) (result + (number)*WIDE_RESULT_WORDS)
#define PARTIAL_OF(number)                                                                         \
    (result + STEPS * WIDE_RESULT_WORDS +                                                          \
     PARTIAL_WORDS * ((number)*get_num_groups(0) + get_group_id(0)))

#define ARGUMENT_WIDE(wide) , wide
#define ARGUMENT_NARROW(wide)
#define ARGUMENT_DISTANCES(wide)

#define BEGIN_WIDE(number)                                                                         \
    __local uint wide##number[WIDE_LOCAL_WORDS];                                                   \
    wide_clear(wide##number)
#define BEGIN_NARROW(number)
#define BEGIN_DISTANCES(number)
#define BEGIN(number, kind, width)                                                                 \
    BEGIN_##width(number);                                                                         \
    running_##kind sum##number = running_zero_##kind();                                            \
    row_counts counts##number = {0, 0, 0};

#define DECLARE(number, kind, width)                                                               \
    element_##kind x##number[LOADS], y##number[LOADS];                                             \
    uint found##number[LOADS];
#define LOOK(number, kind, width)                                                                  \
    found##number[load] =                                                                          \
        look_at_row_##number(ROW_ARGUMENTS i + load * stride, &x##number[load], &y##number[load]);
#define TAKE(number, kind, width)                                                                  \
    count_row(&counts##number, found##number[load]);                                               \
    if (found##number[load] & ROW_TAKEN)                                                           \
        TAKE_##width(number, kind);
#define TAKE_WIDE(number, kind)                                                                    \
    running_take_##kind(&sum##number, x##number[load], y##number[load], wide##number)
#define TAKE_NARROW(number, kind)                                                                  \
    running_take_##kind(&sum##number, x##number[load], y##number[load])
/* 2^32 of them, which are below 2^32, do not leave 64 bits. */
#define TAKE_DISTANCES(number, kind) sum##number.low += x##number[load]

#define COUNT(number, kind, width)                                                                 \
    count_in_group(group_counts + 4 * number, COUNTED, counts##number.counted);                    \
    count_in_group(group_counts + 4 * number, NON_INTEGERS, counts##number.non_integers);          \
    if (counts##number.flags & ROW_UNSURE)                                                         \
        WIDE_OF(number)[COUNTS_START + UNSURE_WORD] = 1;                                           \
    if (counts##number.flags & ROW_INEXACT)                                                        \
        WIDE_OF(number)[COUNTS_START + INEXACT_WORD] = 1;

#define FLUSH_WIDE(number) wide_flush(wide##number, WIDE_OF(number))
#define FLUSH_NARROW(number)
#define FLUSH_DISTANCES(number)
#define ADD_BASES_WIDE(number, kind)
#define ADD_BASES_NARROW(number, kind)
#define ADD_BASES_DISTANCES(number, kind)                                                          \
    running_add_times_##kind(&sum##number, BASE_##number,                                          \
                             counts##number.counted - counts##number.non_integers)
#define END(number, kind, width)                                                                   \
    ADD_BASES_##width(number, kind);                                                               \
    partial_##kind mine##number =                                                                  \
        group_merge_##kind(running_finish_##kind(sum##number ARGUMENT_##width(wide##number)),      \
                           (__local partial_##kind *)scratch ARGUMENT_##width(wide##number));      \
    if (get_local_id(0) == 0) {                                                                    \
        *(__global partial_##kind *)PARTIAL_OF(number) = mine##number;                             \
        add_group_counts(group_counts + 4 * number, WIDE_OF(number) + COUNTS_START);               \
    }                                                                                              \
    FLUSH_##width(number);

void add_group_counts(__local uint *group_counts, __global uint *counts)
{
    for (uint count = 0; count < 2; count++)
        count_in_result(counts, count,
                        (ulong)group_counts[2 * count + 1] << 32 | group_counts[2 * count]);
}

/*
 * Takes count rows from row `first` on. scratch: room for a partial result of each work-item.
 * results: from word `place` on what the reductions leave, of all steps what groups add to and then
 * their partial results: see group.cl.
 */
__kernel void scan(ROW_FORMALS ulong first, ulong count, __global uint *results,
                   __local ulong *scratch, uint place)
{
    __global uint *result = results + place;
    __local uint group_counts[4 * STEPS];
    uint load;
    FOR_EACH_STEP(BEGIN)
#if WHOLE
    whole_frame frame = {WHOLE_FRAME};
    take_whole(&sum0, &counts0, v0 + first, frame, count WHOLE_WIDE);
#else
    ulong i = first + get_global_id(0), end = first + count, stride = get_global_size(0);

    for (; i + (LOADS - 1) * stride < end; i += LOADS * stride) {
        FOR_EACH_STEP(DECLARE)
#pragma unroll
        for (load = 0; load < LOADS; load++) {
            FOR_EACH_STEP(LOOK)
        }
#pragma unroll
        for (load = 0; load < LOADS; load++) {
            FOR_EACH_STEP(TAKE)
        }
    }
    for (load = 0; i < end; i += stride) {
        FOR_EACH_STEP(DECLARE)
        FOR_EACH_STEP(LOOK)
        FOR_EACH_STEP(TAKE)
    }
#endif
    for (load = get_local_id(0); load < 4 * STEPS; load += get_local_size(0))
        group_counts[load] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_EACH_STEP(COUNT)
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_EACH_STEP(END)
}

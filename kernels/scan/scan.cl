/*
 * A scan: goes through the rows of columns, evaluates expressions, and reduces what they give at
 * once, so that no argument is ever written to memory. Several steps, each with an operation and
 * expressions of its own, share the pass over their columns: a value is loaded once for all of
 * them. Follows the files of the steps' kinds, row.cl for each step, narrow.cl, filter.cl, and the
 * text of ext/opencl/scan/row_text.c, which defines:
 *
 * ROW_FORMALS: the columns' and lookups' buffers and the constants' bits, each followed by a comma
 * ROW_ARGUMENTS: what passes on a row's values, and these, as ROW_VALUES
 * STEPS: how many steps; FOR_EACH_STEP(X): X(number, kind, width) for each, where the width is WIDE
 * if there is a long accumulator behind the kind, DISTANCES for a sum of those that a narrow column
 * has, from BASE_number, and else NARROW
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

#define DOUBT(number, kind, width) counts##number.flags |= ROW_UNSURE;
#define LOOK_AND_TAKE(number, kind, width)                                                         \
    {                                                                                              \
        element_##kind x, y;                                                                       \
        uint found = look_at_row_##number(ROW_ARGUMENTS & x, &y);                                  \
        count_row(&counts##number, found);                                                         \
        if (found & ROW_TAKEN)                                                                     \
            TAKE_##width(number, kind);                                                            \
    }
#define TAKE_WIDE(number, kind) running_take_##kind(&sum##number, x, y, wide##number)
#define TAKE_NARROW(number, kind) running_take_##kind(&sum##number, x, y)
/* 2^32 of them, which are below 2^32, do not leave 64 bits. */
#define TAKE_DISTANCES(number, kind) sum##number.low += x

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
    FOR_EACH_STEP(BEGIN)
#if WHOLE
    whole_frame frame = {WHOLE_FRAME};
    take_whole(&sum0, &counts0, v0 + first, frame, count WHOLE_WIDE);
#else
    BEGIN_ROWS(first, first + count, get_group_id(0) * get_local_size(0), get_global_size(0))

    FOR_EACH_BATCH
    {
        BEGIN_BATCH
        if (in_doubt) {
            FOR_EACH_STEP(DOUBT)
        }
#if !QUEUED
#pragma unroll
#endif
        FOR_EACH_ROUND
        {
            BEGIN_ROUND
            if (has_row) {
                LOAD_ROW
                FOR_EACH_STEP(LOOK_AND_TAKE)
            }
        }
        END_BATCH
    }
#endif
    for (uint word = get_local_id(0); word < 4 * STEPS; word += get_local_size(0))
        group_counts[word] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_EACH_STEP(COUNT)
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_EACH_STEP(END)
}

/*
 * What a work-group does with its work-items' results. Follows the operation's file, which defines
 * partial and the functions on it.
 */
/* Leaves the group's result in work-item 0. */
partial group_merge(partial mine, __local partial *scratch WIDE_FORMAL)
{
    uint item = get_local_id(0), live = get_local_size(0);

    while (live > 1) {
        uint middle = (live + 1) / 2;
        scratch[item] = mine;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item + middle < live)
            partial_merge(&mine, scratch[item + middle] WIDE_ARGUMENT);
        barrier(CLK_LOCAL_MEM_FENCE);
        live = middle;
    }
    return mine;
}

/*
 * A result: a partial result, the long accumulator, and the counts of counts.cl: see
 * ext/opencl/reduction/passes.h.
 */
#define PARTIAL_WORDS 8
#define COUNT_WORDS 6
#define WIDE_RESULT_WORDS (2 * DIGITS + 4 + COUNT_WORDS)
#define RESULT_WORDS (PARTIAL_WORDS + WIDE_RESULT_WORDS)

/*
 * For a last pass, of a single group, whose result is work-item 0's: puts all that belongs to the
 * result together, and zeroes so many words of wide_result for the next reduction. What other
 * kernels and this group have added to them is seen by atomics. Without a branch around the
 * barrier, which PoCL may make wrong code of.
 */
void publish(int is_last, partial mine, __global uint *wide_result, uint words,
             __global uint *result)
{
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (uint i = get_local_id(0); is_last && i < words; i += get_local_size(0))
        result[PARTIAL_WORDS + i] = atomic_xchg(wide_result + i, 0);
    if (is_last && get_local_id(0) == 0)
        *(__global partial *)result = mine;
}

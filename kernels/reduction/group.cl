/*
 * What a work-group does with its work-items' results. Follows the operation's file, which defines
 * partial and the functions on it.
 */

/* The long accumulator, which those functions take where they are of REALs: there is none behind
   integers and extremes. */
#undef WIDE_ARGUMENT
#undef WIDE_FORMAL
#if REAL
#define WIDE_ARGUMENT , wide
#define WIDE_FORMAL , __local uint *wide
#else
#define WIDE_ARGUMENT
#define WIDE_FORMAL

/* What these keep of their values is a partial result at any time. */
running running_zero(void)
{
    return partial_zero();
}

partial running_finish(running sum)
{
    return sum;
}
#endif

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
 * What a reduction leaves: the long accumulator and the counts of counts.cl, to which all groups
 * add, and which are zero before; and a partial result of each group, which the host merges: see
 * ext/opencl/reduction/passes.h. In words.
 */
#define PARTIAL_WORDS 8
#define COUNT_WORDS 6
#define WIDE_RESULT_WORDS (2 * DIGITS + 4 + COUNT_WORDS)

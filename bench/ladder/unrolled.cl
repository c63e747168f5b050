/*
 * Rung 6: the group's size is known when the kernel is compiled, so the whole tree is written out
 * (by templates in CUDA, by macros here).
 *
 * Corrected: as rung 5; and groups larger than 512, which the published text stops at.
 */
__kernel void rung(__global const ELEMENT *x, ulong count, __global ELEMENT *result)
{
    __local volatile ELEMENT scratch[GROUP];
    uint item = get_local_id(0);
    ulong first = (ulong)get_group_id(0) * (2 * GROUP) + item;

    scratch[item] = COMBINE(LOAD(first), LOAD(first + GROUP));
    barrier(CLK_LOCAL_MEM_FENCE);
    WHOLE_TREE
    if (item == 0)
        result[get_group_id(0)] = scratch[0];
}

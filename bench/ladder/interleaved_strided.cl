/*
 * Rung 2: the same tree, but the work-items that are busy are the first ones, so that warps are
 * busy as a whole or not at all. Teaches the next trouble: work-items a power of two apart meet in
 * the same bank of local memory.
 *
 * Corrected: as rung 1; and the index is compared before it is used, without overflow.
 */
__kernel void rung(__global const ELEMENT *x, ulong count, __global ELEMENT *result)
{
    __local ELEMENT scratch[GROUP];
    uint item = get_local_id(0), distance;

    scratch[item] = LOAD(get_global_id(0));
    barrier(CLK_LOCAL_MEM_FENCE);
    for (distance = 1; distance < GROUP; distance *= 2) {
        uint index = 2 * distance * item;
        if (index + distance < GROUP)
            scratch[index] = COMBINE(scratch[index], scratch[index + distance]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0)
        result[get_group_id(0)] = scratch[0];
}

/*
 * Rung 4: each work-item combines two values while it loads them: half as many groups, and none of
 * their work-items is idle from the start.
 *
 * Corrected: the second load, which the published kernel leaves unchecked, may lie past the end.
 */
__kernel void rung(__global const ELEMENT *x, ulong count, __global ELEMENT *result)
{
    __local ELEMENT scratch[GROUP];
    uint item = get_local_id(0), distance;
    ulong first = (ulong)get_group_id(0) * (2 * GROUP) + item;

    scratch[item] = COMBINE(LOAD(first), LOAD(first + GROUP));
    barrier(CLK_LOCAL_MEM_FENCE);
    for (distance = GROUP / 2; distance > 0; distance /= 2) {
        GROUP_STEP(distance)
    }
    if (item == 0)
        result[get_group_id(0)] = scratch[0];
}

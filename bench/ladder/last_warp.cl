/*
 * Rung 5: the last six steps of the tree concern one warp only: they are written out, without a
 * loop and without the group's barriers.
 *
 * Corrected: the published kernel has no synchronisation at all there and counts on lockstep, at
 * best with `volatile`; later devices run the work-items of a warp apart, and other devices have no
 * warps of 32. See WARP_STEP.
 */
__kernel void rung(__global const ELEMENT *x, ulong count, __global ELEMENT *result)
{
    __local volatile ELEMENT scratch[GROUP];
    uint item = get_local_id(0), distance;
    ulong first = (ulong)get_group_id(0) * (2 * GROUP) + item;

    scratch[item] = COMBINE(LOAD(first), LOAD(first + GROUP));
    barrier(CLK_LOCAL_MEM_FENCE);
    for (distance = GROUP / 2; distance >= WARP; distance /= 2) {
        GROUP_STEP(distance)
    }
    LAST_WARP
    if (item == 0)
        result[get_group_id(0)] = scratch[0];
}

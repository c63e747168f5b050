/*
 * Rung 1: a tree over neighbours. Teaches what not to do: `item % (2 * distance)` leaves fewer and
 * fewer work-items busy in every warp, and a modulo is dear.
 *
 * Corrected: published copies start the loop at 0 and multiply, which never ends; load past the
 * end of the values where they do not fill the last group; and miss the barrier after the load.
 */
__kernel void rung(__global const ELEMENT *x, ulong count, __global ELEMENT *result)
{
    __local ELEMENT scratch[GROUP];
    uint item = get_local_id(0), distance;

    scratch[item] = LOAD(get_global_id(0));
    barrier(CLK_LOCAL_MEM_FENCE);
    for (distance = 1; distance < GROUP; distance *= 2) {
        if (item % (2 * distance) == 0)
            scratch[item] = COMBINE(scratch[item], scratch[item + distance]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0)
        result[get_group_id(0)] = scratch[0];
}

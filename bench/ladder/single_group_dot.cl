/*
 * Rung 9: the dot product of the primers: a single group multiplies, keeps the products in local
 * memory and reduces them there. Teaches that one group leaves all compute units but one idle.
 *
 * x: count values, and those of the second operand right behind them.
 *
 * Corrected: the published kernel takes one product a work-item and so no more values than a group
 * has; misses the barrier between the products and their sum; and doubles a distance that starts
 * at 0.
 */
__kernel void rung(__global const ELEMENT *x, ulong count, __global ELEMENT *result)
{
    __local ELEMENT scratch[GROUP];
    uint item = get_local_id(0), distance;
    ELEMENT mine = IDENTITY;
    ulong i;

    for (i = item; i < count; i += GROUP)
        mine = COMBINE(mine, x[i] * x[count + i]);
    scratch[item] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (distance = GROUP / 2; distance > 0; distance /= 2) {
        GROUP_STEP(distance)
    }
    if (item == 0)
        result[0] = scratch[0];
}

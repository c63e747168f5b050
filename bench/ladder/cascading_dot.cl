/*
 * Rung 9: the dot product of the primers, which multiplies and reduces, as the cascading of rung 7:
 * as many groups as keep the device busy, whose work-items first add many products each. The
 * groups' results are added by rung 7 itself.
 *
 * x: count values, and those of the second operand right behind them.
 *
 * Corrected: the published kernel runs in a single group, which leaves all compute units but one
 * idle, and takes one product a work-item; misses the barrier between the products and their sum;
 * and doubles a distance that starts at 0.
 */
__kernel void rung(__global const ELEMENT *x, ulong count, __global ELEMENT *result)
{
    __local volatile ELEMENT scratch[GROUP];
    uint item = get_local_id(0);
    ulong step = (ulong)get_num_groups(0) * (2 * GROUP);
    ulong i = (ulong)get_group_id(0) * (2 * GROUP) + item;
    __global const ELEMENT *y = x + count;
    ELEMENT mine = IDENTITY;

    for (; i + GROUP < count; i += step)
        mine = COMBINE(mine, COMBINE(x[i] * y[i], x[i + GROUP] * y[i + GROUP]));
    if (i < count)
        mine = COMBINE(mine, x[i] * y[i]);
    scratch[item] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    WHOLE_TREE
    if (item == 0)
        result[get_group_id(0)] = scratch[0];
}

/*
 * Rung 7, algorithm cascading: as many groups as keep the device busy, whose work-items first
 * combine many values each, in order, and then meet in the tree of rung 6.
 *
 * Corrected: the published loop loads two values a turn and checks for one of them only, so it
 * reads past the end unless the values are a multiple of twice the group.
 */
__kernel void rung(__global const ELEMENT *x, ulong count, __global ELEMENT *result)
{
    __local volatile ELEMENT scratch[GROUP];
    uint item = get_local_id(0);
    ulong step = (ulong)get_num_groups(0) * (2 * GROUP);
    ulong i = (ulong)get_group_id(0) * (2 * GROUP) + item;
    ELEMENT mine = IDENTITY;

    for (; i + GROUP < count; i += step)
        mine = COMBINE(mine, COMBINE(x[i], x[i + GROUP]));
    if (i < count)
        mine = COMBINE(mine, x[i]);
    scratch[item] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    WHOLE_TREE
    if (item == 0)
        result[get_group_id(0)] = scratch[0];
}

/*
 * Rung 8: the values as rows of four, which vectors combine row by row; the four columns meet at
 * the end only. Whatever combines numbers fits in: sum, greatest, least.
 *
 * Corrected: published copies want the values to be a multiple of twice four times the group,
 * reduce the vectors of all groups on the host, and start the extremes at 0 or at -1e37 instead of
 * at the identity.
 */
ELEMENT4 load_row(__global const ELEMENT *x, ulong row, ulong count)
{
    ulong i = 4 * row;
    if (i + 3 < count)
        return vload4(row, x);
    return (ELEMENT4)(LOAD(i), LOAD(i + 1), LOAD(i + 2), IDENTITY);
}

__kernel void rung(__global const ELEMENT *x, ulong count, __global ELEMENT *result)
{
    __local ELEMENT4 scratch[GROUP];
    uint item = get_local_id(0), distance;
    ulong row = (ulong)get_group_id(0) * (2 * GROUP) + item;

    scratch[item] = COMBINE(load_row(x, row, count), load_row(x, row + GROUP, count));
    barrier(CLK_LOCAL_MEM_FENCE);
    for (distance = GROUP / 2; distance > 0; distance /= 2) {
        GROUP_STEP(distance)
    }
    if (item == 0) {
        ELEMENT4 row_of_all = scratch[0];
        result[get_group_id(0)] =
            COMBINE(COMBINE(row_of_all.x, row_of_all.y), COMBINE(row_of_all.z, row_of_all.w));
    }
}

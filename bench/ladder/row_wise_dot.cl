/*
 * Rung 9 in rows of four, as rung 8, which adds the groups' results too.
 *
 * x: count values, and those of the second operand right behind them.
 */
#define PRODUCT(i) ((i) < count ? x[i] * x[count + (i)] : IDENTITY)

ELEMENT4 load_products(__global const ELEMENT *x, ulong row, ulong count)
{
    ulong i = 4 * row;
    if (i + 3 < count)
        return vload4(row, x) * vload4(row, x + count);
    return (ELEMENT4)(PRODUCT(i), PRODUCT(i + 1), PRODUCT(i + 2), IDENTITY);
}

__kernel void rung(__global const ELEMENT *x, ulong count, __global ELEMENT *result)
{
    __local ELEMENT4 scratch[GROUP];
    uint item = get_local_id(0), distance;
    ulong row = (ulong)get_group_id(0) * (2 * GROUP) + item;

    scratch[item] = COMBINE(load_products(x, row, count), load_products(x, row + GROUP, count));
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

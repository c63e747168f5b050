/*
 * Rung 3: the upper half is added to the lower one, so that neighbours touch neighbouring banks.
 * Half of the work-items do nothing but load.
 *
 * Corrected: values that do not fill the last group. Halving the distance takes a group whose size
 * is a power of two, which the published text takes for granted.
 */
__kernel void rung(__global const ELEMENT *x, ulong count, __global ELEMENT *result)
{
    __local ELEMENT scratch[GROUP];
    uint item = get_local_id(0), distance;

    scratch[item] = LOAD(get_global_id(0));
    barrier(CLK_LOCAL_MEM_FENCE);
    for (distance = GROUP / 2; distance > 0; distance /= 2) {
        GROUP_STEP(distance)
    }
    if (item == 0)
        result[get_group_id(0)] = scratch[0];
}

/*
 * The plain, inexact sum of doubles, to measure how fast a device can read at all. One pass: the
 * few groups' sums are left to the host.
 *
 * Defined by the host: VECTOR (1, 2, 4 or 8 doubles to a load), UNROLL (loads in flight),
 * CONTIGUOUS (1: a run for each work-item, for CPU devices; 0: neighbours load neighbours).
 */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#if VECTOR == 8
typedef double8 values;
#define ACROSS(v) (((v).s0 + (v).s1 + (v).s2 + (v).s3) + ((v).s4 + (v).s5 + (v).s6 + (v).s7))
#elif VECTOR == 4
typedef double4 values;
#define ACROSS(v) ((v).x + (v).y + (v).z + (v).w)
#elif VECTOR == 2
typedef double2 values;
#define ACROSS(v) ((v).x + (v).y)
#else
typedef double values;
#define ACROSS(v) (v)
#endif

/* The group's size is a power of two. */
__kernel void plain_sum(__global const values *x, ulong count, __global double *result,
                        __local double *scratch)
{
    uint item = get_local_id(0), half_size, j;
    values sums[UNROLL];
#if CONTIGUOUS
    ulong items = get_global_size(0), share = count / items, extra = count % items;
    ulong i = get_global_id(0) * share + min((ulong)get_global_id(0), extra);
    ulong end = i + share + (get_global_id(0) < extra);
    const ulong step = 1;
#else
    ulong i = get_global_id(0), end = count, step = get_global_size(0);
#endif

#pragma unroll
    for (j = 0; j < UNROLL; j++)
        sums[j] = 0;
    for (; i + (UNROLL - 1) * step < end; i += UNROLL * step) {
#pragma unroll
        for (j = 0; j < UNROLL; j++)
            sums[j] += x[i + j * step];
    }
    for (; i < end; i += step)
        sums[0] += x[i];
#pragma unroll
    for (j = 1; j < UNROLL; j++)
        sums[0] += sums[j];

    scratch[item] = ACROSS(sums[0]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (half_size = (uint)get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        if (item < half_size)
            scratch[item] += scratch[item + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0)
        result[get_group_id(0)] = scratch[0];
}

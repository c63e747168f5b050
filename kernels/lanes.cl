/*
 * What a work-item takes at a time: one value on a GPU, where neighbouring work-items make a load
 * wide, and a vector of 8 on a CPU device.
 *
 * Defined by the host: CPU (1 or 0), REAL (1 or 0: the element type is double or long), OPERANDS
 * (1 or 2, in dot products).
 */
#if CPU
#define LANES 8
#define ANY(condition) any_lane(condition)
/* A vector comparison that holds is -1 in its lane. */
#define ONE_IF(condition) as_ulong8(-(condition))
#define STORE_LANES(vector, array) vstore8(vector, 0, array)
#define LOAD_LANES(array, i) vload8(0, (array) + (i))
typedef long8 lanes_long;
typedef ulong8 lanes_ulong;

/* any(), which PoCL makes four jumps of. */
int any_lane(long8 condition)
{
    long4 four = condition.lo | condition.hi;
    long2 two = four.lo | four.hi;
    return (two.x | two.y) < 0;
}
#define AS_LANES_ULONG(v) as_ulong8(v)
#define AS_LANES_LONG(v) as_long8(v)
#else
#define LANES 1
#define ANY(condition) (condition)
#define ONE_IF(condition) ((ulong)(condition))
#define STORE_LANES(value, array) ((array)[0] = (value))
#define LOAD_LANES(array, i) ((array)[i])
typedef long lanes_long;
typedef ulong lanes_ulong;
#define AS_LANES_ULONG(v) as_ulong(v)
#define AS_LANES_LONG(v) as_long(v)
#endif

#if REAL && CPU
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double8 lanes;
#elif REAL
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double lanes;
#else
typedef lanes_long lanes;
#endif

/* Operations on reals have a long accumulator behind them; the others pass nothing. */
#define WIDE_ARGUMENT
#define WIDE_FORMAL

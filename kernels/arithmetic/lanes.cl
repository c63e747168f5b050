/*
 * What a work-item takes at a time: one value on a GPU, where neighbouring work-items make a load
 * wide, and a vector of 8 on a CPU device. The operation's file defines `lanes` and `element`.
 *
 * Defined by the host: CPU (1 or 0), LANES (8 or 1), REAL (1 or 0: values are doubles or INTEGERs),
 * DOUBLES (1 or 0: the device computes with doubles, or takes them as bits), OPERANDS (1 or 2, in
 * dot products).
 */
#if LANES == 8
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
#define ANY(condition) (condition)
#define ONE_IF(condition) ((ulong)(condition))
#define STORE_LANES(value, array) ((array)[0] = (value))
#define LOAD_LANES(array, i) ((array)[i])
typedef long lanes_long;
typedef ulong lanes_ulong;
#define AS_LANES_ULONG(v) as_ulong(v)
#define AS_LANES_LONG(v) as_long(v)
#endif

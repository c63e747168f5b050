/*
 * How a column's values are loaded that may be narrow, where a kernel is told so as it runs: the
 * bits of a value, 8 bytes, or its distance from the least one of a frame, 1, 2 or 4 bytes. See
 * ext/numeric/values/narrow.h.
 */
typedef struct {
    __global const void *rows;
    uint bytes; /* of a row */
    long least;
} column;

/* Stores, in `loaded`, `count` values from number i on, `stride` apart. */
static inline __attribute__((always_inline)) void
load_values(const column *from, ulong i, ulong stride, uint count, long *loaded)
{
#define LOAD_EACH(type, least)                                                                     \
    for (uint load = 0; load < count; load++)                                                      \
    loaded[load] = (least) + ((__global const type *)from->rows)[i + load * stride]

    switch (from->bytes) {
    case 1:
        LOAD_EACH(uchar, from->least);
        break;
    case 2:
        LOAD_EACH(ushort, from->least);
        break;
    case 4:
        LOAD_EACH(uint, from->least);
        break;
    default:
        LOAD_EACH(long, 0);
    }
#undef LOAD_EACH
}

static inline __attribute__((always_inline)) long load_value(const column *from, ulong i)
{
    long value;

    load_values(from, i, 0, 1, &value);
    return value;
}

/*
 * How a column's values are loaded that may be narrow: the bits of a value, 8 bytes, or what a
 * frame keeps of it, 1, 2 or 4 bytes. See ext/numeric/values/narrow.h and decimals.h. Follows
 * reals.cl.
 */

/*
 * Returns the bits of a decimal of which a word is kept: of (least + word) / power, rounded to
 * nearest. reciprocal: 2^(63 + the bits of the power) over it, cut off.
 */
#if DOUBLES
/* Returns the double next to 1 / power. */
static inline double reciprocal_of(long power, ulong reciprocal)
{
    const ulong exponent = (ulong)(127 - clz(power)) << 52;

    return as_double(as_ulong(convert_double(reciprocal)) - exponent);
}

/* The quotient of doubles, or of vectors, one of which is next to 1 / power: that of divide() in
   ext/numeric/values/decimals.c, which says why it is the right one. */
#define DECIMAL_QUOTIENT(k, power, by) fma(fma(-((k) * (by)), power, k), by, (k) * (by))

/* The word's bits are the last ones of 2^52 and more. */
static inline long decimal_bits(uint word, long least, long power, ulong reciprocal)
{
    const double k = as_double((ulong)word | 0x4330000000000000) - (0x1p52 - convert_double(least));
    const double by = reciprocal_of(power, reciprocal);

    return as_long(DECIMAL_QUOTIENT(k, convert_double(power), by));
}
#else
/* The size's bits begin with the highest one of 64, and the product with the reciprocal, of which
   the upper half counts, is too small by less than 2. The quotient, cut off, begins with one of its
   two highest bits, and is rounded by the bit behind 53 of them: it is no middle of two doubles. */
static inline long decimal_bits(uint word, long least, long power, ulong reciprocal)
{
    const long k = least + word, whole = max(k, -k);
    const int zeros = (int)clz(whole), bits = 63 - (int)clz(power);
    const ulong size = (ulong)whole << (zeros & 63);
    ulong quotient = mul_hi(size, reciprocal);
    int exponent = 1023 + 63 - bits - zeros;

    if ((size << bits) - quotient * (ulong)power >= (ulong)power)
        quotient++;
    if (quotient >> 63 == 0) {
        quotient <<= 1;
        exponent--;
    }
    quotient = (quotient >> 11) + (quotient >> 10 & 1) + ((ulong)(exponent - 1) << 52);
    return k == 0 ? 0 : (long)(quotient | ((ulong)k & REAL_SIGN));
}
#endif

/* A column, where a kernel is told how wide it is as it runs. */
typedef struct {
    __global const void *rows;
    uint bytes; /* of a row */
    long least;
    long power; /* of decimals, or 0 */
    ulong reciprocal;
} column;

static inline __attribute__((always_inline)) long widen_word(const column *from, uint word)
{
    return from->power == 0 ? from->least + word
                            : decimal_bits(word, from->least, from->power, from->reciprocal);
}

/* Stores, in `loaded`, `count` values from number i on, `stride` apart. */
static inline __attribute__((always_inline)) void
load_values(const column *from, ulong i, ulong stride, uint count, long *loaded)
{
#define LOAD_EACH(type)                                                                            \
    for (uint load = 0; load < count; load++)                                                      \
    loaded[load] = ((__global const type *)from->rows)[i + load * stride]

    switch (from->bytes) {
    case 1:
        LOAD_EACH(uchar);
        break;
    case 2:
        LOAD_EACH(ushort);
        break;
    case 4:
        LOAD_EACH(uint);
        break;
    default:
        LOAD_EACH(long);
        return;
    }
    for (uint load = 0; load < count; load++)
        loaded[load] = widen_word(from, (uint)loaded[load]);
#undef LOAD_EACH
}

static inline __attribute__((always_inline)) long load_value(const column *from, ulong i)
{
    long value;

    load_values(from, i, 0, 1, &value);
    return value;
}

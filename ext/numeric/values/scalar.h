/* A value of a column or an expression, in a machine word and a tag. */
#ifndef CLR_NUMERIC_SCALAR_H
#define CLR_NUMERIC_SCALAR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* What a value is. The kernels use the same numbers. */
enum clr_tag {
    CLR_TAG_NULL = 0,
    CLR_TAG_INTEGER = 1,
    CLR_TAG_REAL = 2,
    CLR_TAG_BYTES = 3, /* TEXT or BLOB: known to be there and not NULL */
    CLR_TAG_UNSURE =
        4, /* of results only: SQLite alone can tell, as for an error or a TEXT operand */
    /* Of columns on devices only, each plus the bytes that a row takes: of codes; and narrow ones,
       which would be CLR_TAG_INTEGER, CLR_TAG_MIXED or CLR_TAG_REAL otherwise, these plus
       CLR_TAG_DECIMALS if that is what is kept of their values. */
    CLR_TAG_CODES = 16,
    CLR_TAG_NARROW = 32,
    CLR_TAG_NARROW_MIXED = 64,
    CLR_TAG_NARROW_REAL = 96,
    CLR_TAG_DECIMALS = 128,
    CLR_TAG_MIXED = 255 /* of columns only: see their tags */
};

/* Whether there is more to know of values of that kind than their tag. */
static inline bool clr_kind_has_values(uint8_t kind)
{
    return kind == CLR_TAG_INTEGER || kind == CLR_TAG_REAL || kind == CLR_TAG_MIXED;
}

/* A value of an expression; bits are those of the INTEGER or of the double, else 0, or the address
   of an BYTES in a column with bytes. */
struct clr_scalar {
    uint8_t tag;
    int64_t bits;
};

/* Returns the double of these bits, and a double's. */
static inline double clr_real_of(int64_t bits)
{
    double real;

    memcpy(&real, &bits, sizeof real);
    return real;
}

static inline int64_t clr_bits_of(double real)
{
    int64_t bits;

    memcpy(&bits, &real, sizeof bits);
    return bits;
}

/* Returns the value of a column of REAL affinity: an INTEGER is a REAL that was stored short. */
static inline __attribute__((always_inline)) struct clr_scalar
clr_scalar_to_real(struct clr_scalar value)
{
    if (value.tag == CLR_TAG_INTEGER) {
        value.tag = CLR_TAG_REAL;
        value.bits = clr_bits_of((double)value.bits);
    }
    return value;
}

#endif

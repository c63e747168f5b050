/*
 * A value as SQLite has them, NULL aside, and the order SQLite sorts them in.
 */
#ifndef CLR_NUMERIC_VALUE_H
#define CLR_NUMERIC_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A value of a column or an expression, in a machine word and a tag. */

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

/*
 * A REAL of an array that is written as bits and read as numbers, as those of columns are and those
 * of chunks can be. Without may_alias the compiler may take what is written and what is read for
 * different things, and does where it sees both: with -flto.
 */
typedef double clr_stored_real __attribute__((may_alias));

/* In the order that SQLite sorts them: numbers, then TEXT, then BLOB. */
enum clr_kind { CLR_KIND_NONE = 0, CLR_KIND_INTEGER, CLR_KIND_REAL, CLR_KIND_TEXT, CLR_KIND_BLOB };

struct clr_value {
    enum clr_kind kind;
    union {
        int64_t integer;
        double real;
        size_t size; /* bytes, for TEXT and BLOB */
    } as;
    const void *bytes; /* TEXT (UTF-8) and BLOB: borrowed, or the holder's own */
};

/* Returns the value of a number; of anything else one of kind NONE. */
static inline struct clr_value clr_number_value(struct clr_scalar scalar)
{
    struct clr_value value = {.kind = CLR_KIND_NONE};

    if (scalar.tag == CLR_TAG_INTEGER) {
        value.kind = CLR_KIND_INTEGER;
        value.as.integer = scalar.bits;
    } else if (scalar.tag == CLR_TAG_REAL) {
        value.kind = CLR_KIND_REAL;
        value.as.real = clr_real_of(scalar.bits);
    }
    return value;
}

/* The other way round; of what is no number it is NULL. */
static inline struct clr_scalar clr_number_scalar(const struct clr_value *value)
{
    if (value->kind == CLR_KIND_INTEGER)
        return (struct clr_scalar){CLR_TAG_INTEGER, value->as.integer};
    if (value->kind == CLR_KIND_REAL)
        return (struct clr_scalar){CLR_TAG_REAL, clr_bits_of(value->as.real)};
    return (struct clr_scalar){CLR_TAG_NULL, 0};
}

/*
 * The order of two doubles as an order of integers: -0.0 comes right before +0.0, so that the
 * extremes of equal zeros do not depend on the order of the rows. Its own inverse. The kernels do
 * the same.
 */
static inline int64_t clr_real_to_key(int64_t bits)
{
    return bits ^ ((bits >> 63) & INT64_MAX);
}

/* Returns the number of a key as kernels sort them: an INTEGER itself, or clr_real_to_key() of a
   REAL's bits. */
static inline struct clr_value clr_sort_key_to_value(enum clr_kind kind, int64_t key)
{
    struct clr_value value = {.kind = kind, .as.integer = key};
    if (kind == CLR_KIND_REAL)
        value.as.real = clr_real_of(clr_real_to_key(key));
    return value;
}

/*
 * Compares two values as SQLite does, INTEGER against REAL exactly, TEXT by memcmp (BINARY
 * collation). Returns a negative number, 0 or a positive one. Equal numbers of two types: the
 * INTEGER is `preferred_sign` from the REAL's point of view, that is, with 1 the INTEGER counts
 * as greater and with -1 as less, so that it becomes the maximum or the minimum of the two.
 */
int clr_value_compare(const struct clr_value *a, const struct clr_value *b, int preferred_sign);

#endif

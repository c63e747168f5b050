/*
 * SQLite's operators on one value, with its semantics to the bit: the instructions of
 * ext/numeric/scan/scan.h, one function each. This text is OpenCL C 1.2 as well as C99, and the
 * host includes it, so that host and device agree. Where the tags are known at build time, the
 * compiler is left with the operation alone.
 * What it computes with REALs is in reals.cl, which goes before. values_logic.cl, which follows,
 * has the operators that compare and choose.
 */

/* The numbers of enum clr_tag. */
enum { VALUE_NULL = 0, VALUE_INTEGER = 1, VALUE_REAL = 2, VALUE_BYTES = 3, VALUE_UNSURE = 4 };

/* The bits of +-0.5, +-2^52 and +-2^63. */
#define VALUE_HALF 0x3fe0000000000000
#define VALUE_MINUS_HALF (VALUE_LEAST | VALUE_HALF)
#define VALUE_2_52 0x4330000000000000
#define VALUE_MINUS_2_52 (VALUE_LEAST | VALUE_2_52)
#define VALUE_2_63 0x43e0000000000000
#define VALUE_MINUS_2_63 (VALUE_LEAST | VALUE_2_63)

/* bits are those of the INTEGER or of the double, else 0. */
typedef struct {
    value_long bits;
    int tag;
} scalar;

static inline scalar scalar_of(int tag, value_long bits)
{
    scalar result;
    result.bits = bits;
    result.tag = tag;
    return result;
}

static inline scalar scalar_integer(value_long integer)
{
    return scalar_of(VALUE_INTEGER, integer);
}

/* A computed REAL: SQLite has no NaN. */
static inline scalar scalar_real(value_real real)
{
    int is_nan = REAL_IS_NAN(real);
    return scalar_of(is_nan ? VALUE_NULL : VALUE_REAL, is_nan ? 0 : VALUE_BITS_OF(real));
}

static inline int scalar_is_unknown(scalar a)
{
    return a.tag >= VALUE_BYTES;
}

/* What an operator has to do with its operands: nothing (NULL and UNSURE are the result), or
   compute with two INTEGERs, or with numbers of which one is REAL. */
static inline int scalar_kind(scalar a, scalar b)
{
    if (scalar_is_unknown(a) || scalar_is_unknown(b))
        return VALUE_UNSURE;
    if (a.tag == VALUE_NULL || b.tag == VALUE_NULL)
        return VALUE_NULL;
    return a.tag == VALUE_INTEGER && b.tag == VALUE_INTEGER ? VALUE_INTEGER : VALUE_REAL;
}

static inline int scalar_is_number(int kind)
{
    return kind == VALUE_INTEGER || kind == VALUE_REAL;
}

/* An INTEGER that is found for two numbers, and for nothing else. */
static inline scalar scalar_found(scalar a, scalar b, value_long integer)
{
    int kind = scalar_kind(a, b);
    return scalar_is_number(kind) ? scalar_integer(integer) : scalar_of(kind, 0);
}

/* A number's value as REAL, which rounds large INTEGERs. */
static inline value_real scalar_to_real(scalar a)
{
    return a.tag == VALUE_INTEGER ? REAL_OF_INTEGER(a.bits) : VALUE_REAL_OF(a.bits);
}

/* A number's value as INTEGER: cut off, and the nearest one where it is out of range. */
static inline value_long scalar_to_integer(scalar a)
{
    return a.tag == VALUE_INTEGER ? a.bits : real_to_integer(VALUE_REAL_OF(a.bits));
}

static inline scalar scalar_add(scalar a, scalar b)
{
    int kind = scalar_kind(a, b);

    if (!scalar_is_number(kind))
        return scalar_of(kind, 0);
    if (kind == VALUE_INTEGER) {
        value_long sum = (value_long)((value_ulong)a.bits + (value_ulong)b.bits);
        if (((a.bits ^ sum) & (b.bits ^ sum)) >= 0)
            return scalar_integer(sum);
    }
    return scalar_real(REAL_ADD(scalar_to_real(a), scalar_to_real(b)));
}

static inline scalar scalar_subtract(scalar a, scalar b)
{
    int kind = scalar_kind(a, b);

    if (!scalar_is_number(kind))
        return scalar_of(kind, 0);
    if (kind == VALUE_INTEGER) {
        value_long rest = (value_long)((value_ulong)a.bits - (value_ulong)b.bits);
        if (((a.bits ^ b.bits) & (a.bits ^ rest)) >= 0)
            return scalar_integer(rest);
    }
    return scalar_real(REAL_SUBTRACT(scalar_to_real(a), scalar_to_real(b)));
}

static inline scalar scalar_multiply(scalar a, scalar b)
{
    int kind = scalar_kind(a, b);

    if (!scalar_is_number(kind))
        return scalar_of(kind, 0);
    if (kind == VALUE_INTEGER) {
        value_long low = (value_long)((value_ulong)a.bits * (value_ulong)b.bits);
        if (VALUE_MULTIPLY_HIGH(a.bits, b.bits) == low >> 63)
            return scalar_integer(low);
    }
    return scalar_real(REAL_MULTIPLY(scalar_to_real(a), scalar_to_real(b)));
}

static inline scalar scalar_divide(scalar a, scalar b)
{
    int kind = scalar_kind(a, b);

    if (!scalar_is_number(kind))
        return scalar_of(kind, 0);
    if (REAL_IS_ZERO(scalar_to_real(b)))
        return scalar_of(VALUE_NULL, 0);
    if (kind == VALUE_INTEGER && !(a.bits == VALUE_LEAST && b.bits == -1))
        return scalar_integer(a.bits / b.bits);
    return scalar_real(REAL_DIVIDE(scalar_to_real(a), scalar_to_real(b)));
}

static inline scalar scalar_remainder(scalar a, scalar b)
{
    int kind = scalar_kind(a, b);
    value_long dividend, divisor, rest;

    if (!scalar_is_number(kind))
        return scalar_of(kind, 0);
    dividend = scalar_to_integer(a);
    divisor = scalar_to_integer(b);
    if (divisor == 0)
        return scalar_of(VALUE_NULL, 0);
    rest = divisor == -1 ? 0 : dividend % divisor;
    return kind == VALUE_INTEGER ? scalar_integer(rest) : scalar_real(REAL_OF_INTEGER(rest));
}

static inline scalar scalar_absolute(scalar a)
{
    const value_real real = VALUE_REAL_OF(a.bits), zero = VALUE_REAL_OF((value_long)0);

    if (scalar_is_unknown(a) || (a.tag == VALUE_INTEGER && a.bits == VALUE_LEAST))
        return scalar_of(VALUE_UNSURE, 0);
    if (a.tag == VALUE_INTEGER)
        return scalar_integer(a.bits < 0 ? -a.bits : a.bits);
    return a.tag == VALUE_REAL && REAL_LESS(real, zero)
               ? scalar_of(VALUE_REAL, a.bits & VALUE_GREATEST)
               : a;
}

static inline scalar scalar_bit_and(scalar a, scalar b)
{
    return scalar_found(a, b, scalar_to_integer(a) & scalar_to_integer(b));
}

static inline scalar scalar_bit_or(scalar a, scalar b)
{
    return scalar_found(a, b, scalar_to_integer(a) | scalar_to_integer(b));
}

static inline scalar scalar_bit_not(scalar a)
{
    return scalar_found(a, a, ~scalar_to_integer(a));
}

/* Shifts by -64 to 64 bits, to the left where it is a positive number. */
static inline value_long scalar_shifted(value_long bits, int left)
{
    if (left >= 0)
        return left >= 64 ? 0 : (value_long)((value_ulong)bits << left);
    return bits >> (left <= -64 ? 63 : -left);
}

/* An INTEGER as a number of bits to shift by: all that are 64 or more do the same. */
static inline int scalar_bits_to_shift(value_long bits)
{
    return bits > 64 ? 64 : bits < -64 ? -64 : (int)bits;
}

static inline scalar scalar_shift_left(scalar a, scalar b)
{
    int left = scalar_bits_to_shift(scalar_to_integer(b));
    return scalar_found(a, b, scalar_shifted(scalar_to_integer(a), left));
}

static inline scalar scalar_shift_right(scalar a, scalar b)
{
    int right = scalar_bits_to_shift(scalar_to_integer(b));
    return scalar_found(a, b, scalar_shifted(scalar_to_integer(a), -right));
}

static inline scalar scalar_cast_to_integer(scalar a)
{
    return scalar_found(a, a, scalar_to_integer(a));
}

static inline scalar scalar_cast_to_real(scalar a)
{
    int kind = scalar_kind(a, a);
    return scalar_is_number(kind) ? scalar_real(scalar_to_real(a)) : scalar_of(kind, 0);
}

/* Beyond 2^52 there is nothing to round. A sum that is rounded up itself, as that of 0.5 and the
   number before it is, and the 0.0 of -0.25 are SQLite's. */
static inline scalar scalar_round(scalar a)
{
    const int kind = scalar_kind(a, a);
    value_real real, near;

    if (!scalar_is_number(kind))
        return scalar_of(kind, 0);
    real = scalar_to_real(a);
    near = REAL_LESS(real, VALUE_REAL_OF((value_long)0)) ? VALUE_REAL_OF(VALUE_MINUS_HALF)
                                                         : VALUE_REAL_OF(VALUE_HALF);
    if (!REAL_LESS(real, VALUE_REAL_OF(VALUE_MINUS_2_52)) &&
        !REAL_LESS(VALUE_REAL_OF(VALUE_2_52), real))
        real = REAL_OF_INTEGER(real_to_integer(REAL_ADD(real, near)));
    return scalar_real(real);
}

/* An INTEGER stays what it is, of a REAL the whole number that is found for it. */
static inline scalar scalar_whole(scalar a, value_real whole)
{
    int kind = scalar_kind(a, a);

    if (kind == VALUE_REAL)
        return scalar_real(whole);
    return scalar_of(kind, kind == VALUE_INTEGER ? a.bits : 0);
}

static inline scalar scalar_floor(scalar a)
{
    return scalar_whole(a, REAL_FLOOR(VALUE_REAL_OF(a.bits)));
}

static inline scalar scalar_ceiling(scalar a)
{
    return scalar_whole(a, REAL_CEILING(VALUE_REAL_OF(a.bits)));
}

static inline scalar scalar_truncate(scalar a)
{
    return scalar_whole(a, REAL_TRUNCATE(VALUE_REAL_OF(a.bits)));
}

static inline scalar scalar_sign(scalar a)
{
    const value_real real = scalar_to_real(a), zero = VALUE_REAL_OF((value_long)0);
    return scalar_found(a, a, REAL_LESS(zero, real) - REAL_LESS(real, zero));
}

/*
 * What values.cl computes with REALs: IEEE 754's doubles, to nearest and to the bit, by the device
 * or, without DOUBLES, on their bits by integers. This text is OpenCL C 1.2 as well as C99, as
 * values.cl is, which it goes before.
 *
 * With DOUBLES it needs cl_khr_fp64, and arithmetic that rounds every operation and keeps
 * subnormals; without, no floating point.
 */
#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
typedef long value_long;
typedef ulong value_ulong;
#define VALUE_MULTIPLY_HIGH(a, b) mul_hi(a, b)
#define VALUE_MULTIPLY_HIGH_UNSIGNED(a, b) mul_hi(a, b)
#define VALUE_LEADING_ZEROS(bits) ((int)clz(bits))
#else
#include <math.h>
#include <stdint.h>
#include <string.h>
typedef int64_t value_long;
typedef uint64_t value_ulong;
#define VALUE_MULTIPLY_HIGH(a, b) ((int64_t)(((__int128)(a) * (b)) >> 64))
#define VALUE_MULTIPLY_HIGH_UNSIGNED(a, b) ((uint64_t)(((unsigned __int128)(a) * (b)) >> 64))
#define VALUE_LEADING_ZEROS(bits) __builtin_clzll(bits)
#ifndef DOUBLES
#define DOUBLES 1
#endif

static inline double value_real_of(int64_t bits)
{
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

static inline int64_t value_bits_of(double real)
{
    int64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}
#endif

#define VALUE_LEAST (-0x7fffffffffffffff - 1)
#define VALUE_GREATEST 0x7fffffffffffffff

#if DOUBLES

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
#define VALUE_REAL_OF(bits) as_double(bits)
#define VALUE_BITS_OF(real) as_long(real)
#else
#define VALUE_REAL_OF(bits) value_real_of(bits)
#define VALUE_BITS_OF(real) value_bits_of(real)
#endif

typedef double value_real;

#define REAL_ADD(x, y) ((x) + (y))
#define REAL_SUBTRACT(x, y) ((x) - (y))
#define REAL_MULTIPLY(x, y) ((x) * (y))
#define REAL_DIVIDE(x, y) ((x) / (y))
#define REAL_LESS(x, y) ((x) < (y))
#define REAL_IS_NAN(x) ((x) != (x))
#define REAL_IS_ZERO(x) ((x) == 0.0)
#define REAL_FLOOR(x) floor(x)
#define REAL_CEILING(x) ceil(x)
#define REAL_TRUNCATE(x) trunc(x)
#define REAL_OF_INTEGER(integer) ((double)(integer))

/* Cut off, and the nearest INTEGER where it is out of range. */
static inline value_long real_to_integer(double real)
{
    if (!(real > -0x1p63))
        return VALUE_LEAST;
    return real < 0x1p63 ? (value_long)real : VALUE_GREATEST;
}

#else

#define VALUE_REAL_OF(bits) (bits)
#define VALUE_BITS_OF(real) (real)

typedef value_long value_real;

#define REAL_ADD(x, y) real_add(x, y)
#define REAL_SUBTRACT(x, y) real_add(x, (value_long)((value_ulong)(y) ^ REAL_SIGN))
#define REAL_MULTIPLY(x, y) real_multiply(x, y)
#define REAL_DIVIDE(x, y) real_divide(x, y)
#define REAL_LESS(x, y) (real_key(x) < real_key(y))
#define REAL_IS_NAN(x) (REAL_SIZE(x) > REAL_INFINITY)
#define REAL_IS_ZERO(x) (REAL_SIZE(x) == 0)
#define REAL_FLOOR(x) real_floor(x)
#define REAL_CEILING(x) real_ceiling(x)
#define REAL_TRUNCATE(x) real_truncate(x)
#define REAL_OF_INTEGER(integer) real_of_integer(integer)

/* Bits without the sign; the exponent as it is in them; the bits of infinity, of a NaN and of 1. */
#define REAL_SIGN ((value_ulong)1 << 63)
#define REAL_SIZE(x) ((value_ulong)(x) & ~REAL_SIGN)
#define REAL_EXPONENT(x) ((int)((value_ulong)(x) >> 52 & 0x7ff))
#define REAL_INFINITY ((value_ulong)0x7ff << 52)
#define REAL_NAN ((value_long)((value_ulong)0xfff << 51))
#define REAL_ONE ((value_ulong)0x3ff << 52)

/* An INTEGER with the order of the REALs, which are no NaNs: 0.0 and -0.0 are one. */
static inline value_long real_key(value_real x)
{
    return x < 0 ? (value_long)(REAL_SIGN - (value_ulong)x) : x;
}

/* Returns the significand of a finite number, and stores the exponent of its lowest bit. */
static inline value_ulong real_take_apart(value_real x, int *exponent)
{
    const value_ulong fraction = (value_ulong)x & (((value_ulong)1 << 52) - 1);
    const int biased = REAL_EXPONENT(x);

    *exponent = (biased == 0 ? 1 : biased) - 1075;
    return biased == 0 ? fraction : fraction | (value_ulong)1 << 52;
}

/* Returns bits * 2^exponent, rounded to nearest even. If the number has more bits, the lowest one
   is set for all of them, and they are 55 at least. */
static inline value_real real_round(value_ulong sign, int exponent, value_ulong bits)
{
    int zeros, biased, lost;
    value_ulong kept, rest;

    if (bits == 0)
        return (value_long)sign;
    zeros = VALUE_LEADING_ZEROS(bits);
    bits <<= zeros;
    biased = exponent - zeros + 63 + 1023;
    if (biased > 0x7fe)
        return (value_long)(sign | REAL_INFINITY);
    lost = 1 - biased; /* bits of a subnormal number */
    if (lost > 63)
        bits = 1;
    else if (lost > 0)
        bits = bits >> lost | (bits << (64 - lost) != 0);
    kept = bits >> 11;
    rest = bits & 0x7ff;
    kept += rest > 0x400 || (rest == 0x400 && (kept & 1));
    /* A carry, and the bit that is not written, go to the exponent. */
    kept += (value_ulong)(biased > 0 ? biased - 1 : 0) << 52;
    return (value_long)(sign | kept);
}

static inline value_real real_of_integer(value_long integer)
{
    const value_ulong sign = (value_ulong)integer & REAL_SIGN;
    return real_round(sign, 0, sign != 0 ? -(value_ulong)integer : (value_ulong)integer);
}

static inline value_long real_to_integer(value_real real)
{
    int exponent;
    value_ulong whole = real_take_apart(real, &exponent);

    if (REAL_IS_NAN(real))
        return VALUE_LEAST;
    if (exponent > 10) /* 2^63 and more */
        return real < 0 ? VALUE_LEAST : VALUE_GREATEST;
    if (exponent >= 0)
        whole <<= exponent;
    else
        whole = exponent < -52 ? 0 : whole >> -exponent;
    return (value_long)(real < 0 ? -whole : whole);
}

static inline value_real real_add(value_real x, value_real y)
{
    const value_real greater = REAL_SIZE(x) < REAL_SIZE(y) ? y : x;
    const value_real smaller = REAL_SIZE(x) < REAL_SIZE(y) ? x : y;
    const int differ = (x ^ y) < 0;
    int exponent, other, behind;
    /* A bit in front for a carry, and ten behind: a difference that loses more than one in front
       has none behind these. */
    value_ulong a = real_take_apart(greater, &exponent) << 10;
    value_ulong b = real_take_apart(smaller, &other) << 10;

    if (REAL_SIZE(greater) >= REAL_INFINITY)
        return REAL_SIZE(smaller) == REAL_INFINITY && differ ? REAL_NAN : greater;
    behind = exponent - other;
    if (behind > 63)
        b = b != 0;
    else if (behind > 0)
        b = b >> behind | (b << (64 - behind) != 0);
    a = differ ? a - b : a + b;
    if (a == 0 && differ)
        return 0;
    return real_round((value_ulong)greater & REAL_SIGN, exponent - 10, a);
}

static inline value_real real_multiply(value_real x, value_real y)
{
    const value_ulong sign = (value_ulong)(x ^ y) & REAL_SIGN;
    const value_ulong greater = REAL_SIZE(x) < REAL_SIZE(y) ? REAL_SIZE(y) : REAL_SIZE(x);
    int exponent, other;
    value_ulong a = real_take_apart(x, &exponent), b = real_take_apart(y, &other);
    value_ulong low = a * b, high = VALUE_MULTIPLY_HIGH_UNSIGNED(a, b);
    int zeros;

    if (greater >= REAL_INFINITY)
        return REAL_IS_ZERO(x) || REAL_IS_ZERO(y) ? REAL_NAN : (value_long)(sign | greater);
    exponent += other;
    if (high == 0)
        return real_round(sign, exponent, low);
    zeros = VALUE_LEADING_ZEROS(high); /* 22 and more */
    high = high << zeros | low >> (64 - zeros) | (low << zeros != 0);
    return real_round(sign, exponent + 64 - zeros, high);
}

/* y is not 0. */
static inline value_real real_divide(value_real x, value_real y)
{
    const value_ulong sign = (value_ulong)(x ^ y) & REAL_SIGN;
    int exponent, other, i;
    value_ulong a = real_take_apart(x, &exponent), b = real_take_apart(y, &other), quotient = 0;

    if (REAL_IS_NAN(x) || REAL_IS_NAN(y))
        return REAL_NAN;
    if (REAL_SIZE(x) == REAL_INFINITY)
        return REAL_SIZE(y) == REAL_INFINITY ? REAL_NAN : (value_long)(sign | REAL_INFINITY);
    if (REAL_SIZE(y) == REAL_INFINITY || a == 0)
        return (value_long)sign;
    i = VALUE_LEADING_ZEROS(a) - 11;
    a <<= i;
    exponent -= i;
    i = VALUE_LEADING_ZEROS(b) - 11;
    b <<= i;
    exponent -= other - i;
    for (i = 0; i < 57; i++) {
        const int is_one = a >= b;
        quotient = quotient << 1 | (value_ulong)is_one;
        a = (is_one ? a - b : a) << 1;
    }
    return real_round(sign, exponent - 57, quotient << 1 | (a != 0));
}

static inline value_real real_truncate(value_real x)
{
    const int biased = REAL_EXPONENT(x);

    if (biased < 1023)
        return (value_long)((value_ulong)x & REAL_SIGN);
    return biased >= 1075 ? x : (value_long)((value_ulong)x >> (1075 - biased) << (1075 - biased));
}

static inline value_real real_floor(value_real x)
{
    const value_real whole = real_truncate(x);
    return x < 0 && whole != x ? real_add(whole, (value_long)(REAL_ONE | REAL_SIGN)) : whole;
}

static inline value_real real_ceiling(value_real x)
{
    const value_real whole = real_truncate(x);
    return x > 0 && whole != x ? real_add(whole, (value_long)REAL_ONE) : whole;
}

#endif

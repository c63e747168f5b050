/*
 * Rounding of quotients and square roots: an approximation of 64 bits settles it nearly always,
 * and where it lies next to a midpoint of two doubles, an exact comparison with that midpoint does.
 */
#include "numeric/exact/dyadic.h"

#include <math.h>

/* An approximation: leading * 2^exponent, with the highest bit of leading set. */
struct estimate {
    uint64_t leading;
    int exponent;
};

/*
 * How far the estimates below are from the number, in units of leading, at most.
 *
 * Quotient: with P and Q the leading 64 bits, p = (P + a) 2^i and q = (Q + b) 2^j, 0 <= a, b < 1,
 * and the estimate is T = floor(2^k P / Q), k being 63 or 64. 2^k a / Q is below 2, and b lowers
 * the quotient by less than 2^64 / Q <= 2: the exact one lies between T - 2 and T + 3.
 *
 * Root: of N = 2^64 T or 2^63 T, from 2^126 to 2^128, which is off by less than 3 * 2^64, so that
 * its root, 2^63 or more, is off by less than 4. Newton's step adds less than 2 to that.
 */
enum { MARGIN = 8 };

/* The number to round: p / q, or the square root of its size. */
struct ratio {
    const struct clr_dyadic *p, *q;
    bool root;
};

static struct estimate leading_bits(const struct clr_dyadic *number)
{
    uint64_t high = number->limb[number->size - 1];
    int shift = __builtin_clzll(high);
    struct estimate result;

    result.leading = high << shift;
    if (shift > 0 && number->size > 1)
        result.leading |= number->limb[number->size - 2] >> (64 - shift);
    result.exponent = 64 * (number->exponent + number->size - 1) - shift;
    return result;
}

static struct estimate estimate_quotient(const struct clr_dyadic *p, const struct clr_dyadic *q)
{
    struct estimate a = leading_bits(p), b = leading_bits(q), result;
    int shift = a.leading >= b.leading ? 63 : 64;

    result.leading = (uint64_t)(((clr_u128)a.leading << shift) / b.leading);
    result.exponent = a.exponent - b.exponent - shift;
    return result;
}

static struct estimate estimate_root(struct estimate square)
{
    int shift = square.exponent & 1 ? 63 : 64;
    clr_u128 number = (clr_u128)square.leading << shift;
    /* A double's root is right to 2^-51, and 2^64 itself is no uint64_t. */
    double first = sqrt((double)number), rest;
    struct estimate result;

    result.leading = first >= 0x1p64 ? UINT64_MAX : (uint64_t)first;
    rest = (double)(clr_i128)(number - (clr_u128)result.leading * result.leading);
    rest /= 2 * (double)result.leading;
    /* The root may lie right below a power of two or above it. */
    if (rest > 0 && result.leading > UINT64_MAX - (uint64_t)rest)
        result.leading = UINT64_MAX;
    else
        result.leading += (uint64_t)(int64_t)rest;
    if (result.leading < (uint64_t)1 << 63)
        result.leading = (uint64_t)1 << 63;
    result.exponent = (square.exponent - shift) / 2;
    return result;
}

/* Compares the ratio, signs aside, with midpoint * 2^exponent. */
static int compare_midpoint(const struct ratio *ratio, uint64_t midpoint, int exponent)
{
    struct clr_dyadic factor, product;

    if (ratio->root)
        clr_dyadic_set(&factor, (clr_u128)midpoint * midpoint, 2 * exponent);
    else
        clr_dyadic_set(&factor, midpoint, exponent);
    /* Signs only where the product takes that of p: sizes are what is compared. */
    factor.negative = ratio->p->negative != ratio->q->negative;
    clr_dyadic_multiply(&product, &factor, ratio->q);
    return ratio->p->negative ? clr_dyadic_compare(&product, ratio->p)
                              : clr_dyadic_compare(ratio->p, &product);
}

/* Returns the double nearest to a ratio that is not zero, without its sign. */
static double round_ratio(const struct ratio *ratio)
{
    struct estimate value = estimate_quotient(ratio->p, ratio->q);
    uint64_t kept, rest, half;
    int keep, order;

    if (ratio->root)
        value = estimate_root(value);
    /* A normal number keeps 53 bits; a subnormal one those down to 2^-1074. */
    keep = value.exponent + 63 + 1075;
    if (keep > 53)
        keep = 53;
    /* Below half of the smallest double, or about there; an estimate is never below a power of two
       that its number reaches, since leading bits that are cut off keep the order of p and q. */
    if (keep <= 0)
        return keep == 0 && compare_midpoint(ratio, 1, -1075) > 0 ? 0x1p-1074 : 0.0;
    kept = value.leading >> (64 - keep);
    rest = value.leading << keep >> keep;
    half = (uint64_t)1 << (63 - keep);
    /* Next to a double, and not to a midpoint, that double is the result on either side. */
    if (rest > half + MARGIN)
        kept++;
    else if (rest + MARGIN >= half) {
        order = compare_midpoint(ratio, 2 * kept + 1, value.exponent + 63 - keep);
        if (order > 0 || (order == 0 && (kept & 1)))
            kept++;
    }
    return ldexp((double)kept, value.exponent + 64 - keep);
}

double clr_dyadic_quotient(const struct clr_dyadic *p, const struct clr_dyadic *q)
{
    struct ratio ratio = {p, q, false};
    double size;

    if (clr_dyadic_is_zero(p))
        return 0.0;
    size = round_ratio(&ratio);
    return p->negative != q->negative ? 0.0 - size : size;
}

double clr_dyadic_root(const struct clr_dyadic *p, const struct clr_dyadic *q)
{
    struct ratio ratio = {p, q, true};
    return clr_dyadic_is_zero(p) ? 0.0 : round_ratio(&ratio);
}

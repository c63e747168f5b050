#include "numeric/exact/moments.h"

#include "numeric/exact/sum.h"

#include <math.h>
#include <stddef.h>

/*
 * Exact arithmetic on integers times powers of two, of a fixed capacity and without allocation.
 * The work depends on the limbs that a number has, and not on the capacity.
 *
 * The capacity is for what ext/numeric/exact/moments.h computes. An exact sum lies in limbs -34 to
 * 34, limb i weighing 2^(64 i): so a product of two of them, or n times one, in -68 to 69, their
 * difference D likewise, and a product of two D in -136 to 140. Rounding then multiplies by a
 * midpoint between doubles, or its square, which adds 3 limbs: 280 of the 288 limbs are used.
 */

enum { DYADIC_LIMBS = 288 };

/* Limb i weighs 2^(64 (exponent + i)). Neither the lowest nor the highest limb is zero; zero has
   none, exponent 0, and is not negative. Copy no more than the limbs in use. */
struct clr_dyadic {
    bool negative;
    int exponent, size;
    uint64_t limb[DYADIC_LIMBS];
};

static inline bool dyadic_is_zero(const struct clr_dyadic *a)
{
    return a->size == 0;
}

/* Brings a number whose limbs are set into the form without zero limbs at its ends. */
static void trim(struct clr_dyadic *number)
{
    int zeros = 0, i;

    while (number->size > 0 && number->limb[number->size - 1] == 0)
        number->size--;
    if (number->size == 0) {
        number->exponent = 0;
        number->negative = false;
        return;
    }
    while (number->limb[zeros] == 0)
        zeros++;
    if (zeros > 0) {
        number->size -= zeros;
        number->exponent += zeros;
        for (i = 0; i < number->size; i++)
            number->limb[i] = number->limb[i + zeros];
    }
}

/* Sets the number to size * 2^exponent. */
static void dyadic_set(struct clr_dyadic *result, clr_u128 size, int exponent)
{
    int shift = exponent & 63;
    uint64_t low = (uint64_t)size, high = (uint64_t)(size >> 64);

    result->negative = false;
    result->exponent = (exponent - shift) / 64;
    result->size = 3;
    result->limb[0] = low << shift;
    result->limb[1] = high << shift;
    result->limb[2] = 0;
    if (shift > 0) {
        result->limb[1] |= low >> (64 - shift);
        result->limb[2] = high >> (64 - shift);
    }
    trim(result);
}

/* Sets the number to an exact sum. */
static void dyadic_set_magnitude(struct clr_dyadic *result, const struct clr_magnitude *value)
{
    int first = value->low >> 1, i;

    _Static_assert(CLR_ACCUMULATOR_BASE % 64 == 0, "two digits are one limb");
    result->negative = value->negative;
    if (value->top < 0) {
        result->size = result->exponent = 0;
        return;
    }
    result->exponent = first + CLR_ACCUMULATOR_BASE / 64;
    result->size = (value->top >> 1) - first + 1;
    for (i = 0; i < result->size; i++)
        result->limb[i] = 0;
    for (i = value->low; i <= value->top; i++)
        result->limb[(i >> 1) - first] |= (uint64_t)value->digit[i] << (32 * (i & 1));
}

/* Stores a * b; result is neither of them. */
static void dyadic_multiply(struct clr_dyadic *result, const struct clr_dyadic *a,
                            const struct clr_dyadic *b)
{
    int i, j;

    result->negative = a->negative != b->negative;
    result->exponent = a->exponent + b->exponent;
    result->size = a->size == 0 || b->size == 0 ? 0 : a->size + b->size;
    for (i = 0; i < a->size && result->size > 0; i++) {
        uint64_t carry = 0;
        for (j = 0; j < b->size; j++) {
            clr_u128 part = (clr_u128)a->limb[i] * b->limb[j] + carry;
            if (i > 0)
                part += result->limb[i + j];
            result->limb[i + j] = (uint64_t)part;
            carry = (uint64_t)(part >> 64);
        }
        result->limb[i + b->size] = carry;
    }
    trim(result);
}

/* The limb that weighs 2^(64 position). */
static inline uint64_t limb_at(const struct clr_dyadic *number, int position)
{
    int i = position - number->exponent;
    return i >= 0 && i < number->size ? number->limb[i] : 0;
}

/* Compares sizes without signs. */
static int compare_sizes(const struct clr_dyadic *a, const struct clr_dyadic *b)
{
    int position, lowest;

    if (a->size == 0 || b->size == 0)
        return (a->size > 0) - (b->size > 0);
    if (a->exponent + a->size != b->exponent + b->size)
        return a->exponent + a->size < b->exponent + b->size ? -1 : 1;
    lowest = a->exponent < b->exponent ? a->exponent : b->exponent;
    for (position = a->exponent + a->size - 1; position >= lowest; position--) {
        uint64_t x = limb_at(a, position), y = limb_at(b, position);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

/* Compares a and b: negative, 0 or positive. */
static int dyadic_compare(const struct clr_dyadic *a, const struct clr_dyadic *b)
{
    if (a->negative != b->negative)
        return a->negative ? -1 : 1;
    return a->negative ? compare_sizes(b, a) : compare_sizes(a, b);
}

/* Stores |a| + |b|, or |a| - |b| if subtract, where |a| >= |b|; the sign is left as it is. */
static void combine(struct clr_dyadic *result, const struct clr_dyadic *a,
                    const struct clr_dyadic *b, bool subtract)
{
    int lowest = a->exponent < b->exponent ? a->exponent : b->exponent;
    int highest = a->exponent + a->size > b->exponent + b->size ? a->exponent + a->size
                                                                : b->exponent + b->size;
    uint64_t carry = 0;
    int position;

    result->exponent = lowest;
    result->size = highest - lowest + 1;
    for (position = lowest; position < highest; position++) {
        uint64_t x = limb_at(a, position), y = limb_at(b, position);
        clr_u128 part = subtract ? (clr_u128)x - y - carry : (clr_u128)x + y + carry;
        result->limb[position - lowest] = (uint64_t)part;
        carry = (uint64_t)(part >> 64) & 1;
    }
    result->limb[highest - lowest] = carry;
    trim(result);
}

/* Stores a - b; result is neither of them. */
static void dyadic_subtract(struct clr_dyadic *result, const struct clr_dyadic *a,
                            const struct clr_dyadic *b)
{
    /* Zero's exponent says nothing: it must not widen the range. */
    if (a->size == 0 || b->size == 0) {
        const struct clr_dyadic *number = a->size == 0 ? b : a;
        int i;
        result->negative = number->size > 0 && number->negative != (number == b);
        result->exponent = number->exponent;
        result->size = number->size;
        for (i = 0; i < number->size; i++)
            result->limb[i] = number->limb[i];
        return;
    }
    if (a->negative != b->negative) {
        result->negative = a->negative;
        combine(result, a, b, false);
    } else if (compare_sizes(a, b) >= 0) {
        result->negative = a->negative;
        combine(result, a, b, true);
    } else {
        result->negative = !a->negative;
        combine(result, b, a, true);
    }
}

/*
 * Rounding of quotients and square roots: an approximation of 64 bits settles it nearly always,
 * and where it lies next to a midpoint of two doubles, an exact comparison with that midpoint does.
 */

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
        dyadic_set(&factor, (clr_u128)midpoint * midpoint, 2 * exponent);
    else
        dyadic_set(&factor, midpoint, exponent);
    /* Signs only where the product takes that of p: sizes are what is compared. */
    factor.negative = ratio->p->negative != ratio->q->negative;
    dyadic_multiply(&product, &factor, ratio->q);
    return ratio->p->negative ? dyadic_compare(&product, ratio->p)
                              : dyadic_compare(ratio->p, &product);
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

/*
 * Returns p / q rounded once to the nearest double, ties to even, subnormals included; +-Inf where
 * it overflows, +0.0 for zero and for what rounds to it. q is not zero.
 */
static double dyadic_quotient(const struct clr_dyadic *p, const struct clr_dyadic *q)
{
    struct ratio ratio = {p, q, false};
    double size;

    if (dyadic_is_zero(p))
        return 0.0;
    size = round_ratio(&ratio);
    return p->negative != q->negative ? 0.0 - size : size;
}

/* Returns the square root of |p / q|, rounded likewise. q is not zero. */
static double dyadic_root(const struct clr_dyadic *p, const struct clr_dyadic *q)
{
    struct ratio ratio = {p, q, true};
    return dyadic_is_zero(p) ? 0.0 : round_ratio(&ratio);
}

/* The sums as bits of a mask. */
enum {
    X = 1 << CLR_MOMENT_X,
    XX = 1 << CLR_MOMENT_XX,
    Y = 1 << CLR_MOMENT_Y,
    YY = 1 << CLR_MOMENT_YY,
    XY = 1 << CLR_MOMENT_XY
};

static const unsigned needs[] = {
    [CLR_VAR_POP] = X | XX,
    [CLR_VAR_SAMP] = X | XX,
    [CLR_STDDEV_POP] = X | XX,
    [CLR_STDDEV_SAMP] = X | XX,
    [CLR_NORM] = XX,
    [CLR_COVAR_POP] = X | Y | XY,
    [CLR_COVAR_SAMP] = X | Y | XY,
    [CLR_CORR] = X | Y | XX | YY | XY,
    [CLR_REGR_SLOPE] = X | Y | XX | XY,
    [CLR_REGR_INTERCEPT] = X | Y | XX | XY,
    [CLR_REGR_R2] = X | Y | XX | YY | XY,
    [CLR_REGR_COUNT] = 0,
    [CLR_REGR_AVGX] = X,
    [CLR_REGR_AVGY] = Y,
    [CLR_REGR_SXX] = X | XX,
    [CLR_REGR_SYY] = Y | YY,
    [CLR_REGR_SXY] = X | Y | XY,
};

unsigned clr_statistic_needs(enum clr_statistic statistic)
{
    return needs[statistic];
}

/* The exact sums of the moments that are needed, and those of their D that are. */
struct exact {
    struct clr_dyadic x, y, xx, yy, xy;
    struct clr_dyadic dxx, dyy, dxy;
};

static void load(struct clr_dyadic *number, struct clr_sum *sum)
{
    struct clr_magnitude value;

    clr_sum_exact(sum, &value);
    dyadic_set_magnitude(number, &value);
}

/* Stores a * b - c * d. */
static void cross(struct clr_dyadic *result, const struct clr_dyadic *a, const struct clr_dyadic *b,
                  const struct clr_dyadic *c, const struct clr_dyadic *d)
{
    struct clr_dyadic first, second;

    dyadic_multiply(&first, a, b);
    dyadic_multiply(&second, c, d);
    dyadic_subtract(result, &first, &second);
}

static void load_all(struct exact *exact, const struct clr_sums *sums, unsigned mask)
{
    struct clr_dyadic n;

    dyadic_set(&n, (uint64_t)sums->count, 0);
    if (mask & X)
        load(&exact->x, sums->sums[CLR_MOMENT_X]);
    if (mask & Y)
        load(&exact->y, sums->sums[CLR_MOMENT_Y]);
    if (mask & XX) {
        load(&exact->xx, sums->sums[CLR_MOMENT_XX]);
        cross(&exact->dxx, &n, &exact->xx, &exact->x, &exact->x);
    }
    if (mask & YY) {
        load(&exact->yy, sums->sums[CLR_MOMENT_YY]);
        cross(&exact->dyy, &n, &exact->yy, &exact->y, &exact->y);
    }
    if (mask & XY) {
        load(&exact->xy, sums->sums[CLR_MOMENT_XY]);
        cross(&exact->dxy, &n, &exact->xy, &exact->x, &exact->y);
    }
}

/* Which of the sums in the mask are not there, or have an infinity or a NaN in them. */
static unsigned unusual(const struct clr_sums *sums, unsigned mask)
{
    unsigned found = 0, i;

    for (i = 0; i < CLR_MOST_TERMS; i++) {
        if ((mask >> i & 1) && (sums->sums[i] == NULL || clr_sum_is_unusual(sums->sums[i])))
            found |= 1u << i;
    }
    return found;
}

static void set_real(struct clr_value *result, double real)
{
    result->kind = isnan(real) ? CLR_KIND_NONE : CLR_KIND_REAL;
    result->as.real = real;
}

/* D(xx), D(yy) or D(xy) over n, n^2 or n (n - 1), or the square root of that. */
static double spread(const struct clr_sums *sums, enum clr_statistic statistic)
{
    uint64_t n = (uint64_t)sums->count;
    struct clr_dyadic divisor;
    struct exact exact;
    const struct clr_dyadic *dividend = &exact.dxx;

    load_all(&exact, sums, needs[statistic]);
    switch (statistic) {
    case CLR_VAR_SAMP:
    case CLR_STDDEV_SAMP:
    case CLR_COVAR_SAMP:
        dyadic_set(&divisor, (clr_u128)n * (n - 1), 0);
        break;
    case CLR_REGR_SXX:
    case CLR_REGR_SYY:
    case CLR_REGR_SXY:
        dyadic_set(&divisor, n, 0);
        break;
    default:
        dyadic_set(&divisor, (clr_u128)n * n, 0);
        break;
    }
    if (needs[statistic] & XY)
        dividend = &exact.dxy;
    else if (needs[statistic] & YY)
        dividend = &exact.dyy;
    if (statistic == CLR_STDDEV_POP || statistic == CLR_STDDEV_SAMP)
        return dyadic_root(dividend, &divisor);
    return dyadic_quotient(dividend, &divisor);
}

/* What needs the line through the pairs; NaN for NULL. */
static double fit(const struct clr_sums *sums, enum clr_statistic statistic)
{
    struct clr_dyadic p, q;
    struct exact exact;
    double size;

    load_all(&exact, sums, needs[statistic]);
    if (dyadic_is_zero(&exact.dxx))
        return NAN;
    if (statistic == CLR_REGR_SLOPE)
        return dyadic_quotient(&exact.dxy, &exact.dxx);
    if (statistic == CLR_REGR_INTERCEPT) {
        cross(&p, &exact.y, &exact.xx, &exact.x, &exact.xy);
        return dyadic_quotient(&p, &exact.dxx);
    }
    if (dyadic_is_zero(&exact.dyy))
        return statistic == CLR_REGR_R2 ? 1.0 : NAN;
    dyadic_multiply(&p, &exact.dxy, &exact.dxy);
    dyadic_multiply(&q, &exact.dxx, &exact.dyy);
    if (statistic == CLR_REGR_R2)
        return dyadic_quotient(&p, &q);
    size = dyadic_root(&p, &q);
    return exact.dxy.negative ? 0.0 - size : size;
}

/* Whether all y are one finite number. */
static bool is_level(const struct clr_sums *sums)
{
    const unsigned mask = Y | YY;
    struct exact exact;

    if (unusual(sums, mask) != 0)
        return false;
    load_all(&exact, sums, mask);
    return dyadic_is_zero(&exact.dyy);
}

static double norm(struct clr_sum *squares)
{
    struct clr_dyadic sum, one;

    if (clr_sum_is_unusual(squares))
        return clr_sum_round(squares, 1);
    load(&sum, squares);
    dyadic_set(&one, 1, 0);
    return dyadic_root(&sum, &one);
}

void clr_moments_finish(const struct clr_sums *sums, enum clr_statistic statistic,
                        struct clr_value *result)
{
    bool sample =
        statistic == CLR_VAR_SAMP || statistic == CLR_STDDEV_SAMP || statistic == CLR_COVAR_SAMP;

    result->kind = CLR_KIND_NONE;
    result->bytes = NULL;
    if (statistic == CLR_REGR_COUNT) {
        result->kind = CLR_KIND_INTEGER;
        result->as.integer = sums->count;
        return;
    }
    if (sums->count < (sample ? 2 : 1))
        return;
    switch (statistic) {
    case CLR_NORM:
        set_real(result, norm(sums->sums[CLR_MOMENT_XX]));
        return;
    case CLR_REGR_AVGX:
        set_real(result, clr_sum_round(sums->sums[CLR_MOMENT_X], (uint64_t)sums->count));
        return;
    case CLR_REGR_AVGY:
        set_real(result, clr_sum_round(sums->sums[CLR_MOMENT_Y], (uint64_t)sums->count));
        return;
    default:
        break;
    }
    if (unusual(sums, needs[statistic]) != 0) {
        if (statistic == CLR_REGR_R2 && is_level(sums))
            set_real(result, 1.0);
        return;
    }
    switch (statistic) {
    case CLR_CORR:
    case CLR_REGR_SLOPE:
    case CLR_REGR_INTERCEPT:
    case CLR_REGR_R2:
        set_real(result, fit(sums, statistic));
        break;
    default:
        set_real(result, spread(sums, statistic));
        break;
    }
}

/* Whether the sum is zero and no infinity or NaN is in it; one that is not there is. */
static bool is_nothing(struct clr_sum *sum)
{
    struct clr_magnitude value;

    if (sum == NULL)
        return true;
    clr_sum_exact(sum, &value);
    return value.top < 0 && !clr_sum_is_unusual(sum);
}

/* Whether the sum of squares, which follows that of the numbers, is not below zero, nor D, if the
   sum of the numbers is there too. */
static bool is_spread(const struct clr_sums *sums, enum clr_moment numbers)
{
    struct clr_sum *sum = sums->sums[numbers], *squares = sums->sums[numbers + 1];
    struct clr_dyadic n, plain, square, d;

    if (squares == NULL || clr_sum_is_unusual(squares))
        return true;
    load(&square, squares);
    if (sum == NULL || clr_sum_is_unusual(sum))
        return !square.negative;
    load(&plain, sum);
    dyadic_set(&n, (uint64_t)sums->count, 0);
    cross(&d, &n, &square, &plain, &plain);
    return !d.negative;
}

bool clr_moments_consistent(const struct clr_sums *sums)
{
    const unsigned all = needs[CLR_CORR];
    struct clr_dyadic p, q;
    struct exact exact;
    int i;

    for (i = 0; i < CLR_MOST_TERMS && sums->count <= 0; i++) {
        if (!is_nothing(sums->sums[i]))
            return false;
    }
    if (sums->count <= 0)
        return sums->count == 0;
    if (!is_spread(sums, CLR_MOMENT_X) || !is_spread(sums, CLR_MOMENT_Y))
        return false;
    if (unusual(sums, all) != 0)
        return true;
    load_all(&exact, sums, all);
    dyadic_multiply(&p, &exact.dxy, &exact.dxy);
    dyadic_multiply(&q, &exact.dxx, &exact.dyy);
    return dyadic_compare(&p, &q) <= 0;
}

/* A number known to lie within error of value; or exactly, if it is_exact, in 128 bits. */
struct cross_product {
    double value, error;
    bool is_exact;
    clr_i128 exact;
};

/* Whether the sum is an integer of 64 bits that was never anything else. */
static bool is_word(const struct clr_sum *sum, int64_t *result)
{
    return !sum->wide_used && sum->term[0] == 0.0 && sum->term[1] == 0.0 && sum->term[2] == 0.0 &&
           clr_int192_to_int64(&sum->integer, result);
}

/*
 * count * products - x * y. Of integers exactly: count is below 2^63, so that the result is below
 * 2^127. Of doubles: with those of count, the sums, the products and the difference, roundings add
 * up to a relative error below 2^-50 of the two products, and what underflows is below 2^-900.
 */
static struct cross_product estimate_cross(int64_t count, struct clr_sum *products,
                                           struct clr_sum *x, struct clr_sum *y)
{
    struct cross_product result = {.is_exact = false};
    int64_t products_word, x_word, y_word;
    double left, right;

    if (is_word(products, &products_word) && is_word(x, &x_word) && is_word(y, &y_word)) {
        result.is_exact = true;
        result.exact = (clr_i128)count * products_word - (clr_i128)x_word * y_word;
        result.value = (double)result.exact;
        result.error = fabs(result.value) * 0x1p-50;
    } else {
        left = (double)count * clr_sum_round(products, 1);
        right = clr_sum_round(x, 1) * clr_sum_round(y, 1);
        result.value = left - right;
        result.error = (fabs(left) + fabs(right)) * 0x1p-50 + 0x1p-900;
    }
    return result;
}

/* These two are false where an infinity or a NaN came up on the way. */
static bool is_not_negative(const struct cross_product *d)
{
    return d->is_exact ? d->exact >= 0 : d->value - d->error >= 0.0;
}

static bool fits_word(const struct cross_product *d)
{
    return d->is_exact && d->exact <= INT64_MAX && d->exact >= -INT64_MAX;
}

bool clr_moments_surely_consistent(const struct clr_sums *sums)
{
    struct clr_sum *const *of = sums->sums;
    struct cross_product xx, yy, xy;
    double square, bound;
    int i;

    for (i = 0; i < CLR_MOST_TERMS && of[i] != NULL; i++) {
        if (clr_sum_is_unusual(of[i]))
            return false;
    }
    if (sums->count <= 0)
        return false;
    xx = estimate_cross(sums->count, of[CLR_MOMENT_XX], of[CLR_MOMENT_X], of[CLR_MOMENT_X]);
    if (!is_not_negative(&xx))
        return false;
    if (of[CLR_MOMENT_Y] == NULL)
        return true;
    yy = estimate_cross(sums->count, of[CLR_MOMENT_YY], of[CLR_MOMENT_Y], of[CLR_MOMENT_Y]);
    xy = estimate_cross(sums->count, of[CLR_MOMENT_XY], of[CLR_MOMENT_X], of[CLR_MOMENT_Y]);
    if (!is_not_negative(&yy))
        return false;
    if (fits_word(&xx) && fits_word(&yy) && fits_word(&xy))
        return xy.exact * xy.exact <= xx.exact * yy.exact;
    square = fabs(xy.value) + xy.error;
    square *= square * (1 + 0x1p-50);
    bound = (xx.value - xx.error) * (yy.value - yy.error);
    return bound > 0x1p-900 && square < bound * (1 - 0x1p-50);
}

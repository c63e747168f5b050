#include "numeric/exact/moments.h"

#include "numeric/exact/dyadic.h"

#include <math.h>
#include <stddef.h>

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
    clr_dyadic_set_magnitude(number, &value);
}

/* Stores a * b - c * d. */
static void cross(struct clr_dyadic *result, const struct clr_dyadic *a, const struct clr_dyadic *b,
                  const struct clr_dyadic *c, const struct clr_dyadic *d)
{
    struct clr_dyadic first, second;

    clr_dyadic_multiply(&first, a, b);
    clr_dyadic_multiply(&second, c, d);
    clr_dyadic_subtract(result, &first, &second);
}

static void load_all(struct exact *exact, const struct clr_sums *sums, unsigned mask)
{
    struct clr_dyadic n;

    clr_dyadic_set(&n, (uint64_t)sums->count, 0);
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
        clr_dyadic_set(&divisor, (clr_u128)n * (n - 1), 0);
        break;
    case CLR_REGR_SXX:
    case CLR_REGR_SYY:
    case CLR_REGR_SXY:
        clr_dyadic_set(&divisor, n, 0);
        break;
    default:
        clr_dyadic_set(&divisor, (clr_u128)n * n, 0);
        break;
    }
    if (needs[statistic] & XY)
        dividend = &exact.dxy;
    else if (needs[statistic] & YY)
        dividend = &exact.dyy;
    if (statistic == CLR_STDDEV_POP || statistic == CLR_STDDEV_SAMP)
        return clr_dyadic_root(dividend, &divisor);
    return clr_dyadic_quotient(dividend, &divisor);
}

/* What needs the line through the pairs; NaN for NULL. */
static double fit(const struct clr_sums *sums, enum clr_statistic statistic)
{
    struct clr_dyadic p, q;
    struct exact exact;
    double size;

    load_all(&exact, sums, needs[statistic]);
    if (clr_dyadic_is_zero(&exact.dxx))
        return NAN;
    if (statistic == CLR_REGR_SLOPE)
        return clr_dyadic_quotient(&exact.dxy, &exact.dxx);
    if (statistic == CLR_REGR_INTERCEPT) {
        cross(&p, &exact.y, &exact.xx, &exact.x, &exact.xy);
        return clr_dyadic_quotient(&p, &exact.dxx);
    }
    if (clr_dyadic_is_zero(&exact.dyy))
        return statistic == CLR_REGR_R2 ? 1.0 : NAN;
    clr_dyadic_multiply(&p, &exact.dxy, &exact.dxy);
    clr_dyadic_multiply(&q, &exact.dxx, &exact.dyy);
    if (statistic == CLR_REGR_R2)
        return clr_dyadic_quotient(&p, &q);
    size = clr_dyadic_root(&p, &q);
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
    return clr_dyadic_is_zero(&exact.dyy);
}

static double norm(struct clr_sum *squares)
{
    struct clr_dyadic sum, one;

    if (clr_sum_is_unusual(squares))
        return clr_sum_round(squares, 1);
    load(&sum, squares);
    clr_dyadic_set(&one, 1, 0);
    return clr_dyadic_root(&sum, &one);
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
    clr_dyadic_set(&n, (uint64_t)sums->count, 0);
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
    clr_dyadic_multiply(&p, &exact.dxy, &exact.dxy);
    clr_dyadic_multiply(&q, &exact.dxx, &exact.dyy);
    return clr_dyadic_compare(&p, &q) <= 0;
}

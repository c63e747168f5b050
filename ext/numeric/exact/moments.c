#include "numeric/exact/moments.h"

#include "numeric/exact/dyadic.h"

#include <math.h>
#include <stddef.h>

static const unsigned needs[] = {
    [CLR_VAR_POP] = CLR_MOMENT_X | CLR_MOMENT_XX,
    [CLR_VAR_SAMP] = CLR_MOMENT_X | CLR_MOMENT_XX,
    [CLR_STDDEV_POP] = CLR_MOMENT_X | CLR_MOMENT_XX,
    [CLR_STDDEV_SAMP] = CLR_MOMENT_X | CLR_MOMENT_XX,
    [CLR_NORM] = CLR_MOMENT_XX,
    [CLR_COVAR_POP] = CLR_MOMENT_X | CLR_MOMENT_Y | CLR_MOMENT_XY,
    [CLR_COVAR_SAMP] = CLR_MOMENT_X | CLR_MOMENT_Y | CLR_MOMENT_XY,
    [CLR_CORR] = CLR_MOMENT_X | CLR_MOMENT_Y | CLR_MOMENT_XX | CLR_MOMENT_YY | CLR_MOMENT_XY,
    [CLR_REGR_SLOPE] = CLR_MOMENT_X | CLR_MOMENT_Y | CLR_MOMENT_XX | CLR_MOMENT_XY,
    [CLR_REGR_INTERCEPT] = CLR_MOMENT_X | CLR_MOMENT_Y | CLR_MOMENT_XX | CLR_MOMENT_XY,
    [CLR_REGR_R2] = CLR_MOMENT_X | CLR_MOMENT_Y | CLR_MOMENT_XX | CLR_MOMENT_YY | CLR_MOMENT_XY,
    [CLR_REGR_COUNT] = 0,
    [CLR_REGR_AVGX] = CLR_MOMENT_X,
    [CLR_REGR_AVGY] = CLR_MOMENT_Y,
    [CLR_REGR_SXX] = CLR_MOMENT_X | CLR_MOMENT_XX,
    [CLR_REGR_SYY] = CLR_MOMENT_Y | CLR_MOMENT_YY,
    [CLR_REGR_SXY] = CLR_MOMENT_X | CLR_MOMENT_Y | CLR_MOMENT_XY,
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

static void load_all(struct exact *exact, const struct clr_moments *moments, unsigned mask)
{
    struct clr_dyadic n;

    clr_dyadic_set(&n, (uint64_t)moments->count, 0);
    if (mask & CLR_MOMENT_X)
        load(&exact->x, moments->x);
    if (mask & CLR_MOMENT_Y)
        load(&exact->y, moments->y);
    if (mask & CLR_MOMENT_XX) {
        load(&exact->xx, moments->xx);
        cross(&exact->dxx, &n, &exact->xx, &exact->x, &exact->x);
    }
    if (mask & CLR_MOMENT_YY) {
        load(&exact->yy, moments->yy);
        cross(&exact->dyy, &n, &exact->yy, &exact->y, &exact->y);
    }
    if (mask & CLR_MOMENT_XY) {
        load(&exact->xy, moments->xy);
        cross(&exact->dxy, &n, &exact->xy, &exact->x, &exact->y);
    }
}

/* Which of the sums in the mask have an infinity or a NaN in them. */
static unsigned unusual(const struct clr_moments *moments, unsigned mask)
{
    const struct clr_sum *const sums[] = {moments->x, moments->y, moments->xx, moments->yy,
                                          moments->xy};
    unsigned found = 0, i;

    for (i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        if ((mask >> i & 1) && clr_sum_is_unusual(sums[i]))
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
static double spread(const struct clr_moments *moments, enum clr_statistic statistic)
{
    uint64_t n = (uint64_t)moments->count;
    struct clr_dyadic divisor;
    struct exact exact;
    const struct clr_dyadic *dividend = &exact.dxx;

    load_all(&exact, moments, needs[statistic]);
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
    if (needs[statistic] & CLR_MOMENT_XY)
        dividend = &exact.dxy;
    else if (needs[statistic] & CLR_MOMENT_YY)
        dividend = &exact.dyy;
    if (statistic == CLR_STDDEV_POP || statistic == CLR_STDDEV_SAMP)
        return clr_dyadic_root(dividend, &divisor);
    return clr_dyadic_quotient(dividend, &divisor);
}

/* What needs the line through the pairs; NaN for NULL. */
static double fit(const struct clr_moments *moments, enum clr_statistic statistic)
{
    struct clr_dyadic p, q;
    struct exact exact;
    double size;

    load_all(&exact, moments, needs[statistic]);
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
static bool is_level(const struct clr_moments *moments)
{
    const unsigned mask = CLR_MOMENT_Y | CLR_MOMENT_YY;
    struct exact exact;

    if (unusual(moments, mask) != 0)
        return false;
    load_all(&exact, moments, mask);
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

void clr_moments_finish(const struct clr_moments *moments, enum clr_statistic statistic,
                        struct clr_value *result)
{
    bool sample =
        statistic == CLR_VAR_SAMP || statistic == CLR_STDDEV_SAMP || statistic == CLR_COVAR_SAMP;

    result->kind = CLR_KIND_NONE;
    result->bytes = NULL;
    if (statistic == CLR_REGR_COUNT) {
        result->kind = CLR_KIND_INTEGER;
        result->as.integer = moments->count;
        return;
    }
    if (moments->count < (sample ? 2 : 1))
        return;
    switch (statistic) {
    case CLR_NORM:
        set_real(result, norm(moments->xx));
        return;
    case CLR_REGR_AVGX:
        set_real(result, clr_sum_round(moments->x, (uint64_t)moments->count));
        return;
    case CLR_REGR_AVGY:
        set_real(result, clr_sum_round(moments->y, (uint64_t)moments->count));
        return;
    default:
        break;
    }
    if (unusual(moments, needs[statistic]) != 0) {
        if (statistic == CLR_REGR_R2 && is_level(moments))
            set_real(result, 1.0);
        return;
    }
    switch (statistic) {
    case CLR_CORR:
    case CLR_REGR_SLOPE:
    case CLR_REGR_INTERCEPT:
    case CLR_REGR_R2:
        set_real(result, fit(moments, statistic));
        break;
    default:
        set_real(result, spread(moments, statistic));
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

/* Whether the sum of squares is not below zero, nor D, if the sum of the numbers is there too. */
static bool is_spread(int64_t count, struct clr_sum *sum, struct clr_sum *squares)
{
    struct clr_dyadic n, plain, square, d;

    if (squares == NULL || clr_sum_is_unusual(squares))
        return true;
    load(&square, squares);
    if (sum == NULL || clr_sum_is_unusual(sum))
        return !square.negative;
    load(&plain, sum);
    clr_dyadic_set(&n, (uint64_t)count, 0);
    cross(&d, &n, &square, &plain, &plain);
    return !d.negative;
}

bool clr_moments_consistent(const struct clr_moments *moments)
{
    const unsigned all = needs[CLR_CORR];
    struct clr_dyadic p, q;
    struct exact exact;

    if (moments->count <= 0)
        return moments->count == 0 && is_nothing(moments->x) && is_nothing(moments->y) &&
               is_nothing(moments->xx) && is_nothing(moments->yy) && is_nothing(moments->xy);
    if (!is_spread(moments->count, moments->x, moments->xx) ||
        !is_spread(moments->count, moments->y, moments->yy))
        return false;
    if (moments->x == NULL || moments->y == NULL || moments->xx == NULL || moments->yy == NULL ||
        moments->xy == NULL || unusual(moments, all) != 0)
        return true;
    load_all(&exact, moments, all);
    clr_dyadic_multiply(&p, &exact.dxy, &exact.dxy);
    clr_dyadic_multiply(&q, &exact.dxx, &exact.dyy);
    return clr_dyadic_compare(&p, &q) <= 0;
}

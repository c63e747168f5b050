/*
 * Statistics of one quantity or of pairs, finished from exact sums. Each result is the exact
 * mathematical value of the statistic, rounded once to the nearest double, ties to even; what is
 * NULL, and when, is as in PostgreSQL's aggregates of float8 (PostgreSQL manual, "Aggregate
 * Functions for Statistics"; its float.c).
 *
 * With S the sums, n the pairs, and D(xx) = n S(xx) - S(x)^2, D(xy) = n S(xy) - S(x) S(y), D(yy)
 * likewise, every statistic is a quotient of integers times powers of two, or the square root of
 * one.
 */
#ifndef CLR_NUMERIC_MOMENTS_H
#define CLR_NUMERIC_MOMENTS_H

#include "numeric/exact/operation.h"
#include "numeric/values/value.h"

#include <stdbool.h>

/* Of pairs, x is the independent variable. */
enum clr_statistic {
    CLR_VAR_POP,        /* D(xx) / n^2; 0 for one value */
    CLR_VAR_SAMP,       /* D(xx) / (n (n - 1)); NULL for one value */
    CLR_STDDEV_POP,     /* its square root, as is the next one */
    CLR_STDDEV_SAMP,    /* NULL for one value */
    CLR_NORM,           /* square root of S(xx) */
    CLR_COVAR_POP,      /* D(xy) / n^2 */
    CLR_COVAR_SAMP,     /* D(xy) / (n (n - 1)); NULL for one pair */
    CLR_CORR,           /* D(xy) / sqrt(D(xx) D(yy)); NULL if D(xx) or D(yy) is 0 */
    CLR_REGR_SLOPE,     /* D(xy) / D(xx); NULL if D(xx) is 0 */
    CLR_REGR_INTERCEPT, /* (S(y) S(xx) - S(x) S(xy)) / D(xx); NULL if D(xx) is 0 */
    CLR_REGR_R2,        /* D(xy)^2 / (D(xx) D(yy)); NULL if D(xx) is 0, else 1 if D(yy) is */
    CLR_REGR_COUNT,     /* n, an INTEGER; 0 for no pairs */
    CLR_REGR_AVGX,      /* S(x) / n */
    CLR_REGR_AVGY,      /* S(y) / n */
    CLR_REGR_SXX,       /* D(xx) / n */
    CLR_REGR_SYY,       /* D(yy) / n */
    CLR_REGR_SXY        /* D(xy) / n */
};

/* Returns the mask (bits 1 << enum clr_moment) of the sums that the statistic needs; those of one
   quantity need X and XX. */
unsigned clr_statistic_needs(enum clr_statistic statistic);

/*
 * Stores the statistic: kind CLR_KIND_REAL, for CLR_REGR_COUNT CLR_KIND_INTEGER, or CLR_KIND_NONE
 * for NULL. A result past the range of doubles is an infinity, a zero is +0.0. Where an infinity
 * or a NaN is in one of the sums needed, NULL, except that NORM and the averages are infinite if
 * their sum is, and R2 is 1.0 for a finite constant y, as in PostgreSQL. Writes to the sums as
 * clr_sum_exact() does.
 */
void clr_moments_finish(const struct clr_sums *sums, enum clr_statistic statistic,
                        struct clr_value *result);

/*
 * Returns whether count values or pairs can have these sums, as far as exact inequalities tell:
 * S(xx), S(yy), D(xx), D(yy) >= 0 and D(xy)^2 <= D(xx) D(yy); no pairs have sums of zero. Only the
 * sums that are not NULL are looked at: those of one quantity alone are CLR_SQUARES'. A sum with an
 * infinity or a NaN in it is held to nothing.
 */
bool clr_moments_consistent(const struct clr_sums *sums);

/*
 * A quick look at whether sums can be those of rows. It settles nearly all that are; the rest, and
 * those that are not, is for clr_moments_consistent(), whose exact numbers take microseconds.
 */

/*
 * Returns true only if clr_moments_consistent() does. The sums are all there, or the first two, of
 * x and xx, alone.
 */
bool clr_moments_surely_consistent(const struct clr_sums *sums);

#endif

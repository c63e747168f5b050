#include "numeric/exact/moments_filter.h"

/* A number known to lie within error of value; or exactly, if it is_exact, in 128 bits. */
struct estimate {
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
static struct estimate cross(int64_t count, struct clr_sum *products, struct clr_sum *x,
                             struct clr_sum *y)
{
    struct estimate result = {.is_exact = false};
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
static bool is_not_negative(const struct estimate *d)
{
    return d->is_exact ? d->exact >= 0 : d->value - d->error >= 0.0;
}

static bool fits_word(const struct estimate *d)
{
    return d->is_exact && d->exact <= INT64_MAX && d->exact >= -INT64_MAX;
}

bool clr_moments_surely_consistent(const struct clr_sums *sums)
{
    struct clr_sum *const *of = sums->sums;
    struct estimate xx, yy, xy;
    double square, bound;
    int i;

    for (i = 0; i < CLR_MOST_TERMS && of[i] != NULL; i++) {
        if (clr_sum_is_unusual(of[i]))
            return false;
    }
    if (sums->count <= 0)
        return false;
    xx = cross(sums->count, of[CLR_MOMENT_XX], of[CLR_MOMENT_X], of[CLR_MOMENT_X]);
    if (!is_not_negative(&xx))
        return false;
    if (of[CLR_MOMENT_Y] == NULL)
        return true;
    yy = cross(sums->count, of[CLR_MOMENT_YY], of[CLR_MOMENT_Y], of[CLR_MOMENT_Y]);
    xy = cross(sums->count, of[CLR_MOMENT_XY], of[CLR_MOMENT_X], of[CLR_MOMENT_Y]);
    if (!is_not_negative(&yy))
        return false;
    if (fits_word(&xx) && fits_word(&yy) && fits_word(&xy))
        return xy.exact * xy.exact <= xx.exact * yy.exact;
    square = fabs(xy.value) + xy.error;
    square *= square * (1 + 0x1p-50);
    bound = (xx.value - xx.error) * (yy.value - yy.error);
    return bound > 0x1p-900 && square < bound * (1 - 0x1p-50);
}

#include "numeric/states/state_check.h"

#include "numeric/states/state_bytes.h"

/* The bounds of what rows can add up to; bits and bytes are numbered from the point. */
struct bounds {
    int integer_bit; /* n INTEGER rows add up to n * 2^integer_bit at most, in size */
    int real_byte;   /* n finite rows to less than n * 256^real_byte */
    int lowest_bit;  /* every row, and so every sum, is a multiple of 2^lowest_bit */
};

static const struct bounds value_bounds = {63, 1024 / 8, CLR_LOWEST_BIT};
static const struct bounds product_bounds = {126, 2048 / 8, 2 * CLR_LOWEST_BIT};

static int64_t specials(const struct clr_stored_sum *sum)
{
    return sum->plus_infinity + sum->minus_infinity + sum->nan;
}

/* Whether that many INTEGER rows can add up to the sum. */
static bool integers_reach(const struct clr_stored_sum *sum, int64_t rows, int bit)
{
    clr_u128 most = (clr_u128)rows << (bit - 63), high; /* in units of 2^63 */
    struct clr_int192 size;

    if (sum->exponent < 0 || sum->exponent + (int)sum->size > 24)
        return false;
    size = clr_stored_integer(sum);
    high = (clr_u128)size.high << 65 | (clr_u128)size.middle << 1 | size.low >> 63;
    return size.high >> 63 == 0 && (high < most || (high == most && size.low << 1 == 0));
}

/* Whether that many finite rows, one of them not an INTEGER at least, can add up to the sum. */
static bool reals_reach(const struct clr_stored_sum *sum, int64_t rows, const struct bounds *bounds)
{
    int top = sum->exponent + (int)sum->size, at;
    uint64_t high = 0; /* in units of the bound */

    if (clr_stored_lowest_bit(sum) < bounds->lowest_bit || top > bounds->real_byte + 8)
        return false;
    for (at = top - 1; at >= bounds->real_byte && at >= sum->exponent; at--)
        high |= (uint64_t)sum->bytes[at - sum->exponent] << (8 * (at - bounds->real_byte));
    return high < (uint64_t)rows;
}

/* quantity is one of a layout's. */
static bool is_possible(const struct clr_stored_state *state, const struct clr_stored_sum *sum,
                        char quantity)
{
    const struct bounds *bounds = quantity == 'x' ? &value_bounds : &product_bounds;
    int64_t finite = state->non_integers - specials(sum);

    if (sum->size == 0)
        return true;
    if (quantity == '2' && sum->negative)
        return false;
    if (finite == 0)
        return integers_reach(sum, state->count - state->non_integers, bounds->integer_bit);
    return reals_reach(sum, finite, bounds);
}

/* An infinite value has an infinite square, and a NaN a NaN. */
static bool squares_agree(const struct clr_stored_sum *values, const struct clr_stored_sum *squares)
{
    return squares->plus_infinity == values->plus_infinity + values->minus_infinity &&
           squares->minus_infinity == 0 && squares->nan == values->nan;
}

/* A product is special where either of its factors is. */
static bool products_agree(const struct clr_stored_sum *x, const struct clr_stored_sum *y,
                           const struct clr_stored_sum *products)
{
    return specials(products) >= specials(x) && specials(products) >= specials(y) &&
           specials(products) <= specials(x) + specials(y);
}

bool clr_stored_is_consistent(const struct clr_stored_state *state, enum clr_state_kind kind)
{
    const char *layout = clr_state_layout(kind);
    const struct clr_stored_sum *sums = state->sums;
    int i;

    for (i = 0; layout[i] != '\0'; i++) {
        if (!is_possible(state, &sums[i], layout[i]))
            return false;
    }
    if (kind == CLR_STATE_SQUARES)
        return squares_agree(&sums[0], &sums[1]);
    if (kind == CLR_STATE_PAIRS)
        return squares_agree(&sums[0], &sums[2]) && squares_agree(&sums[1], &sums[3]) &&
               products_agree(&sums[0], &sums[1], &sums[4]);
    return true;
}

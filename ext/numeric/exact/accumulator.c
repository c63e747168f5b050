#include "numeric/exact/accumulator.h"

#include "numeric/exact/parts.h"

#include <math.h>
#include <string.h>

void clr_accumulator_clear(struct clr_accumulator *sum)
{
    memset(sum->digit, 0, sizeof sum->digit);
    sum->pending = 0;
    sum->low = CLR_ACCUMULATOR_DIGITS;
    sum->high = -1;
}

/*
 * Brings every digit below the highest into 0 .. 2^32-1; the highest keeps the sign, between
 * -2^32 and 2^32.
 */
static void propagate(struct clr_accumulator *sum)
{
    int64_t carry = 0;
    int i;

    for (i = sum->low; i <= sum->high; i++) {
        int64_t value = sum->digit[i] + carry;
        if (i == sum->high) {
            carry = value >> 32;
            if (carry == 0 || carry == -1) {
                sum->digit[i] = value;
                break;
            }
            if (sum->high < CLR_ACCUMULATOR_DIGITS - 1)
                sum->high++;
        }
        carry = value >> 32;
        sum->digit[i] = value & 0xffffffff;
    }
    sum->pending = 0;
}

/* An addition changes a digit by 2^32 at most, so 2^30 of them stay below 2^63. */
static inline void begin_addition(struct clr_accumulator *sum, int low, int high)
{
    if (++sum->pending >= (uint32_t)1 << 30) {
        propagate(sum);
        sum->pending = 1;
    }
    if (low < sum->low)
        sum->low = low;
    if (high > sum->high)
        sum->high = high;
}

static inline void add_digit(struct clr_accumulator *sum, int i, uint64_t digit, bool negative)
{
    sum->digit[i] += negative ? -(int64_t)digit : (int64_t)digit;
}

/*
 * Adds (high * 2^64 + low) * 2^exponent, negated if negative. high is below 2^53.
 */
static void add_scaled(struct clr_accumulator *sum, uint64_t high, uint64_t low, int exponent,
                       bool negative)
{
    int position = exponent - CLR_ACCUMULATOR_BASE;
    int first = position >> 5;
    int shift = position & 31;
    clr_u128 lower = (clr_u128)low << shift;
    clr_u128 upper = ((clr_u128)high << shift) + (uint64_t)(lower >> 64);

    if (upper == 0) {
        begin_addition(sum, first, first + 1);
        add_digit(sum, first, (uint64_t)lower & 0xffffffff, negative);
        add_digit(sum, first + 1, (uint64_t)lower >> 32, negative);
        return;
    }
    begin_addition(sum, first, first + 4);
    add_digit(sum, first, (uint64_t)lower & 0xffffffff, negative);
    add_digit(sum, first + 1, (uint64_t)lower >> 32, negative);
    add_digit(sum, first + 2, (uint64_t)upper & 0xffffffff, negative);
    add_digit(sum, first + 3, (uint64_t)upper >> 32, negative);
    add_digit(sum, first + 4, (uint64_t)(upper >> 64), negative);
}

void clr_accumulator_add(struct clr_accumulator *sum, double x)
{
    struct clr_parts parts = clr_parts_of(x);
    if (parts.significand != 0)
        add_scaled(sum, 0, parts.significand, parts.exponent, parts.negative);
}

void clr_accumulator_add_product(struct clr_accumulator *sum, double x, double y)
{
    struct clr_parts a = clr_parts_of(x), b = clr_parts_of(y);
    clr_u128 product = (clr_u128)a.significand * b.significand;

    if (product != 0)
        add_scaled(sum, (uint64_t)(product >> 64), (uint64_t)product, a.exponent + b.exponent,
                   a.negative != b.negative);
}

void clr_accumulator_add_scaled(struct clr_accumulator *sum, clr_i128 value, int exponent)
{
    const clr_u128 size = value < 0 ? -(clr_u128)value : (clr_u128)value;

    add_scaled(sum, (uint64_t)(size >> 64), (uint64_t)size, exponent, value < 0);
}

void clr_accumulator_add_int192(struct clr_accumulator *sum, const struct clr_int192 *value)
{
    struct clr_int192 magnitude = *value;
    bool negative = clr_int192_is_negative(value);

    if (negative)
        clr_int192_negate(&magnitude);
    add_scaled(sum, 0, magnitude.low, 0, negative);
    add_scaled(sum, 0, magnitude.middle, 64, negative);
    add_scaled(sum, 0, magnitude.high, 128, negative);
}

void clr_accumulator_add_digits(struct clr_accumulator *sum, const int64_t *digits)
{
    int i;

    propagate(sum);
    for (i = 0; i < CLR_ACCUMULATOR_DIGITS; i++) {
        if (digits[i] == 0)
            continue;
        sum->digit[i] += digits[i];
        if (i < sum->low)
            sum->low = i;
        if (i > sum->high)
            sum->high = i;
    }
    propagate(sum);
}

void clr_accumulator_merge(struct clr_accumulator *sum, struct clr_accumulator *other)
{
    int i;

    propagate(other);
    if (other->low > other->high)
        return;
    begin_addition(sum, other->low, other->high);
    for (i = other->low; i <= other->high; i++)
        sum->digit[i] += other->digit[i];
}

void clr_accumulator_magnitude(struct clr_accumulator *sum, struct clr_magnitude *result)
{
    int64_t carry = 0;
    int i;

    propagate(sum);
    while (sum->high >= sum->low && sum->digit[sum->high] == 0)
        sum->high--;
    result->negative = sum->high >= sum->low && sum->digit[sum->high] < 0;
    for (i = sum->low; i <= sum->high; i++) {
        int64_t value = (result->negative ? -sum->digit[i] : sum->digit[i]) + carry;
        result->digit[i] = (uint32_t)value;
        carry = value >> 32;
    }
    /* The highest digit lies between -2^32 and 2^32, both possible after a negation. */
    if (carry > 0)
        result->digit[i++] = (uint32_t)carry;
    clr_magnitude_trim(result, sum->low, i - 1);
}

/*
 * Divides in place from the top. Stops early once the quotient has 96 significant bits, more than
 * rounding needs; returns whether anything was left over.
 */
static bool divide(struct clr_magnitude *value, uint64_t divisor)
{
    uint64_t rest = 0;
    int i, top = -1;

    /* A quotient needs fraction digits below the dividend's lowest. */
    for (i = value->low - 1; i >= 0 && i >= value->low - 6; i--)
        value->digit[i] = 0;
    value->low = i + 1;
    for (i = value->top; i >= value->low; i--) {
        clr_u128 part = (clr_u128)rest << 32 | value->digit[i];
        value->digit[i] = (uint32_t)(part / divisor);
        rest = (uint64_t)(part % divisor);
        if (top < 0 && value->digit[i] != 0)
            top = i;
        if (top >= 0 && top - i >= 3)
            break;
    }
    if (i < value->low)
        i = value->low;
    while (--i >= value->low) {
        rest |= value->digit[i];
        value->digit[i] = 0;
    }
    value->top = top;
    return rest != 0;
}

/* Rounds the magnitude, plus something below its lowest bit if more, to the nearest double. */
static double round_magnitude(const struct clr_magnitude *value, bool more)
{
    uint64_t window = 0, kept, rest;
    int i, leading, highest, keep;
    double result;

    if (value->top < 0)
        return 0.0;
    /* The 64 bits from the highest set bit down, and whether any below them is set. */
    leading = __builtin_clz(value->digit[value->top]);
    highest = 32 * value->top + 31 - leading + CLR_ACCUMULATOR_BASE;
    for (i = 0; i < 3; i++) {
        int at = value->top - i;
        uint64_t digit = at >= value->low ? value->digit[at] : 0;
        int shift = 32 - 32 * i + leading;
        if (shift >= 0) {
            window |= digit << shift;
        } else {
            window |= digit >> -shift;
            more = more || (digit << (64 + shift)) != 0;
        }
    }
    for (i = value->top - 3; i >= value->low && !more; i--)
        more = value->digit[i] != 0;

    /* A normal number keeps 53 bits; a subnormal one those down to 2^-1074. */
    keep = highest + 1075;
    if (keep > 53)
        keep = 53;
    if (keep < 0)
        return value->negative ? -0.0 : 0.0;
    kept = keep == 0 ? 0 : window >> (64 - keep);
    rest = window << keep;
    if (rest > (uint64_t)1 << 63 || (rest == (uint64_t)1 << 63 && (more || (kept & 1))))
        kept++;
    result = ldexp((double)kept, highest - keep + 1);
    return value->negative ? -result : result;
}

double clr_accumulator_round(struct clr_accumulator *sum, uint64_t divisor)
{
    struct clr_magnitude value;
    bool more = false;

    clr_accumulator_magnitude(sum, &value);
    if (value.top >= 0 && divisor > 1)
        more = divide(&value, divisor);
    return round_magnitude(&value, more) + 0.0;
}

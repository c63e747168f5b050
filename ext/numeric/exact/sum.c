#include "numeric/exact/sum.h"

#include <limits.h>
#include <math.h>

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

/* Adds x * y exactly; both are finite. Subtract by negating one. */
static void accumulator_add_product(struct clr_accumulator *sum, double x, double y)
{
    struct clr_parts a = clr_parts_of(x), b = clr_parts_of(y);
    clr_u128 product = (clr_u128)a.significand * b.significand;

    if (product != 0)
        add_scaled(sum, (uint64_t)(product >> 64), (uint64_t)product, a.exponent + b.exponent,
                   a.negative != b.negative);
}

/* Adds value * 2^exponent, whose magnitude is below 2^117. */
static void accumulator_add_scaled(struct clr_accumulator *sum, clr_i128 value, int exponent)
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

/* Adds the digits that a device returned: CLR_ACCUMULATOR_DIGITS of them, each below 2^62. */
static void accumulator_add_digits(struct clr_accumulator *sum, const int64_t *digits)
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

/* Sets low and top of a magnitude whose digits low..top are set and may be zero, but not negative
   if all are. */
static void trim(struct clr_magnitude *value, int low, int top)
{
    while (low <= top && value->digit[top] == 0)
        top--;
    while (low < top && value->digit[low] == 0)
        low++;
    value->low = top < low ? 0 : low;
    value->top = top < low ? -1 : top;
}

/* Stores the exact value. Propagates carries and so writes to sum, but keeps its value. */
static void accumulator_magnitude(struct clr_accumulator *sum, struct clr_magnitude *result)
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
    trim(result, sum->low, i - 1);
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

    accumulator_magnitude(sum, &value);
    if (value.top >= 0 && divisor > 1)
        more = divide(&value, divisor);
    return round_magnitude(&value, more) + 0.0;
}

static struct clr_accumulator *wide(struct clr_sum *sum)
{
    if (!sum->wide_used) {
        clr_accumulator_clear(&sum->wide);
        sum->wide_used = true;
    }
    return &sum->wide;
}

void clr_sum_add_wide(struct clr_sum *sum, double x)
{
    clr_accumulator_add(wide(sum), x);
}

void clr_sum_add_unusual(struct clr_sum *sum, double x, int weight)
{
    if (isnan(x))
        sum->nan += weight;
    else if (isinf(x))
        *(x > 0 ? &sum->plus_infinity : &sum->minus_infinity) += weight;
    else
        clr_sum_add_wide(sum, weight < 0 ? -x : x);
}

void clr_sum_add_wide_product(struct clr_sum *sum, double x, double y)
{
    if (!isfinite(x) || !isfinite(y))
        clr_sum_add_unusual(sum, x * y, 1);
    else if (x != 0.0 && y != 0.0) /* zeros are no reason for a long accumulator */
        accumulator_add_product(wide(sum), x, y);
}

/*
 * Each exponent's significands are shifted to the next lower one that is a multiple of 32, and
 * added up in 128 bits: below 2^84 each, so many of them stay below 2^117.
 */
enum { EXPONENT_STEP = 32, EXPONENT_BINS = 2048 / EXPONENT_STEP, MOST_IN_BINS = 1 << 30 };

/* Adds values, fewer than MOST_IN_BINS. */
static void add_by_exponent(struct clr_sum *sum, const clr_stored_real *x, size_t count)
{
    clr_i128 bins[EXPONENT_BINS] = {0};
    size_t i;

    for (i = 0; i < count; i++) {
        const struct clr_parts parts = clr_parts_of(x[i]);
        const unsigned place = (unsigned)(parts.exponent + 1074);
        const clr_i128 value = (clr_i128)parts.significand << place % EXPONENT_STEP;

        if (!isfinite(x[i]))
            clr_sum_add_unusual(sum, x[i], 1);
        else
            bins[place / EXPONENT_STEP] += parts.negative ? -value : value;
    }
    for (i = 0; i < EXPONENT_BINS; i++) {
        if (bins[i] != 0)
            accumulator_add_scaled(wide(sum), bins[i], (int)i * EXPONENT_STEP - 1074);
    }
}

void clr_sum_add_wide_values(struct clr_sum *sum, const clr_stored_real *x, size_t count)
{
    size_t part;

    for (; count > 0; count -= part, x += part) {
        part = count < MOST_IN_BINS ? count : MOST_IN_BINS;
        add_by_exponent(sum, x, part);
    }
}

void clr_sum_add_product(struct clr_sum *sum, double x, double y, int weight)
{
    double product = x * y;
    double size = fabs(product);

    if (size < CLR_EXPANSION_LIMIT && size >= CLR_PRODUCT_FLOOR) {
        clr_sum_add(sum, product, weight);
        clr_sum_add(sum, fma(x, y, -product), weight);
    } else if (!isfinite(x) || !isfinite(y)) {
        clr_sum_add_unusual(sum, product, weight);
    } else {
        clr_sum_add_wide_product(sum, weight < 0 ? -x : x, y);
    }
}

/* An integer past 2^53 is two doubles; infinities take its sign only, since one of its halves may
   be zero. */
void clr_sum_add_mixed_product(struct clr_sum *sum, int64_t integer, double real, int weight)
{
    int64_t low = integer & 0xffffffff;

    if (clr_sum_fits_double(integer)) {
        clr_sum_add_product(sum, (double)integer, real, weight);
    } else if (!isfinite(real)) {
        clr_sum_add_product(sum, integer < 0 ? -1.0 : 1.0, real, weight);
    } else {
        clr_sum_add_product(sum, (double)(integer - low), real, weight);
        clr_sum_add_product(sum, (double)low, real, weight);
    }
}

void clr_sum_add_device_parts(struct clr_sum *sum, const double *terms, const int64_t *digits)
{
    int i;

    for (i = 0; i < CLR_EXPANSION_TERMS; i++)
        clr_sum_add(sum, terms[i], 1);
    if (digits != NULL)
        accumulator_add_digits(wide(sum), digits);
}

void clr_sum_merge(struct clr_sum *sum, struct clr_sum *other)
{
    int i;

    for (i = 0; i < CLR_EXPANSION_TERMS; i++)
        clr_sum_add(sum, other->term[i], 1);
    clr_int192_add(&sum->integer, &other->integer);
    sum->plus_infinity += other->plus_infinity;
    sum->minus_infinity += other->minus_infinity;
    sum->nan += other->nan;
    if (other->wide_used)
        clr_accumulator_merge(wide(sum), &other->wide);
}

/*
 * The quotient of an expansion and an integer, where a quotient in twice the precision settles
 * how it rounds (Ziv's test); returns whether it did. The relative error of high + low is below
 * 2^-100, so if moving low by 2^-98 of the quotient either way leaves the rounding as it is, the
 * rounding is right. Ties and near ties never pass.
 */
static bool divide_expansion(const double term[CLR_EXPANSION_TERMS], uint64_t count, double *result)
{
    double divisor = (double)count;
    double head, tail, error, high, low, margin;

    head = clr_two_sum(term[0], term[1], &tail);
    if (count >= (uint64_t)1 << 53 || term[2] != 0.0 || !(fabs(head) > 0x1p-900))
        return false;
    high = head / divisor;
    /* head - high * divisor is exact: the quotient is far from underflow. */
    error = fma(-high, divisor, head);
    if (error == 0.0 && tail == 0.0) {
        *result = high;
        return true;
    }
    low = (error + tail) / divisor;
    margin = fabs(high) * 0x1p-98;
    *result = high + low;
    return *result == high + (low + margin) && *result == high + (low - margin);
}

/* Sets total to the exact sum of what is finite. */
static void add_up(struct clr_sum *sum, struct clr_accumulator *total)
{
    int i;

    clr_accumulator_clear(total);
    if (sum->wide_used)
        clr_accumulator_merge(total, &sum->wide);
    for (i = 0; i < CLR_EXPANSION_TERMS; i++)
        clr_accumulator_add(total, sum->term[i]);
    clr_accumulator_add_int192(total, &sum->integer);
}

double clr_sum_round(struct clr_sum *sum, uint64_t count)
{
    double term[CLR_EXPANSION_TERMS] = {sum->term[0], sum->term[1], sum->term[2]};
    struct clr_accumulator total;
    bool fits = !sum->wide_used;
    double result;
    int64_t integer;

    if (count == 1 && !sum->wide_used && clr_int192_is_zero(&sum->integer) &&
        (sum->nan | sum->plus_infinity | sum->minus_infinity) == 0)
        return clr_expansion_round(sum->term);
    if (sum->nan != 0 || (sum->plus_infinity != 0 && sum->minus_infinity != 0))
        return NAN;
    if (sum->plus_infinity != 0)
        return INFINITY;
    if (sum->minus_infinity != 0)
        return -INFINITY;

    /* An integer joins the expansion as two halves, which doubles hold exactly. */
    if (fits && !clr_int192_is_zero(&sum->integer)) {
        fits = clr_int192_to_int64(&sum->integer, &integer);
        if (fits) {
            int64_t low = integer & 0xffffffff;
            fits = clr_expansion_add(term, (double)(integer - low)) == 0.0 &&
                   clr_expansion_add(term, (double)low) == 0.0;
        }
    }
    if (fits && count == 1)
        return clr_expansion_round(term);
    if (fits && divide_expansion(term, count, &result))
        return result;

    add_up(sum, &total);
    return clr_accumulator_round(&total, count);
}

/* Adds significand * 2^shift, negated if negative; its bits stay below bit 191. */
static void window_add(struct clr_int192 *window, const struct clr_parts *part, int shift)
{
    clr_u128 size = (clr_u128)part->significand << (shift & 63);
    clr_u128 value = part->negative ? -size : size;
    uint64_t low = (uint64_t)value, high = (uint64_t)(value >> 64);

    if (shift < 64)
        clr_int192_add_parts(window, low, high, part->negative ? UINT64_MAX : 0);
    else if (shift < 128)
        clr_int192_add_parts(window, 0, low, high);
    else
        clr_int192_add_parts(window, 0, 0, low);
}

/*
 * Sets window and first so that the finite sum is window * 2^(the weight of digit first), if all
 * of it lies within 192 bits, as nearly every sum does; returns whether it does.
 */
static bool sum_in_window(const struct clr_sum *sum, struct clr_int192 *window, int *first)
{
    struct clr_parts part[CLR_EXPANSION_TERMS + 1];
    int lowest = INT_MAX, highest = INT_MIN, parts = 0, i;
    int64_t integer;

    *window = sum->integer;
    *first = -CLR_ACCUMULATOR_BASE / 32;
    for (i = 0; i < CLR_EXPANSION_TERMS; i++) {
        part[parts] = clr_parts_of(sum->term[i]);
        if (part[parts].significand == 0)
            continue;
        if (part[parts].exponent < lowest)
            lowest = part[parts].exponent;
        if (part[parts].exponent + 53 > highest)
            highest = part[parts].exponent + 53;
        parts++;
    }
    if (parts == 0)
        return true;
    if (!clr_int192_is_zero(window)) {
        if (!clr_int192_to_int64(window, &integer))
            return false;
        part[parts].negative = integer < 0;
        part[parts].significand = integer < 0 ? -(uint64_t)integer : (uint64_t)integer;
        part[parts++].exponent = 0;
        lowest = lowest < 0 ? lowest : 0;
        highest = highest > 64 ? highest : 64;
    }
    /* Four numbers below 2^188 add up to less than 2^190. */
    *first = (lowest - CLR_ACCUMULATOR_BASE) / 32;
    if (highest - (32 * *first + CLR_ACCUMULATOR_BASE) > 188)
        return false;
    *window = (struct clr_int192){0, 0, 0};
    for (i = 0; i < parts; i++)
        window_add(window, &part[i], part[i].exponent - (32 * *first + CLR_ACCUMULATOR_BASE));
    return true;
}

void clr_sum_exact(struct clr_sum *sum, struct clr_magnitude *value)
{
    struct clr_accumulator total;
    struct clr_int192 window;
    int first;

    if (sum->wide_used || !sum_in_window(sum, &window, &first)) {
        add_up(sum, &total);
        accumulator_magnitude(&total, value);
        return;
    }
    value->negative = clr_int192_is_negative(&window);
    if (value->negative)
        clr_int192_negate(&window);
    value->digit[first] = (uint32_t)window.low;
    value->digit[first + 1] = (uint32_t)(window.low >> 32);
    value->digit[first + 2] = (uint32_t)window.middle;
    value->digit[first + 3] = (uint32_t)(window.middle >> 32);
    value->digit[first + 4] = (uint32_t)window.high;
    value->digit[first + 5] = (uint32_t)(window.high >> 32);
    trim(value, first, first + 5);
}

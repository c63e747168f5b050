#include "numeric/exact/dyadic.h"

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

void clr_dyadic_set(struct clr_dyadic *result, clr_u128 size, int exponent)
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

void clr_dyadic_set_magnitude(struct clr_dyadic *result, const struct clr_magnitude *value)
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

void clr_dyadic_multiply(struct clr_dyadic *result, const struct clr_dyadic *a,
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

int clr_dyadic_compare(const struct clr_dyadic *a, const struct clr_dyadic *b)
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

void clr_dyadic_subtract(struct clr_dyadic *result, const struct clr_dyadic *a,
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

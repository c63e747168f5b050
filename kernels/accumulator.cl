/*
 * The long accumulator of a group, in local memory: it takes what expansions or windows drop, and
 * what is too large or too small for them. Its geometry is that of
 * ext/numeric/exact/accumulator.h. Doubles come as their bits: it needs no floating point. Follows
 * atomics.cl.
 *
 * Defined by the host: CPU, DIGITS, ACCUMULATOR_BASE.
 */

/*
 * The words of a long accumulator: each digit as a 64-bit number in two words, low and high, then
 * how often +Inf, -Inf and NaN were added, then whether any of it was written to.
 */
#define WIDE_PLUS_INFINITY (2 * DIGITS)
#define WIDE_MINUS_INFINITY (2 * DIGITS + 1)
#define WIDE_NAN (2 * DIGITS + 2)
#define WIDE_USED (2 * DIGITS + 3)
#define WIDE_WORDS (2 * DIGITS + 4)

#if CPU
/* A CPU device's groups have one work-item. */
void add_to_local_digit(__local uint *words, uint digit, ulong value)
{
    value += (ulong)words[2 * digit + 1] << 32 | words[2 * digit];
    words[2 * digit] = (uint)value;
    words[2 * digit + 1] = (uint)(value >> 32);
}
#else
DEFINE_ATOMIC_ADD_64(add_to_local_digit, __local)
#endif
DEFINE_ATOMIC_ADD_64(add_to_global_digit, __global)

/* Adds (high * 2^64 + low) * 2^exponent, negated if negative; high is below 2^53. */
void wide_add_scaled(__local uint *wide, ulong high, ulong low, int exponent, int negative)
{
    uint position = (uint)(exponent - ACCUMULATOR_BASE);
    uint first = position >> 5, shift = position & 31, i;
    /* The five digits: two shifts each, since shifting by the whole width is not defined. */
    ulong part[5];

    part[0] = (low << shift) & 0xffffffff;
    part[1] = (low >> (32 - shift)) & 0xffffffff;
    part[2] = ((low >> 32 >> (32 - shift)) | (high << shift)) & 0xffffffff;
    part[3] = (high >> (32 - shift)) & 0xffffffff;
    part[4] = high >> 32 >> (32 - shift);
    wide[WIDE_USED] = 1;
    for (i = 0; i < 5; i++) {
        if (part[i] != 0)
            add_to_local_digit(wide, first + i, negative ? -part[i] : part[i]);
    }
}

/*
 * Adds a number of 192 bits in two's complement, in three parts, times 2^exponent: all of its seven
 * digits but the last, which has the sign, as they are without one.
 */
void wide_add_192(__local uint *wide, ulong low, ulong middle, ulong high, int exponent)
{
    uint position = (uint)(exponent - ACCUMULATOR_BASE);
    uint first = position >> 5, shift = position & 31, i;
    ulong parts[3] = {low, middle, high}, before = 0, digit;

    if ((low | middle | high) == 0)
        return;
    wide[WIDE_USED] = 1;
    for (i = 0; i < 6; i++) {
        ulong word = parts[i / 2] >> (i & 1 ? 32 : 0) & 0xffffffff;
        digit = (word << shift | before) & 0xffffffff;
        before = word >> (32 - shift);
        if (digit != 0)
            add_to_local_digit(wide, first + i, digit);
    }
    digit = (ulong)((long)high >> 32 >> (32 - shift));
    if (digit != 0)
        add_to_local_digit(wide, first + 6, digit);
}

#define IS_FINITE(bits) (((bits) >> 52 & 0x7ff) != 0x7ff)
#define INFINITY_BITS (0x7ffUL << 52)

/* Stores the significand of a double and returns the exponent of its lowest bit. */
int take_apart(ulong bits, ulong *significand)
{
    int biased = (int)(bits >> 52 & 0x7ff);

    *significand = bits & 0xfffffffffffffUL;
    if (biased == 0)
        biased = 1;
    else
        *significand |= 1UL << 52;
    return biased - 1075;
}

/* Adds any double, infinities and NaN included. */
void wide_add(__local uint *wide, ulong bits)
{
    ulong significand;
    int exponent;

    if (!IS_FINITE(bits)) {
        atomic_inc(wide + (bits << 1 != INFINITY_BITS << 1 ? WIDE_NAN
                           : bits >> 63 == 0               ? WIDE_PLUS_INFINITY
                                                           : WIDE_MINUS_INFINITY));
        wide[WIDE_USED] = 1;
    } else if (bits << 1 != 0) {
        exponent = take_apart(bits, &significand);
        wide_add_scaled(wide, 0, significand, exponent, bits >> 63 != 0);
    }
}

/* Adds the product of any two doubles exactly: of infinities, one with the sign of both, and NaN
   with 0 or NaN. */
void wide_add_product(__local uint *wide, ulong x, ulong y)
{
    ulong greater = max(x << 1, y << 1), sign = (x ^ y) & 1UL << 63, a, b;
    int exponent, zero = x << 1 == 0 || y << 1 == 0;

    if (!IS_FINITE(x) || !IS_FINITE(y)) {
        wide_add(wide, (zero ? ULONG_MAX : greater) >> 1 | sign);
    } else if (!zero) {
        exponent = take_apart(x, &a) + take_apart(y, &b);
        wide_add_scaled(wide, mul_hi(a, b), a * b, exponent, sign != 0);
    }
}

/* The digits of a group's accumulator are added to the result's by the whole group. */
void wide_clear(__local uint *wide)
{
    uint i;
    for (i = get_local_id(0); i < WIDE_WORDS; i += get_local_size(0))
        wide[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
}

void wide_flush(__local uint *wide, __global uint *result)
{
    uint i;

    barrier(CLK_LOCAL_MEM_FENCE);
    if (wide[WIDE_USED] == 0)
        return;
    for (i = get_local_id(0); i < DIGITS; i += get_local_size(0))
        add_to_global_digit(result, i, (ulong)wide[2 * i + 1] << 32 | wide[2 * i]);
    for (i = WIDE_PLUS_INFINITY + get_local_id(0); i < WIDE_WORDS; i += get_local_size(0)) {
        if (wide[i] != 0)
            atomic_add(result + i, wide[i]);
    }
}

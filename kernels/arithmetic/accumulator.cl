/*
 * The long accumulator of a group, in local memory: it takes what expansions or windows drop, and
 * what is too large or too small for them. What it adds up to goes to digits that have the geometry
 * of ext/numeric/exact/accumulator.h. Doubles come as their bits: it needs no floating point.
 * Follows atomics.cl.
 *
 * All work-items of a group add to the same digits, by atomics of 32 bits.
 *
 * Defined by the host: DIGITS, ACCUMULATOR_BASE, COPIES (a power of two).
 */

/*
 * The words of a result's long accumulator: each digit as a 64-bit number in two words, low and
 * high, then how often +Inf, -Inf and NaN were added, then whether any of it was written to.
 */
#define WIDE_SPECIAL_WORDS 4
#define WIDE_WORDS (2 * DIGITS + WIDE_SPECIAL_WORDS)

/* Those of a group's: its own digits, then the same. */
#define WIDE_PLUS_INFINITY WIDE_DIGIT_WORDS
#define WIDE_MINUS_INFINITY (WIDE_DIGIT_WORDS + 1)
#define WIDE_NAN (WIDE_DIGIT_WORDS + 2)
#define WIDE_USED (WIDE_DIGIT_WORDS + 3)
#define WIDE_LOCAL_WORDS (WIDE_DIGIT_WORDS + WIDE_SPECIAL_WORDS)

/*
 * Digits of 18 bits, in words of 32 that take thousands of them before one has to carry: a double
 * is in four digits, which atomics add without waiting for each other. Each digit has COPIES next
 * to each other, for work-items that do not get into each other's way where all values have the
 * same exponent.
 */
#define DIGIT_BITS 18
#define DIGIT_MASK ((1 << DIGIT_BITS) - 1)
#define WIDE_DIGIT_WORDS ((32 * DIGITS / DIGIT_BITS + 2) * COPIES)

/* What `position` bits above the lowest one of all begins with: floor(position / DIGIT_BITS). */
#define DIGIT_AT(position) ((position)*3641 >> 16)

#define PLACE_OF(wide, digit)                                                                      \
    ((volatile __local int *)(wide) + (digit)*COPIES + (get_local_id(0) & (COPIES - 1)))

/* Whether a digit has left 31 bits: is -2^30 or less, or 2^30 or more. */
#define IS_FULL(digit) ((uint)(digit) + (1U << 30) > (uint)INT_MAX)

/*
 * Carries, from the digits at `place` that are full and what they carry to. A work-item that finds
 * one full sees that it is not, before it adds to it again: by then the others can have added once
 * each, which is far from 2^30 more. Of several that find it full the first one carries.
 */
__attribute__((noinline)) void wide_carry(volatile __local int *place, int digits)
{
    for (; digits > 0 || IS_FULL(*place); digits--, place += COPIES) {
        if (IS_FULL(*place)) {
            int value = atomic_xchg(place, 0);
            atomic_add(place, value & DIGIT_MASK);
            atomic_add(place + COPIES, value >> DIGIT_BITS);
        }
    }
}

/* The sum has its uppermost bit set if the digit was full. */
#define ADD_DIGIT(number, value)                                                                   \
    full |= (uint)atomic_add(place + (number)*COPIES, (int)(value)) + (1U << 30)

/* Adds (high * 2^64 + low) * 2^exponent, negated if negative; high is below 2^46, which leaves room
   for its shift. */
void wide_add_scaled(__local uint *wide, ulong high, ulong low, int exponent, int negative)
{
    uint position = (uint)(exponent - ACCUMULATOR_BASE);
    uint first = DIGIT_AT(position), shift = position - first * DIGIT_BITS, full = 0;
    volatile __local int *place = PLACE_OF(wide, first);
    ulong sign = -(ulong)negative;

    wide[WIDE_USED] = 1;
    low = (low ^ sign) - sign;
    high = (high ^ sign) + (ulong)(negative && low == 0);
    high = high << shift | mul_hi(low, 1UL << shift);
    low <<= shift;
    ADD_DIGIT(0, low & DIGIT_MASK);
    ADD_DIGIT(1, low >> 18 & DIGIT_MASK);
    ADD_DIGIT(2, low >> 36 & DIGIT_MASK);
    ADD_DIGIT(3, low >> 54 | (high & 0xff) << 10);
    ADD_DIGIT(4, high >> 8 & DIGIT_MASK);
    ADD_DIGIT(5, high >> 26 & DIGIT_MASK);
    ADD_DIGIT(6, (long)high >> 44);
    if ((int)full < 0)
        wide_carry(place, 7);
}

/* Adds significand * 2^exponent, negated if negative; significand is below 2^53. */
void wide_add_significand(__local uint *wide, ulong significand, int exponent, int negative)
{
    uint position = (uint)(exponent - ACCUMULATOR_BASE);
    uint first = DIGIT_AT(position), shift = position - first * DIGIT_BITS, full = 0;
    volatile __local int *place = PLACE_OF(wide, first);
    long value = negative ? -(long)significand : (long)significand;

    wide[WIDE_USED] = 1;
    ADD_DIGIT(0, (uint)value << shift & DIGIT_MASK);
    ADD_DIGIT(1, value >> (18 - shift) & DIGIT_MASK);
    ADD_DIGIT(2, value >> (36 - shift) & DIGIT_MASK);
    ADD_DIGIT(3, value >> 32 >> (22 - shift));
    if ((int)full < 0)
        wide_carry(place, 4);
}

/* Adds a number of 192 bits in two's complement, in three parts, times 2^exponent. */
void wide_add_192(__local uint *wide, ulong low, ulong middle, ulong high, int exponent)
{
    int negative = (long)high < 0;

    if ((low | middle | high) == 0)
        return;
    wide_add_scaled(wide, 0, low, exponent, 0);
    wide_add_scaled(wide, 0, middle, exponent + 64, 0);
    wide_add_scaled(wide, 0, abs((long)high), exponent + 128, negative);
}

/* What digit number i of the result gets: of the digits that begin there the lower 32 bits, and of
   those that begin in the one before the rest. */
ulong wide_digit(__local const uint *wide, uint i)
{
    uint from = i == 0 ? 0 : (32 * i - 32 + DIGIT_BITS - 1) / DIGIT_BITS;
    ulong sum = 0;

    for (uint digit = from; DIGIT_BITS * digit < 32 * i + 32; digit++) {
        uint shift = DIGIT_BITS * digit & 31;
        ulong low;
        long value = 0;

        for (uint copy = 0; copy < COPIES; copy++)
            value += (int)wide[digit * COPIES + copy];
        low = (ulong)(uint)value << shift;
        if (DIGIT_BITS * digit >= 32 * i)
            sum += low & 0xffffffff;
        else
            sum += (low >> 32) + ((ulong)(value >> 32) << shift);
    }
    return sum;
}

DEFINE_ATOMIC_ADD_64(add_to_global_digit, __global)

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
    } else {
        exponent = take_apart(bits, &significand);
        wide_add_significand(wide, significand, exponent, bits >> 63 != 0);
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

/* What a group's accumulator has is added to the result's by the whole group. */
void wide_clear(__local uint *wide)
{
    uint i;
    for (i = get_local_id(0); i < WIDE_LOCAL_WORDS; i += get_local_size(0))
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
        add_to_global_digit(result, i, wide_digit(wide, i));
    for (i = get_local_id(0); i < WIDE_SPECIAL_WORDS; i += get_local_size(0)) {
        if (wide[WIDE_DIGIT_WORDS + i] != 0)
            atomic_add(result + 2 * DIGITS + i, wide[WIDE_DIGIT_WORDS + i]);
    }
}

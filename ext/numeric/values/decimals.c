#include "numeric/values/decimals.h"

#include "base/processor.h"

#include <math.h>

/* The loops go over so many values at once, a number that the compiler knows, and fetch what is so
   many bytes ahead. */
enum { STEP = 64, SHORT_STEP = 8, AHEAD = 2048 };

#define ALWAYS_INLINE inline __attribute__((always_inline))

/*
 * An integer from -2^51 to 2^51 - 1 plus ORIGIN is a double whose bits are that integer plus those
 * of ORIGIN. The bits of other doubles, of NaNs too, differ by more from those of ORIGIN.
 */
#define ORIGIN 0x1.8p52
#define ORIGIN_BITS ((uint64_t)0x4338000000000000)

/* Returns the only k that a value can be the REAL of: what is rounded is within a quarter of that.
   Sets bits of *differs unless it is. */
static ALWAYS_INLINE int64_t split_one(int64_t value, double power, double reciprocal, bool fused,
                                       uint64_t *differs)
{
    const double moved = clr_real_of(value) * power + ORIGIN;
    const uint64_t k = (uint64_t)clr_bits_of(moved) - ORIGIN_BITS;
    const uint64_t back =
        (uint64_t)clr_bits_of(clr_decimal_divide(moved - ORIGIN, power, reciprocal, fused));

    *differs |= back ^ (uint64_t)value;
    *differs |= (k + (uint64_t)CLR_DECIMALS_MOST) & ~(uint64_t)(2 * CLR_DECIMALS_MOST - 1);
    return (int64_t)k;
}

static ALWAYS_INLINE bool split(double power, const int64_t *values, size_t count,
                                int64_t *restrict integers, bool fused)
{
    const double reciprocal = 1.0 / power;
    uint64_t differs = 0;
    size_t i, k;

    for (i = 0; i + STEP <= count && differs == 0; i += STEP)
        for (k = 0; k < STEP; k++)
            integers[i + k] = split_one(values[i + k], power, reciprocal, fused, &differs);
    for (; i < count && differs == 0; i++)
        integers[i] = split_one(values[i], power, reciprocal, fused, &differs);
    return differs == 0;
}

#define WIDEN_ONE(place)                                                                           \
    (values[place] = clr_bits_of(clr_decimal_kept(each[place], below, power, reciprocal, fused)))

#define WIDEN(type)                                                                                \
    do {                                                                                           \
        const type *each = (const type *)words + first;                                            \
        for (i = 0; i + STEP <= count; i += STEP) {                                                \
            for (k = 0; k < STEP * sizeof(type); k += STEP)                                        \
                __builtin_prefetch((const char *)(each + i) + AHEAD + k);                          \
            for (k = 0; k < STEP; k++)                                                             \
                WIDEN_ONE(i + k);                                                                  \
        }                                                                                          \
        for (; i + SHORT_STEP <= count; i += SHORT_STEP) {                                         \
            __builtin_prefetch((const char *)(each + i) + AHEAD);                                  \
            for (k = 0; k < SHORT_STEP; k++)                                                       \
                WIDEN_ONE(i + k);                                                                  \
        }                                                                                          \
        for (; i < count; i++)                                                                     \
            WIDEN_ONE(i);                                                                          \
    } while (0)

static ALWAYS_INLINE void widen(double power, int64_t least, unsigned bytes, const void *words,
                                size_t first, size_t count, int64_t *restrict values, bool fused)
{
    const double reciprocal = 1.0 / power, below = clr_decimals_below(least);
    size_t i, k;

    if (bytes == 1)
        WIDEN(uint8_t);
    else if (bytes == 2)
        WIDEN(uint16_t);
    else
        WIDEN(uint32_t);
}

/* Vectors of each instruction set, of which CHAINS are added at a time: an addition takes longer
   than the next one has to wait for. */
enum { CHAINS = 2 };
typedef double pair __attribute__((vector_size(2 * sizeof(double))));
typedef double four __attribute__((vector_size(4 * sizeof(double))));
typedef double eight __attribute__((vector_size(8 * sizeof(double))));

/* Returns 1.5 times the power of two that is 2^44 times the one in 1 / power. */
static ALWAYS_INLINE double origin_of(double power)
{
    return 1.5 * clr_real_of(clr_bits_of(0x1p44 / power) & (int64_t)0x7ff << 52);
}

/*
 * Each value is cut in two at a grid that is 2^44 times as wide as the last place of 1 / power, the
 * least of them. The upper part is a multiple of the grid, and of 2^10 values up to 2^42 of these
 * no sum has more than 53 bits: it is exact, in any order. So is that of the lower parts, which are
 * multiples of the last place, and half of the grid at most. The cut is by adding a number whose
 * last place is the grid (Rump, Ogita, Oishi, "Accurate floating-point summation", SIAM J. Sci.
 * Comput. 31, 2008).
 */
#define SUM(type)                                                                                  \
    do {                                                                                           \
        enum { LANES = sizeof(type) / sizeof(double) };                                            \
        const double origin = origin_of(power);                                                    \
        type high[CHAINS] = {{0}}, low[CHAINS] = {{0}};                                            \
        double one, upper;                                                                         \
        size_t i, k;                                                                               \
        for (i = 0; i + CHAINS * LANES <= count; i += CHAINS * LANES) {                            \
            for (k = 0; k < CHAINS; k++) {                                                         \
                type value, uppers;                                                                \
                memcpy(&value, values + i + k * LANES, sizeof value);                              \
                uppers = value + origin - origin;                                                  \
                high[k] += uppers;                                                                 \
                low[k] += value - uppers;                                                          \
            }                                                                                      \
        }                                                                                          \
        high[0] += high[1];                                                                        \
        low[0] += low[1];                                                                          \
        parts[0] = parts[1] = 0.0;                                                                 \
        for (k = 0; k < LANES; k++) {                                                              \
            parts[0] += high[0][k];                                                                \
            parts[1] += low[0][k];                                                                 \
        }                                                                                          \
        for (; i < count; i++) {                                                                   \
            one = clr_real_of(values[i]);                                                          \
            upper = one + origin - origin;                                                         \
            parts[0] += upper;                                                                     \
            parts[1] += one - upper;                                                               \
        }                                                                                          \
    } while (0)

/* ---- The same in each instruction set. */

#define LOOPS(name, target, fused, lanes)                                                          \
    target static bool name##_split(double power, const int64_t *values, size_t count,             \
                                    int64_t *restrict integers)                                    \
    {                                                                                              \
        return split(power, values, count, integers, fused);                                       \
    }                                                                                              \
    target static void name##_widen(double power, int64_t least, unsigned bytes,                   \
                                    const void *words, size_t first, size_t count,                 \
                                    int64_t *restrict values)                                      \
    {                                                                                              \
        widen(power, least, bytes, words, first, count, values, fused);                            \
    }                                                                                              \
    target static void name##_sum(double power, const int64_t *values, size_t count,               \
                                  double parts[2])                                                 \
    {                                                                                              \
        SUM(lanes);                                                                                \
    }                                                                                              \
    static const struct clr_decimals_loops name##_loops = {name##_split, name##_widen, name##_sum};

LOOPS(portable, , CLR_PORTABLE_FUSED, pair)
#if defined(__x86_64__)
LOOPS(avx2, __attribute__((target("avx2,fma"))), true, four)
LOOPS(avx512, __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"))), true, eight)
#endif

const struct clr_decimals_loops *clr_decimals_choose_loops(int skipped)
{
    CLR_CHOOSE_LOOPS(struct clr_decimals_loops, skipped);
}

double clr_decimals_find_power(const int64_t *values, size_t count)
{
    double power = 1.0;
    uint64_t differs;
    size_t i;

    for (i = 0; i < count; i++) {
        for (;; power *= 10.0) {
            if (power > CLR_DECIMALS_MOST_POWER)
                return 0.0;
            differs = 0;
            split_one(values[i], power, 0.0, false, &differs);
            if (differs == 0)
                break;
        }
    }
    return power;
}

int64_t clr_decimals_from(double least, double power)
{
    const double most = 2.0 * (double)CLR_DECIMALS_MOST, near = least * power;
    int64_t k;

    if (!(fabs(near) < most))
        return near < 0.0 ? -2 * CLR_DECIMALS_MOST : 2 * CLR_DECIMALS_MOST;
    k = (int64_t)near;
    while ((double)k / power >= least)
        k--;
    while ((double)k / power < least)
        k++;
    return k;
}

#include "numeric/scan/host_reduce.h"

#include "base/processor.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

enum { BLOCK = 128, LONGEST_WAIT = 64 };

struct loops {
    /* Add values, or the products of pairs, to a sum: by CLR_SUM or CLR_DOT, and element. */
    void (*add[CLR_DOT + 1][CLR_ELEMENTS])(const void *x, const void *y, size_t count,
                                           struct clr_sum *sum);
    void (*extremes)(const int64_t *x, size_t count, int64_t flip, struct clr_range *range);
};

/*
 * After a block that terms could not hold, the next ones are likely to be as wide: these terms wait
 * for twice as many blocks each time that they fail.
 */
struct backoff {
    unsigned waiting, length;
};

/* Returns for how many of so many blocks it waits. */
static inline unsigned backoff_wait(struct backoff *backoff, size_t blocks)
{
    const unsigned waits = blocks < backoff->waiting ? (unsigned)blocks : backoff->waiting;

    backoff->waiting -= waits;
    return waits;
}

static inline void backoff_fail(struct backoff *backoff)
{
    if (backoff->length < LONGEST_WAIT)
        backoff->length = backoff->length * 2 + 1;
    backoff->waiting = backoff->length;
}

static inline void backoff_succeed(struct backoff *backoff)
{
    backoff->length = 0;
}

/* Straight into the long accumulator, which is quicker than finding out what an expansion drops:
   values, or products if y is not NULL. */
static void add_slowly(const clr_stored_real *x, const clr_stored_real *y, size_t count,
                       struct clr_sum *sum)
{
    size_t i;

    if (y == NULL)
        clr_sum_add_wide_values(sum, x, count);
    for (i = 0; i < count && y != NULL; i++)
        clr_sum_add_wide_product(sum, x[i], y[i]);
}

/* 128-bit products need scalar code in every instruction set. */
static void dot_integers(const void *first, const void *second, size_t count, struct clr_sum *sum)
{
    const int64_t *x = first, *y = second;
    size_t i;

    for (i = 0; i < count; i++)
        clr_sum_add_integer(sum, (clr_i128)x[i] * y[i], 1);
}

#define all_set() (~(vector_integer){0})
#define magnitude(v) ((vector_real)((vector_integer)(v)&INT64_MAX))

#define ALWAYS_INLINE inline __attribute__((always_inline))

/*
 * A processor that has this much to do for a value does not look far enough ahead by itself. The
 * address may lie past the values: a prefetch of what cannot be read does nothing. Once for each
 * cache line, of 8 values.
 */
#define AHEAD 512
#define PREFETCH(values, i)                                                                        \
    do {                                                                                           \
        if ((i) % 8 == 0)                                                                          \
            __builtin_prefetch((const void *)((uintptr_t)((values) + (i)) + AHEAD * 8));           \
    } while (0)

/* Adds v to term, and leaves in v what rounding took from the sum: see clr_two_sum(). */
#define TWO_SUM(term, v)                                                                           \
    do {                                                                                           \
        const __typeof__(v) sum_ = (term) + (v), part_ = sum_ - (term);                            \
        v = ((term) - (sum_ - part_)) + ((v)-part_);                                               \
        term = sum_;                                                                               \
    } while (0)

/* Adds v to the terms of sum, the third one if asked, and collects what that drops. */
#define ADD(sum, v, with_third, dropped)                                                           \
    do {                                                                                           \
        TWO_SUM((sum).first, v);                                                                   \
        TWO_SUM((sum).second, v);                                                                  \
        if (with_third)                                                                            \
            TWO_SUM((sum).third, v);                                                               \
        dropped |= (__typeof__(dropped))(v);                                                       \
    } while (0)

/* For few values, whatever the processor has. */
typedef double two_reals __attribute__((vector_size(2 * sizeof(double))));
typedef int64_t two_integers __attribute__((vector_size(2 * sizeof(int64_t))));
struct two_expansions {
    two_reals first, second, third;
};

/*
 * Without an fma instruction: Dekker's product, with Veltkamp's splitting by 2^27 + 1. Factors
 * below 2^960 do not overflow in it.
 */
#define SPLIT(v, high, low)                                                                        \
    do {                                                                                           \
        vector_real scaled_ = (v)*134217729.0;                                                     \
        high = scaled_ - (scaled_ - (v));                                                          \
        low = (v)-high;                                                                            \
    } while (0)
#define DEKKER_ERROR(x, y, p)                                                                      \
    __extension__({                                                                                \
        vector_real xh_, xl_, yh_, yl_;                                                            \
        SPLIT(x, xh_, xl_);                                                                        \
        SPLIT(y, yh_, yl_);                                                                        \
        xl_ *yl_ - ((((p)-xh_ * yh_) - xl_ * yh_) - xh_ * yl_);                                    \
    })

#define VARIANT(name) portable_##name
#define TARGET
#define LANES 2
#if defined(__aarch64__)
#define PRODUCT_ERROR(x, y, p)                                                                     \
    (vector_real) vfmaq_f64(-(float64x2_t)(p), (float64x2_t)(x), (float64x2_t)(y))
#define PRODUCT_LIMIT INFINITY
#else
#define PRODUCT_ERROR(x, y, p) DEKKER_ERROR(x, y, p)
#define PRODUCT_LIMIT CLR_EXPANSION_LIMIT
#endif
#include "numeric/scan/host_vector.inc"

#if defined(__x86_64__)
#define VARIANT(name) avx2_##name
#define TARGET __attribute__((target("avx2,fma")))
#define LANES 4
#define PRODUCT_ERROR(x, y, p)                                                                     \
    (vector_real) _mm256_fmsub_pd((__m256d)(x), (__m256d)(y), (__m256d)(p))
#define PRODUCT_LIMIT INFINITY
#include "numeric/scan/host_vector.inc"

#define VARIANT(name) avx512_##name
#define TARGET __attribute__((target("avx512f,avx512dq")))
#define LANES 8
#define PRODUCT_ERROR(x, y, p)                                                                     \
    (vector_real) _mm512_fmsub_pd((__m512d)(x), (__m512d)(y), (__m512d)(p))
#define PRODUCT_LIMIT INFINITY
#include "numeric/scan/host_vector.inc"
#endif

static const struct loops *choose_loops(void)
{
    CLR_CHOOSE_LOOPS(struct loops, 0);
}

static inline void reduce_arrays(const struct loops *loops, enum clr_operation operation,
                                 enum clr_element element, const void *x, const void *y,
                                 size_t count, struct clr_state *state)
{
    if (operation != CLR_EXTREMES)
        loops->add[operation][element](x, y, count, &state->sum);
    else if (element == CLR_REAL)
        loops->extremes(x, count, INT64_MAX, &state->reals);
    else
        loops->extremes(x, count, 0, &state->integers);
}

void clr_host_reduce_arrays(enum clr_operation operation, enum clr_element element, const void *x,
                            const void *y, size_t count, struct clr_state *state)
{
    reduce_arrays(choose_loops(), operation, element, x, y, count, state);
}

/* Not inlined: most operations have one term. */
static __attribute__((noinline)) void reduce_terms(const struct loops *loops,
                                                   const struct clr_chunk *chunk,
                                                   enum clr_element element, const double *values,
                                                   struct clr_state *state)
{
    int count, i;
    const struct clr_term *terms = clr_operation_terms(chunk->operation, &count);

    for (i = 0; i < count; i++)
        loops->add[terms[i].operation][element](values + (size_t)terms[i].first * chunk->capacity,
                                                values + (size_t)terms[i].second * chunk->capacity,
                                                chunk->count[element], clr_state_sum(state, i));
}

void clr_host_reduce(const struct clr_chunk *chunk, enum clr_element element,
                     struct clr_state *state)
{
    const struct loops *loops = choose_loops();
    const double *values = element == CLR_REAL ? chunk->real : (double *)(void *)chunk->integer;

    if (chunk->operation < CLR_OPERATIONS)
        reduce_arrays(loops, chunk->operation, element, values, values + chunk->capacity,
                      chunk->count[element], state);
    else
        reduce_terms(loops, chunk, element, values, state);
}

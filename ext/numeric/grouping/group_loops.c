#include "numeric/grouping/group_loops.h"

#include "base/processor.h"

#include "../../../kernels/arithmetic/reals.cl"
#include "../../../kernels/scan/values.cl"

#include <limits.h>
#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* How many rows ahead records are fetched. */
enum { AHEAD = 24, MOST_AT_ONCE = 4 };

/* The values in a cache line of the usual size, and the fetching of one into the second cache. */
enum { LINE = 8 };
#define FETCH(values) __builtin_prefetch(values, 0, 2)

/* What is kept of a narrow column's values is fetched so many bytes ahead, a line at a time; loops
   go over STEP of them, a number that the compiler knows. */
enum { LINE_BYTES = 64, STEP = 64, WORDS_AHEAD = 2048 };
#define FETCH_WORDS(words) __builtin_prefetch((const char *)(words) + WORDS_AHEAD)

/* Makes a vector of words of two, whose numbers follow. */
#if defined(__clang__)
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PICK(a, b, ...) __builtin_shuffle(a, b, (__typeof__(a)){__VA_ARGS__})
#endif

#define ALWAYS_INLINE inline __attribute__((always_inline))

const int64_t clr_group_zeros[CLR_BLOCK];

static void cut_carefully(const struct clr_window *window, const int64_t *reals, int64_t *high,
                          int64_t *low, uint8_t *outside)
{
    size_t i;

    for (i = 0; i < CLR_BLOCK; i++) {
        outside[i] = !clr_window_cut(window, value_real_of(reals[i]), &high[i], &low[i]);
        if (outside[i])
            high[i] = low[i] = 0;
    }
}

/* Goes over what is kept of a block's values in words of 1, 2 or 4 bytes: `each` is one, of number
   `row`. */
#define EACH_KEPT(type, kept, body)                                                                \
    for (i = 0; i < CLR_BLOCK; i += STEP) {                                                        \
        for (k = 0; k < STEP * sizeof(type); k += LINE_BYTES)                                      \
            FETCH_WORDS((const type *)(kept) + i + k / sizeof(type));                              \
        for (k = 0; k < STEP; k++) {                                                               \
            const size_t row = i + k;                                                              \
            const type each = ((const type *)(kept))[row];                                         \
            body                                                                                   \
        }                                                                                          \
    }
#define EACH_SIZE(bytes, kept, body)                                                               \
    do {                                                                                           \
        size_t i, k;                                                                               \
        if ((bytes) == 1)                                                                          \
            EACH_KEPT(uint8_t, kept, body)                                                         \
        else if ((bytes) == 2)                                                                     \
            EACH_KEPT(uint16_t, kept, body)                                                        \
        else                                                                                       \
            EACH_KEPT(uint32_t, kept, body)                                                        \
    } while (0)

static ALWAYS_INLINE void place_kept(const struct clr_group_placing *placing, bool first,
                                     const void *kept, int bytes, uint32_t *restrict places)
{
    const uint32_t factor = (uint32_t)placing->factor, start = (uint32_t)placing->start;

    EACH_SIZE(bytes, kept, { places[row] = (first ? 0 : places[row]) + each * factor + start; });
}

static ALWAYS_INLINE void pack_kept(const struct clr_group_packing *packing, bool first,
                                    const void *kept, int bytes, int64_t *restrict words)
{
    const uint64_t start = (uint64_t)packing->start;
    const int shift = packing->shift;

    EACH_SIZE(bytes, kept, {
        words[row] =
            (int64_t)((first ? 0 : (uint64_t)words[row]) + ((uint64_t)each << shift) + start);
    });
}

static ALWAYS_INLINE bool cut_decimals(const struct clr_window *window,
                                       const struct clr_frame *frame, const void *words,
                                       int64_t *restrict high, int64_t *restrict low, bool fused)
{
    const double power = frame->power, reciprocal = 1.0 / power;
    const double below = clr_decimals_below(frame->least);
    uint64_t lost = 0;

    EACH_SIZE(frame->bytes, words, {
        lost |= clr_window_split(window, clr_decimal_kept(each, below, power, reciprocal, fused),
                                 &high[row], &low[row]);
    });
    return lost == 0;
}

static void limit_integers(const int64_t *integers, int64_t limit, int64_t *limited,
                           uint8_t *outside)
{
    size_t i;

    for (i = 0; i < CLR_BLOCK; i++) {
        const int64_t x = integers[i];
        outside[i] = x > limit || x < -limit;
        limited[i] = outside[i] ? 0 : x;
    }
}

static bool multiply_carefully(const int64_t *x, const int64_t *y, int64_t limit, int64_t *products,
                               uint8_t *outside)
{
    size_t i;

    for (i = 0; i < CLR_BLOCK; i++) {
        const clr_i128 product = (clr_i128)x[i] * y[i];
        outside[i] = product > limit || product < -limit;
        products[i] = outside[i] ? 0 : (int64_t)product;
    }
    return false;
}

/* Adds `count` words of a row from this one on, or raises them; counts: and 1 to word 0. */
static ALWAYS_INLINE void add_row(int64_t *record, const int64_t *const *words, size_t row,
                                  int from, int count, bool raises, bool counts)
{
    int w;

    if (counts)
        record[0]++;
    record += from;
#pragma GCC unroll 4
    for (w = 0; w < count; w++) {
        if (!raises)
            record[w] = (int64_t)((uint64_t)record[w] + (uint64_t)words[w][row]);
        else if ((uint64_t)words[w][row] > (uint64_t)record[w])
            record[w] = words[w][row];
    }
}

/* Does it for all rows, a cache line of them at a time. Some processors have a record wait for the
   one before that the same instruction adds to: so there are several. What is read of the argument
   is kept, as compilers can't know that no record is it. */
static ALWAYS_INLINE void add_some(const struct clr_group_adding *adding, int from, int count,
                                   bool raises, bool counts, bool all, bool fetches)
{
    const size_t stride = adding->stride, last = adding->count;
    int64_t *const records = adding->records;
    const uint32_t *numbers = adding->numbers;
    const uint16_t *rows = adding->rows;
    const int64_t *words[MOST_AT_ONCE], *ahead = from <= 1 ? adding->ahead : NULL;
    size_t i, k;
    int w;

    for (w = 0; w < count; w++)
        words[w] = adding->words[from + w];
    for (i = 0; i + LINE <= last; i += LINE) {
        if (ahead != NULL)
            FETCH(ahead + i);
        if (fetches && i + LINE + AHEAD <= last)
            for (k = i + AHEAD; k < i + AHEAD + LINE; k++)
                __builtin_prefetch(records + numbers[all ? k : rows[k]] * stride, 1);
#pragma GCC unroll 8
        for (k = 0; k < LINE; k++) {
            const size_t row = all ? i + k : rows[i + k];
            add_row(records + numbers[row] * stride, words, row, from, count, raises, counts);
        }
    }
    for (; i < last; i++) {
        const size_t row = all ? i : rows[i];
        add_row(records + numbers[row] * stride, words, row, from, count, raises, counts);
    }
}

/* Adds up to MOST_AT_ONCE words, each number of them by a loop of its own. Only the first ones have
   to fetch the records. */
static ALWAYS_INLINE void add_at_once(const struct clr_group_adding *adding, int from, int count,
                                      bool raises, bool counts, bool all, bool fetches)
{
    switch (count) {
    case 0:
        add_some(adding, from, 0, raises, counts, all, fetches);
        break;
    case 1:
        add_some(adding, from, 1, raises, counts, all, fetches);
        break;
    case 2:
        add_some(adding, from, 2, raises, counts, all, fetches);
        break;
    case 3:
        add_some(adding, from, 3, raises, counts, all, fetches);
        break;
    default:
        add_some(adding, from, MOST_AT_ONCE, raises, counts, all, fetches);
        break;
    }
}

/* Adds words from this one on up to the last, or raises them. */
static ALWAYS_INLINE void add_words(const struct clr_group_adding *adding, int from, int last,
                                    bool raises, bool counts)
{
    const bool all = adding->rows == NULL;
    int count;

    for (; counts || from < last; from += count, counts = false) {
        count = last - from < MOST_AT_ONCE ? last - from : MOST_AT_ONCE;
        if (!all)
            add_at_once(adding, from, count, raises, counts, false, from <= 1);
        else if (from > 1 || !adding->fetches)
            add_at_once(adding, from, count, raises, counts, true, false);
        else
            add_at_once(adding, from, count, raises, counts, true, true);
    }
}

/* Adds rows one word after the other. That is the same in all instruction sets. */
static __attribute__((noinline)) void add_one_by_one(const struct clr_group_adding *adding)
{
    const bool counts = adding->words[0] == NULL;

    add_words(adding, counts, adding->adds, false, counts);
    add_words(adding, adding->adds, adding->all, true, false);
}

static ALWAYS_INLINE uint64_t fold_one(uint64_t folded, uint64_t word, bool raises)
{
    return !raises ? folded + word : word > folded ? word : folded;
}

#define VARIANT(name) portable_##name
#define TARGET
#define LANES 2
#define FUSED CLR_PORTABLE_FUSED
#include "numeric/grouping/group_loops.inc"

#if defined(__x86_64__)
#define VARIANT(name) avx2_##name
#define TARGET __attribute__((target("avx2,fma")))
#define LANES 4
#define FUSED true
#include "numeric/grouping/group_loops.inc"

#define VARIANT(name) avx512_##name
#define TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl")))
#define LANES 8
#define FUSED true
#include "numeric/grouping/group_loops.inc"
#endif

const struct clr_group_loops *clr_group_loops_choose(int skipped)
{
    CLR_CHOOSE_LOOPS(struct clr_group_loops, skipped);
}

#include "numeric/grouping/group_loops.h"

#include "base/processor.h"

#include "../../../kernels/arithmetic/reals.cl"
#include "../../../kernels/scan/values.cl"

#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* How many rows ahead records are fetched. */
enum { AHEAD = 24, MOST_AT_ONCE = 8 };

/* The values in a cache line of the usual size, and the fetching of one into the second cache. */
enum { LINE = 8 };
#define FETCH(values) __builtin_prefetch(values, 0, 2)

#define ALWAYS_INLINE inline __attribute__((always_inline))

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

static bool limit_products(int64_t *products, int64_t limit, uint8_t *outside)
{
    limit_integers(products, limit, products, outside);
    return false;
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

/* Adds words from - to - 1 of the rows; `counts`: word 0 counts them. */
static ALWAYS_INLINE void add_some(const struct clr_group_adding *adding, int from, int to,
                                   bool counts, bool all, bool fetches)
{
    const size_t stride = adding->stride, count = adding->count;
    const uint32_t *numbers = adding->numbers;
    const uint16_t *rows = adding->rows;
    int64_t *records = adding->records;
    const int64_t *words[MOST_AT_ONCE], *ahead = from <= 1 ? adding->ahead : NULL;
    size_t i;
    int w;

    for (w = from; w < to; w++)
        words[w - from] = adding->words[w];
    for (i = 0; i < count; i++) {
        const size_t row = all ? i : rows[i];
        int64_t *record = records + numbers[row] * stride;

        if (fetches && i + AHEAD < count)
            __builtin_prefetch(records + numbers[all ? i + AHEAD : rows[i + AHEAD]] * stride, 1);
        if (ahead != NULL && i % LINE == 0)
            FETCH(ahead + i);
        if (counts)
            record[0]++;
#pragma GCC unroll 8
        for (w = 0; w < to - from; w++)
            record[from + w] = (int64_t)((uint64_t)record[from + w] + (uint64_t)words[w][row]);
    }
}

/* The usual numbers of words are loops of their own. */
static ALWAYS_INLINE void add_at_once(const struct clr_group_adding *adding, int from, int to,
                                      bool counts, bool all, bool fetches)
{
    switch (to - from) {
    case 0:
        add_some(adding, from, from, counts, all, fetches);
        break;
    case 1:
        add_some(adding, from, from + 1, counts, all, fetches);
        break;
    case 2:
        add_some(adding, from, from + 2, counts, all, fetches);
        break;
    case 3:
        add_some(adding, from, from + 3, counts, all, fetches);
        break;
    case 4:
        add_some(adding, from, from + 4, counts, all, fetches);
        break;
    default:
        add_some(adding, from, to, counts, all, fetches);
        break;
    }
}

/* Raises `count` words of the rows, from this one on. */
static ALWAYS_INLINE void raise_some(const struct clr_group_adding *adding, int from, int count,
                                     bool all)
{
    const size_t stride = adding->stride;
    const uint32_t *numbers = adding->numbers;
    int64_t *records = adding->records + from;
    const int64_t *const *words = adding->words + from;
    size_t i;
    int w;

    for (i = 0; i < adding->count; i++) {
        const size_t row = all ? i : adding->rows[i];
        int64_t *record = records + numbers[row] * stride;

#pragma GCC unroll 8
        for (w = 0; w < count; w++)
            if ((uint64_t)words[w][row] > (uint64_t)record[w])
                record[w] = words[w][row];
    }
}

static void raise_words(const struct clr_group_adding *adding, int from)
{
    for (; from + 2 <= adding->all; from += 2) {
        if (adding->rows == NULL)
            raise_some(adding, from, 2, true);
        else
            raise_some(adding, from, 2, false);
    }
    if (from < adding->all)
        raise_some(adding, from, 1, adding->rows == NULL);
}

static ALWAYS_INLINE void add_from(const struct clr_group_adding *adding, int from, bool counts)
{
    const bool all = adding->rows == NULL;
    int to;

    do {
        to = from + MOST_AT_ONCE < adding->adds ? from + MOST_AT_ONCE : adding->adds;
        if (from > 1)
            add_at_once(adding, from, to, false, all, false);
        else if (all && !adding->fetches)
            add_at_once(adding, from, to, counts, true, false);
        else if (all)
            add_at_once(adding, from, to, counts, true, true);
        else
            add_at_once(adding, from, to, counts, false, true);
        from = to;
    } while (from < adding->adds);
}

static ALWAYS_INLINE void add_words(const struct clr_group_adding *adding)
{
    if (adding->words[0] == NULL)
        add_from(adding, 1, true);
    else
        add_from(adding, 0, false);
    raise_words(adding, adding->adds);
}

#define VARIANT(name) portable_##name
#define TARGET
#define LANES 2
#include "numeric/grouping/group_loops.inc"

#if defined(__x86_64__)
#include "numeric/grouping/few_groups.inc"
#include "numeric/grouping/whole_records.inc"

#define VARIANT(name) avx2_##name
#define TARGET __attribute__((target("avx2")))
#define LANES 4
#include "numeric/grouping/group_loops.inc"

#define VARIANT(name) avx512_##name
#define TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl")))
#define LANES 8
#include "numeric/grouping/group_loops.inc"
#endif

const struct clr_group_loops *clr_group_loops_choose(int skipped)
{
    static const struct clr_group_loops *const by_vectors[] =
        CLR_BY_VECTORS(portable_loops, avx2_loops, avx512_loops);
    const int vectors = (int)clr_processor_vectors() - skipped;

    return vectors < 0 ? NULL : by_vectors[vectors];
}

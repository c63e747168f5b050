/*
 * The host's reduction against adding value by value, in each instruction set of this machine. The
 * source is included, since the choice of an instruction set is the module's own business.
 */
#include "base/memory.h"
#include "numeric/scan/host_reduce.c"

#include "batch.h"
#include "numeric/data.h"
#include "random.h"

enum { MOST = 20000, PAIRED = 2 * MOST };

static double reals[PAIRED];
static int64_t integers[PAIRED];

static const struct variant {
    const char *name;
    const struct loops *loops;
} all_variants[] = {
    {"portable", &portable_loops},
#if defined(__x86_64__)
    {"avx2", &avx2_loops},
    {"avx512", &avx512_loops},
#endif
};

enum { MOST_VARIANTS = sizeof all_variants / sizeof all_variants[0] };

/* Those that the processor can run. */
static struct variant variants[MOST_VARIANTS];
static int variant_count;

TAP_TEST(find_variants)
{
    TAP_EACH (i, all_variants) {
        bool runs = true;
#if defined(__x86_64__)
        if (all_variants[i].loops == &avx2_loops)
            runs = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
        if (all_variants[i].loops == &avx512_loops)
            runs = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
#endif
        if (runs)
            variants[variant_count++] = all_variants[i];
        else
            tap_skip(1, "this processor has no %s", all_variants[i].name);
    }
}

/* The variant that runs by itself, at any length, must be one of those. */
TAP_TEST(test_choice)
{
    static const size_t counts[] = {0, 1, BLOCK - 1, BLOCK, 65536};
    int j;

    TAP_EACH (i, counts) {
        const struct loops *chosen = choose_loops();
        for (j = 0; j < variant_count && variants[j].loops != chosen; j++)
            ;
        tap_ok(j < variant_count, "%zu values go through %s", counts[i],
               j < variant_count ? variants[j].name : "what the processor does not have");
    }
}

/*
 * Whether sum is what want says, and, with everything taken out of it again, exactly zero: equal
 * after rounding would not be enough, since sums go on to be merged.
 */
static void check_sum(struct clr_sum *sum, double want, const double *x, const double *y,
                      size_t count, const char *what)
{
    batch_double(clr_sum_round(sum, 1), want, "%s, %zu values", what, count);
    for (size_t i = 0; i < count; i++) {
        if (y == NULL)
            clr_sum_add(sum, x[i], -1);
        else
            clr_sum_add_product(sum, x[i], y[i], -1);
    }
    batch_ok(data_is_nothing(sum), "%s, %zu values, all taken out", what, count);
}

static bool has_special(const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(x[i]))
            return true;
    }
    return false;
}

/* What the sum should be: value by value, and for finite values also by the long accumulator alone,
   which has no expansions. */
static double wanted_sum(const double *x, const double *y, size_t count)
{
    struct clr_sum sum, exact;
    double want;

    clr_sum_clear(&sum);
    clr_sum_clear(&exact);
    for (size_t i = 0; i < count; i++) {
        if (y == NULL)
            clr_sum_add(&sum, x[i], 1);
        else
            clr_sum_add_product(&sum, x[i], y[i], 1);
    }
    want = clr_sum_round(&sum, 1);
    if (has_special(x, count) || (y != NULL && has_special(y, count)))
        return want;
    for (size_t i = 0; i < count; i++)
        clr_sum_add_wide_product(&exact, x[i], y == NULL ? 1.0 : y[i]);
    batch_double(want, clr_sum_round(&exact, 1), "value by value, %zu values", count);
    return want;
}

/* In two parts, the first of which is small: the second one finds something there. */
static void check_reals(enum clr_operation operation, const double *x, const double *y,
                        size_t count)
{
    const double want = wanted_sum(x, y, count);
    const size_t first = count / 3 < BLOCK ? count / 3 : 0;
    const double *z = y != NULL ? y : x;
    struct clr_sum sum;

    for (int i = 0; i < variant_count; i++) {
        clr_sum_clear(&sum);
        variants[i].loops->add[operation][CLR_REAL](x, z, first, &sum);
        variants[i].loops->add[operation][CLR_REAL](x + first, z + first, count - first, &sum);
        check_sum(&sum, want, x, y, count, variants[i].name);
    }
}

static void check_sum_of_reals(size_t offset, size_t count)
{
    check_reals(CLR_SUM, reals + offset, NULL, count);
}

static void check_dot_of_reals(size_t offset, size_t count)
{
    check_reals(CLR_DOT, reals + offset, reals + MOST + offset, count);
}

static void check_sum_of_integers(size_t offset, size_t count)
{
    const int64_t *x = integers + offset;
    struct clr_sum want, sum;

    clr_sum_clear(&want);
    for (size_t i = 0; i < count; i++)
        clr_sum_add_integer(&want, x[i], 1);
    for (int j = 0; j < variant_count; j++) {
        clr_sum_clear(&sum);
        variants[j].loops->add[CLR_SUM][CLR_INTEGER](x, x, count, &sum);
        batch_ok(memcmp(&sum.integer, &want.integer, sizeof want.integer) == 0, "%s, %zu integers",
                 variants[j].name, count);
    }
}

static void check_extremes(size_t offset, size_t count, bool real)
{
    const int64_t *x = real ? (const int64_t *)(const void *)(reals + offset) : integers + offset;
    struct clr_range want = {.seen = false}, range;

    for (size_t i = 0; i < count; i++) {
        int64_t bits;
        memcpy(&bits, x + i, sizeof bits);
        clr_range_add(&want, real ? clr_real_to_key(bits) : bits);
    }
    for (int j = 0; j < variant_count; j++) {
        range = (struct clr_range){.seen = false};
        variants[j].loops->extremes(x, count, real ? INT64_MAX : 0, &range);
        batch_ok(data_same_range(&range, &want), "%s, extremes of %zu %s", variants[j].name, count,
                 real ? "reals" : "integers");
    }
}

/* Lengths around every bound of the loops, from arrays that start anywhere. */
static void test_lengths(void (*check)(size_t offset, size_t count))
{
    static const size_t longer[] = {383, 384, 385, 1000, 4096, 5003};

    for (size_t i = 0; i <= 300; i += i < 20 || (i > 120 && i < 140) ? 1 : 7)
        check(random_below(8), i);
    TAP_EACH (i, longer)
        check(random_below(8), longer[i]);
}

static void check_extremes_of_reals(size_t offset, size_t count)
{
    check_extremes(offset, count, true);
}

static void check_extremes_of_integers(size_t offset, size_t count)
{
    check_extremes(offset, count, false);
}

TAP_TEST(test_reals)
{
    for (enum data_reals kind = 0; kind < DATA_REALS; kind++) {
        data_fill_reals(reals, PAIRED, kind);
        test_lengths(check_sum_of_reals);
        test_lengths(check_dot_of_reals);
        test_lengths(check_extremes_of_reals);
        /* Both factors of one kind are not enough: tiny times huge is a case of its own. */
        for (enum data_reals other = 0; other < DATA_REALS; other++) {
            data_fill_reals(reals + MOST, MOST, other);
            check_dot_of_reals(random_below(8), 500 + random_below(300));
        }
        batch_end("reals: %s", data_reals_names[kind]);
    }
}

TAP_TEST(test_integers)
{
    for (enum data_integers kind = 0; kind < DATA_INTEGERS; kind++) {
        data_fill_integers(integers, PAIRED, kind);
        test_lengths(check_sum_of_integers);
        test_lengths(check_extremes_of_integers);
        batch_end("integers: %s", data_integers_names[kind]);
    }
}

/* Blocks that fail make the vectors wait, longer and longer, and tame ones bring them back. */
TAP_TEST(test_backoff)
{
    size_t block;

    for (size_t wild = 1; wild <= 12; wild++) {
        for (size_t i = 0; i < PAIRED; i++) {
            block = i / BLOCK;
            reals[i] = block % 13 < wild ? random_finite() : random_hard(1020, 1026);
        }
        check_sum_of_reals(0, MOST);
        check_dot_of_reals(0, MOST / 4);
    }
    batch_end("wild blocks among tame ones");

    /* Then terms that a far value takes are given back. */
    for (size_t i = 0; i < PAIRED; i++)
        reals[i] = i % (5 * BLOCK) == 77 ? random_hard(100, 1300) : random_finite();
    check_sum_of_reals(0, MOST);
    check_dot_of_reals(0, MOST / 4);
    data_fill_reals(reals, PAIRED, DATA_UNIFORM);
    for (size_t i = 77; i < PAIRED; i += 5 * BLOCK)
        reals[i] = random_hard(100, 1300);
    check_sum_of_reals(0, MOST);
    check_dot_of_reals(0, MOST / 4);
    batch_end("single values that are far from all others");

    for (size_t i = 0; i < PAIRED; i++)
        reals[i] = random_hard(1020, 1026);
    reals[BLOCK - 1] = NAN;
    check_sum_of_reals(0, MOST / 8);
    reals[BLOCK - 1] = 0x1p960;
    check_sum_of_reals(0, MOST / 8);
    for (size_t i = 0; i < MOST; i++)
        reals[i] = nextafter(0x1p960, 0);
    check_sum_of_reals(0, MOST);
    batch_end("the expansion's limit");
}

/* The module's own function, by operation and element type. */
TAP_TEST(test_chunks)
{
    size_t count = 5003;

    for (enum clr_operation operation = 0; operation < CLR_OPERATIONS; operation++) {
        for (enum clr_element element = 0; element < CLR_ELEMENTS; element++) {
            struct clr_chunk *chunk = clr_chunk_new(operation, 6000);
            struct clr_state state, want;

            TAP_NEED(chunk != NULL, "no memory");
            data_fill_reals(chunk->real, 6000 * clr_operation_width(chunk->operation), DATA_WIDE);
            data_fill_integers(chunk->integer, 6000 * clr_operation_width(chunk->operation),
                               DATA_ANY);
            clr_state_clear(&state);
            clr_state_clear(&want);
            clr_host_reduce(chunk, element, &state);
            batch_ok(!state.reals.seen && !state.integers.seen && !state.sum.wide_used,
                     "an empty chunk changes nothing");
            chunk->count[element] = count;
            clr_host_reduce(chunk, element, &state);
            for (size_t i = 0; i < count; i++) {
                double real = chunk->real[i];
                int64_t integer = chunk->integer[i];
                if (operation == CLR_EXTREMES && element == CLR_REAL)
                    clr_range_add(&want.reals, clr_real_to_key(clr_bits_of(real)));
                else if (operation == CLR_EXTREMES)
                    clr_range_add(&want.integers, integer);
                else if (element == CLR_REAL && operation == CLR_DOT)
                    clr_sum_add_product(&want.sum, real, chunk->real[6000 + i], 1);
                else if (element == CLR_REAL)
                    clr_sum_add(&want.sum, real, 1);
                else if (operation == CLR_DOT)
                    clr_sum_add_integer(&want.sum, (clr_i128)integer * chunk->integer[6000 + i], 1);
                else
                    clr_sum_add_integer(&want.sum, integer, 1);
            }
            batch_double(clr_sum_round(&state.sum, 1), clr_sum_round(&want.sum, 1), "the sum");
            batch_ok(memcmp(&state.sum.integer, &want.sum.integer, sizeof want.sum.integer) == 0,
                     "the integers' sum");
            batch_ok(data_same_range(&state.reals, &want.reals), "the range of the reals");
            batch_ok(data_same_range(&state.integers, &want.integers), "the range of the integers");
            batch_ok(state.count == 0 && state.non_integers == 0, "rows are not counted here");
            clr_memory_free(chunk);
        }
    }
    batch_end("chunks of every operation");
}

/* States and the chunks that they come from: counts, extremes, merging in any grouping. */
#include "numeric/states/state.h"

#include "base/memory.h"
#include "batch.h"
#include "numeric/data.h"
#include "numeric/exact/operation.h"

static int64_t key_of(double real)
{
    return clr_real_to_key(clr_bits_of(real));
}

static struct clr_value extreme(const struct clr_state *state, int sign)
{
    struct clr_value result;
    memset(&result, 'x', sizeof result);
    clr_state_extreme(state, sign, &result);
    return result;
}

static bool is_integer(const struct clr_value *value, int64_t integer)
{
    return value->kind == CLR_KIND_INTEGER && value->as.integer == integer;
}

static bool is_real(const struct clr_value *value, double real)
{
    return value->kind == CLR_KIND_REAL && memcmp(&value->as.real, &real, sizeof real) == 0;
}

TAP_TEST(test_extremes)
{
    struct clr_state state;
    struct clr_value least, greatest;

    clr_state_clear(&state);
    least = extreme(&state, -1);
    tap_ok(least.kind == CLR_KIND_NONE, "no rows: no extreme");

    clr_range_add(&state.integers, 5);
    least = extreme(&state, -1);
    greatest = extreme(&state, 1);
    tap_ok(is_integer(&least, 5) && is_integer(&greatest, 5), "one integer is both");

    clr_range_add(&state.reals, key_of(5.0));
    least = extreme(&state, -1);
    greatest = extreme(&state, 1);
    tap_ok(is_integer(&least, 5) && is_integer(&greatest, 5),
           "beside an equal REAL the INTEGER is both");

    clr_range_add(&state.reals, key_of(-0.0));
    clr_range_add(&state.reals, key_of(0.0));
    clr_range_add(&state.reals, key_of(5.5));
    least = extreme(&state, -1);
    greatest = extreme(&state, 1);
    tap_ok(is_real(&least, -0.0) && is_real(&greatest, 5.5), "REALs, with -0.0 as the least zero");

    clr_range_add(&state.integers, INT64_MIN);
    clr_range_add(&state.integers, INT64_MAX);
    least = extreme(&state, -1);
    greatest = extreme(&state, 1);
    tap_ok(is_integer(&least, INT64_MIN) && is_integer(&greatest, INT64_MAX), "integers' limits");

    clr_range_add(&state.reals, key_of(0x1p63));
    clr_range_add(&state.reals, key_of(-0x1p63));
    least = extreme(&state, -1);
    greatest = extreme(&state, 1);
    tap_ok(is_integer(&least, INT64_MIN), "-2^63 is an INTEGER as well as a REAL");
    tap_ok(is_real(&greatest, 0x1p63), "2^63 - 1 is less than 2^63");

    clr_range_add(&state.reals, key_of(INFINITY));
    clr_range_add(&state.reals, key_of(-INFINITY));
    least = extreme(&state, -1);
    greatest = extreme(&state, 1);
    tap_ok(is_real(&least, -INFINITY) && is_real(&greatest, INFINITY), "infinities");
}

static void take(struct clr_state *state, int kind)
{
    state->count++;
    if (kind == 0) {
        int64_t integer = random_integer();
        clr_sum_add_integer(&state->sum, integer, 1);
        clr_range_add(&state->integers, integer);
    } else {
        double real = kind == 1 ? random_hard(1000, 1050) : random_finite();
        state->non_integers++;
        clr_sum_add(&state->sum, real, 1);
        clr_range_add(&state->reals, key_of(real));
    }
}

/* Merging in a chain and in a tree, empty states among them, against all rows in one state. */
TAP_TEST(test_merge)
{
    enum { PARTS = 8 };
    int j;

    for (int round = 0; round < 500; round++) {
        struct clr_state whole, chain, part[PARTS];
        uint64_t before;

        clr_state_clear(&whole);
        clr_state_clear(&chain);
        for (int i = 0; i < PARTS; i++) {
            int kinds = random_between(1, 3);
            clr_state_clear(&part[i]);
            for (j = random_between(0, 5); j > 0; j--) {
                int kind = (int)random_below((uint64_t)kinds);
                before = random_state;
                take(&part[i], kind);
                random_state = before; /* the same value again */
                take(&whole, kind);
            }
            clr_state_merge(&chain, &part[i]);
        }
        for (int step = 1; step < PARTS; step *= 2) {
            for (int i = 0; i + step < PARTS; i += 2 * step)
                clr_state_merge(&part[i], &part[i + step]);
        }
        for (int i = 0; i < 2; i++) {
            struct clr_state *merged = i == 0 ? &chain : &part[0];
            batch_ok(merged->count == whole.count && merged->non_integers == whole.non_integers,
                     "counts");
            batch_double(clr_sum_round(&merged->sum, 1), clr_sum_round(&whole.sum, 1), "sums");
            batch_ok(data_same_range(&merged->integers, &whole.integers) &&
                         data_same_range(&merged->reals, &whole.reals),
                     "ranges");
        }
    }
    batch_end("states merged in a chain and in a tree");
}

/* Where the values of a chunk lie: apart, and not on each other's places. */
static void test_chunk(enum clr_operation operation, size_t capacity)
{
    size_t width = clr_operation_width(operation);
    struct clr_chunk *chunk = clr_chunk_new(operation, capacity);
    bool kept = chunk != NULL;

    if (!tap_ok(chunk != NULL && chunk->operation == operation && chunk->capacity == capacity &&
                    chunk->count[CLR_REAL] == 0 && chunk->count[CLR_INTEGER] == 0,
                "an empty chunk for %zu values of operation %d", capacity, (int)operation))
        return;
    tap_ok((uintptr_t)chunk->real % sizeof(double) == 0 &&
               ((uintptr_t)chunk->integer - (uintptr_t)chunk->real) % 64 == 0,
           "its arrays lie on bounds of cache lines from each other");
    for (size_t i = 0; i < width * capacity; i++) {
        chunk->real[i] = (double)i;
        chunk->integer[i] = -(int64_t)i;
    }
    for (size_t i = 0; i < width * capacity; i++)
        kept = kept && chunk->real[i] == (double)i && chunk->integer[i] == -(int64_t)i;
    tap_ok(kept, "it holds %zu of each type", width * capacity);
    clr_memory_free(chunk);
}

TAP_TEST(test_chunks)
{
    tap_is_int64((int64_t)clr_operation_width(CLR_SUM), 1, "a sum takes one operand");
    tap_is_int64((int64_t)clr_operation_width(CLR_DOT), 2, "a dot product two");
    tap_is_int64((int64_t)clr_operation_width(CLR_EXTREMES), 1, "an extreme one");
    test_chunk(CLR_SUM, 16);
    test_chunk(CLR_SUM, 17);
    test_chunk(CLR_DOT, 17);
    test_chunk(CLR_EXTREMES, 65536);
    clr_memory_fail_after(0);
    tap_ok(clr_chunk_new(CLR_SUM, 16) == NULL, "no chunk without memory");
    clr_memory_fail_after(-1);
    clr_memory_free(NULL);
}

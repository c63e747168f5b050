#include "data.h"

#include "measure.h"
#include "numeric/scan/host_reduce.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const bench_element_names[CLR_ELEMENTS] = {"real", "integer"};
const char *const bench_operation_names[CLR_OPERATIONS] = {"sum", "dot", "extremes"};

void *bench_memory(size_t bytes)
{
    void *block = NULL;

    if (posix_memalign(&block, 4096, bytes) != 0)
        bench_die("no memory for %zu bytes", bytes);
    return block;
}

size_t bench_memory_limit(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (size_t)pages * (size_t)size / 8 : (size_t)256 << 20;
}

/* SplitMix64 (Steele, Lea, Flood 2014). */
static inline uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t make(uint64_t random, enum clr_element element, enum bench_data data)
{
    uint64_t bits = random;
    double value;

    if (data == BENCH_HARD) {
        if ((bits >> 52 & 0x7ff) == 0x7ff)
            bits ^= (uint64_t)1 << 62;
        return bits;
    }
    if (data == BENCH_COUNTABLE)
        value = (double)(random >> 54) - 512;
    else if (element == CLR_REAL)
        value = (double)(random >> 11) * 0x1p-53;
    else
        return bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void bench_fill(void *values, size_t count, enum clr_element element, enum bench_data data)
{
    uint64_t seed = 1, *target = values;
    size_t i;

    for (i = 0; i < count; i++)
        target[i] = make(next_random(&seed), element, data);
}

void bench_fill_spread(double *values, size_t count, int spread)
{
    uint64_t seed = 1, bits;
    size_t i;

    for (i = 0; i < count; i++) {
        uint64_t random = next_random(&seed);
        int exponent = (int)(next_random(&seed) % ((uint64_t)spread + 1)) - spread / 2;
        /* The lowest 52 bits are the significand's, the uppermost one is the sign. */
        bits = random >> 63 << 63 | (uint64_t)(1023 + exponent) << 52 |
               (random & ((UINT64_C(1) << 52) - 1));
        memcpy(&values[i], &bits, sizeof bits);
    }
}

void bench_reduce_on_host(void *values, size_t count, enum clr_operation operation,
                          enum clr_element element, struct clr_state *state)
{
    struct clr_chunk chunk = {.operation = operation, .capacity = count};

    chunk.count[element] = count;
    chunk.real = values;
    chunk.integer = values;
    clr_host_reduce(&chunk, element, state);
}

static bool same_range(const struct clr_range *a, const struct clr_range *b)
{
    return a->seen == b->seen && (!a->seen || (a->least == b->least && a->greatest == b->greatest));
}

bool bench_same_state(struct clr_state *a, struct clr_state *b)
{
    double x = clr_sum_round(&a->sum, 1), y = clr_sum_round(&b->sum, 1);

    return memcmp(&x, &y, sizeof x) == 0 &&
           memcmp(&a->sum.integer, &b->sum.integer, sizeof a->sum.integer) == 0 &&
           same_range(&a->integers, &b->integers) && same_range(&a->reals, &b->reals);
}

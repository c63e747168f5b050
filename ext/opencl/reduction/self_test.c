#include "opencl/reduction/self_test.h"

#include "numeric/scan/host_reduce.h"
#include "opencl/memory/test_values.h"

#include <math.h>
#include <string.h>

enum { VALUES = 5003 };

/* Any bits but those of infinities and NaN; every 64th value cancels the one before. */
static double hard_real(uint64_t *seed, size_t i, double previous)
{
    uint64_t bits = clr_test_random(seed);
    double value;

    if (i % 64 == 63)
        return -previous;
    if ((bits >> 52 & 0x7ff) == 0x7ff)
        bits ^= (uint64_t)1 << 62;
    /* Half of the values lie close together, so that expansions are tried as well. */
    if (i % 1000 < 500)
        bits = (bits & ~((uint64_t)0x7ff << 52)) | (uint64_t)(1000 + i % 50) << 52;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void fill(struct clr_chunk *chunk, enum clr_element element, bool infinities)
{
    size_t width = clr_operation_width(chunk->operation), operand, i;
    uint64_t seed = CLR_TEST_SEED;

    chunk->count[element] = VALUES;
    for (operand = 0; operand < width; operand++) {
        double *real = chunk->real + operand * chunk->capacity;
        int64_t *integer = chunk->integer + operand * chunk->capacity;
        for (i = 0; i < VALUES; i++) {
            if (element == CLR_REAL)
                real[i] = hard_real(&seed, i, i > 0 ? real[i - 1] : 0.0);
            else
                integer[i] = (int64_t)clr_test_random(&seed);
        }
        if (element == CLR_REAL && infinities)
            real[VALUES / 2] = INFINITY;
        else if (element == CLR_INTEGER)
            integer[VALUES / 2] = INT64_MIN;
    }
}

static bool same(struct clr_state *a, struct clr_state *b)
{
    double x = clr_sum_round(&a->sum, 1), y = clr_sum_round(&b->sum, 1);

    return memcmp(&x, &y, sizeof x) == 0 &&
           memcmp(&a->sum.integer, &b->sum.integer, sizeof a->sum.integer) == 0 &&
           clr_test_same_range(&a->integers, &b->integers) &&
           clr_test_same_range(&a->reals, &b->reals);
}

enum clr_code clr_self_test(struct clr_device *device, enum clr_operation operation,
                            enum clr_element element, struct clr_status *status)
{
    struct clr_chunk *chunk = clr_chunk_new(operation, VALUES);
    struct clr_device_work work;
    struct clr_state expected, found;
    int round;

    if (chunk == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    for (round = 0; round < 2 && status->code == CLR_OK; round++) {
        clr_state_clear(&expected);
        clr_state_clear(&found);
        memset(&work, 0, sizeof work);
        fill(chunk, element, round == 1);
        clr_host_reduce(chunk, element, &expected);
        if (clr_reducer_begin(device, 0, chunk, 1u << element, status) == CLR_OK &&
            clr_reducer_finish(device, 0, &found, &work, status) == CLR_OK &&
            !same(&expected, &found))
            clr_status_set(status, CLR_DEVICE, 0,
                           "self-test: the device's result differs from the host's");
    }
    clr_chunk_free(chunk);
    return status->code;
}

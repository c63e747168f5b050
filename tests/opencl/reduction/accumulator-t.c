/*
 * The long accumulator of kernels/arithmetic/accumulator.cl, with as many copies of its digits as
 * the local memory has room for: sums of values that go there one and all, whose digits have to
 * carry; of values that go there for a while; and of what is no number. Expected is the host's sum,
 * to the bit.
 */
#include "numeric/scan/host_reduce.h"
#include "opencl/core/device.h"
#include "opencl/devices.h"
#include "opencl/memory/trial.h"
#include "opencl/reduction/passes.h"

#include <math.h>
#include <string.h>

/* A digit of a single copy takes 2^12 values before it carries, in each of a few groups. */
enum { VALUES = 200000, PAIRS = VALUES / 2 };

static double values[VALUES];

/* A value of any significand, and of that biased exponent. */
static double value_of(uint64_t random, uint64_t exponent)
{
    const uint64_t bits = (random & ~((uint64_t)0x7ff << 52)) | exponent << 52;
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Too large for an expansion, all ones, of one sign: the digits fill as fast as they can. */
static void fill_ones(int sign)
{
    const uint64_t ones = UINT64_MAX >> 12;

    for (size_t i = 0; i < VALUES; i++)
        values[i] = sign * value_of(ones, 1985 + i % 8);
}

/* Usual values at first, then for a while those of all exponents, with zeros and subnormals among
   them, then usual ones again, beside which stray values lie. */
static void fill_in_turn(void)
{
    uint64_t seed = CLR_TEST_SEED;

    for (size_t i = 0; i < VALUES; i++) {
        const uint64_t random = clr_test_random(&seed), exponent = clr_test_random(&seed);

        if (i > VALUES / 3 && i < VALUES / 3 * 2)
            values[i] = exponent % 8 == 0 ? 0.0 : value_of(random, exponent % 2000);
        else
            values[i] = value_of(random, exponent % 500 == 0 ? exponent % 1990 : 1020 + i % 8);
    }
}

static bool same(struct clr_state *a, struct clr_state *b)
{
    const double x = clr_sum_round(&a->sum, 1), y = clr_sum_round(&b->sum, 1);

    return memcmp(&x, &y, sizeof x) == 0 && a->sum.nan == b->sum.nan &&
           a->sum.plus_infinity == b->sum.plus_infinity &&
           a->sum.minus_infinity == b->sum.minus_infinity;
}

/* What one operation needs on one device. */
struct reduction {
    struct clr_device *device;
    enum clr_operation operation;
    cl_command_queue queue;
    cl_mem buffer;
    struct clr_program program;
    struct clr_passes passes;
};

/* The second sum is that of a result that the first has left its accumulator to. */
static void test_values(struct reduction *reduction, const char *what)
{
    const size_t count = reduction->operation == CLR_DOT ? PAIRS : VALUES;
    struct clr_state expected, found;
    struct clr_device_work work = {.kernels = 0};
    struct clr_status status = {.code = CLR_OK};

    clr_state_clear(&expected);
    clr_host_reduce_arrays(reduction->operation, CLR_REAL, values, values + PAIRS, count,
                           &expected);
    if (clr_cl.EnqueueWriteBuffer(reduction->queue, reduction->buffer, CL_TRUE, 0, sizeof values,
                                  values, 0, NULL, NULL) != CL_SUCCESS)
        tap_bail("clEnqueueWriteBuffer");
    for (int round = 0; round < 2; round++) {
        clr_state_clear(&found);
        clr_passes_start(&reduction->passes, &reduction->program, reduction->buffer, 0, PAIRS,
                         count, &status);
        clr_passes_fetch(&reduction->passes, &status);
        clr_passes_wait(&reduction->passes, &work, &status);
        devices_bail_on(&status, "the passes");
        clr_passes_take(&reduction->passes, 0, reduction->operation, CLR_REAL, &found, 0);
        tap_ok(same(&expected, &found), "%s, %s, groups of %zu, %s",
               reduction->operation == CLR_DOT ? "products" : "sum",
               reduction->passes.doubles ? "doubles" : "integers", reduction->program.group_size,
               what);
    }
}

static void test_operation(struct clr_device *device, enum clr_operation operation)
{
    struct reduction reduction = {.device = device, .operation = operation};
    struct clr_status status = {.code = CLR_OK};
    cl_int error;
    char *log;

    if (clr_program_build(&reduction.program, device->context, &device->info,
                          &(struct clr_step_kind){operation, CLR_REAL}, 1, NULL, &log,
                          &status) != CLR_OK)
        tap_bail("%s\n%s", status.message, log != NULL ? log : "");
    reduction.queue = clr_cl.CreateCommandQueue(device->context, device->info.id,
                                                CL_QUEUE_PROFILING_ENABLE, &error);
    reduction.buffer =
        clr_cl.CreateBuffer(device->context, CL_MEM_READ_ONLY, sizeof values, NULL, &error);
    TAP_NEED(reduction.queue != NULL && reduction.buffer != NULL, "no queue or buffer");
    clr_passes_open(&reduction.passes, device->context, reduction.queue, &device->info, 1, &status);
    devices_bail_on(&status, "clr_passes_open");
    fill_ones(1);
    test_values(&reduction, "all ones");
    fill_ones(-1);
    test_values(&reduction, "all ones, negative");
    fill_in_turn();
    test_values(&reduction, "exponents of all kinds for a while");
    values[7] = INFINITY;
    values[VALUES / 2 - 1] = -INFINITY;
    values[VALUES - 1] = NAN;
    test_values(&reduction, "infinities and NaN among them");
    clr_passes_close(&reduction.passes);
    clr_program_release(&reduction.program);
    clr_cl.ReleaseMemObject(reduction.buffer);
    clr_cl.ReleaseCommandQueue(reduction.queue);
}

/* By doubles and by integers; with all of the local memory, and with so little that digits have two
   copies, or one. */
static void test_device(const struct clr_device_info *info)
{
    const uint64_t local[] = {info->local_memory, 4096, 0};
    struct clr_device *device = devices_open(info);

    for (int i = 0; i < (info->type == CLR_DEVICE_CPU ? 1 : 3); i++) {
        device->info.local_memory = local[i];
        for (int integers = info->doubles ? 0 : 1; integers < 2; integers++) {
            device->info.slow_doubles = integers != 0;
            test_operation(device, CLR_SUM);
            test_operation(device, CLR_DOT);
        }
    }
    clr_device_close(device);
}

TAP_TEST(test_devices)
{
    devices_each(test_device, false);
}

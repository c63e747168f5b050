/*
 * A device's reductions against the host's, bit for bit: every operation and element type, lengths
 * around all sizes of groups and vectors, and data of every kind.
 *
 * The kernels have a variant with doubles and one without. A CPU device runs both here, with groups
 * as large as a GPU's.
 *
 * CLREDUCE_TEST_DEVICE chooses the device. The source is included, since the sizes
 * of work-groups are the module's own business.
 */
#include "opencl/reduction/reducer.c"

#include "base/memory.h"
#include "batch.h"
#include "numeric/data.h"
#include "numeric/scan/host_reduce.h"
#include "opencl/devices.h"
#include "opencl/reduction/reducer.h"
#include "random.h"

enum { MOST = 1000000, DEEP = 9000000 };

static const char *const operation_names[CLR_OPERATIONS] = {"sum", "dot", "extremes"};
static const char *const element_names[CLR_ELEMENTS] = {"reals", "integers"};

static struct clr_device *device;
static struct clr_device_info info;

static struct clr_chunk *new_chunk(enum clr_operation operation)
{
    struct clr_chunk *chunk = clr_chunk_new(operation, MOST);
    TAP_NEED(chunk != NULL, "no memory");
    return chunk;
}

static void fill(struct clr_chunk *chunk, enum clr_element element, size_t count, int kind)
{
    chunk->count[element] = count;
    for (size_t operand = 0; operand < clr_operation_width(chunk->operation); operand++) {
        if (element == CLR_REAL)
            data_fill_reals(chunk->real + operand * MOST, count, (enum data_reals)kind);
        else
            data_fill_integers(chunk->integer + operand * MOST, count, (enum data_integers)kind);
    }
}

/* The same exact value, and not only the same rounding: the difference of the two is nothing. */
static bool same_sum(const struct clr_sum *a, const struct clr_sum *b)
{
    struct clr_sum difference = *a;
    struct clr_int192 integer = b->integer;

    for (int i = 0; i < CLR_EXPANSION_TERMS; i++)
        clr_sum_add(&difference, b->term[i], -1);
    for (int i = 0; b->wide_used && i < CLR_ACCUMULATOR_DIGITS; i++) {
        int64_t digits[CLR_ACCUMULATOR_DIGITS] = {0};
        digits[i] = -b->wide.digit[i];
        clr_sum_add_device_parts(&difference, (double[]){0, 0, 0}, digits);
    }
    clr_int192_negate(&integer);
    clr_int192_add(&difference.integer, &integer);
    difference.plus_infinity -= b->plus_infinity;
    difference.minus_infinity -= b->minus_infinity;
    difference.nan -= b->nan;
    return data_is_nothing(&difference) && memcmp(&a->integer, &b->integer, sizeof a->integer) == 0;
}

static bool same_state(struct clr_state *a, struct clr_state *b)
{
    return data_same_range(&a->integers, &b->integers) && data_same_range(&a->reals, &b->reals) &&
           a->count == b->count && same_sum(&a->sum, &b->sum);
}

static void begin(int slot, const struct clr_chunk *chunk, unsigned elements)
{
    struct clr_status status = {.code = CLR_OK};

    clr_reducer_begin(device, slot, chunk, elements, &status);
    devices_bail_on(&status, "clr_reducer_begin");
}

static void finish(int slot, struct clr_state *state, struct clr_device_work *work)
{
    struct clr_status status = {.code = CLR_OK};

    memset(work, 0, sizeof *work);
    clr_state_clear(state);
    clr_reducer_finish(device, slot, state, work, &status);
    devices_bail_on(&status, "clr_reducer_finish");
}

static void expect(const struct clr_chunk *chunk, unsigned elements, struct clr_state *state)
{
    clr_state_clear(state);
    for (enum clr_element element = 0; element < CLR_ELEMENTS; element++) {
        if (elements & 1u << element)
            clr_host_reduce(chunk, element, state);
    }
}

static void compare(const struct clr_chunk *chunk, enum clr_element element, const char *kind)
{
    struct clr_state host, found;
    struct clr_device_work work;

    expect(chunk, 1u << element, &host);
    begin(0, chunk, 1u << element);
    finish(0, &found, &work);
    batch_ok(same_state(&host, &found), "%zu values, %s: %a instead of %a", chunk->count[element],
             kind, clr_sum_round(&found.sum, 1), clr_sum_round(&host.sum, 1));
    batch_ok(work.kernels >= 1 && work.kernels == work.passes &&
                 work.bytes == (int64_t)(chunk->count[element] * sizeof(double) *
                                         clr_operation_width(chunk->operation)),
             "%zu values: %d kernels, %d passes", chunk->count[element], (int)work.kernels,
             (int)work.passes);
}

/* The programs are built once, and each passes the test that it has to pass before it serves. */
static void test_programs(void)
{
    for (enum clr_operation operation = 0; operation < CLR_OPERATIONS; operation++) {
        for (enum clr_element element = 0; element < CLR_ELEMENTS; element++) {
            struct clr_status status = {.code = CLR_OK};
            char *log = NULL;
            enum clr_code code;
            code = clr_reducer_build(device, operation, element, &log, &status);
            if (!tap_ok(code == CLR_OK && log == NULL, "the program for %s of %s is built",
                        operation_names[operation], element_names[element]))
                tap_bail("%s\n%s", status.message, log != NULL ? log : "");
            tap_ok(clr_reducer_build(device, operation, element, &log, &status) == CLR_OK,
                   "and is there when it is asked for again");
            tap_ok(clr_self_test(device, operation, element, &status) == CLR_OK,
                   "and passes its test");
        }
    }
}

static void test_reductions(enum clr_operation operation, enum clr_element element)
{
    static const size_t lengths[] = {1,    2,     3,     7,     8,     9,      15,
                                     31,   255,   256,   257,   1000,  1023,   1025,
                                     4099, 16383, 65535, 65536, 65537, 262147, 1000000};
    enum { LENGTHS = sizeof lengths / sizeof lengths[0], ALL_KINDS_UP_TO = 5000 };
    int kinds = element == CLR_REAL ? DATA_REALS : DATA_INTEGERS;
    struct clr_chunk *chunk = new_chunk(operation);

    for (int i = 0; i < LENGTHS; i++) {
        for (int kind = 0; kind < kinds; kind++) {
            const char *name =
                element == CLR_REAL ? data_reals_names[kind] : data_integers_names[kind];
            /* Of the long ones a few kinds are enough: tame, and as wild as can be. */
            if ((lengths[i] > ALL_KINDS_UP_TO || tap_is_quick()) && (kind + i) % 4 != 0 &&
                kind != DATA_WIDE)
                continue;
            fill(chunk, element, lengths[i], kind);
            compare(chunk, element, name);
        }
    }
    clr_memory_free(chunk);
    batch_end("%s of %s", operation_names[operation], element_names[element]);
}

/* Values that differ from all others at one place: nothing may be read twice, or not at all. */
static void test_places(enum clr_operation operation, enum clr_element element)
{
    static const size_t lengths[] = {1, 13, 64, 100, 1000, 2047, 40000};
    enum { LENGTHS = sizeof lengths / sizeof lengths[0] };
    struct clr_chunk *chunk = new_chunk(operation);

    for (size_t i = 0; i < LENGTHS; i++) {
        for (size_t j = 0; j < 12; j++) {
            size_t place = j == 0 ? 0 : j == 1 ? lengths[i] - 1 : random_below(lengths[i]);
            chunk->count[element] = lengths[i];
            for (size_t operand = 0; operand < clr_operation_width(operation); operand++) {
                for (size_t k = 0; k < lengths[i]; k++) {
                    chunk->real[operand * MOST + k] = k == place ? -0x1p80 : 1.0;
                    chunk->integer[operand * MOST + k] = k == place ? INT64_MIN : 1;
                }
            }
            compare(chunk, element, "one that differs");
        }
    }
    clr_memory_free(chunk);
    batch_end("one that differs, in %s of %s", operation_names[operation], element_names[element]);
}

/* Both element types of a chunk in one go, and all slots busy at the same time. */
static void test_slots(void)
{
    struct clr_chunk *chunks[CLR_REDUCER_SLOTS];
    struct clr_state host[CLR_REDUCER_SLOTS], found;
    struct clr_device_work work;

    for (int round = 0; round < 60; round++) {
        for (int slot = 0; slot < CLR_REDUCER_SLOTS; slot++) {
            enum clr_operation operation = (enum clr_operation)random_below(CLR_OPERATIONS);
            const unsigned elements = 1u << CLR_REAL | 1u << CLR_INTEGER;
            chunks[slot] = new_chunk(operation);
            fill(chunks[slot], CLR_REAL, random_below(9000) + 1, random_between(0, DATA_REALS - 1));
            fill(chunks[slot], CLR_INTEGER, random_below(9000) + 1, DATA_ANY);
            expect(chunks[slot], elements, &host[slot]);
            begin(slot, chunks[slot], elements);
            clr_memory_free(chunks[slot]); /* its values are the device's now */
        }
        for (int slot = 0; slot < CLR_REDUCER_SLOTS; slot++) {
            finish(slot, &found, &work);
            batch_ok(same_state(&host[slot], &found), "round %d, slot %d", round, slot);
        }
    }
    batch_end("both element types, all slots busy");
}

/* The state that a result is added to keeps what it had. */
static void test_adding(void)
{
    struct clr_chunk *chunk = new_chunk(CLR_SUM);
    struct clr_device_work work = {0};
    struct clr_state state;
    struct clr_status status = {.code = CLR_OK};

    fill(chunk, CLR_INTEGER, 1000, DATA_ANY);
    clr_state_clear(&state);
    for (int i = 0; i < 5; i++) {
        begin(i % CLR_REDUCER_SLOTS, chunk, 1u << CLR_INTEGER);
        clr_reducer_finish(device, i % CLR_REDUCER_SLOTS, &state, &work, &status);
        devices_bail_on(&status, "clr_reducer_finish");
    }
    for (int i = 0; i < 5000; i++)
        clr_sum_add_integer(&state.sum, chunk->integer[i % 1000], -1);
    tap_ok(clr_int192_is_zero(&state.sum.integer), "five results in one state");
    tap_is_int64(work.bytes, 5 * 8000, "and their work");
    tap_ok(work.kernel_time >= 0 && work.transfer_time > 0, "and times");
    clr_memory_free(chunk);
}

/* So many groups that the host has thousands of partial results to merge. */
static void test_groups(void)
{
    struct clr_device *usual = device;
    uint32_t units = info.compute_units;
    struct clr_chunk *chunk = clr_chunk_new(CLR_SUM, DEEP);
    struct clr_state host, found;
    struct clr_device_work work;
    struct clr_status status = {.code = CLR_OK};
    char *log;

    TAP_NEED(chunk != NULL, "no memory");
    info.compute_units = 2000;
    device = devices_open(&info);
    clr_reducer_build(device, CLR_SUM, CLR_INTEGER, &log, &status);
    devices_bail_on(&status, "clr_reducer_build");
    fill(chunk, CLR_INTEGER, DEEP, DATA_ANY);
    expect(chunk, 1u << CLR_INTEGER, &host);
    begin(0, chunk, 1u << CLR_INTEGER);
    finish(0, &found, &work);
    tap_ok(same_state(&host, &found), "%d values in thousands of groups", DEEP);
    tap_is_int64(work.kernels, 1, "by one kernel");
    clr_device_close(device);
    clr_memory_free(chunk);
    device = usual;
    info.compute_units = units;
}

/* Work-groups of any size: nothing need be a power of two, or a multiple of anything. */
static void test_group_sizes(void)
{
    static const size_t sizes[] = {1, 2, 3, 5, 7, 33, 100, 255};
    static const size_t lengths[] = {1, 99, 1000, 20011};
    size_t first;

    for (enum clr_operation operation = 0; operation < CLR_OPERATIONS; operation++) {
        struct clr_chunk *chunk = new_chunk(operation);
        for (enum clr_element element = 0; element < CLR_ELEMENTS; element++) {
            struct clr_program *program = &reducer_of(device)->programs[operation][element];
            size_t usual = program->group_size;
            if (!program->built)
                continue;
            /* In quick runs each program has one of them. */
            first = tap_is_quick() ? (size_t)(operation * CLR_ELEMENTS + element) : 0;
            for (size_t i = first; i < sizeof sizes / sizeof sizes[0];
                 i += tap_is_quick() ? 8 : 1) {
                for (size_t j = 0; j < sizeof lengths / sizeof lengths[0] && sizes[i] <= usual;
                     j++) {
                    program->group_size = sizes[i];
                    fill(chunk, element, lengths[j], element == CLR_REAL ? DATA_WIDE : DATA_ANY);
                    compare(chunk, element, "a group's size");
                }
            }
            program->group_size = usual;
        }
        clr_memory_free(chunk);
    }
    batch_end("groups of any size");
}

/* A device is opened and closed as often as one likes, and an allocation that fails says so. */
static void test_open(void)
{
    struct clr_device *other;
    struct clr_status status;

    for (int i = 0; i < 3; i++) {
        clr_status_clear(&status);
        tap_ok(clr_device_open(&info, &other, &status) == CLR_OK, "opened once more");
        clr_device_close(other);
    }
    clr_device_close(NULL);
    clr_memory_fail_after(0);
    clr_status_clear(&status);
    tap_ok(clr_device_open(&info, &other, &status) == CLR_NOMEM && other == NULL,
           "not without memory");
    clr_memory_fail_after(0);
    clr_status_clear(&status);
    tap_ok(clr_self_test(device, CLR_SUM, CLR_INTEGER, &status) == CLR_NOMEM,
           "nor can it be tested without");
    clr_memory_fail_after(-1);
}

/* All tests of the kernels' variant with doubles, or by integers alone. */
static void test_variant(bool doubles)
{
    tap_diag("the kernels for a device with%s doubles", doubles ? "" : "out");
    info.doubles = doubles;
    device = devices_open(&info);
    test_programs();
    for (enum clr_operation operation = 0; operation < CLR_OPERATIONS; operation++) {
        for (enum clr_element element = 0; element < CLR_ELEMENTS; element++) {
            test_reductions(operation, element);
            test_places(operation, element);
        }
    }
    test_slots();
    test_adding();
    test_group_sizes();
    test_groups();
    test_open();
    clr_device_close(device);
}

TAP_TEST(all_tests)
{
    info = devices_choose();
    info.type = CLR_DEVICE_GPU;
    for (int doubles = 0; doubles <= (int)info.fp64; doubles++)
        test_variant(doubles);
}

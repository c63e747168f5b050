/*
 * Scans over columns in a device's memory, on every OpenCL device there is, against the
 * host's scan. A CPU device runs the code for GPUs as well, as in device-t.c.
 */

#include "engine/host/host_scan.h"
#include "engine/shards.h"
#include "numeric/data.h"
#include "numeric/scan_reference.h"
#include "opencl/devices.h"

#include <pthread.h>

enum { SCANS = 6, QUICK_SCANS = 1 };

static void describe(const struct clr_scan *scan, const struct clr_tally *host)
{
    for (int i = 0; i < scan->instruction_count; i++)
        tap_diag("r%d: opcode %d of %d, %d, %d", i, (int)scan->instructions[i].opcode,
                 scan->instructions[i].a, scan->instructions[i].b, scan->instructions[i].c);
    for (int i = 0; i < scan->tally_count; i++) {
        struct clr_state found = scan->tallies[i].state, wanted = host[i].state;
        tap_diag("mask %u, x %d, y %d, filter %d, %d: %lld (%lld), %a instead of %lld (%lld), %a",
                 host[i].operations, host[i].x, host[i].y, host[i].filter, scan->filter,
                 (long long)found.count, (long long)found.non_integers,
                 clr_sum_round(&found.sum, 1), (long long)wanted.count,
                 (long long)wanted.non_integers, clr_sum_round(&wanted.sum, 1));
    }
}

static void compare(struct world *world, struct clr_scan *scan, const char *what)
{
    struct clr_tally host[CLR_MOST_TALLIES], *tallies = scan->tallies;
    const enum clr_scan_outcome expected = clr_host_scan(scan, NULL);
    enum clr_scan_outcome found;
    bool same = true;

    for (int i = 0; i < scan->tally_count; i++)
        host[i] = tallies[i];
    found = shards_scan(scan, world->copies);
    for (int i = 0; found == CLR_SCAN_DONE && i < scan->tally_count; i++)
        same = same && reference_same_answer(&tallies[i].state, &host[i].state);
    if (!tap_ok(found == expected && same, "%s of %zu rows, %d tallies: outcome %d", what,
                scan->rows, scan->tally_count, (int)expected)) {
        tap_diag("outcome %d", (int)found);
        describe(scan, host);
    }
}

/* Whole columns; then a filter with a parameter, whose value takes no new program. */
static void test_simple(struct world *world)
{
    struct scans_made made;

    scans_begin(&made, world->columns, SCANS_COLUMNS);
    scans_tally(&made, 1u << CLR_SUM | 1u << CLR_EXTREMES, 0, -1);
    scans_tally(&made, 1u << CLR_SUM | 1u << CLR_EXTREMES, 1, -1);
    scans_tally(&made, 0, -1, -1);
    compare(world, &made.scan, "whole columns");
    made.scan.tally_count = 0;
    scans_tally(&made, 0, 2, -1);
    scans_tally(&made, 0, 4, -1);
    scans_tally(&made, 0, 5, -1);
    scans_tally(&made, 1u << CLR_EXTREMES, 4, -1);
    compare(world, &made.scan, "counts");
    made.scan.tally_count = 0;
    scans_tally(&made, 1u << CLR_SUM, 5, -1);
    compare(world, &made.scan, "a sum of TEXT");

    scans_begin(&made, world->columns, SCANS_COLUMNS);
    made.constants[0].tag = CLR_TAG_REAL;
    made.scan.constant_count = 1;
    made.scan.filter =
        scans_add(&made, CLR_OP_GREATER, 3, scans_add(&made, CLR_OP_CONSTANT, 0, -1));
    scans_tally(&made, 1u << CLR_DOT, 1, 3);
    for (int i = 0; i < 3; i++) {
        made.constants[0].bits = clr_bits_of(100.0 * i - 100);
        compare(world, &made.scan, "a filtered product");
    }
}

/* Products of an INTEGER and a REAL: exact as long as the INTEGER is one of a double's. */
static void test_inexact(struct world *world)
{
    struct clr_device_work work = {0};
    struct scans_made made;

    scans_begin(&made, world->columns, SCANS_COLUMNS);
    made.constants[0] = (struct clr_scalar){.tag = CLR_TAG_INTEGER, .bits = (int64_t)1 << 53};
    made.scan.constant_count = 1;
    scans_add(&made, CLR_OP_CONSTANT, 0, -1);
    scans_tally(&made, 1u << CLR_DOT, 1, 6);
    compare(world, &made.scan, "a product with 2^53");
    made.constants[0].bits++;
    tap_ok(shards_scan_once(&made.scan, world->copies, &work) == CLR_SCAN_NOT_NOW,
           "with one more it is the host's");
}

static void test_random(struct world *world)
{
    struct scans_made made;

    for (int i = 0; i < (tap_is_quick() ? QUICK_SCANS : SCANS); i++) {
        scans_make(&made, world->columns);
        compare(world, &made.scan, "a scan");
    }
}

/* Begins a scan of the rows that a filter lets pass, with a tally of an expression. */
static void begin_filtered_scan(struct scans_made *made, struct world *world)
{
    scans_begin(made, world->columns, SCANS_COLUMNS);
    scans_add(made, CLR_OP_ADD, 0, 1);
    made->scan.filter = scans_add(made, CLR_OP_GREATER, 3, 0);
    scans_tally(made, 1u << CLR_SUM | 1u << CLR_EXTREMES, 6, -1);
}

/* The same program for all sizes, for each width of columns. */
static void test_sizes(struct clr_worker *worker)
{
    static const size_t sizes[] = {0, 1, 2, 7, 8, 9, 255, 256, 257, 1023, 1025, 65537, 1200001};
    static const uint8_t widths[] = {0, 2, 1, 4};
    const size_t width_count = sizeof widths / (tap_is_quick() ? 2 : 1);
    struct scans_made made;
    struct world world;
    size_t count = sizeof sizes / sizeof sizes[0] - tap_is_quick();

    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < width_count; j++) {
            world_open(&world, worker, sizes[i], widths[j]);
            begin_filtered_scan(&made, &world);
            scans_tally(&made, 1u << CLR_DOT, 2, 2);
            compare(&world, &made.scan, "a scan");
            scans_begin(&made, world.columns, SCANS_COLUMNS);
            scans_tally(&made, 1u << CLR_SUM | 1u << CLR_EXTREMES, 0, -1);
            scans_tally(&made, 1u << CLR_SUM | 1u << CLR_EXTREMES, 1, -1);
            compare(&world, &made.scan, "whole columns");
            world_close(&world);
        }
    }
}

/* Whether a block is in one of the ranges that the blocks below make. */
static bool is_in_range(size_t rows, size_t block)
{
    if (rows < 1000 * CLR_ZONE_ROWS)
        return block >= 2;
    return block == 3 || block == 4 || (block >= 1060 && block <= 1063) || block == 2199;
}

/* Blocks are left out: the device goes over ranges that have the others, and over nothing else,
   even where the filter would let it pass. */
static void test_blocks(struct clr_worker *worker, size_t rows, const uint32_t *blocks)
{
    enum { LISTED = 5 };
    struct clr_state expected;
    struct clr_tally *tally;
    struct scans_made made;
    struct world world;

    world_open(&world, worker, rows, 0);
    begin_filtered_scan(&made, &world);
    made.instructions[7] = (struct clr_instruction){CLR_OP_NOT_NULL, 0, -1, -1};
    tally = made.tallies;
    tally->x = 0;
    made.scan.blocks = blocks;
    made.scan.rows = LISTED * CLR_ZONE_ROWS - (clr_zones_of(rows) * CLR_ZONE_ROWS - rows);
    clr_state_clear(&expected);
    for (size_t i = 0; i < rows; i++) {
        if (!is_in_range(rows, i / CLR_ZONE_ROWS))
            continue;
        clr_sum_add_integer(&expected.sum, world.columns[0]->values[i], 1);
        clr_range_add(&expected.integers, world.columns[0]->values[i]);
        expected.count++;
    }
    tap_is_int64(shards_scan(&made.scan, world.copies), CLR_SCAN_DONE,
                 "a scan without some of %zu rows", rows);
    tap_is_int64(tally->state.count, expected.count, "so many are left");
    tap_is_double(clr_sum_round(&tally->state.sum, 1), clr_sum_round(&expected.sum, 1),
                  "their sum");
    tap_ok(data_same_range(&tally->state.integers, &expected.integers), "their extremes");
    world_close(&world);
}

/* Tallies that share a column share a pass: two kernels, or one for few rows, do for all. */
static void test_shared_passes(struct world *world)
{
    struct clr_device_work work = {0};
    enum clr_scan_outcome outcome;
    struct scans_made made;

    begin_filtered_scan(&made, world);
    scans_tally(&made, 1u << CLR_DOT, 0, 0);
    scans_tally(&made, 0, 0, -1);
    compare(world, &made.scan, "tallies that share columns");
    outcome = shards_scan_once(&made.scan, world->copies, &work);
    tap_ok(outcome == CLR_SCAN_DONE && (work.kernels == 1 || work.kernels == 2),
           "share a pass: %lld kernels", (long long)work.kernels);
}

struct many {
    struct world *world;
    struct clr_scan *scan;
    struct clr_tally tally, expected;
    int wrong;
};

static void *scan_repeatedly(void *argument)
{
    struct many *many = argument;
    struct clr_scan scan = *many->scan;

    scan.tallies = &many->tally;
    for (int i = 0; i < 20; i++) {
        if (shards_scan(&scan, many->world->copies) != CLR_SCAN_DONE ||
            !reference_same_answer(&many->tally.state, &many->expected.state))
            many->wrong++;
    }
    return NULL;
}

static void test_threads(struct world *world)
{
    enum { THREADS = 4 };
    struct many many[THREADS];
    pthread_t threads[THREADS];
    struct scans_made made;
    int wrong = 0;

    scans_begin(&made, world->columns, SCANS_COLUMNS);
    made.scan.filter = 0;
    scans_tally(&made, 1u << CLR_SUM, 1, -1);
    clr_host_scan(&made.scan, NULL);
    for (int i = 0; i < THREADS; i++) {
        many[i] = (struct many){.world = world,
                                .scan = &made.scan,
                                .tally = made.tallies[0],
                                .expected = made.tallies[0]};
        TAP_NEED(pthread_create(&threads[i], NULL, scan_repeatedly, &many[i]) == 0, "no thread");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        wrong += many[i].wrong;
    }
    tap_is_int64(wrong, 0, "scans by several threads at a time");
}

/* What a stopped worker does with residents and scans. */
static void test_stop(struct world *world, struct clr_worker *worker)
{
    struct clr_device_work work = {0};
    struct scans_made made;

    scans_begin(&made, world->columns, SCANS_COLUMNS);
    scans_tally(&made, 1u << CLR_SUM, 1, -1);
    tap_ok(clr_worker_stop(worker, SHARDS_TIMEOUT_MS), "the worker ends");
    tap_ok(clr_sharded_state(world->copies[0]) == CLR_RESIDENT_FAILED,
           "its residents are of no more use");
    tap_ok(shards_scan_once(&made.scan, world->copies, &work) == CLR_SCAN_NOT_NOW,
           "and it scans no more");
    clr_sharded_release(world->copies[0]);
    world->copies[0] = NULL;
    tap_is_int64(atomic_load(&world->columns[0]->references), 1 + workers_share(worker),
                 "a column stays if nobody knows whether the device still reads it");
}

static void test_device(const struct clr_device_info *info)
{
    struct clr_worker *worker;
    struct world world;

    tap_diag("%s (%s), as %s", info->name, info->platform, clr_device_type_name(info->type));
    worker = workers_start(info);
    for (uint8_t bytes = 4; bytes > 0; bytes = (uint8_t)(bytes / (tap_is_quick() ? 8 : 2))) {
        world_open(&world, worker, 10007, bytes);
        test_simple(&world);
        test_random(&world);
        world_close(&world);
    }
    world_open(&world, worker, 10007, 0);
    if (!tap_is_quick())
        test_simple(&world);
    test_inexact(&world);
    test_shared_passes(&world);
    test_random(&world);
    test_threads(&world);
    test_sizes(worker);
    test_blocks(worker, 10000, (const uint32_t[]){2, 3, 4, 6, 9});
    if (!tap_is_quick())
        test_blocks(worker, 2252000, (const uint32_t[]){3, 4, 1060, 1063, 2199});
    test_stop(&world, worker);
    world_close(&world);
}

TAP_TEST(all_tests)
{
    devices_each(test_device, false);
}

/*
 * Columns on devices: how they get there, and what becomes of them, on every OpenCL device there
 * is; how rows are divided, and what is found of them on two workers of a device, each with several
 * shards, against the host. A CPU device runs the code for GPUs as well, as in device-t.c.
 */
#include "engine/columns/copies.h"

#include "base/clock.h"
#include "base/memory.h"
#include "engine/host/host_scan.h"
#include "engine/operations/resident.h"
#include "engine/shards.h"
#include "numeric/scan_reference.h"
#include "opencl/devices.h"
#include "random.h"

#include <unistd.h>

enum { ROWS = 20011, DIVISIONS = 2000, LARGEST = 4096 * 8 };

/* ---- Divisions. */

/* Shards follow one another, and have all rows; none is larger than a buffer may be. */
static bool is_right(const struct clr_division *division, const struct clr_devices *devices,
                     size_t rows)
{
    size_t end = 0, least = SIZE_MAX, greatest = 0;
    int device = 0;

    for (int s = 0; s < division->count; s++) {
        const struct clr_shard *shard = &division->shards[s];

        while (device < devices->count && devices->list[device].worker != shard->device.worker)
            device++;
        if (device == devices->count || shard->first != end || shard->first % 1024 != 0 ||
            (shard->rows == 0 && rows > 0) ||
            (shard->device.info->largest_buffer > 0 &&
             shard->rows * 8 > shard->device.info->largest_buffer))
            return false;
        end += shard->rows;
        least = shard->rows < least ? shard->rows : least;
        greatest = shard->rows > greatest ? shard->rows : greatest;
    }
    /* Even, but for the last one's end, if all may have the same. */
    return end == rows && division->count > 0 && clr_division_devices(division) == device + 1 &&
           (devices->list[0].info->largest_buffer > 0 || greatest - least < 2048);
}

TAP_TEST(test_divisions)
{
    static char places[CLR_DEVICES_LIMIT];
    struct clr_device_info info = {.largest_buffer = 0};
    struct clr_devices devices;
    struct clr_division division, again;
    int wrong = 0;

    for (int i = 0; i < DIVISIONS; i++) {
        const size_t rows = (size_t)random_below((uint64_t)1 << random_below(24));

        devices.count = 1 + (int)random_below(4);
        info.largest_buffer = random_below(2) ? 0 : rows + 16384;
        for (int d = 0; d < devices.count; d++)
            devices.list[d] =
                (struct clr_chosen_device){(struct clr_worker *)(void *)&places[d], &info};
        if (!clr_division_make(&devices, rows, &division) || !is_right(&division, &devices, rows) ||
            !clr_division_make(&devices, rows, &again) || !clr_division_is_same(&division, &again))
            wrong++;
    }
    tap_is_uint64((uint64_t)wrong, 0, "divisions that are not right");
    info.largest_buffer = 8192;
    tap_ok(!clr_division_make(&devices, 1024 * CLR_MOST_SHARDS + 1, &division),
           "more shards than there may be");
    info.largest_buffer = 0;
    clr_division_make(&devices, 5000, &division);
    clr_division_make(&devices, 5001, &again);
    tap_ok(!clr_division_is_same(&division, &again), "other rows have another division");
}

/* ---- In one shard. */

/* Waits until the worker has given the column back. */
static bool is_dropped(const struct clr_column *column)
{
    int64_t start = clr_clock_ns();

    while (atomic_load(&column->references) > 1 && !shards_late(start))
        usleep(500);
    return atomic_load(&column->references) == 1;
}

/* Given back while they are on their way, before, and after. */
static void test_freeing(struct clr_worker *worker)
{
    enum { MANY = 40 };
    const size_t rows = tap_is_quick() ? 1000000 : 2500000; /* more than a piece */
    struct clr_column *column = scans_column(CLR_TAG_MIXED, rows, 0);
    struct clr_sharded *copies[MANY];

    for (int i = 0; i < MANY; i++) {
        copies[i] = shards_begin(worker, column);
        if (i % 3 == 0) {
            clr_sharded_release(copies[i]);
            copies[i] = NULL;
        }
    }
    tap_ok(shards_settle(copies[1]) == CLR_RESIDENT_READY, "copies while others are freed");
    tap_ok(clr_sharded_size(copies[1], NULL) == (workers_share(worker) ? 0 : rows * 9), "the size");
    for (int i = 0; i < MANY; i++)
        clr_sharded_release(copies[i]);
    copies[0] = shards_copy(worker, column);
    tap_ok(clr_sharded_state(copies[0]) == CLR_RESIDENT_READY, "and another one");
    clr_sharded_release(copies[0]);
    tap_ok(is_dropped(column), "nobody keeps the column");
    clr_column_release(column);
}

/* A column that can't be shared is copied, without staging. */
static void test_unsuited(const struct clr_device_info *info)
{
    const size_t rows = tap_is_quick() ? 1000000 : 2500000; /* more than a piece */
    static struct clr_device_info unsuited[8];
    static int count;
    struct clr_column *column = scans_column(CLR_TAG_MIXED, rows, 0);
    const int64_t copied = clr_copies_sent();
    struct clr_sharded *copy;
    struct clr_worker *worker;

    if (count == 8)
        return;
    unsuited[count] = *info;
    unsuited[count].shared_alignment = (size_t)1 << 40;
    worker = workers_start(&unsuited[count++]);
    copy = shards_copy(worker, column);
    tap_ok(clr_sharded_state(copy) == CLR_RESIDENT_READY && !clr_sharded_is_shared(copy) &&
               clr_sharded_size(copy, NULL) == rows * 9 && is_dropped(column),
           "a column that is not aligned for the device is copied");
    tap_is_int64(clr_copies_sent() - copied, 9 * (int64_t)rows, "which is counted");
    clr_sharded_release(copy);
    clr_column_release(column);
}

static void test_one_shard(const struct clr_device_info *info)
{
    tap_diag("%s (%s), as %s", info->name, info->platform, clr_device_type_name(info->type));
    test_freeing(workers_start(info));
    if (info->shared_alignment > 0)
        test_unsuited(info);
}

/* ---- In several. */

static struct clr_sharded *upload(const struct clr_division *division, struct clr_column *column)
{
    struct clr_sharded *copy = clr_sharded_new(division, column);

    TAP_NEED(copy != NULL, "no memory");
    tap_ok(shards_settle(copy) == CLR_RESIDENT_READY, "a column in %d shards", division->count);
    return copy;
}

static void test_scan(struct clr_column *column, struct clr_sharded *copy)
{
    struct clr_state wanted;
    struct scans_made made;

    scans_begin(&made, &column, 1);
    scans_tally(&made, 1u << CLR_SUM | 1u << CLR_EXTREMES, 0, -1);
    TAP_NEED(clr_host_scan(&made.scan, NULL) == CLR_SCAN_DONE, "the host can't scan");
    wanted = made.tallies[0].state;
    tap_is_int64(shards_scan(&made.scan, &copy), CLR_SCAN_DONE, "a scan");
    tap_ok(reference_same_answer(&made.tallies[0].state, &wanted),
           "has the host's sum and extremes");
}

/* Which histograms the devices make: of as many bins as rows, in the memory that they take, and of
   all rows. */
static void test_bins(struct clr_column *column, struct clr_sharded *copy)
{
    static const struct {
        int more, filter;
        bool is_poor;
    } cases[] = {{0, -1, false}, {1, -1, false}, {0, -1, true}, {0, 0, false}};
    static uint64_t counts[ROWS + 3];
    const struct clr_value low = {.kind = CLR_KIND_INTEGER, .as.integer = -100},
                           high = {.kind = CLR_KIND_INTEGER, .as.integer = 100};
    struct clr_question question = {.kind = CLR_ASK_BINS, .counts = counts};
    struct clr_device_scan asked = {
        .division = clr_sharded_division(copy), .copies = &copy, .timeout_ms = SHARDS_TIMEOUT_MS};
    const int64_t start = clr_clock_ns();
    enum clr_scan_outcome outcome;
    struct scans_made made;

    scans_begin(&made, &column, 1);
    scans_tally(&made, CLR_KEEP | 1u << CLR_EXTREMES, 0, -1);
    made.scan.questions = &question;
    made.scan.question_count = 1;
    for (int i = 0; i < 4; i++) {
        clr_bins_init(&question.bins, &low, &high, ROWS + cases[i].more);
        made.scan.filter = cases[i].filter;
        made.scan.values_memory =
            cases[i].is_poor ? clr_resident_bins_memory(&question.bins) - 1 : UINT64_MAX;
        do {
            outcome = clr_resident_scan(&asked, &made.scan);
        } while (outcome == CLR_SCAN_NOT_NOW && i == 0 && !shards_late(start));
        tap_is_int64(outcome, i == 0 ? CLR_SCAN_DONE : CLR_SCAN_NOT_NOW, "histogram %d", i);
    }
}

/* With memory for some of what it takes, a copy is there or not, and all of it. */
static void test_memory(const struct clr_division *division, struct clr_column *column)
{
    struct clr_sharded *copy = NULL;
    int i;

    for (i = 0; i < 100 && copy == NULL; i++) {
        clr_memory_fail_after(i);
        copy = clr_sharded_new(division, column);
        clr_memory_fail_after(-1);
    }
    tap_ok(copy != NULL && i > division->count, "a copy after %d shortages of memory", i - 1);
    clr_sharded_release(copy);
}

/* A copy is made of another one as long as both are one shard. */
static void test_change(const struct clr_chosen_device *device)
{
    static const size_t rows = LARGEST / 8;
    const struct clr_devices devices = {.count = 1, .list = {*device}};
    struct clr_row_ranges fresh = {.count = 1, .ranges = {{rows - 1, 1}}};
    struct clr_column *column = shards_column(CLR_TAG_INTEGER, rows),
                      *longer = shards_column(CLR_TAG_INTEGER, rows + 1);
    struct clr_sharded *copy, *changed;
    struct clr_division division;

    TAP_NEED(clr_division_make(&devices, rows, &division), "no division");
    copy = upload(&division, column);
    changed = clr_sharded_change(copy, column, &fresh);
    tap_ok(changed != NULL, "a copy of a copy, as large as a buffer may be");
    clr_sharded_release(changed);
    fresh.ranges[0].rows = 2;
    tap_ok(clr_sharded_change(copy, longer, &fresh) == NULL, "but not of more rows");
    clr_sharded_release(copy);
    clr_column_release(longer);
    clr_column_release(column);
}

/* shares: the devices' memory is the host's. */
static void test_device(const struct clr_device_info *chosen, bool shares)
{
    static const uint8_t kinds[] = {CLR_TAG_INTEGER, CLR_TAG_REAL};
    static struct clr_device_info infos[2];
    struct clr_device_info *info = &infos[shares];
    struct clr_devices devices = {.count = 2};
    struct clr_division division;

    *info = *chosen;
    info->largest_buffer = LARGEST;
    if (!shares)
        info->shared_alignment = 0;
    for (size_t i = 0; i < 2; i++)
        devices.list[i] = (struct clr_chosen_device){workers_start(info), info};
    TAP_NEED(clr_division_make(&devices, ROWS, &division), "no division");
    tap_ok(division.count == 6 && clr_division_devices(&division) == 2,
           "three shards on each of two devices");
    if (!shares)
        test_change(&devices.list[0]);
    for (size_t i = 0; i < sizeof kinds; i++) {
        struct clr_column *column = shards_column(kinds[i], ROWS);
        struct clr_sharded *copy = upload(&division, column);

        tap_ok(clr_sharded_is_shared(copy) == shares && !clr_sharded_lends(copy), "which lie %s",
               shares ? "where they were" : "there");
        tap_is_uint64(clr_sharded_size(copy, NULL), shares ? 0 : ROWS * 8, "its size");
        tap_is_uint64(clr_sharded_size(copy, devices.list[0].worker) +
                          clr_sharded_size(copy, devices.list[1].worker),
                      shares ? 0 : ROWS * 8, "that on either device");
        test_scan(column, copy);
        test_bins(column, copy);
        test_memory(&division, column);
        tap_ok(!clr_sharded_is_lost(copy), "it is not lost");
        if (i == 1) {
            clr_worker_stop(devices.list[1].worker, SHARDS_TIMEOUT_MS);
            tap_ok(clr_sharded_state(copy) == CLR_RESIDENT_FAILED && clr_sharded_is_lost(copy),
                   "but without one of the workers it is");
        }
        clr_sharded_release(copy);
        clr_column_release(column);
    }
}

TAP_TEST(all_tests)
{
    struct clr_device_info info;

    devices_each(test_one_shard, false);
    info = devices_choose();
    test_device(&info, false);
    if (info.shared_alignment > 0)
        test_device(&info, true);
}

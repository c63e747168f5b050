/*
 * Columns on one and more devices of a kind: how long it takes to copy one there, and to sum it
 * where it lies, as views do. PoCL gives several devices
 * for POCL_DEVICES="pthread pthread".
 */
#include "base/clock.h"
#include "engine/operations/resident.h"
#include "measure.h"
#include "options.h"
#include "output.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* A column takes as many bytes, or a quarter of a device's memory; on CPU devices less. */
#define LARGEST ((size_t)8 << 30)
#define CPU_LARGEST ((size_t)1 << 28)

enum { TIMEOUT_MS = 60000 };

/* What is measured on some of the devices. */
struct shards {
    struct clr_division division;
    struct clr_column *column;
    struct clr_sharded *copy;
    struct clr_tally tally;
};

static void wait_briefly(void)
{
    const struct timespec pause = {0, 100000};

    nanosleep(&pause, NULL);
}

/* Starts all devices that are like the chosen one. */
static void find_devices(const struct bench_options *options, struct clr_devices *devices)
{
    static struct clr_catalog catalog;
    struct clr_status status;
    int chosen;
    size_t i;

    clr_status_clear(&status);
    clr_catalog_fill(&catalog, NULL, clr_catalog_reach(options->device));
    chosen = clr_catalog_choose(&catalog, options->device);
    if (chosen < 0)
        bench_die("no device fits \"%s\"", options->device);
    devices->count = 0;
    for (i = 0; i < catalog.count && devices->count < CLR_DEVICES_LIMIT; i++) {
        struct clr_chosen_device *device = &devices->list[devices->count];

        if (!clr_catalog_is_alike(&catalog.devices[chosen], &catalog.devices[i]))
            continue;
        device->info = &catalog.devices[i];
        device->worker = clr_worker_start(device->info, &status);
        if (device->worker == NULL)
            bench_die("%s", status.message);
        devices->count++;
    }
}

/* Copies the column anew. */
static int64_t copy(void *argument)
{
    struct shards *shards = argument;
    const int64_t start = clr_clock_ns();

    clr_sharded_release(shards->copy);
    shards->copy = clr_sharded_new(&shards->division, shards->column);
    while (shards->copy != NULL && clr_sharded_state(shards->copy) == CLR_RESIDENT_COMING)
        wait_briefly();
    if (shards->copy == NULL || clr_sharded_state(shards->copy) != CLR_RESIDENT_READY)
        bench_die("no room for a column");
    return clr_clock_ns() - start;
}

/* Sums it, once all kernels have been built. */
static int64_t sum(void *argument)
{
    const struct clr_instruction load = {.opcode = CLR_OP_COLUMN, .a = 0};
    struct shards *shards = argument;
    struct clr_scan scan = {.instruction_count = 1,
                            .column_count = 1,
                            .tally_count = 1,
                            .filter = -1,
                            .instructions = &load,
                            .columns = &shards->column,
                            .rows = shards->column->rows,
                            .tallies = &shards->tally};
    struct clr_device_scan asked = {
        .division = &shards->division, .copies = &shards->copy, .timeout_ms = TIMEOUT_MS};
    enum clr_scan_outcome outcome;
    int64_t start;

    shards->tally = (struct clr_tally){.operations = 1u << CLR_SUM, .x = 0, .y = -1, .filter = -1};
    do {
        start = clr_clock_ns();
        outcome = clr_resident_scan(&asked, &scan);
        if (outcome == CLR_SCAN_NOT_NOW)
            wait_briefly();
    } while (outcome == CLR_SCAN_NOT_NOW);
    if (outcome != CLR_SCAN_DONE)
        bench_die("%s", asked.status.message);
    return clr_clock_ns() - start;
}

static void report(const char *name, const struct clr_devices *devices,
                   const struct bench_case *times, const struct bench_case *of_one, size_t bytes,
                   enum bench_exact exact)
{
    struct bench_line line = {.part = "devices",
                              .name = name,
                              .device = devices->list[0].info->name,
                              .element = "real",
                              .operation = "sum",
                              .bytes = (int64_t)bytes,
                              .times = times,
                              .exact = exact,
                              .ratio = bench_ratio(times, of_one)};

    snprintf(line.notes, sizeof line.notes, "by %d devices; ratio: their speed to that of one",
             devices->count);
    bench_print(&line);
}

static struct clr_column *make_column(const struct clr_device_info *info,
                                      const struct bench_options *options)
{
    const size_t room = (size_t)(info->memory / 4),
                 most = info->type == CLR_DEVICE_CPU ? CPU_LARGEST : LARGEST;
    const size_t bytes = options->size_count > 0 ? options->sizes[0] : most < room ? most : room;
    struct clr_column *column = clr_column_new(bytes / sizeof(int64_t));
    size_t i;

    if (column == NULL)
        bench_die("no memory for a column");
    column->rows = bytes / sizeof(int64_t);
    column->kind = CLR_TAG_REAL;
    for (i = 0; i < column->rows; i++) {
        const double value = (double)(i * 2654435761u % 1000003) / 7;

        memcpy(&column->values[i], &value, sizeof value);
    }
    return column;
}

/* On one device, on two, on four, ..., and on all of them, in turn. */
void bench_part_devices(const struct bench_options *options)
{
    static struct shards shards[CLR_DEVICES_LIMIT];
    static struct bench_case copies[CLR_DEVICES_LIMIT], sums[CLR_DEVICES_LIMIT];
    struct clr_devices all, some[CLR_DEVICES_LIMIT];
    struct clr_column *column;
    int counts[CLR_DEVICES_LIMIT], count = 0, used = 1, i;

    find_devices(options, &all);
    column = make_column(all.list[0].info, options);
    do {
        some[count] = all;
        some[count].count = counts[count] = used;
        shards[count].column = column;
        if (!clr_division_make(&some[count], column->rows, &shards[count].division))
            bench_die("a column of %zu rows has too many shards", column->rows);
        copies[count] = (struct bench_case){.run = copy, .argument = &shards[count]};
        sums[count] = (struct bench_case){.run = sum, .argument = &shards[count]};
        count++;
        used = used < all.count && 2 * used > all.count ? all.count : 2 * used;
    } while (used <= all.count && count < CLR_DEVICES_LIMIT);
    bench_measure(copies, (size_t)count, options->runs, options->seconds / 2);
    bench_measure(sums, (size_t)count, options->runs, options->seconds / 2);
    for (i = 0; i < count; i++) {
        const size_t bytes = column->rows * sizeof(int64_t);
        const bool is_equal = clr_sum_round(&shards[i].tally.state.sum, 1) ==
                              clr_sum_round(&shards[0].tally.state.sum, 1);

        report("copy", &some[i], &copies[i], &copies[0], bytes, BENCH_NOT_COMPARED);
        report("sum", &some[i], &sums[i], &sums[0], bytes,
               is_equal ? BENCH_EQUAL : BENCH_DIFFERENT);
        if (!is_equal)
            bench_wrong("the sum by %d devices", some[i].count);
        clr_sharded_release(shards[i].copy);
    }
    clr_column_release(column);
}

/*
 * Columns in a device's memory, on every OpenCL device there is: how they get there and back, and
 * what becomes of them. A CPU device runs the code for GPUs as well, as in device-t.c.
 */
#include "engine/columns/resident.h"

#include "engine/operations/sharded_fetch.h"
#include "engine/workers.h"
#include "engine/world.h"
#include "opencl/devices.h"

#include "tap.h"

#include <unistd.h>

static enum clr_residence settle(struct clr_resident *resident)
{
    int64_t start = clr_clock_ns();
    enum clr_residence state;

    while ((state = clr_resident_state(resident)) == CLR_RESIDENT_COMING && !shards_late(start))
        usleep(500);
    return state;
}

/* A copy that comes back is as narrow as it was. */
static void test_fetch(struct clr_worker *worker, uint8_t bytes)
{
    struct clr_column *fetched = NULL;
    struct clr_status status;
    struct world world;
    int i;

    world_open(&world, worker, 1001, bytes);
    for (i = 0; i < 3; i++) {
        const struct clr_column *column = world.columns[i];

        clr_status_clear(&status);
        tap_ok(clr_sharded_fetch(world.copies[i], SHARDS_TIMEOUT_MS, NULL, &fetched, &status) ==
                       CLR_SCAN_DONE &&
                   fetched->rows == column->rows && fetched->kind == column->kind &&
                   clr_frame_is_same(&fetched->frame, &column->frame) &&
                   memcmp(fetched->words, column->words, column->rows * bytes) == 0 &&
                   (i < 2 || memcmp(fetched->tags, column->tags, column->rows) == 0),
               "a column of %d bytes comes back", bytes);
        clr_column_release(fetched);
    }
    world_close(&world);
}

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
    struct clr_resident *residents[MANY];
    int i;

    for (i = 0; i < MANY; i++) {
        residents[i] = clr_resident_new(worker, column, 0, column->rows);
        if (i % 3 == 0) {
            clr_resident_free(residents[i]);
            residents[i] = NULL;
        }
    }
    tap_ok(settle(residents[1]) == CLR_RESIDENT_READY, "residents while others are freed");
    tap_ok(clr_resident_size(residents[1]) == (world_shares(worker) ? 0 : rows * 9), "the size");
    for (i = 0; i < MANY; i++)
        clr_resident_free(residents[i]);
    residents[0] = clr_resident_new(worker, column, 0, column->rows);
    tap_ok(settle(residents[0]) == CLR_RESIDENT_READY, "and another one");
    clr_resident_free(residents[0]);
    tap_ok(is_dropped(column), "nobody keeps the column");
    clr_column_release(column);
}

/* A column that can't be shared is copied, there and back, without staging. */
static void test_unsuited(const struct clr_device_info *info)
{
    const size_t rows = tap_is_quick() ? 1000000 : 2500000; /* more than a piece */
    static struct clr_device_info unsuited[8];
    static int count;
    struct clr_column *column = scans_column(CLR_TAG_MIXED, rows, 0), *fetched = NULL;
    const int64_t copied = clr_resident_copied();
    const struct clr_resident *resident;
    struct clr_sharded *copy;
    struct clr_worker *worker;
    struct clr_status status;

    if (count == 8)
        return;
    clr_status_clear(&status);
    unsuited[count] = *info;
    unsuited[count].shared_alignment = (size_t)1 << 40;
    worker = workers_start(&unsuited[count++]);
    copy = shards_copy(worker, column);
    resident = clr_sharded_resident(copy, 0);
    tap_ok(clr_sharded_state(copy) == CLR_RESIDENT_READY && !clr_resident_is_shared(resident) &&
               clr_resident_size(resident) == rows * 9 && is_dropped(column),
           "a column that is not aligned for the device is copied");
    tap_ok(clr_sharded_fetch(copy, SHARDS_TIMEOUT_MS, NULL, &fetched, &status) == CLR_SCAN_DONE &&
               memcmp(fetched->values, column->values, rows * sizeof *column->values) == 0 &&
               memcmp(fetched->tags, column->tags, rows) == 0,
           "and comes back as it was");
    tap_is_int64(clr_resident_copied() - copied, 2 * 9 * (int64_t)rows, "which is counted");
    clr_sharded_release(copy);
    clr_column_release(fetched);
    clr_column_release(column);
}

static void test_device(const struct clr_device_info *info)
{
    struct clr_worker *worker = workers_start(info);
    uint8_t bytes;

    tap_diag("%s (%s), as %s", info->name, info->platform, clr_device_type_name(info->type));
    for (bytes = 4; bytes > 0; bytes /= 2)
        test_fetch(worker, bytes);
    test_freeing(worker);
    if (info->shared_alignment > 0)
        test_unsuited(info);
}

int main(void)
{
    random_start();
    devices_each(test_device, false);
    return tap_done();
}

/*
 * Columns in a device's memory, on every OpenCL device there is: how they get there, and what
 * becomes of them. A CPU device runs the code for GPUs as well, as in device-t.c.
 */
#include "engine/columns/copies.h"

#include "base/clock.h"
#include "engine/shards.h"
#include "opencl/devices.h"
#include "random.h"

#include "tap.h"

#include <unistd.h>

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
    int i;

    for (i = 0; i < MANY; i++) {
        copies[i] = shards_begin(worker, column);
        if (i % 3 == 0) {
            clr_sharded_release(copies[i]);
            copies[i] = NULL;
        }
    }
    tap_ok(shards_settle(copies[1]) == CLR_RESIDENT_READY, "copies while others are freed");
    tap_ok(clr_sharded_size(copies[1], NULL) == (workers_share(worker) ? 0 : rows * 9), "the size");
    for (i = 0; i < MANY; i++)
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

static void test_device(const struct clr_device_info *info)
{
    struct clr_worker *worker = workers_start(info);

    tap_diag("%s (%s), as %s", info->name, info->platform, clr_device_type_name(info->type));
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

#include "engine/shards.h"

#include "base/clock.h"
#include "base/system.h"
#include "engine/operations/resident.h"
#include "random.h"

#include "tap.h"

#include <stdatomic.h>
#include <unistd.h>

enum { WORKERS_MOST = 64, WORKERS_END_MS = 60000 };

static struct clr_worker *workers[WORKERS_MOST];
static int workers_count;

static void workers_end(void)
{
    while (workers_count > 0)
        clr_worker_stop(workers[--workers_count], WORKERS_END_MS);
}

struct clr_worker *workers_start(const struct clr_device_info *info)
{
    struct clr_status status = {.code = CLR_OK};
    struct clr_worker *worker;

    if (workers_count == 0)
        clr_system_guard_exit(workers_end);
    worker = workers_count < WORKERS_MOST ? clr_worker_start(info, &status) : NULL;
    TAP_NEED(worker != NULL, "no worker: %s", status.message);
    workers[workers_count++] = worker;
    return worker;
}

bool workers_share(const struct clr_worker *worker)
{
    return clr_worker_info(worker)->shared_alignment > 0;
}

size_t workers_own(const struct clr_worker *worker, size_t bytes)
{
    return workers_share(worker) ? 0 : bytes;
}

bool shards_late(int64_t start)
{
    return clr_clock_ns() - start > (int64_t)SHARDS_TIMEOUT_MS * 1000000;
}

struct clr_column *shards_column(uint8_t kind, size_t rows)
{
    struct clr_column *column = scans_column(kind, rows, 0);

    for (size_t i = 0; i < rows; i += 1 + (size_t)random_below(3))
        column->values[i] = kind == CLR_TAG_REAL ? clr_bits_of(random_below(2) ? -0.0 : 0.0)
                                                 : (int64_t)random_below(100);
    return column;
}

enum clr_residence shards_settle(const struct clr_sharded *copy)
{
    const int64_t start = clr_clock_ns();
    enum clr_residence state;

    while ((state = clr_sharded_state(copy)) == CLR_RESIDENT_COMING && !shards_late(start))
        usleep(500);
    return state;
}

struct clr_sharded *shards_begin(struct clr_worker *worker, struct clr_column *column)
{
    const struct clr_division division = {
        .count = 1, .shards = {{.device = {.worker = worker}, .rows = column->rows}}};
    struct clr_sharded *copy = clr_sharded_new(&division, column);

    TAP_NEED(copy != NULL, "no memory");
    return copy;
}

struct clr_sharded *shards_copy(struct clr_worker *worker, struct clr_column *column)
{
    struct clr_sharded *copy = shards_begin(worker, column);

    shards_settle(copy);
    return copy;
}

enum clr_scan_outcome shards_scan_once(struct clr_scan *scan, struct clr_sharded *const *copies,
                                       struct clr_device_work *work)
{
    struct clr_device_scan asked = {.division = clr_sharded_division(copies[0]),
                                    .copies = copies,
                                    .timeout_ms = SHARDS_TIMEOUT_MS,
                                    .work = *work};
    const enum clr_scan_outcome outcome = clr_resident_scan(&asked, scan);

    *work = asked.work;
    if (outcome == CLR_SCAN_FAILED)
        tap_diag("%s", asked.status.message);
    return outcome;
}

enum clr_scan_outcome shards_scan(struct clr_scan *scan, struct clr_sharded *const *copies)
{
    const int64_t start = clr_clock_ns();
    struct clr_device_work work = {0};
    enum clr_scan_outcome outcome;

    while ((outcome = shards_scan_once(scan, copies, &work)) == CLR_SCAN_NOT_NOW &&
           !shards_late(start))
        usleep(2000);
    return outcome;
}

void world_open(struct world *world, struct clr_worker *worker, size_t rows, uint8_t bytes)
{
    int ready = 0;

    scans_columns(world->columns, rows);
    for (int i = 0; i < 3 && bytes > 0; i++)
        scans_narrow(&world->columns[i], bytes);
    for (int i = 0; i < SCANS_COLUMNS; i++) {
        world->copies[i] = shards_copy(worker, world->columns[i]);
        ready += clr_sharded_state(world->copies[i]) == CLR_RESIDENT_READY;
    }
    tap_ok(ready == SCANS_COLUMNS, "columns of %zu rows, %d bytes, are on the device", rows, bytes);
    for (int i = 0; i < 3 && bytes > 0; i++)
        tap_is_int64((int64_t)clr_sharded_size(world->copies[i], NULL),
                     workers_share(worker) ? 0 : (int64_t)rows * (bytes + (i == 2)), "bytes there");
    tap_is_int64(atomic_load(&world->columns[0]->references), 1 + workers_share(worker),
                 workers_share(worker) ? "and are used here" : "and are no longer needed here");
}

void world_close(struct world *world)
{
    for (int i = 0; i < SCANS_COLUMNS; i++) {
        clr_sharded_release(world->copies[i]);
        clr_column_release(world->columns[i]);
    }
}

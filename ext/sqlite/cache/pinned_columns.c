#include "sqlite/cache/pinned_columns.h"

#include "engine/operations/resident_fetch.h"
#include "sqlite/cache/cache_lock.h"
#include "sqlite/cache/cached_table.h"

#include <stdatomic.h>

static atomic_int_least64_t scans; /* so far */

int64_t clr_cache_scan(void)
{
    return atomic_fetch_add(&scans, 1) + 1;
}

bool clr_cache_pin(struct clr_image *image, const struct clr_field *fields, int count,
                   struct clr_image_column **found)
{
    bool has_all;
    int i;

    clr_cache_lock();
    has_all = image->is_known;
    for (i = 0; i < count && has_all; i++) {
        found[i] = clr_image_find(image, &fields[i]);
        has_all = found[i] != NULL;
    }
    for (i = 0; i < count && has_all; i++)
        found[i]->pins++;
    clr_cache_unlock();
    return has_all;
}

void clr_cache_unpin(struct clr_image_column *const *found, int count)
{
    int i;

    clr_cache_lock();
    for (i = 0; i < count; i++)
        found[i]->pins--;
    clr_cache_unlock();
}

void clr_cache_use(const struct clr_connection *connection, struct clr_image_column *const *found,
                   int count, struct clr_column **columns)
{
    const int64_t number = clr_cache_scan();
    int i;

    clr_cache_lock();
    for (i = 0; i < count; i++) {
        found[i]->hits++;
        found[i]->used = number;
        clr_image_column_use(found[i], connection);
        columns[i] = clr_column_retain(found[i]->column);
    }
    clr_cache_unlock();
}

/* With the lock. */
static void measure(struct clr_image *image, struct clr_image_column *column)
{
    const size_t size = clr_column_size(column->column);

    image->size += size - column->size;
    column->size = size;
}

void clr_cache_measure(struct clr_image *image, struct clr_image_column *const *found, int count)
{
    int i;

    clr_cache_lock();
    for (i = 0; i < count; i++)
        measure(image, found[i]);
    clr_cache_unlock();
}

enum clr_scan_outcome clr_cache_fetch_copy(struct clr_connection *connection,
                                           struct clr_image_column *found,
                                           const struct clr_watch *watch,
                                           struct clr_column **column)
{
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    struct clr_resident *resident;
    struct clr_worker *worker;
    struct clr_status status;

    clr_cache_lock();
    *column = clr_column_retain(found->column);
    resident = clr_resident_retain(found->resident);
    worker = found->worker;
    clr_cache_unlock();
    if (!(*column)->is_away) {
        clr_resident_free(resident);
        return CLR_SCAN_DONE;
    }
    clr_column_release(*column);
    *column = NULL;
    clr_status_clear(&status);
    outcome = resident == NULL
                  ? CLR_SCAN_FAILED
                  : clr_resident_fetch(worker, resident, connection->settings.device_timeout, watch,
                                       column, &status);
    clr_resident_free(resident);
    if (outcome == CLR_SCAN_FAILED && status.code != CLR_OK)
        clr_stats_note_failure(&connection->stats, &status);
    return outcome == CLR_SCAN_DONE || outcome == CLR_SCAN_STOPPED ? outcome : CLR_SCAN_FAILED;
}

enum clr_scan_outcome clr_cache_fetch(struct clr_connection *connection, struct clr_image *image,
                                      struct clr_image_column *found, const struct clr_watch *watch,
                                      struct clr_column **column)
{
    const enum clr_scan_outcome outcome = clr_cache_fetch_copy(connection, found, watch, column);

    if (outcome != CLR_SCAN_DONE)
        return outcome;
    clr_cache_lock();
    if (found->column->is_away) {
        clr_column_release(found->column);
        found->column = clr_column_retain(*column);
        measure(image, found);
        /* The next copy, on a device whose memory is the host's, is this column itself. */
        if (clr_worker_info(found->worker)->shared_alignment > 0) {
            clr_resident_free(found->resident);
            found->resident = NULL;
        }
    }
    clr_cache_unlock();
    return outcome;
}

void clr_cache_drop_away(struct clr_image *image, bool if_lost)
{
    clr_cache_lock();
    if (!image->table->is_busy)
        clr_image_drop_away(image, if_lost);
    clr_cache_unlock();
}

bool clr_cache_is_on(const struct clr_image_column *column, const struct clr_worker *worker)
{
    bool is_on;

    clr_cache_lock();
    is_on = column->worker == worker && clr_image_column_on_device(column);
    clr_cache_unlock();
    return is_on;
}

/* Returns a column's copy on the worker's device, which is made if need be, or NULL. */
static struct clr_resident *locked_resident(struct clr_image_column *column,
                                            struct clr_worker *worker)
{
    if (column->worker != worker) {
        if (column->column->is_away || (column->resident != NULL && column->user_count > 1))
            return NULL;
        clr_resident_free(column->resident);
        column->resident = NULL;
    }
    column->worker = worker;
    if (column->resident == NULL)
        column->resident = clr_resident_new(worker, column->column);
    return column->resident;
}

bool clr_cache_residents(struct clr_image_column *const *found, int count,
                         struct clr_worker *worker, struct clr_resident **residents)
{
    bool ready = true;
    int i;

    clr_cache_lock();
    for (i = 0; i < count; i++) {
        residents[i] = clr_resident_retain(locked_resident(found[i], worker));
        ready =
            ready && residents[i] != NULL && clr_resident_state(residents[i]) == CLR_RESIDENT_READY;
    }
    clr_cache_unlock();
    for (i = 0; i < count && !ready; i++)
        clr_resident_free(residents[i]);
    return ready;
}

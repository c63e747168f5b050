#include "sqlite/cache/pinned_columns.h"

#include "engine/operations/sharded_fetch.h"
#include "sqlite/cache/cache_lock.h"
#include "sqlite/cache/cache_memory.h"
#include "sqlite/cache/cached_table.h"
#include "sqlite/cache/copy_room.h"

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

/* Fetches a copy, and waits for builds until then. */
static enum clr_scan_outcome fetch(struct clr_connection *connection,
                                   const struct clr_sharded *copy, int64_t end,
                                   const struct clr_watch *watch, struct clr_column **column)
{
    const int64_t timeout = connection->settings.device_timeout;
    enum clr_scan_outcome outcome;
    struct clr_status status;

    clr_status_clear(&status);
    outcome = clr_sharded_fetch(copy, timeout, watch, column, &status);
    while (outcome == CLR_SCAN_NOT_NOW &&
           (outcome = clr_division_await_builds(clr_sharded_division(copy), end, watch)) ==
               CLR_SCAN_DONE)
        outcome = clr_sharded_fetch(copy, timeout, watch, column, &status);
    if (outcome == CLR_SCAN_FAILED && status.code != CLR_OK)
        clr_stats_note_failure(&connection->stats, &status);
    return outcome == CLR_SCAN_NOT_NOW && clr_sharded_is_lost(copy) ? CLR_SCAN_FAILED : outcome;
}

enum clr_scan_outcome clr_cache_fetch_copy(struct clr_connection *connection,
                                           struct clr_image_column *found, int64_t end,
                                           const struct clr_watch *watch,
                                           struct clr_column **column)
{
    enum clr_scan_outcome outcome;
    struct clr_sharded *copy;

    clr_cache_lock();
    *column = clr_column_retain(found->column);
    copy = clr_sharded_retain(found->copy);
    clr_cache_unlock();
    if (!(*column)->is_away) {
        clr_sharded_release(copy);
        return CLR_SCAN_DONE;
    }
    clr_column_release(*column);
    *column = NULL;
    outcome = copy == NULL ? CLR_SCAN_FAILED : fetch(connection, copy, end, watch, column);
    clr_sharded_release(copy);
    return outcome;
}

enum clr_scan_outcome clr_cache_fetch(struct clr_connection *connection, struct clr_image *image,
                                      struct clr_image_column *found, int64_t end,
                                      const struct clr_watch *watch, struct clr_column **column)
{
    const enum clr_scan_outcome outcome =
        clr_cache_fetch_copy(connection, found, end, watch, column);

    if (outcome != CLR_SCAN_DONE)
        return outcome;
    clr_cache_lock();
    if (found->column->is_away) {
        clr_column_release(found->column);
        found->column = clr_column_retain(*column);
        measure(image, found);
        /* The next copy, on a device whose memory is the host's, is this column itself. */
        if (found->copy != NULL &&
            clr_sharded_division(found->copy)->shards[0].device.info->shared_alignment > 0) {
            clr_sharded_release(found->copy);
            found->copy = NULL;
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

bool clr_cache_is_on(const struct clr_image_column *column, const struct clr_division *division)
{
    bool is_on;

    clr_cache_lock();
    is_on = clr_image_column_on_device(column) &&
            clr_division_is_same(clr_sharded_division(column->copy), division);
    clr_cache_unlock();
    return is_on;
}

/* Whether all shards are on some of the devices. */
static bool is_among(const struct clr_division *division, const struct clr_devices *devices)
{
    int s, i = 0;

    for (s = 0; s < division->count && i < devices->count; s++) {
        for (i = 0; i < devices->count; i++) {
            if (division->shards[s].device.worker == devices->list[i].worker)
                break;
        }
    }
    return i < devices->count;
}

/* Whether a copy is on all of these devices, and on no others. What devices have decoded has other
   borders between its shards than clr_division_make() finds. */
static bool is_on_all(const struct clr_sharded *copy, const struct clr_devices *devices)
{
    const struct clr_division *division = clr_sharded_division(copy);

    return clr_division_devices(division) == devices->count && is_among(division, devices);
}

/* Finds the division of columns' copies: that of what is nowhere else, or else of a copy that there
   is on the devices, or else the devices'. */
static bool locked_division(struct clr_image_column *const *found, int count, size_t rows,
                            const struct clr_devices *devices, struct clr_division *division)
{
    const struct clr_sharded *copy = NULL;
    int i;

    for (i = 0; i < count; i++) {
        if (found[i]->column->is_away) {
            if (found[i]->copy == NULL)
                return false;
            *division = *clr_sharded_division(found[i]->copy);
            return is_among(division, devices);
        }
        if (copy == NULL && found[i]->copy != NULL && is_on_all(found[i]->copy, devices))
            copy = found[i]->copy;
    }
    if (copy == NULL)
        return clr_division_make(devices, rows, division);
    *division = *clr_sharded_division(copy);
    return true;
}

/* Returns whether a column's copy is of the division, or there is none, and one may be made. A copy
   of another division goes, if it may. */
static bool locked_suits(struct clr_image_column *column, const struct clr_division *division)
{
    if (column->copy != NULL && clr_division_is_same(clr_sharded_division(column->copy), division))
        return true;
    if (column->column->is_away || (column->copy != NULL && clr_image_column_users(column) > 1 &&
                                    !clr_sharded_is_lost(column->copy)))
        return false;
    clr_sharded_release(column->copy);
    column->copy = NULL;
    return true;
}

/* Returns a column's copy of the division, which is made if need be, or NULL without memory. */
static struct clr_sharded *locked_copy(struct clr_image_column *column,
                                       const struct clr_division *division)
{
    if (column->copy == NULL)
        column->copy = clr_sharded_new(division, column->column);
    return column->copy;
}

/* Gives the room of parts to whole copies, which have been made now. */
static void locked_give_room(struct clr_image_column *const *found, int count,
                             const struct clr_division *division)
{
    int i;

    for (i = 0; i < count; i++)
        clr_image_column_drop_part(found[i]);
    for (i = 0; i < division->count; i++) {
        const struct clr_chosen_device *device = &division->shards[i].device;

        if (clr_division_begins_device(division, i))
            clr_copy_trim_parts(device->worker, clr_column_device_memory(device->info));
    }
}

bool clr_cache_copies(struct clr_image_column *const *found, int count, size_t rows,
                      const struct clr_devices *devices, struct clr_division *division,
                      struct clr_sharded **copies)
{
    bool has_room, ready, makes = false;
    int i;

    clr_cache_lock();
    has_room = locked_division(found, count, rows, devices, division);
    for (i = 0; i < count && has_room; i++)
        has_room = locked_suits(found[i], division);
    ready = has_room = has_room && clr_column_device_make_room(found, count, division);
    for (i = 0; i < count && has_room; i++) {
        makes = makes || found[i]->copy == NULL;
        copies[i] = clr_sharded_retain(locked_copy(found[i], division));
        ready = ready && copies[i] != NULL && clr_sharded_state(copies[i]) == CLR_RESIDENT_READY;
    }
    if (makes)
        locked_give_room(found, count, division);
    clr_cache_unlock();
    for (i = 0; i < count && has_room && !ready; i++)
        clr_sharded_release(copies[i]);
    return ready;
}

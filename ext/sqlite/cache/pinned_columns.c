#include "sqlite/cache/pinned_columns.h"

#include "sqlite/cache/cache_lock.h"
#include "sqlite/cache/cache_memory.h"
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

void clr_cache_measure(struct clr_image *image, struct clr_image_column *const *found, int count)
{
    int i;

    clr_cache_lock();
    for (i = 0; i < count; i++)
        clr_image_measure_column(image, found[i]);
    clr_cache_unlock();
}

/* Returns whether a column's copy is of the division, or there is none, and one may be made. A copy
   of another division goes, if it may. */
static bool locked_suits(struct clr_image_column *column, const struct clr_division *division)
{
    if (column->copy != NULL && clr_division_is_same(clr_sharded_division(column->copy), division))
        return true;
    if (column->copy != NULL && clr_image_column_users(column) > 1 &&
        !clr_sharded_is_lost(column->copy))
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

bool clr_cache_copies(struct clr_image_column *const *found, int count, size_t rows,
                      const struct clr_devices *devices, struct clr_division *division,
                      struct clr_sharded **copies)
{
    bool has_room, ready;
    int i;

    clr_cache_lock();
    has_room = clr_division_make(devices, rows, division);
    for (i = 0; i < count && has_room; i++)
        has_room = locked_suits(found[i], division);
    ready = has_room = has_room && clr_column_device_make_room(found, count, division);
    for (i = 0; i < count && has_room; i++) {
        copies[i] = clr_sharded_retain(locked_copy(found[i], division));
        ready = ready && copies[i] != NULL && clr_sharded_state(copies[i]) == CLR_RESIDENT_READY;
    }
    clr_cache_unlock();
    for (i = 0; i < count && has_room && !ready; i++)
        clr_sharded_release(copies[i]);
    return ready;
}

#include "sqlite/cache/copy_room.h"

#include "base/settings.h"
#include "numeric/scan/loops.h"
#include "sqlite/cache/cache_tables.h"

int64_t clr_column_device_memory(const struct clr_device_info *info)
{
    const int64_t own = clr_process_setting(CLR_DEVICE_MEMORY);
    const int64_t setting = own > 0 ? own : clr_process_setting(CLR_COLUMN_MEMORY);

    return setting > 0 ? setting : (int64_t)(info->memory / 4);
}

bool clr_copy_may_go(const struct clr_image *image)
{
    return !image->is_changing && !image->table->is_busy;
}

int64_t clr_copy_size(const struct clr_image_column *column, enum clr_copy_form form,
                      const struct clr_worker *worker)
{
    const struct clr_sharded *copy = form == CLR_COPY_WHOLE ? column->copy : column->part;

    return copy == NULL ? 0 : (int64_t)clr_sharded_size(copy, worker);
}

int64_t clr_copy_measure(enum clr_copy_form form, const struct clr_worker *worker,
                         const int64_t *since)
{
    const struct clr_cached_table *table;
    const struct clr_image *image;
    int64_t bytes = 0;

    for (table = clr_cache_first(); table != NULL; table = table->next) {
        for (image = table->images; image != NULL; image = image->next) {
            const bool counts = since == NULL ? !image->is_changing : clr_copy_may_go(image);
            const struct clr_image_column *column = counts ? image->columns : NULL;

            for (; column != NULL; column = column->next) {
                if (since == NULL || (column->pins == 0 && column->used < *since))
                    bytes += clr_copy_size(column, form, worker);
            }
        }
    }
    return bytes;
}

/* Finds the least recently used column with such a copy on a worker's device, of those that no
   query needs. */
static struct clr_image_column *find_oldest(enum clr_copy_form form,
                                            const struct clr_worker *worker)
{
    struct clr_image_column *oldest = NULL, *column;
    const struct clr_cached_table *table;
    const struct clr_image *image;

    for (table = clr_cache_first(); table != NULL; table = table->next) {
        for (image = table->images; image != NULL; image = image->next) {
            column = clr_copy_may_go(image) ? image->columns : NULL;
            for (; column != NULL; column = column->next) {
                if (column->pins == 0 && clr_copy_size(column, form, worker) > 0 &&
                    (oldest == NULL || column->used < oldest->used))
                    oldest = column;
            }
        }
    }
    return oldest;
}

int64_t clr_copy_drop_oldest(enum clr_copy_form form, const struct clr_worker *worker)
{
    struct clr_image_column *column = find_oldest(form, worker);
    int64_t bytes;

    if (column == NULL)
        return 0;
    bytes = clr_copy_size(column, form, worker);
    if (form == CLR_COPY_PART) {
        clr_image_column_drop_part(column);
        return bytes;
    }
    clr_sharded_release(column->copy);
    column->copy = NULL;
    column->wait = (struct clr_copy_wait){.left = CLR_COPY_ASKINGS};
    return bytes;
}

bool clr_copy_is_over(const struct clr_devices *devices)
{
    bool is_over = false;
    int i;

    for (i = 0; i < devices->count; i++) {
        const struct clr_chosen_device *device = &devices->list[i];

        is_over = is_over || clr_copy_measure(CLR_COPY_WHOLE, device->worker, NULL) +
                                     clr_copy_measure(CLR_COPY_PART, device->worker, NULL) >
                                 clr_column_device_memory(device->info);
    }
    return is_over;
}

void clr_copy_trim_parts(const struct clr_worker *worker, int64_t most)
{
    const int64_t whole = clr_copy_measure(CLR_COPY_WHOLE, worker, NULL);

    while (whole + clr_copy_measure(CLR_COPY_PART, worker, NULL) > most &&
           clr_copy_drop_oldest(CLR_COPY_PART, worker) > 0)
        ;
}

/* What a device's memory has left for columns; see clr_copy_room(). */
static int64_t find_left(struct clr_image_column *const *columns, int count,
                         const struct clr_chosen_device *device, const int64_t *since)
{
    int64_t left = clr_column_device_memory(device->info) -
                   clr_copy_measure(CLR_COPY_WHOLE, device->worker, NULL) -
                   clr_copy_measure(CLR_COPY_PART, device->worker, NULL);
    int i;

    if (since == NULL)
        return left;
    left += clr_copy_measure(CLR_COPY_WHOLE, device->worker, since) +
            clr_copy_measure(CLR_COPY_PART, device->worker, since);
    for (i = 0; i < count; i++)
        left += clr_copy_size(columns[i], CLR_COPY_PART, device->worker);
    return left;
}

size_t clr_copy_room(struct clr_image_column *const *columns, int count,
                     const struct clr_devices *devices, const int64_t *since)
{
    size_t least = SIZE_MAX;
    int d, i;

    for (d = 0; d < devices->count; d++) {
        const struct clr_chosen_device *device = &devices->list[d];
        const int64_t left = find_left(columns, count, device, since);
        size_t bytes = 0;

        for (i = 0; i < count; i++)
            bytes += clr_resident_cost(device->worker, columns[i]->column, CLR_BLOCK);
        if (bytes == 0 || left <= 0)
            return 0;
        if ((size_t)left / bytes < least)
            least = (size_t)left / bytes;
    }
    return least * (size_t)devices->count * CLR_BLOCK;
}

#include "engine/columns/division.h"

#include <stdint.h>

/* Shards begin at multiples of so many rows. */
enum { STEP = 1024 };

/* Returns where part i of count begins, of so many rows from `first` on. */
static size_t find_start(size_t first, size_t rows, size_t i, size_t count)
{
    const size_t steps = (rows + STEP - 1) / STEP;
    const size_t start = steps / count * i + steps % count * i / count;

    return first + (start * STEP < rows ? start * STEP : rows);
}

/* Returns into how many shards a device's rows are cut. */
static size_t count_cuts(const struct clr_device_info *info, size_t rows)
{
    const size_t steps = (rows + STEP - 1) / STEP;
    const uint64_t most = info->largest_buffer / (STEP * sizeof(int64_t));

    return most == 0 || steps <= most ? 1 : (size_t)((steps + most - 1) / most);
}

static bool add(struct clr_division *division, const struct clr_chosen_device *device, size_t first,
                size_t end)
{
    const size_t cuts = count_cuts(device->info, end - first);
    size_t i;

    for (i = 0; i < cuts; i++) {
        const size_t start = find_start(first, end - first, i, cuts);
        const size_t rows = find_start(first, end - first, i + 1, cuts) - start;

        if (division->count == CLR_MOST_SHARDS)
            return false;
        division->shards[division->count++] = (struct clr_shard){*device, start, rows};
    }
    return true;
}

bool clr_division_make(const struct clr_devices *devices, size_t rows,
                       struct clr_division *division)
{
    const size_t steps = (rows + STEP - 1) / STEP;
    size_t count = (size_t)devices->count, i;

    if (count > steps)
        count = steps > 0 ? steps : 1;
    division->count = 0;
    for (i = 0; i < count; i++) {
        if (!add(division, &devices->list[i], find_start(0, rows, i, count),
                 find_start(0, rows, i + 1, count)))
            return false;
    }
    return true;
}

bool clr_division_is_same(const struct clr_division *a, const struct clr_division *b)
{
    int i;

    for (i = 0; i < a->count && i < b->count; i++) {
        if (a->shards[i].device.worker != b->shards[i].device.worker ||
            a->shards[i].first != b->shards[i].first || a->shards[i].rows != b->shards[i].rows)
            return false;
    }
    return a->count == b->count;
}

bool clr_division_begins_device(const struct clr_division *division, int shard)
{
    return shard == 0 ||
           division->shards[shard].device.worker != division->shards[shard - 1].device.worker;
}

int clr_division_devices(const struct clr_division *division)
{
    int count = 0, i;

    for (i = 0; i < division->count; i++)
        count += clr_division_begins_device(division, i);
    return count;
}

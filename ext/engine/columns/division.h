/* How the rows of a table's columns are divided among devices. Any thread may call this. */
#ifndef CLR_ENGINE_DIVISION_H
#define CLR_ENGINE_DIVISION_H

#include "base/settings.h"
#include "engine/worker/worker.h"

#include <stdbool.h>
#include <stddef.h>

/* Devices that work together, of one kind. Infos live as long as the process, as workers do. */
struct clr_devices {
    int count;
    struct clr_chosen_device {
        struct clr_worker *worker;
        const struct clr_device_info *info;
    } list[CLR_DEVICES_LIMIT];
};

enum { CLR_MOST_SHARDS = 64 };

/* A run of rows that a device has, of all columns. */
struct clr_shard {
    struct clr_chosen_device device;
    size_t first, rows;
};

/* Shards in the order of the rows, without gaps: 1 at least, even of no rows. */
struct clr_division {
    int count;
    struct clr_shard shards[CLR_MOST_SHARDS];
};

/*
 * Divides so many rows evenly among the devices, of which there is one at least. A device's run is
 * cut into several shards if a column's values, 8 bytes each, would take more than a buffer may
 * have (CL_DEVICE_MAX_MEM_ALLOC_SIZE: OpenCL 1.2, table 4.3). Returns false if these would be more
 * than CLR_MOST_SHARDS.
 */
bool clr_division_make(const struct clr_devices *devices, size_t rows,
                       struct clr_division *division);

bool clr_division_is_same(const struct clr_division *a, const struct clr_division *b);

/* Whether a shard is the first one of its device. */
bool clr_division_begins_device(const struct clr_division *division, int shard);

/* Returns how many of the devices have a shard. */
int clr_division_devices(const struct clr_division *division);

#endif

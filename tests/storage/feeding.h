/* Loads that a device decodes, for tests: a decoding by a worker, and the columns' way back. */
#ifndef CLR_TESTS_STORAGE_FEEDING_H
#define CLR_TESTS_STORAGE_FEEDING_H

#include "image.h"

#include "base/clock.h"
#include "engine/operations/sharded_fetch.h"

#include <unistd.h>

enum { FEEDING_TIMEOUT_MS = 60000 };

struct feeding {
    struct clr_devices devices;
    struct clr_device_decoding decoding;
    bool waits; /* for a device that is not ready, or still has to do with a feed given up */
    enum clr_scan_outcome begun; /* what the last feed was begun with */
    struct clr_status status;
};

static inline bool feeding_choose(void *context, uint64_t rows, struct clr_devices *devices)
{
    const struct feeding *feeding = context;

    (void)rows;
    *devices = feeding->devices;
    return true;
}

static inline bool feeding_begin(void *context, const struct clr_division *division,
                                 const struct clr_feed_setup *setups, struct clr_leaf_feed **feeds)
{
    const int64_t start = clr_clock_ns();
    struct feeding *feeding = context;
    int s;

    clr_status_clear(&feeding->status);
    feeding->begun = CLR_SCAN_DONE;
    for (s = 0; s < division->count && feeding->begun == CLR_SCAN_DONE; s++) {
        while ((feeding->begun = clr_leaf_feed_begin(division->shards[s].device.worker, &setups[s],
                                                     FEEDING_TIMEOUT_MS, NULL, &feeds[s],
                                                     &feeding->status)) == CLR_SCAN_NOT_NOW &&
               feeding->waits && clr_clock_ns() - start < (int64_t)FEEDING_TIMEOUT_MS * 1000000)
            usleep(1000);
    }
    return feeding->begun == CLR_SCAN_DONE;
}

/* Begins with so many workers, of devices that are alike. */
static inline void feeding_init_many(struct feeding *feeding, struct clr_worker *const *workers,
                                     int count)
{
    int i;

    memset(feeding, 0, sizeof *feeding);
    for (i = 0; i < count; i++)
        feeding->devices.list[i] =
            (struct clr_chosen_device){workers[i], clr_worker_info(workers[i])};
    feeding->devices.count = count;
    feeding->waits = true;
    feeding->decoding.choose = feeding_choose;
    feeding->decoding.begin = feeding_begin;
    feeding->decoding.context = feeding;
}

static inline void feeding_init(struct feeding *feeding, struct clr_worker *worker)
{
    feeding_init_many(feeding, &worker, 1);
}

/* Whether the devices decode, once they are ready. */
static inline bool feeding_await(struct feeding *feeding)
{
    const struct clr_field field = {.index = 0};
    struct clr_feed_setup setups[CLR_DEVICES_LIMIT];
    struct clr_leaf_feed *feeds[CLR_DEVICES_LIMIT] = {NULL};
    struct clr_division division = {.count = feeding->devices.count};
    bool begun;
    int s;

    for (s = 0; s < division.count; s++) {
        division.shards[s].device = feeding->devices.list[s];
        setups[s] = (struct clr_feed_setup){
            .fields = &field, .count = 1, .usable_size = 4096, .leaves = 100, .rows = 1000};
    }
    begun = feeding_begin(feeding, &division, setups, feeds);
    for (s = 0; s < division.count; s++)
        clr_leaf_feed_free(feeds[s]);
    return begun;
}

/* Brings the columns of a load back that are on the device alone. */
static inline void feeding_fetch(struct feeding *feeding, struct image *image)
{
    int i;

    for (i = 0; i < image->count && feeding->decoding.is_done; i++) {
        clr_column_release(image->columns[i]);
        image->columns[i] = NULL;
        if (clr_sharded_fetch(feeding->decoding.copies[i], FEEDING_TIMEOUT_MS, NULL,
                              &image->columns[i], &feeding->status) != CLR_SCAN_DONE)
            tap_bail("a column that cannot be fetched: %s", feeding->status.message);
        clr_sharded_release(feeding->decoding.copies[i]);
        feeding->decoding.copies[i] = NULL;
    }
}

/* Loads by the device, and brings the columns back. */
static inline enum clr_load_outcome feeding_load(struct feeding *feeding, struct image *image,
                                                 const struct clr_source *source, uint32_t root)
{
    enum clr_load_outcome outcome;

    feeding->decoding.is_done = feeding->decoding.is_unsuited = false;
    image->decoding = &feeding->decoding;
    outcome = image_load(image, source, root);
    image->decoding = NULL;
    if (outcome == CLR_LOAD_DONE)
        feeding_fetch(feeding, image);
    return outcome;
}

#endif

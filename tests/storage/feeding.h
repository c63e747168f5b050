/* Loads that a device decodes, for tests: a decoding by a worker, and the columns' way back. */
#ifndef CLR_TESTS_STORAGE_FEEDING_H
#define CLR_TESTS_STORAGE_FEEDING_H

#include "image.h"

#include "base/clock.h"
#include "engine/operations/resident_fetch.h"

#include <unistd.h>

enum { FEEDING_TIMEOUT_MS = 60000 };

struct feeding {
    struct clr_worker *worker;
    struct clr_device_decoding decoding;
    bool waits; /* for a device that is not ready, or still has to do with a feed given up */
    enum clr_scan_outcome begun; /* what the last feed was begun with */
    struct clr_status status;
};

static inline struct clr_leaf_feed *feeding_begin(void *context, const struct clr_feed_setup *setup)
{
    const int64_t start = clr_clock_ns();
    struct feeding *feeding = context;
    struct clr_leaf_feed *feed;

    clr_status_clear(&feeding->status);
    while ((feeding->begun = clr_leaf_feed_begin(feeding->worker, setup, FEEDING_TIMEOUT_MS, NULL,
                                                 &feed, &feeding->status)) == CLR_SCAN_NOT_NOW &&
           feeding->waits && clr_clock_ns() - start < (int64_t)FEEDING_TIMEOUT_MS * 1000000)
        usleep(1000);
    return feeding->begun == CLR_SCAN_DONE ? feed : NULL;
}

static inline void feeding_init(struct feeding *feeding, struct clr_worker *worker)
{
    memset(feeding, 0, sizeof *feeding);
    feeding->worker = worker;
    feeding->waits = true;
    feeding->decoding.begin = feeding_begin;
    feeding->decoding.context = feeding;
}

/* Whether the device decodes, once it is ready. */
static inline bool feeding_await(struct feeding *feeding)
{
    const struct clr_field field = {.index = 0};
    const struct clr_feed_setup setup = {
        .fields = &field, .count = 1, .usable_size = 4096, .leaves = 100, .rows = 1000};
    struct clr_leaf_feed *feed = feeding_begin(feeding, &setup);

    clr_leaf_feed_free(feed);
    return feed != NULL;
}

/* Brings the columns of a load back that are on the device alone. */
static inline void feeding_fetch(struct feeding *feeding, struct image *image)
{
    int i;

    for (i = 0; i < image->count && feeding->decoding.is_done; i++) {
        clr_column_release(image->columns[i]);
        image->columns[i] = NULL;
        if (clr_resident_fetch(feeding->worker, feeding->decoding.residents[i], FEEDING_TIMEOUT_MS,
                               NULL, &image->columns[i], &feeding->status) != CLR_SCAN_DONE)
            tap_bail("a column that cannot be fetched: %s", feeding->status.message);
        clr_resident_free(feeding->decoding.residents[i]);
        feeding->decoding.residents[i] = NULL;
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

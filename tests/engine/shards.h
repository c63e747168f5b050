/* For tests of operations that have residents of one device: their copies, in one shard each. */
#ifndef CLR_TESTS_SHARDS_H
#define CLR_TESTS_SHARDS_H

#include "engine/operations/resident_bins.h"
#include "engine/operations/resident_questions.h"
#include "engine/operations/resident_scan.h"

struct shards {
    struct clr_division division;
    int count;
    struct clr_sharded *copies[CLR_MOST_COLUMNS];
};

static inline void shards_free(struct shards *shards)
{
    while (shards->count > 0)
        clr_sharded_release(shards->copies[--shards->count]);
}

/* Returns false without memory. */
static inline bool shards_make(struct shards *shards, struct clr_worker *worker, size_t rows,
                               struct clr_resident *const *residents, int count,
                               struct clr_status *status)
{
    shards->count = 0;
    shards->division.count = 1;
    shards->division.shards[0] = (struct clr_shard){{worker, NULL}, 0, rows};
    while (shards->count < count) {
        struct clr_resident *resident = clr_resident_retain(residents[shards->count]);
        struct clr_sharded *copy = clr_sharded_new_of(&shards->division, &resident);

        if (copy == NULL) {
            shards_free(shards);
            clr_status_set(status, CLR_NOMEM, 0, "no memory for copies");
            return false;
        }
        shards->copies[shards->count++] = copy;
    }
    return true;
}

/* What both functions below are. */
typedef enum clr_scan_outcome shards_asked(const struct clr_division *division,
                                           struct clr_scan *scan, struct clr_sharded *const *copies,
                                           int64_t timeout_ms, const struct clr_watch *watch,
                                           struct clr_device_work *work, struct clr_status *status);

static inline enum clr_scan_outcome
shards_ask(shards_asked *ask, struct clr_worker *worker, struct clr_scan *scan,
           struct clr_resident *const *residents, int64_t timeout_ms, const struct clr_watch *watch,
           struct clr_device_work *work, struct clr_status *status)
{
    enum clr_scan_outcome outcome;
    struct shards shards;

    if (!shards_make(&shards, worker, scan->rows, residents, scan->column_count, status))
        return CLR_SCAN_FAILED;
    outcome = ask(&shards.division, scan, shards.copies, timeout_ms, watch, work, status);
    shards_free(&shards);
    return outcome;
}

/* As clr_resident_scan(). */
static inline enum clr_scan_outcome shards_scan(struct clr_worker *worker, struct clr_scan *scan,
                                                struct clr_resident *const *residents,
                                                int64_t timeout_ms, const struct clr_watch *watch,
                                                struct clr_device_work *work,
                                                struct clr_status *status)
{
    return shards_ask(clr_resident_scan, worker, scan, residents, timeout_ms, watch, work, status);
}

/* As clr_resident_answer(). */
static inline enum clr_scan_outcome shards_answer(struct clr_worker *worker, struct clr_scan *scan,
                                                  struct clr_resident *const *residents,
                                                  int64_t timeout_ms, const struct clr_watch *watch,
                                                  struct clr_device_work *work,
                                                  struct clr_status *status)
{
    return shards_ask(clr_resident_answer, worker, scan, residents, timeout_ms, watch, work,
                      status);
}

/* As clr_resident_bins(). */
static inline enum clr_scan_outcome
shards_bins(struct clr_worker *worker, struct clr_resident *resident, const struct clr_bins *bins,
            uint64_t *counts, int64_t timeout_ms, const struct clr_watch *watch,
            struct clr_device_work *work, struct clr_status *status)
{
    enum clr_scan_outcome outcome;
    struct shards shards;

    if (!shards_make(&shards, worker, 0, &resident, 1, status))
        return CLR_SCAN_FAILED;
    outcome = clr_resident_bins(shards.copies[0], bins, counts, timeout_ms, watch, work, status);
    shards_free(&shards);
    return outcome;
}

#endif

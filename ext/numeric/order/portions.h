/*
 * Numbers in portions, for work that is done on all of them at the same time: by threads, which are
 * the business of a higher floor, or one after the other.
 */
#ifndef CLR_NUMERIC_PORTIONS_H
#define CLR_NUMERIC_PORTIONS_H

#include "numeric/values/narrow.h"
#include "numeric/values/value.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of one type in an array, and lists of such arrays. */

/* One of the arrays of a list, which together are the numbers; the memory is the caller's. */
struct clr_run {
    const struct clr_run *next;
    enum clr_kind kind; /* INTEGER: values are int64_t; REAL: clr_stored_real, none of them NaN */
    const void *values;
    size_t count;           /* may be 0 */
    struct clr_frame frame; /* narrow: of the values, which are INTEGERs' bits or REALs' */
};

/* Returns count values of a run from number `first` on: its own, or widened into the room, which
   has place for so many. */
static inline const void *clr_run_values(const struct clr_run *run, size_t first, size_t count,
                                         int64_t *room)
{
    if (run->frame.bytes == 0)
        return (const char *)run->values + first * sizeof *room;
    clr_frame_widen(&run->frame, run->values, first, count, room);
    return room;
}

/* Returns how many numbers the list has; NULL is an empty list. */
static inline uint64_t clr_runs_count(const struct clr_run *runs)
{
    uint64_t count = 0;

    for (; runs != NULL; runs = runs->next)
        count += runs->count;
    return count;
}

/* What is done with portion i. Returns soon after *stop has become true, whatever it has done. */
typedef void clr_portion_work(void *argument, int i, const atomic_bool *stop);

struct clr_portions {
    int count; /* 1 and up */
    /* count + 1 places in one list of runs: a portion ends where the next one starts; the last one
       is NULL. */
    const struct clr_run *const *starts;
    /* Does the work for i from 0 to count - 1, all at once if it can, and returns when all is done;
       false if it was stopped. NULL: the caller's thread does it, and nothing stops it. */
    bool (*run)(void *context, int count, clr_portion_work *work, void *argument);
    void *context;
};

/* Does the work on every portion. Returns false if it was stopped. */
static inline bool clr_portions_run(const struct clr_portions *portions, clr_portion_work *work,
                                    void *argument)
{
    const atomic_bool never = false;
    int i;

    if (portions->run != NULL)
        return portions->run(portions->context, portions->count, work, argument);
    for (i = 0; i < portions->count; i++)
        work(argument, i, &never);
    return true;
}

/* Whether the work is to stop. */
static inline bool clr_portion_stops(const atomic_bool *stop)
{
    return atomic_load_explicit(stop, memory_order_relaxed);
}

/* A look at all numbers of a portion, some at a time. */
struct clr_portion_reader {
    const struct clr_run *run, *end;
    size_t position; /* where the numbers end that were read last, all of this run */
    const atomic_bool *stop;
};

static inline void clr_portion_begin(struct clr_portion_reader *reader,
                                     const struct clr_portions *portions, int i,
                                     const atomic_bool *stop)
{
    *reader = (struct clr_portion_reader){portions->starts[i], portions->starts[i + 1], 0, stop};
}

/* Goes on by so many numbers at the most. Returns how many: 0 at the end, or where the work is to
   stop. */
static inline size_t clr_portion_next(struct clr_portion_reader *reader, size_t most)
{
    size_t count;

    while (reader->run != reader->end && reader->position == reader->run->count) {
        reader->run = reader->run->next;
        reader->position = 0;
    }
    if (reader->run == reader->end || clr_portion_stops(reader->stop))
        return 0;
    count = reader->run->count - reader->position;
    count = count < most ? count : most;
    reader->position += count;
    return count;
}

#endif

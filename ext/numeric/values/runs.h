/* Numbers of one type in an array, and lists of such arrays. */
#ifndef CLR_NUMERIC_RUNS_H
#define CLR_NUMERIC_RUNS_H

#include "numeric/values/narrow.h"
#include "numeric/values/value.h"

#include <stddef.h>
#include <stdint.h>

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

#endif

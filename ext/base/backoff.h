/*
 * When to try again what has failed for want of memory, or was not worth its while: at an asking so
 * many later, and twice as many after each failure. Askings and not time, since a process that asks
 * for nothing needs nothing. Zeroed at first, and once a try has succeeded; the caller sees to it
 * that one thread at a time uses it.
 */
#ifndef CLR_BASE_BACKOFF_H
#define CLR_BASE_BACKOFF_H

#include <stdbool.h>

enum { CLR_BACKOFF_MOST = 256 };

struct clr_backoff {
    int pause; /* askings from the last failure to the next try, with that one */
    int left;  /* how many of them are to come */
};

/* Takes note of an asking. Returns whether it is to be skipped. */
static inline bool clr_backoff_skips(struct clr_backoff *backoff)
{
    return backoff->left > 0 && --backoff->left > 0;
}

/* Takes note of a failure. least: askings to the next try at least, which are more the more a
   failure costs: 1, the next asking, to CLR_BACKOFF_MOST. */
static inline void clr_backoff_failed(struct clr_backoff *backoff, int least)
{
    const int doubled = 2 * backoff->pause;

    backoff->pause = doubled > least ? doubled : least;
    if (backoff->pause > CLR_BACKOFF_MOST)
        backoff->pause = CLR_BACKOFF_MOST;
    backoff->left = backoff->pause;
}

#endif

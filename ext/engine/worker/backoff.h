/*
 * When to try again what has failed for want of memory or the like: at the next asking, then after
 * two, four and so on. Askings and not time, since a process that asks for nothing needs nothing.
 * Zeroed at first; the caller sees to it that one thread at a time uses it.
 */
#ifndef CLR_ENGINE_BACKOFF_H
#define CLR_ENGINE_BACKOFF_H

#include <stdbool.h>

enum { CLR_BACKOFF_MOST = 1024 };

struct clr_backoff {
    unsigned pause, left;
};

/* It has failed. */
static inline void clr_backoff_fail(struct clr_backoff *backoff)
{
    if (backoff->pause == 0)
        backoff->pause = 1;
    else if (backoff->pause < CLR_BACKOFF_MOST)
        backoff->pause *= 2;
    backoff->left = backoff->pause;
}

/* Somebody asks for it. Returns whether it is to be tried again. */
static inline bool clr_backoff_ask(struct clr_backoff *backoff)
{
    return backoff->left == 0 || --backoff->left == 0;
}

#endif

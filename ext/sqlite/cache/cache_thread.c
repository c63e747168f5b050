#include "sqlite/cache/cache_thread.h"

#include "base/clock.h"
#include "engine/worker/thread.h"
#include "sqlite/cache/cache_lock.h"

#include <unistd.h>

/* Under the cache's lock. */
static clr_cache_chore *chores[CLR_CACHE_CHORES];
static bool is_wanted; /* some chore, since all were begun the last time */
/* The process whose thread this is; 0: there is none. A child after fork() has none. */
static pid_t running;

/* Returns when the next chore is due. */
static int64_t do_all(void)
{
    int64_t due = INT64_MAX, next;
    int i;

    for (i = 0; i < CLR_CACHE_CHORES && chores[i] != NULL; i++) {
        next = chores[i]();
        due = next < due ? next : due;
    }
    return due;
}

static void *run(void *unused)
{
    int64_t due;

    (void)unused;
    clr_cache_lock();
    for (;;) {
        is_wanted = false;
        due = do_all();
        if (is_wanted)
            continue;
        if (due == INT64_MAX)
            break;
        clr_cache_wait_until_woken((due - clr_clock_ns()) / 1000000 + 1);
    }
    running = 0;
    clr_cache_unlock();
    return NULL;
}

bool clr_cache_thread_want(clr_cache_chore *chore)
{
    int i = 0;

    while (chores[i] != NULL && chores[i] != chore)
        i++;
    chores[i] = chore;
    is_wanted = true;
    if (running == getpid()) {
        clr_cache_wake();
        return true;
    }
    if (clr_thread_start(run, NULL) != 0)
        return false;
    running = getpid();
    return true;
}

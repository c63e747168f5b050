#include "sqlite/cache/cache_lock.h"

#include "base/clock.h"
#include "base/system.h"
#include "engine/worker/team.h"

#include <pthread.h>
#include <unistd.h>

/* How often a watch is asked. */
enum { WATCH_MS = 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static int cancel_state; /* what clr_thread_restore_cancel() gets, of the thread with the lock */

static void prepare(void)
{
    clr_system_cond_init(&changed);
}

void clr_cache_lock(void)
{
    const int state = clr_thread_defer_cancel();

    pthread_once(&prepared, prepare);
    pthread_mutex_lock(&lock);
    cancel_state = state;
}

void clr_cache_unlock(void)
{
    const int state = cancel_state;

    pthread_mutex_unlock(&lock);
    clr_thread_restore_cancel(state);
}

/* The condition variable knows of the threads that waited, and would wait for them. */
void clr_cache_unlock_child(void)
{
    prepare();
    clr_cache_unlock();
}

void clr_cache_wake(void)
{
    pthread_cond_broadcast(&changed);
}

/* With the lock, which is given up meanwhile: waits for timeout_ms milliseconds at most. */
static void wait_until_woken(int64_t timeout_ms)
{
    const struct timespec deadline = clr_thread_deadline(timeout_ms);
    const int state = cancel_state;

    clr_thread_wait(&changed, &lock, &deadline);
    cancel_state = state;
}

/* The watch is asked without the lock: it may take its time. */
bool clr_cache_wait(const struct clr_watch *watch)
{
    bool wants_stop;

    wait_until_woken(WATCH_MS);
    if (watch == NULL)
        return true;
    clr_cache_unlock();
    wants_stop = watch->wants_stop(watch->context);
    clr_cache_lock();
    return !wants_stop;
}

/* ---- The thread. */

/* Under the cache's lock. */
static clr_cache_chore *chore;
static bool is_wanted; /* since it was begun the last time */

/* The process whose thread this is; 0: there is none. A child after fork() has none. */
static pid_t running;

static void *run(void *unused)
{
    int64_t due;

    (void)unused;
    clr_cache_lock();
    for (;;) {
        is_wanted = false;
        due = chore();
        if (is_wanted)
            continue;
        if (due == INT64_MAX)
            break;
        wait_until_woken((due - clr_clock_ns()) / 1000000 + 1);
    }
    running = 0;
    clr_cache_unlock();
    return NULL;
}

bool clr_cache_thread_want(clr_cache_chore *wanted)
{
    chore = wanted;
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

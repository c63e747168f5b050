#include "sqlite/cache/cache_lock.h"

#include "engine/worker/thread.h"

#include <pthread.h>

/* How often a watch is asked. */
enum { WATCH_MS = 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

static void prepare(void)
{
    clr_thread_cond_init(&changed);
}

void clr_cache_lock(void)
{
    pthread_once(&prepared, prepare);
    pthread_mutex_lock(&lock);
}

void clr_cache_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void clr_cache_wake(void)
{
    pthread_cond_broadcast(&changed);
}

void clr_cache_wait_until_woken(int64_t timeout_ms)
{
    const struct timespec deadline = clr_thread_deadline(timeout_ms);

    pthread_cond_timedwait(&changed, &lock, &deadline);
}

/* The watch is asked without the lock: it may take its time. */
bool clr_cache_wait(const struct clr_watch *watch)
{
    bool wants_stop;

    clr_cache_wait_until_woken(WATCH_MS);
    if (watch == NULL)
        return true;
    pthread_mutex_unlock(&lock);
    wants_stop = watch->wants_stop(watch->context);
    pthread_mutex_lock(&lock);
    return !wants_stop;
}

#include "sqlite/cache/retention.h"

#include "base/clock.h"
#include "base/settings.h"
#include "engine/worker/thread.h"
#include "sqlite/cache/cache_lock.h"
#include "sqlite/cache/cache_tables.h"

#include <unistd.h>

/* The process whose thread waits, under the cache's lock; 0: none. A child after fork() has no such
   thread. */
static pid_t waiting;
static pthread_once_t begun = PTHREAD_ONCE_INIT;

/* Drops the tables of files that were closed long enough ago. Returns when the next ones are due,
   in ns of clr_clock_ns(); INT64_MAX: there are none. */
static int64_t locked_drop_due(void)
{
    const int64_t retention = clr_process_setting(CLR_COLUMN_RETENTION) * 1000000;
    int64_t next_due = INT64_MAX, closed, now = clr_clock_ns();
    struct clr_cached_table *table, *next;

    for (table = clr_cache_first(); table != NULL; table = next) {
        next = table->next;
        closed = table->file == NULL ? 0 : clr_known_file_closed(table->file);
        if (closed == 0)
            continue;
        if (closed + retention <= now)
            clr_cache_drop_table(table);
        else if (closed + retention < next_due)
            next_due = closed + retention;
    }
    return next_due;
}

static void *wait_and_drop(void *unused)
{
    int64_t due;

    (void)unused;
    clr_cache_lock();
    while ((due = locked_drop_due()) != INT64_MAX)
        clr_cache_wait_until_woken((due - clr_clock_ns()) / 1000000 + 1);
    waiting = 0;
    clr_cache_unlock();
    return NULL;
}

static void drop_file(const struct clr_known_file *file)
{
    struct clr_cached_table *table, *next;

    for (table = clr_cache_first(); table != NULL; table = next) {
        next = table->next;
        if (table->file == file)
            clr_cache_drop_table(table);
    }
}

/* Sees that the thread waits. Returns false if it can't be started. */
static bool locked_wait(void)
{
    if (waiting != getpid() && clr_thread_start(wait_and_drop, NULL) == 0)
        waiting = getpid();
    return waiting == getpid();
}

static void file_closed(struct clr_known_file *file)
{
    clr_cache_lock();
    if (clr_known_file_closed(file) != 0 && !clr_known_file_is_settled(file))
        drop_file(file);
    if (locked_drop_due() != INT64_MAX && !locked_wait())
        drop_file(file);
    clr_cache_unlock();
}

void clr_retention_heed_setting(void)
{
    clr_cache_lock();
    clr_cache_wake();
    clr_cache_unlock();
}

static void begin(void)
{
    clr_known_file_notify(file_closed);
}

void clr_retention_begin(void)
{
    pthread_once(&begun, begin);
}

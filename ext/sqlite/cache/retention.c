#include "sqlite/cache/retention.h"

#include "base/clock.h"
#include "base/settings.h"
#include "sqlite/cache/cache_lock.h"
#include "sqlite/cache/cache_tables.h"
#include "sqlite/cache/cache_thread.h"

#include <pthread.h>
#include <sys/resource.h>

/* Of so many closed files columns stay, and of one for each so many descriptors that the process
   may have: a file takes one. */
enum { MOST_FILES = 16, DESCRIPTORS_PER_FILE = 32 };

/* How often it is looked whether closed files have been deleted, whose blocks the descriptors keep.
 */
enum { LOOK_MS = 1000 };

static pthread_once_t begun = PTHREAD_ONCE_INIT;

/* Since when the table's file is closed, in ns of clr_clock_ns(); 0: it is not. */
static int64_t closed_since(const struct clr_cached_table *table)
{
    return table->file == NULL ? 0 : clr_known_file_closed(table->file);
}

/* Drops the tables of files that were closed long enough ago, or are deleted. Returns when to look
   at the next ones, in ns of clr_clock_ns(); INT64_MAX: there are none. */
static int64_t locked_drop_due(void)
{
    const int64_t retention = clr_process_setting(CLR_COLUMN_RETENTION) * 1000000;
    const int64_t now = clr_clock_ns(), look = now + LOOK_MS * INT64_C(1000000);
    int64_t next_due = INT64_MAX, closed, due;
    struct clr_cached_table *table, *next;

    for (table = clr_cache_first(); table != NULL; table = next) {
        next = table->next;
        closed = closed_since(table);
        if (closed == 0)
            continue;
        if (closed + retention <= now || clr_known_file_is_unlinked(table->file))
            clr_cache_drop_table(table);
        else if ((due = closed + retention < look ? closed + retention : look) < next_due)
            next_due = due;
    }
    return next_due;
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

static int most_files(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
                   limit.rlim_cur / DESCRIPTORS_PER_FILE < MOST_FILES
               ? (int)(limit.rlim_cur / DESCRIPTORS_PER_FILE)
               : MOST_FILES;
}

/* Returns the file that was closed longest ago, or NULL, and how many are closed. */
static const struct clr_known_file *find_oldest(int *count)
{
    const struct clr_cached_table *table, *other;
    const struct clr_known_file *oldest = NULL;
    int64_t closed, since = INT64_MAX;

    *count = 0;
    for (table = clr_cache_first(); table != NULL; table = table->next) {
        closed = closed_since(table);
        for (other = clr_cache_first(); closed != 0 && other != table; other = other->next)
            closed = other->file == table->file ? 0 : closed;
        *count += closed != 0;
        if (closed != 0 && closed < since) {
            since = closed;
            oldest = table->file;
        }
    }
    return oldest;
}

static void drop_beyond_most(void)
{
    const int most = most_files();
    const struct clr_known_file *oldest;
    int count;

    while ((oldest = find_oldest(&count)) != NULL && count > most)
        drop_file(oldest);
}

static void file_closed(struct clr_known_file *file)
{
    clr_cache_lock();
    drop_beyond_most();
    if (locked_drop_due() != INT64_MAX && !clr_cache_thread_want(locked_drop_due))
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

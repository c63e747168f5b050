/*
 * Reads of database files that take time, or stop until the test lets them go on: SQLite's own VFS
 * for unix, with another pread() below it. To its users it is still that VFS.
 */
#ifndef CLR_TESTS_SLOW_READS_H
#define CLR_TESTS_SLOW_READS_H

#include "tap.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* What lies before it is read for many reasons; what lies behind are rows. */
enum { SLOW_READS_FROM = 1 << 14 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    long delay_us;      /* of each read */
    int passing;        /* so many more reads go on before one is stopped */
    bool stop, stopped; /* a read is to be stopped; one is */
} slow_reads = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static inline void slow_reads_wait(off_t offset)
{
    struct timespec delay = {0, 0};

    pthread_mutex_lock(&slow_reads.lock);
    if (offset >= SLOW_READS_FROM) {
        delay.tv_nsec = slow_reads.delay_us * 1000;
        if (slow_reads.stop && slow_reads.passing-- == 0) {
            slow_reads.stop = false;
            slow_reads.stopped = true;
            pthread_cond_broadcast(&slow_reads.changed);
            while (slow_reads.stopped)
                pthread_cond_wait(&slow_reads.changed, &slow_reads.lock);
        }
    }
    pthread_mutex_unlock(&slow_reads.lock);
    if (delay.tv_nsec > 0)
        nanosleep(&delay, NULL);
}

static inline ssize_t slow_reads_pread(int file, void *buffer, size_t size, off_t offset)
{
    slow_reads_wait(offset);
    return pread(file, buffer, size, offset);
}

/* Returns whether SQLite now reads this way: it may be built with other calls. */
static inline bool slow_reads_install(void)
{
    static const char *const names[] = {"pread", "pread64"};
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    bool installed = false;

    if (vfs == NULL || vfs->iVersion < 3 || sizeof(off_t) < sizeof(sqlite3_int64))
        return false;
    for (int i = 0; i < 2; i++) {
        if (vfs->xGetSystemCall(vfs, names[i]) != NULL)
            installed = vfs->xSetSystemCall(vfs, names[i], (sqlite3_syscall_ptr)slow_reads_pread) ==
                            SQLITE_OK ||
                        installed;
    }
    return installed;
}

/* From now on each read of rows takes so long. */
static inline void slow_reads_delay(long microseconds)
{
    pthread_mutex_lock(&slow_reads.lock);
    slow_reads.delay_us = microseconds;
    pthread_mutex_unlock(&slow_reads.lock);
}

/* Of the next reads of rows, whoever it is that reads, so many go on, and one stops; others go on.
 */
static inline void slow_reads_stop_after(int reads)
{
    pthread_mutex_lock(&slow_reads.lock);
    slow_reads.stop = true;
    slow_reads.passing = reads;
    pthread_mutex_unlock(&slow_reads.lock);
}

static inline void slow_reads_stop_next(void)
{
    slow_reads_stop_after(0);
}

/* Waits until one has stopped; returns false if none has after so many milliseconds. */
static inline bool slow_reads_wait_stopped(int milliseconds)
{
    bool stopped = false;

    for (; !stopped && milliseconds > 0; milliseconds -= 5) {
        sqlite3_sleep(5);
        pthread_mutex_lock(&slow_reads.lock);
        stopped = slow_reads.stopped;
        pthread_mutex_unlock(&slow_reads.lock);
    }
    return stopped;
}

/* Lets the one that has stopped go on, and none stops any more. */
static inline void slow_reads_release(void)
{
    pthread_mutex_lock(&slow_reads.lock);
    slow_reads.stop = slow_reads.stopped = false;
    pthread_cond_broadcast(&slow_reads.changed);
    pthread_mutex_unlock(&slow_reads.lock);
}

/* Begins a test of threads that wait for slow reads: skips it where there can be none, and ends it
   after that time, as what waits for itself has no other end. */
static inline void slow_reads_begin(unsigned limit_s)
{
    if (!sqlite3_threadsafe())
        tap_skip_all("this SQLite is built for a single thread");
    if (!slow_reads_install())
        tap_skip_all("this SQLite has no pread() to put another in the place of");
    alarm(limit_s);
}

#endif

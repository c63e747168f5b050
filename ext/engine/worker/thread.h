/* Threads as the engine starts them, and waiting with a time limit. */
#ifndef CLR_ENGINE_THREAD_H
#define CLR_ENGINE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/*
 * Starts a detached thread with all signals blocked, so that the application's handlers run in the
 * application's own threads, and with the default floating-point environment. Returns 0 or an errno
 * value.
 */
int clr_thread_start(void *(*run)(void *), void *argument);

/* Returns the time timeout_ms milliseconds from now, of clr_system_now(). */
struct timespec clr_thread_deadline(int64_t timeout_ms);

/*
 * Waits for the condition, of clr_system_cond_init(), until the deadline, or without an end if that
 * is NULL. Returns false if the deadline has passed. It is no cancellation point, as
 * pthread_cond_wait(3) is: a thread that pthread_cancel() ends there would keep the lock for ever.
 */
bool clr_thread_wait(pthread_cond_t *condition, pthread_mutex_t *lock,
                     const struct timespec *deadline);

/*
 * From the first call to the second, which gets its result, pthread_cancel() does not end the
 * thread: for as long as others depend on the thread, as they do while it has a lock and calls what
 * is a cancellation point. Pairs of calls may be nested.
 */
int clr_thread_defer_cancel(void);
void clr_thread_restore_cancel(int state);

/*
 * How long a driver is waited for at the end of the process: as long as the process takes processor
 * time. On a busy machine a compilation may take long, and a process that exits amid it crashes in
 * the driver; only one that does nothing hangs.
 */
struct clr_patience {
    int64_t timeout_ms, used_ns;
    struct timespec deadline;
    int left; /* how often the time may begin again */
};

/* From now on it lasts timeout_ms milliseconds, or many times as long while the process is busy. */
void clr_patience_begin(struct clr_patience *patience, int64_t timeout_ms);

/* Waits for the condition, of clr_system_cond_init(). Returns false if that was all. */
bool clr_patience_wait(struct clr_patience *patience, pthread_cond_t *condition,
                       pthread_mutex_t *lock);

#endif

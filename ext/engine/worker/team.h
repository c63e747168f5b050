/* Threads as the engine starts them, waiting with a time limit, and teams of threads that do one
   piece of work in parallel while the caller looks on. */
#ifndef CLR_ENGINE_TEAM_H
#define CLR_ENGINE_TEAM_H

#include "numeric/order/portions.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/*
 * Starts a detached thread by clr_system_start_thread(), with the default floating-point
 * environment. Returns 0 or an errno value.
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

/* ---- Teams. */

/* Asked by the calling thread every 20 ms or so; returns true to stop. */
struct clr_watch {
    bool (*wants_stop)(void *context);
    void *context;
};

/* Asks a watch, unless it is NULL or was asked in the last 10 ms. *asked_at: when that was, by
   clr_clock_ns(); 0: never. Returns true to stop. */
bool clr_watch_wants_stop(const struct clr_watch *watch, int64_t *asked_at);

enum { CLR_TEAM_MOST = 64 }; /* threads */

/* Returns how many threads a scan is worth at most, 1 .. CLR_TEAM_MOST: its part of the processors
 * that this process may run on, beside the teams that are running. */
int clr_team_size(void);

/*
 * Runs work(argument, i, stop) for i from 0 to count - 1, and returns when all have returned. watch
 * may be NULL: the calling thread then does one part itself, so that count 1 starts no thread. With
 * a watch each part has a thread of its own. When the watch wants a stop, *stop becomes true, which
 * work has to look at often enough to return within 50 ms. Returns false if it was stopped.
 *
 * Parts for which no thread can be had run in the calling thread, one after the other; the watch is
 * then asked between them only.
 */
bool clr_team_run(int count, clr_portion_work *work, void *argument, const struct clr_watch *watch);

/* The same as the work of portions, see struct clr_portions: the context is a watch, or NULL. */
bool clr_team_run_portions(void *watch, int count, clr_portion_work *work, void *argument);

/* ---- A list of numbers in portions, one for each thread of a team. */

struct clr_team_portions {
    struct clr_portions portions; /* has pointers into the structure: it stays where it is */
    const struct clr_run *starts[CLR_TEAM_MOST + 1];
};

/* Divides the list, at the boundaries of its runs, into portions that are worth a thread. Work on
   them starts threads and waits for them, unless there is one portion only. watch may be NULL, and
   is not asked for one portion. */
void clr_team_portions_divide(struct clr_team_portions *team, const struct clr_run *runs,
                              const struct clr_watch *watch);

#endif

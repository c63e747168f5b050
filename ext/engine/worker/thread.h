/* Threads as the engine starts them, and waiting with a time limit. */
#ifndef CLR_ENGINE_THREAD_H
#define CLR_ENGINE_THREAD_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/*
 * Starts a detached thread with all signals blocked, so that the application's handlers run in the
 * application's own threads, and with the default floating-point environment. Returns 0 or an errno
 * value.
 */
int clr_thread_start(void *(*run)(void *), void *argument);

/* Sets up a condition variable whose deadlines come from clr_thread_deadline(). */
void clr_thread_cond_init(pthread_cond_t *condition);

/* Returns the time timeout_ms milliseconds from now, on a clock that setting the time leaves. */
struct timespec clr_thread_deadline(int64_t timeout_ms);

#endif

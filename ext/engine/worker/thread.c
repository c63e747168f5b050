#include "engine/worker/thread.h"

#include "base/float_environment.h"

#include <signal.h>

/* macOS has no pthread_condattr_setclock(): deadlines follow the wall clock there. */
#ifdef __APPLE__
#define DEADLINE_CLOCK CLOCK_REALTIME
#else
#define DEADLINE_CLOCK CLOCK_MONOTONIC
#endif

int clr_thread_start(void *(*run)(void *), void *argument)
{
    const struct clr_float_environment environment = clr_float_environment_begin();
    sigset_t all, before;
    pthread_t thread;
    int error;

    /* A thread inherits both from the one that starts it. */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    error = pthread_create(&thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    clr_float_environment_end(&environment);
    if (error == 0)
        pthread_detach(thread);
    return error;
}

void clr_thread_cond_init(pthread_cond_t *condition)
{
#ifdef __APPLE__
    pthread_cond_init(condition, NULL);
#else
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, DEADLINE_CLOCK);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
#endif
}

struct timespec clr_thread_deadline(int64_t timeout_ms)
{
    struct timespec time;

    clock_gettime(DEADLINE_CLOCK, &time);
    time.tv_sec += (time_t)(timeout_ms / 1000);
    time.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000;
    }
    return time;
}

#include "engine/worker/thread.h"

#include "base/clock.h"
#include "base/float_environment.h"
#include "base/system.h"

/* A process is busy that takes 1/BUSY_SHARE of a processor. One whose driver waits in a loop is,
   too: so there is an end after MOST_TIMES the time. */
enum { BUSY_SHARE = 100, MOST_TIMES = 12 };

int clr_thread_start(void *(*run)(void *), void *argument)
{
    /* A thread inherits it from the one that starts it. */
    const struct clr_float_environment environment = clr_float_environment_begin();
    const int error = clr_system_start_thread(run, argument);

    clr_float_environment_end(&environment);
    return error;
}

struct timespec clr_thread_deadline(int64_t timeout_ms)
{
    struct timespec time = clr_system_now();

    time.tv_sec += (time_t)(timeout_ms / 1000);
    time.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000;
    }
    return time;
}

bool clr_thread_wait(pthread_cond_t *condition, pthread_mutex_t *lock,
                     const struct timespec *deadline)
{
    const int state = clr_thread_defer_cancel();
    const int error = deadline == NULL ? pthread_cond_wait(condition, lock)
                                       : pthread_cond_timedwait(condition, lock, deadline);

    clr_thread_restore_cancel(state);
    return error == 0;
}

int clr_thread_defer_cancel(void)
{
    int state;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    return state;
}

void clr_thread_restore_cancel(int state)
{
    pthread_setcancelstate(state, &state);
}

void clr_patience_begin(struct clr_patience *patience, int64_t timeout_ms)
{
    *patience = (struct clr_patience){.timeout_ms = timeout_ms,
                                      .used_ns = clr_clock_process_ns(),
                                      .deadline = clr_thread_deadline(timeout_ms),
                                      .left = MOST_TIMES - 1};
}

bool clr_patience_wait(struct clr_patience *patience, pthread_cond_t *condition,
                       pthread_mutex_t *lock)
{
    int64_t used_ns;

    if (clr_thread_wait(condition, lock, &patience->deadline))
        return true;
    used_ns = clr_clock_process_ns();
    if (patience->left-- == 0 ||
        used_ns - patience->used_ns < patience->timeout_ms * 1000000 / BUSY_SHARE)
        return false;
    patience->used_ns = used_ns;
    patience->deadline = clr_thread_deadline(patience->timeout_ms);
    return true;
}

#include "engine/worker/thread.h"

#include "base/clock.h"
#include "base/float_environment.h"

#include <signal.h>

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* macOS has no pthread_condattr_setclock(): deadlines follow the wall clock there. */
#ifdef __APPLE__
#define DEADLINE_CLOCK CLOCK_REALTIME
#else
#define DEADLINE_CLOCK CLOCK_MONOTONIC
#endif

/* A process is busy that takes 1/BUSY_SHARE of a processor. One whose driver waits in a loop is,
   too: so there is an end after MOST_TIMES the time. */
enum { BUSY_SHARE = 100, MOST_TIMES = 12 };

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

/* ---- The end of the process. */

#ifdef __linux__

/* The C++ ABI's registration of a thread_local object's destructor; musl has none. */
extern int __cxa_thread_atexit_impl(void (*destructor)(void *), void *object, void *library)
    __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

static void (*guard)(void);

static void run_guard(void *unused)
{
    (void)unused;
    guard();
}

bool clr_exit_guard(void (*function)(void))
{
    if (__cxa_thread_atexit_impl == NULL || syscall(SYS_gettid) != getpid())
        return false;
    guard = function;
    return __cxa_thread_atexit_impl(run_guard, NULL, &__dso_handle) == 0;
}

#else

bool clr_exit_guard(void (*function)(void))
{
    (void)function;
    return false;
}

#endif

/* Threads with signals blocked, and deadlines. */
#include "engine/worker/team.h"

#include "base/clock.h"
#include "base/system.h"

#include "tap.h"

#include <errno.h>
#include <fenv.h>
#include <signal.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static bool ran, others_blocked, own_open;
static int rounding;

static void *look(void *argument)
{
    sigset_t blocked;
    bool others = true, open = true;

    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    for (int signal = 1; signal < 32; signal++)
        switch (signal) {
        case SIGSEGV:
        case SIGBUS:
        case SIGILL:
        case SIGFPE:
        case SIGTRAP:
        case SIGSYS:
            open = open && sigismember(&blocked, signal) == 0;
            break;
        case SIGKILL:
        case SIGSTOP:
            break;
        default:
            others = others && sigismember(&blocked, signal) == 1;
        }
    pthread_mutex_lock(&lock);
    ran = *(int *)argument == 42;
    others_blocked = others;
    own_open = open;
    rounding = fegetround();
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* An application's handlers must run in the application's own threads, except those of faults, and
   how it rounds is its own affair. */
static void test_start(void)
{
    struct timespec deadline;
    sigset_t before, after;
    int argument = 42, error = 0;

    pthread_sigmask(SIG_BLOCK, NULL, &before);
    fesetround(FE_DOWNWARD);
    tap_is_int64(clr_thread_start(look, &argument), 0, "a thread is started");
    tap_is_int64(fegetround(), FE_DOWNWARD, "the starting thread rounds as before");
    fesetround(FE_TONEAREST);
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    deadline = clr_thread_deadline(20000);
    pthread_mutex_lock(&lock);
    while (!ran && error == 0)
        error = pthread_cond_timedwait(&changed, &lock, &deadline);
    tap_ok(ran, "and runs with its argument");
    tap_ok(others_blocked, "with signals blocked that are not of its own doing");
    tap_ok(own_open, "and faults of its own are told of");
    tap_is_int64(rounding, FE_TONEAREST, "rounding to nearest");
    pthread_mutex_unlock(&lock);
    for (argument = 1; argument < 32; argument++) {
        if (sigismember(&before, argument) != sigismember(&after, argument))
            break;
    }
    tap_is_int64(argument, 32, "which the starting thread has not");
}

static void test_deadline(int64_t timeout_ms)
{
    struct timespec deadline;
    int64_t start = clr_clock_ns(), took;
    int error = 0;

    pthread_mutex_lock(&lock);
    deadline = clr_thread_deadline(timeout_ms);
    while (error == 0)
        error = pthread_cond_timedwait(&changed, &lock, &deadline);
    pthread_mutex_unlock(&lock);
    took = (clr_clock_ns() - start) / 1000;
    tap_is_int64(error, ETIMEDOUT, "a wait of %d ms ends", (int)timeout_ms);
    tap_ok(took >= timeout_ms * 1000 && took < (timeout_ms + 5000) * 1000, "in time: %d us",
           (int)took);
}

/* Nanoseconds must stay below a second, or waiting fails at once with EINVAL. */
static void test_nanoseconds(void)
{
    bool valid = true;

    for (int64_t timeout = 0; timeout < 100000; timeout++) {
        struct timespec deadline = clr_thread_deadline(timeout);
        valid = valid && deadline.tv_nsec >= 0 && deadline.tv_nsec < 1000000000;
    }
    tap_ok(valid, "deadlines are valid times");
}

/* Waits with the lock, is cancelled meanwhile, and gives the lock back before that takes effect. */
static void *wait_cancelled(void *argument)
{
    bool *waits = argument;

    pthread_mutex_lock(&lock);
    *waits = true;
    pthread_cond_broadcast(&changed);
    while (*waits)
        clr_thread_wait(&changed, &lock, NULL);
    pthread_mutex_unlock(&lock);
    pthread_testcancel();
    return NULL;
}

static void test_cancelled(void)
{
    void *result = NULL;
    bool waits = false;
    pthread_t thread;

    TAP_NEED(pthread_create(&thread, NULL, wait_cancelled, &waits) == 0, "no thread");
    pthread_mutex_lock(&lock);
    while (!waits)
        clr_thread_wait(&changed, &lock, NULL);
    pthread_cancel(thread);
    waits = false;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, &result);
    tap_ok(result == PTHREAD_CANCELED, "a thread that waits is cancelled later");
    tap_is_int64(pthread_mutex_trylock(&lock), 0, "without the lock");
    pthread_mutex_unlock(&lock);
}

TAP_TEST(all_tests)
{
    clr_system_cond_init(&changed);
    test_cancelled();
    test_start();
    test_nanoseconds();
    test_deadline(0);
    test_deadline(50);
}

#include "opencl/failing_parts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

void failing_sleep(long us)
{
    struct timespec time = {us / 1000000, us % 1000000 * 1000};

    nanosleep(&time, NULL);
}

static int has_delays = -1;
static atomic_uint threads_seen;
static _Thread_local uint64_t random_state;

static uint64_t draw(void)
{
    const char *seed = getenv("CLR_DELAYS");

    if (random_state == 0)
        random_state = 0x9e3779b97f4a7c15 *
                       (strtoull(seed, NULL, 10) * 1009 + atomic_fetch_add(&threads_seen, 1) + 1);
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state >> 16;
}

void failing_delay(void)
{
    uint64_t drawn;

    if (has_delays < 0)
        has_delays = getenv("CLR_DELAYS") != NULL;
    if (has_delays == 0)
        return;
    drawn = draw();
    if (drawn % 256 == 0)
        failing_sleep(2000 + (long)(drawn / 256 % 4000));
    else if (drawn % 16 == 0)
        failing_sleep((long)(drawn / 16 % 200));
}

/* Where a function has versions, RTLD_NEXT alone may find the oldest. */
static void *next_of_threads(const char *function)
{
    void *found = NULL;

#ifdef __GLIBC__
    found = dlvsym(RTLD_NEXT, function, "GLIBC_2.3.2");
#endif
    return found != NULL ? found : failing_next(function);
}

EXPORTED int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*_Atomic known)(pthread_mutex_t *);
    int (*next)(pthread_mutex_t *) = atomic_load_explicit(&known, memory_order_relaxed);

    if (next == NULL) {
        FAILING_NEXT(pthread_mutex_lock);
        atomic_store_explicit(&known, next, memory_order_relaxed);
    }
    failing_delay();
    return next(mutex);
}

/* Who is woken comes late, with the lock. */
EXPORTED int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    int (*next)(pthread_cond_t *, pthread_mutex_t *), result;
    void *found = next_of_threads("pthread_cond_wait");

    memcpy(&next, &found, sizeof next);
    result = next(condition, mutex);
    failing_delay();
    return result;
}

EXPORTED int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                    const struct timespec *deadline)
{
    int (*next)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *), result;
    void *found = next_of_threads("pthread_cond_timedwait");

    memcpy(&next, &found, sizeof next);
    result = next(condition, mutex, deadline);
    failing_delay();
    return result;
}

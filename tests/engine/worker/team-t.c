/* Teams: every part runs once, the caller waits for all, and a watch can stop them. An argument is
   how many of them there are one after the other. */
#include "engine/worker/team.h"

#include "base/clock.h"

#include "tap.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 100 };

static atomic_int runs[MOST], in_caller;
static pthread_t caller;
static int asked;

static void count_run(void *argument, int i, const atomic_bool *stop)
{
    struct timespec pause = {0, 1000000};

    if (i % 7 == 0)
        nanosleep(&pause, NULL);
    if (pthread_equal(pthread_self(), caller))
        atomic_fetch_add(&in_caller, 1);
    if (argument == runs && i >= 0 && i < MOST && !atomic_load(stop))
        atomic_fetch_add(&runs[i], 1);
}

static void do_nothing(void *argument, int i, const atomic_bool *stop)
{
    (void)argument, (void)i, (void)stop;
}

static bool never(void *context)
{
    (void)context;
    return false;
}

/* Runs once, and counts the parts that the calling thread has done. */
static void test_each_once(int count, const struct clr_watch *watch, int want_in_caller)
{
    bool once = true;

    atomic_store(&in_caller, 0);
    for (int i = 0; i < MOST; i++)
        atomic_store(&runs[i], 0);
    tap_ok(clr_team_run(count, count_run, runs, watch), "a team of %d is not stopped", count);
    for (int i = 0; i < MOST; i++)
        once = once && atomic_load(&runs[i]) == (i < count);
    tap_ok(once, "and each part has run once");
    tap_is_int64(atomic_load(&in_caller), want_in_caller, "parts in the calling thread");
}

static void until_stopped(void *argument, int i, const atomic_bool *stop)
{
    struct timespec pause = {0, 1000000};
    int64_t end = clr_clock_ns() + 20000000000;

    (void)argument, (void)i;
    while (!atomic_load(stop) && clr_clock_ns() < end)
        nanosleep(&pause, NULL);
}

static bool third_time(void *context)
{
    (void)context;
    return ++asked == 3;
}

static void test_stop(int count)
{
    struct clr_watch watch = {third_time, NULL};
    int64_t took = clr_clock_ns();

    asked = 0;
    tap_ok(!clr_team_run(count, until_stopped, NULL, &watch), "a team of %d is stopped", count);
    took = clr_clock_ns() - took;
    tap_is_int64(asked, 3, "when the watch wants it, which is not asked again");
    tap_ok(took >= 40000000 && took < 10000000000, "in time: %d us", (int)(took / 1000));
}

int main(int argc, char **argv)
{
    const int many = argc > 1 ? atoi(argv[1]) : 1000;
    struct clr_watch watch = {never, NULL};
    int i, done;

    caller = pthread_self();
    tap_ok(clr_team_size() >= 1 && clr_team_size() <= 64, "size %d", clr_team_size());
    test_each_once(0, &watch, 0);
    test_each_once(1, NULL, 1);
    test_each_once(1, &watch, 0);
    test_each_once(2, NULL, 1);
    test_each_once(MOST, &watch, 0);
    test_each_once(MOST, NULL, 1);
    test_stop(1);
    test_stop(5);
    for (i = 0, done = 0; i < 1000; i++)
        done += clr_team_run(3, count_run, NULL, i % 2 == 0 ? &watch : NULL);
    tap_is_int64(done, 1000, "many teams, one after the other");
    for (i = 0, done = 0; i < many; i++)
        done += clr_team_run(3, do_nothing, NULL, i % 2 == 0 ? &watch : NULL);
    tap_is_int64(done, many, "and many whose threads end at once");
    return tap_done();
}

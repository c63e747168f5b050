/*
 * The process-wide runtime: started once and on demand, ended at exit, unusable after fork(). Each
 * case has a process of its own, with a made-up catalog and made-up devices.
 */
#include "engine/worker/runtime.h"

#include "base/system.h"

#include "child.h"
#include "engine/fake_catalog.h"
#include "engine/fake_device.h"

#include <stdatomic.h>
#include <sys/mman.h>

enum { LIMIT_S = 60, THREADS = 8 };

/* Seen by the parent: how far a child had come when it ended. */
static atomic_int *progress;

static enum clr_availability wait_for_worker(const char *setting, struct clr_worker **worker)
{
    enum clr_availability availability;
    double start = child_now();

    while ((availability = clr_runtime_worker(setting, worker)) == CLR_COMING &&
           child_now() - start < LIMIT_S)
        usleep(1000);
    return availability;
}

static void test_start(void)
{
    struct clr_worker *worker = NULL, *again = NULL;

    child_ok(!clr_runtime_started() && !clr_runtime_forked(), "nothing starts by itself");
    child_ok(clr_runtime_known_catalog() == NULL, "nothing is known at first");
    child_ok(clr_runtime_started_worker(0) == NULL, "nor is there a worker");
    child_ok(!clr_runtime_started(), "asking for what is known starts nothing");

    fake_catalog_hold(true);
    child_ok(clr_runtime_worker("auto", &worker) == CLR_COMING, "the devices are looked for");
    child_ok(clr_runtime_started(), "which starts the runtime");
    fake_wait(&fake_catalog.discovered, 1, "discovery");
    child_ok(clr_runtime_worker("cpu", &worker) == CLR_COMING, "nobody waits for that");
    child_ok(clr_runtime_known_catalog() == NULL, "and nothing is known yet");
    fake_catalog_hold(false);
    child_ok(wait_for_worker("auto", &worker) == CLR_AVAILABLE, "then there is a worker");
    child_ok(worker == clr_runtime_started_worker(1), "of the GPU");
    child_ok(clr_runtime_worker("fast", &again) == CLR_AVAILABLE && again == worker,
             "the same for its name");
    child_ok(clr_runtime_started_worker(0) == NULL, "others are not started");
    child_ok(clr_runtime_worker("CPU", &again) == CLR_AVAILABLE && again != worker &&
                 again == clr_runtime_started_worker(0),
             "before they are asked for");
    child_ok(clr_runtime_worker("odd", &again) == CLR_NO_DEVICE, "an unusable device");
    child_ok(clr_runtime_worker("host", &again) == CLR_NO_DEVICE, "the host is no device");
    child_ok(clr_runtime_worker("none", &again) == CLR_NO_DEVICE, "no device of that name");
    child_ok(clr_runtime_started_worker(FAKE_DEVICES) == NULL, "no device of that number");
    child_ok(clr_runtime_known_catalog() != NULL &&
                 clr_runtime_known_catalog() == clr_runtime_catalog("cpu") &&
                 clr_runtime_catalog("cpu")->count == FAKE_DEVICES,
             "the catalog is known");
    child_ok(fake_read(&fake_catalog.discovered) == 1, "and was made once");
}

/* The first query's device is started together with discovery, so that it is ready the sooner. */
static void test_first_device(void)
{
    struct clr_worker *worker;

    clr_runtime_worker("slow", &worker);
    fake_wait(&fake.opened, 1, "the device of the first query");
    child_ok(clr_runtime_started_worker(0) != NULL && clr_runtime_started_worker(1) == NULL,
             "and of no other");
}

static void test_catalog(void)
{
    const struct clr_catalog *catalog = clr_runtime_catalog("cpu");

    child_ok(catalog != NULL && catalog->count == FAKE_DEVICES, "who asks for the list gets it");
    child_ok(clr_runtime_started_worker(0) == NULL && clr_runtime_started_worker(1) == NULL,
             "and no device is started for that");
}

/* The CPU device is looked for when a setting asks for it; the others then stay as they are. */
static void test_steps(void)
{
    struct clr_worker *worker = NULL, *again = NULL;
    const struct clr_catalog *catalog;

    fake_catalog.is_stepwise = true;
    child_ok(wait_for_worker("auto", &worker) == CLR_AVAILABLE, "a first look finds the GPU");
    catalog = clr_runtime_catalog("gpu");
    child_ok(catalog->count == FAKE_DEVICES - 1 && catalog->reach == CLR_REACH_GPUS,
             "a further look, with the same devices");
    fake_catalog_hold(true);
    child_ok(clr_runtime_worker("cpu", &again) == CLR_COMING, "the CPU device is looked for");
    fake_wait(&fake_catalog.discovered, 3, "discovery");
    child_ok(clr_runtime_worker("auto", &again) == CLR_AVAILABLE && again == worker,
             "the GPU serves meanwhile");
    child_ok(clr_runtime_known_catalog() == catalog, "what is known is known");
    fake_catalog_hold(false);
    child_ok(wait_for_worker("cpu", &again) == CLR_AVAILABLE &&
                 again == clr_runtime_started_worker(FAKE_DEVICES - 1),
             "then there is a worker of it");
    child_ok(clr_runtime_worker("auto", &again) == CLR_AVAILABLE && again == worker,
             "and the GPU's is the same");
    child_ok(clr_runtime_catalog("slow")->count == FAKE_DEVICES &&
                 catalog->count == FAKE_DEVICES - 1,
             "who has the catalog of before keeps it");
    child_ok(clr_runtime_worker("host", &again) == CLR_NO_DEVICE &&
                 fake_read(&fake_catalog.discovered) == 3,
             "and nothing is looked for twice");
}

/* If there is no memory for a longer list, the shorter one remains. */
static void test_steps_memory(void)
{
    struct clr_worker *worker = NULL, *none = NULL;

    fake_catalog.is_stepwise = true;
    /* No worker yet: the allocation that fails might be its. */
    child_ok(clr_runtime_catalog("auto")->count == FAKE_DEVICES - 1, "a first look");
    clr_memory_fail_after(0);
    child_ok(clr_runtime_catalog("cpu")->count == FAKE_DEVICES - 1, "no memory for another");
    child_ok(clr_memory_fail_after(-1), "which was the allocation that failed");
    child_ok(clr_runtime_worker("cpu", &none) == CLR_NO_DEVICE, "there is no CPU device then");
    child_ok(clr_runtime_worker("auto", &worker) == CLR_AVAILABLE, "and the GPU serves");
}

static void test_no_device(void)
{
    struct clr_worker *worker;

    fake_catalog.empty = true;
    child_ok(clr_runtime_catalog("cpu")->count == 0, "an empty catalog");
    child_ok(clr_runtime_worker("auto", &worker) == CLR_NO_DEVICE, "has no device");
    child_ok(clr_runtime_catalog("cpu")->status.error == -1001, "for a reason");
}

static void test_memory(void)
{
    struct clr_worker *worker;

    clr_memory_fail_after(1); /* 0 is the catalog's own, in this test */
    child_ok(wait_for_worker("auto", &worker) == CLR_NO_DEVICE, "no memory for the workers");
    child_ok(clr_memory_fail_after(-1), "which was the allocation that failed");
    child_ok(clr_runtime_catalog("cpu") != NULL && clr_runtime_started_worker(1) == NULL,
             "what there is can be asked for");
}

static void *ask(void *unused)
{
    struct clr_worker *worker = NULL;

    (void)unused;
    clr_runtime_catalog("cpu");
    clr_runtime_known_catalog();
    wait_for_worker("auto", &worker);
    return worker;
}

static void test_threads(void)
{
    pthread_t threads[THREADS];
    struct clr_worker *worker;

    for (int i = 0; i < THREADS; i++)
        TAP_NEED(pthread_create(&threads[i], NULL, ask, NULL) == 0, "no thread");
    for (int i = 0; i < THREADS; i++) {
        void *found;
        pthread_join(threads[i], &found);
        child_ok(clr_runtime_worker("auto", &worker) == CLR_AVAILABLE && found == worker,
                 "all threads have the same worker");
    }
    child_ok(fake_read(&fake_catalog.discovered) == 1, "one discovery");
    fake_wait(&fake.opened, 1, "the device");
    child_ok(fake_read(&fake.opened) == 1, "one device");
}

static void look_after_fork(void)
{
    struct clr_worker *worker = NULL;

    child_leaves_threads_behind();
    child_ok(clr_runtime_forked(), "it is known that this is a child");
    child_ok(clr_runtime_worker("auto", &worker) == CLR_FORKED, "which has no device");
    child_ok(clr_runtime_catalog("cpu") == NULL && clr_runtime_known_catalog() == NULL,
             "no catalog");
    child_ok(clr_runtime_started_worker(1) == NULL, "no worker");
    *progress = 1;
}

/* At every stage: while devices are looked for, while one is opened, and with one at work. */
static void test_fork(void)
{
    struct clr_worker *worker;

    fake_catalog_hold(true);
    fake_set(hold_open, true);
    clr_runtime_worker("auto", &worker);
    fake_wait(&fake_catalog.discovered, 1, "discovery");
    child_ok(child_run(look_after_fork, LIMIT_S), "a child while devices are looked for");
    fake_catalog_hold(false);
    fake_wait(&fake.opened, 1, "the device");
    child_ok(child_run(look_after_fork, LIMIT_S), "a child while the device is opened");
    fake_set(hold_open, false);
    child_ok(wait_for_worker("auto", &worker) == CLR_AVAILABLE && !clr_runtime_forked(),
             "the parent goes on");
    child_ok(child_run(look_after_fork, LIMIT_S), "a child while the device is there");
}

static void fork_again(void)
{
    child_leaves_threads_behind();
    child_ok(child_run(look_after_fork, LIMIT_S), "a child of the child");
}

static void test_fork_twice(void)
{
    clr_runtime_catalog("cpu");
    child_ok(child_run(fork_again, LIMIT_S), "a child that forks");
}

static void start_in_child(void)
{
    struct clr_worker *worker;

    child_ok(!clr_runtime_forked() && wait_for_worker("auto", &worker) == CLR_AVAILABLE,
             "nothing had been started: the child may");
}

static void test_fork_before_start(void)
{
    child_ok(child_run(start_in_child, LIMIT_S), "a child of a process without a runtime");
}

static void *release_later(void *unused)
{
    (void)unused;
    usleep(300000);
    *progress = 2;
    fake_catalog_hold(false);
    fake_set(hold_build, false);
    return NULL;
}

static void release_in_background(void)
{
    pthread_t thread;

    *progress = 1;
    TAP_NEED(pthread_create(&thread, NULL, release_later, NULL) == 0, "no thread");
    pthread_detach(thread);
}

/* exit() is called when this returns, and must wait: drivers end under the feet of who does not. */
static void exit_while_discovering(void)
{
    struct clr_worker *worker;

    fake_catalog_hold(true);
    clr_runtime_worker("auto", &worker);
    fake_wait(&fake_catalog.discovered, 1, "discovery");
    release_in_background();
}

static void exit_while_building(void)
{
    struct clr_worker *worker;

    fake_set(hold_build, true);
    wait_for_worker("auto", &worker);
    clr_worker_readiness(worker, CLR_SUM, CLR_REAL);
    fake_wait(&fake.built, 1, "a build");
    release_in_background();
}

/* What a connection does when it closes, where nothing sees to the exit. */
static void rest_while_building(void)
{
    exit_while_building();
    clr_runtime_rest();
    child_ok(*progress == 2, "closing waits for the build");
}

static void rest_with_guard(void)
{
    clr_runtime_guard_exit();
    exit_while_building();
    clr_runtime_rest();
    child_ok(*progress == 1, "closing does not wait, since the exit does");
}

/* A driver that hangs costs the limit for waiting once, however many handlers there are. */
static void exit_while_hanging(void)
{
    struct clr_worker *worker;

    clr_runtime_guard_exit();
    fake_set(hold_build, true);
    wait_for_worker("auto", &worker);
    clr_worker_readiness(worker, CLR_SUM, CLR_REAL);
    fake_wait(&fake.built, 1, "a build");
}

/* Called at the exit, after the runtime's own part: time for what is discovered late. A look at it
   would take the lock, whose order of events would hide what the sanitizer is to see. */
static void await_late_discovery(void)
{
    usleep(3 * 1000 * 1000);
}

static void *release_late(void *unused)
{
    (void)unused;
    usleep(11 * 1000 * 1000);
    fake_catalog_hold(false);
    return NULL;
}

/* What comes when nobody waits for it any more is not looked at while it comes: the thread
   sanitizer would see that. */
static void exit_before_discovery(void)
{
    struct clr_worker *worker;
    pthread_t thread;

    atexit(await_late_discovery);
    fake_catalog_hold(true);
    clr_runtime_worker("auto", &worker);
    fake_wait(&fake_catalog.discovered, 1, "discovery");
    TAP_NEED(pthread_create(&thread, NULL, release_late, NULL) == 0, "no thread");
    pthread_detach(thread);
}

static void exit_at_once(void)
{
    struct clr_worker *worker;
    clr_runtime_worker("auto", &worker);
}

static void run(void (*test)(void), const char *name)
{
    *progress = 0;
    tap_ok(child_run(test, LIMIT_S), "%s", name);
}

static void nothing(void)
{
}

TAP_TEST(all_tests)
{
    bool passed = true;
    double start;

    progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    TAP_NEED(progress != MAP_FAILED, "no shared memory");
    run(test_start, "started on demand");
    run(test_first_device, "the first query's device");
    run(test_catalog, "the catalog");
    run(test_steps, "devices that are looked for step by step");
    run(test_steps_memory, "no memory for the next step");
    run(test_no_device, "no device");
    run(test_memory, "no memory");
    run(test_threads, "many threads at the start");
    run(test_fork, "fork() at every stage");
    tap_is_int64(*progress, 1, "... and the children got to their ends");
    run(test_fork_twice, "fork() in a child");
    run(test_fork_before_start, "fork() before the start");
    run(exit_while_discovering, "exit() while devices are looked for");
    tap_is_int64(*progress, 2, "... waits for that");
    run(exit_while_building, "exit() while a program is built");
    tap_is_int64(*progress, 2, "... waits for that");
    run(rest_while_building, "closing while a program is built");
    if (clr_system_guard_exit(nothing))
        run(rest_with_guard, "closing with a guarded exit");
    else
        tap_skip(1, "this C library can't guard the exit");
    tap_is_int64(*progress, 2, "... and the exit waits");
    start = child_now();
    run(exit_while_hanging, "exit() while a driver hangs");
    tap_ok(child_now() - start < 18.0, "... waits for 10 seconds, and not again: %.1f s",
           child_now() - start);
    if (tap_is_quick())
        tap_skip(1, "exit() before the devices are known takes 13 seconds");
    else
        run(exit_before_discovery, "exit() before the devices are known");
    for (int i = 0; i < 50; i++)
        passed = child_run(exit_at_once, LIMIT_S) && passed;
    tap_ok(passed, "exit() right after the start, 50 times");
}

/* A worker's tasks on a made-up device: their order, their ends, and who frees them. */
#include "engine/worker/worker.h"

#include "base/clock.h"
#include "engine/fake_device.h"

#include <stdatomic.h>
#include <unistd.h>

enum { LONG_MS = 20000, SHORT_MS = 100 };

static const struct clr_device_info info = {.name = "made up"};

/* Workers live as long as the process, by contract; known here, so that they are no leaks. */
static struct clr_worker *workers[16];
static int worker_count;

/* A task that counts its steps and does as it is told. */
struct probe {
    struct clr_task task;
    int steps, wanted;
    enum clr_code code;
    atomic_bool *hold;  /* while set, a step does not return */
    atomic_bool *until; /* unless NULL: steps go on until it is set, */
    atomic_bool *sets;  /* by a step of another one */
    int pause_ms;       /* that a step takes at least */
    atomic_int *order;  /* of all tasks' steps */
    int last;           /* the number of its last step in that order */
    atomic_int *begun;  /* unless NULL: it goes on by itself after its first step; how many do, */
    int others;         /* and how many did when it began */
    int64_t since;
};

static atomic_int destroyed;

static bool step(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    struct probe *probe = (struct probe *)(void *)task;

    (void)device;
    while (probe->hold != NULL && atomic_load(probe->hold))
        usleep(1000);
    usleep(1000 * (useconds_t)probe->pause_ms);
    if (probe->sets != NULL)
        atomic_store(probe->sets, true);
    if (probe->order != NULL)
        probe->last = atomic_fetch_add(probe->order, 1);
    if (probe->code != CLR_OK)
        clr_status_set(status, probe->code, probe->code == CLR_DEVICE ? -5 : 0, "a probe");
    probe->steps++;
    if (probe->begun != NULL && probe->steps == 1 && probe->code == CLR_OK) {
        probe->others = atomic_fetch_add(probe->begun, 1);
        task->is_under_way = true;
        return true;
    }
    if (probe->begun != NULL)
        atomic_fetch_sub(probe->begun, 1);
    if (probe->until != NULL)
        return !atomic_load(probe->until) && clr_clock_ns() - probe->since < LONG_MS * 1000000LL;
    return probe->steps < probe->wanted && probe->code == CLR_OK;
}

static void destroy(struct clr_task *task)
{
    clr_memory_free(task);
    atomic_fetch_add(&destroyed, 1);
}

static struct probe *new_probe(enum clr_task_kind kind, int wanted)
{
    struct probe *probe = clr_memory_alloc(sizeof *probe);

    TAP_NEED(probe != NULL, "no memory");
    memset(probe, 0, sizeof *probe);
    probe->wanted = wanted;
    probe->since = clr_clock_ns();
    clr_task_init(&probe->task, kind, step, destroy);
    return probe;
}

static struct clr_worker *start(void)
{
    struct clr_status status = {.code = CLR_OK};
    struct clr_worker *worker;

    atomic_store(&destroyed, 0);
    worker = clr_worker_start(&info, &status);
    TAP_NEED(worker != NULL, "%s", status.message);
    clr_worker_rest(worker, LONG_MS);
    workers[worker_count++] = worker;
    return worker;
}

static void wait_destroyed(int count, const char *what)
{
    for (int i = 0; i < LONG_MS && atomic_load(&destroyed) < count; i++)
        usleep(1000);
    tap_is_int64(atomic_load(&destroyed), count, "%s", what);
}

/* Releases probes; then so many are freed in all, and the worker has nothing left to do. */
static void end(struct clr_worker *worker, struct probe *const *probes, int count, int freed)
{
    for (int i = 0; i < count; i++)
        clr_task_release(&probes[i]->task);
    wait_destroyed(freed, "each is freed once");
    tap_ok(clr_worker_stop(worker, LONG_MS), "the worker ends");
}

static enum clr_task_phase await(struct clr_worker *worker, struct probe *probe, int64_t timeout_ms,
                                 struct clr_status *status)
{
    clr_status_clear(status);
    return clr_worker_await(worker, &probe->task, timeout_ms, NULL, status);
}

/* A process may end while a worker rests: copies that a closed connection leaves, and builds that
   the worker asks for itself, do not have it go on with builds; somebody who asks does. */
TAP_TEST(test_rest)
{
    struct clr_worker *worker = start();
    struct probe *build = new_probe(CLR_TASK_BUILD, 1), *left = new_probe(CLR_TASK_BACKGROUND, 1),
                 *asked = new_probe(CLR_TASK_URGENT, 1);
    const int before = atomic_load(&destroyed);
    struct clr_status status;

    clr_worker_post(worker, &build->task);
    clr_worker_post(worker, &left->task);
    clr_task_release(&left->task);
    wait_destroyed(before + 1, "what is left is given back");
    usleep(50000);
    clr_task_release(&build->task);
    tap_is_int64(atomic_load(&destroyed), before + 1, "... and the worker still rests");
    tap_is_int64(clr_worker_post(worker, &asked->task), CLR_READY, "until somebody asks");
    await(worker, asked, LONG_MS, &status);
    clr_task_release(&asked->task);
    wait_destroyed(before + 3, "... then it goes on with the build");
}

static bool stop_third_time(void *context)
{
    return ++*(int *)context == 3;
}

/* Who waits can be told to stop; the task goes on, and ends without them. */
TAP_TEST(test_watch)
{
    struct clr_worker *worker = start();
    struct probe *held = new_probe(CLR_TASK_URGENT, 1);
    const int before = atomic_load(&destroyed);
    struct clr_status status = {.code = CLR_OK};
    atomic_bool hold = true;
    int asked = 0;
    const struct clr_watch watch = {stop_third_time, &asked};

    held->hold = &hold;
    clr_worker_post(worker, &held->task);
    tap_ok(clr_worker_await(worker, &held->task, LONG_MS, &watch, &status) == CLR_TASK_PENDING,
           "a wait can be stopped");
    tap_is_int64(asked, 3, "... when the watch wants it");
    tap_ok(!clr_worker_has_failed(worker), "... which is no failure of the device");
    clr_task_release(&held->task);
    atomic_store(&hold, false);
    wait_destroyed(before + 1, "... and the task ends alone");
    clr_worker_stop(worker, LONG_MS);
}

/* Steps of the background go on between urgent tasks, and builds come last. */
TAP_TEST(test_order)
{
    struct clr_worker *worker = start();
    struct probe *first = new_probe(CLR_TASK_URGENT, 1), *build = new_probe(CLR_TASK_BUILD, 2);
    struct probe *steady = new_probe(CLR_TASK_BACKGROUND, 3), *urgent[3];
    struct clr_status status;
    atomic_bool hold = true;
    atomic_int order = 0;

    first->hold = &hold;
    build->order = steady->order = &order;
    clr_worker_post(worker, &first->task);
    clr_worker_post(worker, &build->task);
    clr_worker_post(worker, &steady->task);
    for (int i = 0; i < 3; i++) {
        urgent[i] = new_probe(CLR_TASK_URGENT, 1);
        urgent[i]->order = &order;
        clr_worker_post(worker, &urgent[i]->task);
    }
    atomic_store(&hold, false);
    tap_ok(await(worker, build, LONG_MS, &status) == CLR_TASK_DONE, "a build ends");
    tap_is_int64(build->last, 7, "after everything else");
    tap_is_int64(build->steps, 2, "with all its steps");
    tap_ok(await(worker, steady, LONG_MS, &status) == CLR_TASK_DONE && steady->steps == 3 &&
               steady->last < urgent[2]->last + 2,
           "the background takes turns with what is urgent");
    tap_ok(urgent[0]->last < urgent[1]->last && urgent[1]->last < urgent[2]->last,
           "urgent tasks are done in their order");
    clr_task_release(&first->task);
    clr_task_release(&build->task);
    clr_task_release(&steady->task);
    end(worker, urgent, 3, 6);
}

/* Tasks that go on by themselves: others begin before the first of them is waited for, as many as
   the device has room for, and each ends in its turn. */
TAP_TEST(test_under_way)
{
    enum { TASKS = 3 * CLR_TASKS_UNDER_WAY };
    struct clr_worker *worker = start();
    struct probe *first = new_probe(CLR_TASK_URGENT, 1), *build = new_probe(CLR_TASK_BUILD, 1);
    struct probe *queued[TASKS];
    atomic_int order = 0, begun = 0;
    struct clr_status status;
    atomic_bool hold = true;
    int most = 0;
    bool in_turn = true;

    first->hold = &hold;
    build->order = &order;
    clr_worker_post(worker, &first->task);
    clr_worker_post(worker, &build->task);
    for (int i = 0; i < TASKS; i++) {
        queued[i] = new_probe(CLR_TASK_URGENT, 1);
        queued[i]->order = &order;
        queued[i]->begun = &begun;
        clr_worker_post(worker, &queued[i]->task);
    }
    atomic_store(&hold, false);
    for (int i = 0; i < TASKS; i++) {
        tap_ok(await(worker, queued[i], LONG_MS, &status) == CLR_TASK_DONE && queued[i]->steps == 2,
               "task %d ends after two steps", i);
        in_turn = in_turn && (i == 0 || queued[i]->last > queued[i - 1]->last);
        most = queued[i]->others > most ? queued[i]->others : most;
    }
    tap_ok(in_turn, "they end in their order");
    tap_is_int64(most, CLR_TASKS_UNDER_WAY - 1, "so many others are under way when one begins");
    tap_ok(await(worker, build, LONG_MS, &status) == CLR_TASK_DONE && build->last == 2 * TASKS,
           "a build waits for all of them");
    clr_task_release(&first->task);
    clr_task_release(&build->task);
    end(worker, queued, TASKS, TASKS + 2);
}

/* A device that is lost while tasks are under way: they fail, and so does what waits. */
TAP_TEST(test_loss_under_way)
{
    struct clr_worker *worker = start();
    struct probe *first = new_probe(CLR_TASK_URGENT, 1), *queued[3];
    struct clr_status status;
    atomic_bool hold = true;
    atomic_int begun = 0;

    first->hold = &hold;
    clr_worker_post(worker, &first->task);
    for (int i = 0; i < 3; i++) {
        queued[i] = new_probe(CLR_TASK_URGENT, 1);
        queued[i]->begun = &begun;
        clr_worker_post(worker, &queued[i]->task);
    }
    queued[2]->code = CLR_DEVICE;
    atomic_store(&hold, false);
    for (int i = 0; i < 3; i++)
        tap_ok(await(worker, queued[i], LONG_MS, &status) == CLR_TASK_FAILED && status.error == -5,
               "task %d fails with the device", i);
    tap_is_int64(queued[0]->steps, 1, "nobody waits for what was under way");
    clr_task_release(&first->task);
    end(worker, queued, 3, 4);
}

TAP_TEST(test_failures)
{
    struct clr_worker *worker = start();
    struct probe *probe = new_probe(CLR_TASK_BUILD, 1), *asked = new_probe(CLR_TASK_URGENT, 1);
    struct clr_worker_report report;
    struct clr_status status;

    probe->code = CLR_DEVICE;
    clr_worker_post(worker, &probe->task);
    clr_worker_post(worker, &asked->task);
    clr_task_release(&asked->task);
    tap_ok(await(worker, probe, LONG_MS, &status) == CLR_TASK_FAILED && status.error == -5,
           "a build that fails");
    clr_task_release(&probe->task);
    clr_worker_report(worker, &report);
    tap_ok(!report.failed && report.status.error == -5, "leaves the device in use");

    probe = new_probe(CLR_TASK_BACKGROUND, 1);
    probe->code = CLR_NOMEM;
    clr_worker_post(worker, &probe->task);
    tap_ok(await(worker, probe, LONG_MS, &status) == CLR_TASK_FAILED && status.code == CLR_NOMEM,
           "so does a task without memory");
    clr_task_release(&probe->task);
    tap_ok(!clr_worker_has_failed(worker), "which is a matter of its own");

    probe = new_probe(CLR_TASK_URGENT, 1);
    probe->code = CLR_DEVICE;
    clr_worker_post(worker, &probe->task);
    tap_ok(await(worker, probe, LONG_MS, &status) == CLR_TASK_FAILED && status.error == -5,
           "an error of OpenCL");
    tap_ok(clr_worker_has_failed(worker), "ends the use of the device");
    clr_task_release(&probe->task);
    probe = new_probe(CLR_TASK_URGENT, 1);
    tap_ok(clr_worker_post(worker, &probe->task) == CLR_FAILED, "no more tasks are taken");
    clr_task_release(&probe->task);
    end(worker, NULL, 0, 5);
}

/* A task that does not return is given up, with all that waits behind it, and freed when it does.
 */
TAP_TEST(test_hang)
{
    struct clr_worker *worker = start();
    struct probe *hanging = new_probe(CLR_TASK_URGENT, 1);
    struct probe *queued = new_probe(CLR_TASK_BACKGROUND, 1);
    struct clr_status status;
    atomic_bool hold = true;

    hanging->hold = &hold;
    clr_worker_post(worker, &hanging->task);
    clr_worker_post(worker, &queued->task);
    tap_ok(await(worker, hanging, SHORT_MS, &status) == CLR_TASK_FAILED,
           "nobody waits longer than he says");
    tap_is_string(status.message, "the device did not answer within 100 ms", "and is told so");
    tap_ok(clr_worker_has_failed(worker), "the device counts as failed");
    tap_ok(await(worker, queued, LONG_MS, &status) == CLR_TASK_FAILED, "what waits fails");
    clr_task_release(&hanging->task);
    clr_task_release(&queued->task);
    wait_destroyed(1, "and is freed");
    atomic_store(&hold, false);
    wait_destroyed(2, "what hung is freed when the device answers");
    tap_ok(clr_worker_stop(worker, LONG_MS), "the worker ends");
}

/* Who waits for a task of the background that others keep from its end gives up, and the device is
   none the worse for it. */
TAP_TEST(test_busy)
{
    struct clr_worker *worker = start();
    struct probe *others[8], *awaited = new_probe(CLR_TASK_BACKGROUND, 50);
    const int count = sizeof others / sizeof others[0];
    struct clr_status status;

    awaited->pause_ms = 5;
    for (int i = 0; i < count; i++) {
        others[i] = new_probe(CLR_TASK_BACKGROUND, 50);
        others[i]->pause_ms = 5;
        clr_worker_post(worker, &others[i]->task);
    }
    clr_worker_post(worker, &awaited->task);
    tap_ok(await(worker, awaited, SHORT_MS, &status) == CLR_TASK_PENDING,
           "a busy device is not waited for without end");
    tap_ok(!clr_worker_has_failed(worker), "... and has not failed");
    tap_ok(await(worker, awaited, LONG_MS, &status) == CLR_TASK_DONE, "it gets there");
    clr_task_release(&awaited->task);
    end(worker, others, count, count + 1);
}

/* However many wait, and however many steps a task has: the device's time begins anew with each. */
TAP_TEST(test_progress)
{
    enum { TASKS = 12, PAUSE_MS = 120, TIMEOUT_MS = 1000 };
    struct clr_worker *worker = start();
    struct probe *queued[TASKS], *steps = new_probe(CLR_TASK_URGENT, TASKS);
    struct clr_status status;

    for (int i = 0; i < TASKS; i++) {
        queued[i] = new_probe(CLR_TASK_URGENT, 1);
        queued[i]->pause_ms = PAUSE_MS;
        clr_worker_post(worker, &queued[i]->task);
    }
    tap_ok(await(worker, queued[TASKS - 1], TIMEOUT_MS, &status) == CLR_TASK_DONE,
           "a task that waits behind others is done");
    steps->pause_ms = PAUSE_MS;
    clr_worker_post(worker, &steps->task);
    tap_ok(await(worker, steps, TIMEOUT_MS, &status) == CLR_TASK_DONE,
           "a task that takes many steps is done");
    tap_ok(!clr_worker_has_failed(worker), "the device has not failed");
    for (int i = 0; i < TASKS; i++)
        clr_task_release(&queued[i]->task);
    clr_task_release(&steps->task);
    end(worker, NULL, 0, TASKS + 1);
}

/* A worker that always has something else to do builds all the same, and who waits for a task that
   has not begun is sent away. */
TAP_TEST(test_build_turn)
{
    enum { TASKS = 60 };
    struct clr_worker *worker = start();
    struct probe *endless = new_probe(CLR_TASK_URGENT, 1), *queued[TASKS];
    struct probe *build = new_probe(CLR_TASK_BUILD, 1);
    atomic_bool built = false, hold = true;
    struct clr_status status;

    endless->until = build->sets = &built;
    build->hold = &hold;
    clr_worker_post(worker, &endless->task);
    clr_worker_post(worker, &build->task);
    for (int i = 0; i < TASKS; i++) {
        queued[i] = new_probe(CLR_TASK_URGENT, 1);
        queued[i]->pause_ms = 20;
        clr_worker_post(worker, &queued[i]->task);
    }
    tap_ok(await(worker, queued[TASKS - 1], LONG_MS, &status) == CLR_TASK_IDLE,
           "nobody who has not begun waits for a build");
    tap_ok(queued[TASKS - 1]->steps == 0, "nothing was done for him");
    tap_ok(await(worker, endless, SHORT_MS, &status) == CLR_TASK_IDLE,
           "nor for long who has begun");
    tap_ok(!clr_worker_has_failed(worker), "which is no failure of the device");
    atomic_store(&hold, false);
    tap_ok(await(worker, endless, LONG_MS, &status) == CLR_TASK_DONE && atomic_load(&built),
           "something was built though there was always something else to do");
    clr_task_release(&endless->task);
    clr_task_release(&build->task);
    end(worker, queued, TASKS, TASKS + 2);
}

TAP_TEST(test_building)
{
    struct clr_worker *worker = start();
    struct probe *build = new_probe(CLR_TASK_BUILD, 1), *urgent = new_probe(CLR_TASK_URGENT, 1);
    enum clr_readiness readiness;
    struct clr_status status;
    atomic_bool hold = true;
    int i = 0;

    build->hold = &hold;
    clr_worker_post(worker, &build->task);
    while ((readiness = clr_worker_post(worker, &urgent->task)) == CLR_READY && i++ < LONG_MS) {
        await(worker, urgent, LONG_MS, &status);
        clr_task_release(&urgent->task);
        urgent = new_probe(CLR_TASK_URGENT, 1);
        usleep(1000);
    }
    tap_ok(readiness == CLR_STARTING, "nobody waits for a build");
    atomic_store(&hold, false);
    tap_ok(await(worker, build, LONG_MS, &status) == CLR_TASK_DONE, "which ends");
    clr_task_release(&build->task);
    clr_task_release(&urgent->task);
    tap_ok(clr_worker_stop(worker, LONG_MS), "the worker ends");
}

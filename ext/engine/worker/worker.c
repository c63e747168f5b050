#include "engine/worker/worker.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/system.h"
#include "opencl/reduction/reducer.h"

#include <sched.h>
#include <stddef.h>

/*
 * For how long a thread polls before it sleeps: one that waits for a scan, and the worker, for
 * another scan that follows at once, or that is announced. To be woken takes 20 to 200 us on a
 * virtual machine, which is as long as a scan of 20 to 100 million values.
 */
enum { AWAIT_SPIN_NS = 1000000, SPIN_NS = 200000 };

/* How often a watch is asked while something is waited for. */
enum { WATCH_MS = 20 };

/* Builds give way to everything else, but not for longer than this. */
enum { BUILD_DELAY_NS = 500000000 };

/* PAUSED: it could not be built for want of something; asked for often enough, it is REQUESTED. */
enum program_phase { UNREQUESTED, REQUESTED, BUILT, UNBUILDABLE, PAUSED };

/* A device that is short of resources or host memory so many times, with nothing done in between,
   is taken for lost: NVIDIA's says the same when its context is broken. */
enum { MOST_SHORTAGES = 3 };

/* How long the opening of a device pauses that is short of something: at first, and at most. */
enum { OPEN_PAUSE_MS = 100, OPEN_MOST_PAUSE_MS = 10000 };

/* First in, first out. */
struct queue {
    struct clr_task *first, **last;
    int count;
};

/* The kinds whose tasks may be under way. */
#define KINDS_UNDER_WAY ((int)CLR_TASK_JOB + 1)

struct clr_worker {
    const struct clr_device_info *info;
    pthread_mutex_t lock;
    pthread_cond_t work_arrived, got_on; /* a milestone, and that the thread has ended */
    bool stopping, ended, failed;
    bool opened;         /* the device is */
    bool resting;        /* nothing is opened or built until somebody asks for something */
    bool starting;       /* the thread is opening the device, or building */
    unsigned milestones; /* how often a step of that has ended: who waits sees that it goes on */
    int64_t since;       /* when the thread began what it does now, by the clock; 0: nothing */
    int64_t polls_since; /* when it last had a reason to: see SPIN_NS; 0: it has none */
    struct program {
        enum program_phase phase;
        struct clr_backoff pause;
    } programs[CLR_OPERATIONS][CLR_ELEMENTS];
    struct queue tasks[CLR_TASK_KINDS];
    struct queue under_way[KINDS_UNDER_WAY]; /* that the device is at */
    struct queue over;                       /* the worker's references to them are to be dropped */
    struct clr_worker_report report;

    /* The thread's own. */
    struct clr_device *device;
    bool urgent_last, work_last; /* what was served: an urgent task; anything not background */
    int shortages;               /* since the device last did something */
    int64_t build_wanted;        /* since when something is to be built; 0: nothing is */
};

/* Functions named locked_ need the lock. */

/* ---- Tasks. */

void clr_task_init(struct clr_task *task, enum clr_task_kind kind, clr_task_step *step,
                   void (*destroy)(struct clr_task *))
{
    task->kind = kind;
    task->step = step;
    task->destroy = destroy;
    task->log = NULL;
    atomic_init(&task->references, 1);
    task->next = NULL;
    task->has_begun = task->is_under_way = false;
    task->place = 0;
    atomic_init(&task->phase, CLR_TASK_IDLE);
    clr_system_cond_init(&task->changed);
    clr_status_clear(&task->status);
}

struct clr_task *clr_task_retain(struct clr_task *task)
{
    atomic_fetch_add(&task->references, 1);
    return task;
}

void clr_task_release(struct clr_task *task)
{
    if (atomic_fetch_sub(&task->references, 1) != 1)
        return;
    pthread_cond_destroy(&task->changed);
    if (task->destroy != NULL)
        task->destroy(task);
    else
        clr_memory_free(task);
}

static void init_queue(struct queue *queue)
{
    queue->first = NULL;
    queue->last = &queue->first;
    queue->count = 0;
}

static void push(struct queue *queue, struct clr_task *task)
{
    task->next = NULL;
    *queue->last = task;
    queue->last = &task->next;
    queue->count++;
}

/* Takes a task that is in the queue out of it. */
static struct clr_task *take_out(struct queue *queue, struct clr_task *task)
{
    struct clr_task **link = &queue->first;

    while (*link != task)
        link = &(*link)->next;
    *link = task->next;
    if (task->next == NULL)
        queue->last = link;
    queue->count--;
    return task;
}

/* Returns the first task, now out of the queue, or NULL. */
static struct clr_task *pop(struct queue *queue)
{
    return queue->first == NULL ? NULL : take_out(queue, queue->first);
}

/* ---- How tasks end, and the use of the device. */

/* Drops the worker's references to the tasks that are over: without the lock. */
static void drop_ended(struct clr_worker *worker)
{
    struct clr_task *task;

    do {
        pthread_mutex_lock(&worker->lock);
        task = pop(&worker->over);
        pthread_mutex_unlock(&worker->lock);
        if (task != NULL)
            clr_task_release(task);
    } while (task != NULL);
}

/* Ends a task that is in no queue, and wakes who waits for it. */
static void locked_end(struct clr_worker *worker, struct clr_task *task, enum clr_task_phase phase,
                       const struct clr_status *status)
{
    task->status = *status;
    task->phase = phase;
    push(&worker->over, task);
    pthread_cond_broadcast(&task->changed);
}

/* Fails all that is queued or under way, with the report's status. */
static void locked_fail_all(struct clr_worker *worker)
{
    struct clr_task *task;
    int kind;

    for (kind = 0; kind < CLR_TASK_KINDS; kind++) {
        while (kind < KINDS_UNDER_WAY && (task = pop(&worker->under_way[kind])) != NULL)
            locked_end(worker, task, CLR_TASK_FAILED, &worker->report.status);
        while ((task = pop(&worker->tasks[kind])) != NULL)
            locked_end(worker, task, CLR_TASK_FAILED, &worker->report.status);
    }
}

/* The device is out of use. */
static void locked_fail(struct clr_worker *worker, const struct clr_status *status)
{
    worker->failed = true;
    worker->report.status = *status;
    locked_fail_all(worker);
}

/* Whether a failure ends the use of the device: a shortage too, if it is one of several. */
static bool locked_is_lost(struct clr_worker *worker, struct clr_status *status)
{
    if (status->code == CLR_NOMEM && status->error != 0 && ++worker->shortages == MOST_SHORTAGES)
        status->code = CLR_DEVICE;
    return status->code == CLR_DEVICE;
}

/* ---- The thread. */

/* The thread leaves the lock to do one thing on the device, and comes back. */
static void locked_leave(struct clr_worker *worker)
{
    worker->since = clr_clock_ns();
    pthread_mutex_unlock(&worker->lock);
}

static void come_back(struct clr_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    worker->since = 0;
}

/* An opening or a build begins, which can take a driver seconds: who waits for something else is
   told. */
static void locked_start(struct clr_worker *worker)
{
    struct clr_task *task;

    worker->starting = true;
    for (task = worker->tasks[CLR_TASK_URGENT].first; task != NULL; task = task->next)
        pthread_cond_broadcast(&task->changed);
    locked_leave(worker);
}

/* A step of an opening or a build has ended. */
static void locked_mark(struct clr_worker *worker)
{
    worker->milestones++;
    pthread_cond_broadcast(&worker->got_on);
}

/* Keeps the first bytes of a compiler's log, in whole characters. */
static void keep_log(struct clr_worker_report *report, const char *log)
{
    size_t size = strlen(log);

    if (size >= sizeof report->build_log) {
        size = sizeof report->build_log - 1;
        while (size > 0 && ((unsigned char)log[size] & 0xc0) == 0x80)
            size--;
    }
    memcpy(report->build_log, log, size);
    report->build_log[size] = '\0';
}

/* Reports what an opening or a build cost, and how it failed. log: a build's, or NULL. */
static void locked_report_start(struct clr_worker *worker, int64_t start, const char *log,
                                const struct clr_status *status)
{
    worker->starting = false;
    locked_mark(worker);
    worker->report.startup_time += clr_clock_ns() - start;
    if (status->code == CLR_OK)
        return;
    worker->report.status = *status;
    if (log != NULL)
        keep_log(&worker->report, log);
}

/* Returns the least number that no task under way of a kind has. */
static int locked_find_place(const struct clr_worker *worker, enum clr_task_kind kind)
{
    const struct clr_task *task = worker->under_way[kind].first;
    int place = 0;

    while (task != NULL) {
        if (task->place != place) {
            task = task->next;
            continue;
        }
        place++;
        task = worker->under_way[kind].first;
    }
    return place;
}

/* The next step of a task that has been taken out of its queue. */
static void locked_step(struct clr_worker *worker, struct clr_task *task)
{
    const enum clr_task_kind kind = task->kind;
    struct clr_status status;
    int64_t start = clr_clock_ns();
    bool again;

    if (!task->has_begun && (int)kind < KINDS_UNDER_WAY)
        task->place = locked_find_place(worker, kind);
    task->has_begun = true;
    if (kind == CLR_TASK_BUILD)
        locked_start(worker);
    else
        locked_leave(worker);
    clr_status_clear(&status);
    again = task->step(task, worker->device, &status);
    come_back(worker);
    if (kind == CLR_TASK_BUILD)
        locked_report_start(worker, start, task->log, &status);
    else if (!worker->failed && locked_is_lost(worker, &status))
        locked_fail(worker, &status);
    else if (status.code != CLR_OK && !worker->failed)
        worker->report.status = status;
    else if ((int)kind < KINDS_UNDER_WAY && !again)
        worker->shortages = 0;
    clr_memory_free(task->log);
    task->log = NULL;
    /* A build's failure is in the report; the task goes on with what else there is to build. */
    if (worker->failed)
        locked_end(worker, task, CLR_TASK_FAILED, &worker->report.status);
    else if (again && task->is_under_way)
        push(&worker->under_way[kind], task);
    else if (again)
        push(&worker->tasks[kind], task);
    else
        locked_end(worker, task, status.code == CLR_OK ? CLR_TASK_DONE : CLR_TASK_FAILED, &status);
}

static void locked_step_first(struct clr_worker *worker, enum clr_task_kind kind)
{
    locked_step(worker, pop(&worker->tasks[kind]));
}

/* Waits for the oldest task of a kind that is under way. */
static void locked_step_under_way(struct clr_worker *worker, enum clr_task_kind kind)
{
    struct clr_task *task = pop(&worker->under_way[kind]);

    task->is_under_way = false;
    locked_step(worker, task);
}

static bool locked_has(const struct clr_worker *worker, enum clr_task_kind kind)
{
    return worker->tasks[kind].count > 0 || worker->under_way[kind].count > 0;
}

/* A task of a kind begins, if there is one and the device has room; else one is waited for. */
static void locked_step_one(struct clr_worker *worker, enum clr_task_kind kind)
{
    static const int room[KINDS_UNDER_WAY] = {
        [CLR_TASK_URGENT] = CLR_TASKS_UNDER_WAY, [CLR_TASK_JOB] = CLR_REDUCER_SLOTS};

    if (worker->tasks[kind].count > 0 && worker->under_way[kind].count < room[kind])
        locked_step_first(worker, kind);
    else
        locked_step_under_way(worker, kind);
}

/* Builds something, if there is anything to build. */
static bool locked_build_one(struct clr_worker *worker)
{
    worker->build_wanted = 0; /* the next one waits for its turn */
    if (worker->resting || worker->tasks[CLR_TASK_BUILD].count == 0)
        return false;
    locked_step_first(worker, CLR_TASK_BUILD);
    return true;
}

/* Whether something to be built has given way to all else for long enough: a process that is never
   idle is to get its programs as well. */
static bool locked_is_build_due(struct clr_worker *worker)
{
    if (worker->resting || worker->tasks[CLR_TASK_BUILD].count == 0)
        worker->build_wanted = 0;
    else if (worker->build_wanted == 0)
        worker->build_wanted = clr_clock_ns();
    return worker->build_wanted != 0 && clr_clock_ns() - worker->build_wanted > BUILD_DELAY_NS;
}

/* Does one thing. Urgent tasks and jobs take turns, and background tasks with all others. */
static bool locked_serve(struct clr_worker *worker)
{
    const bool urgent = locked_has(worker, CLR_TASK_URGENT), job = locked_has(worker, CLR_TASK_JOB);
    const bool background = worker->tasks[CLR_TASK_BACKGROUND].count > 0;

    if (worker->failed)
        return false;
    if (locked_is_build_due(worker)) {
        /* Nobody who waits for what the device is at has to wait for a build. */
        if (worker->under_way[CLR_TASK_JOB].count > 0)
            locked_step_under_way(worker, CLR_TASK_JOB);
        else if (worker->under_way[CLR_TASK_URGENT].count > 0)
            locked_step_under_way(worker, CLR_TASK_URGENT);
        else
            locked_build_one(worker);
        return true;
    }
    if (background && worker->work_last) {
        worker->work_last = false;
        locked_step_first(worker, CLR_TASK_BACKGROUND);
        return true;
    }
    worker->urgent_last = urgent && (!worker->urgent_last || !job);
    worker->work_last = worker->urgent_last || job;
    if (worker->urgent_last)
        locked_step_one(worker, CLR_TASK_URGENT);
    else if (job)
        locked_step_one(worker, CLR_TASK_JOB);
    else if (background)
        locked_step_first(worker, CLR_TASK_BACKGROUND);
    else
        return locked_build_one(worker);
    return true;
}

/* Opens the device: once more after a pause, as long as that fails for want of something. */
static void locked_open(struct clr_worker *worker)
{
    int64_t pause_ms = OPEN_PAUSE_MS, start;
    struct clr_device *device;
    struct timespec deadline;
    struct clr_status status;

    while (!worker->stopping && !worker->opened && !worker->failed) {
        start = clr_clock_ns();
        locked_start(worker);
        clr_status_clear(&status);
        if (clr_device_open(worker->info, &device, &status) == CLR_OK)
            clr_arithmetic_choose(device, &status);
        come_back(worker);
        worker->device = device;
        worker->opened = status.code == CLR_OK;
        worker->report.integers = worker->opened && device->info.slow_doubles;
        locked_report_start(worker, start, NULL, &status);
        if (status.code == CLR_OK)
            return;
        if (status.code == CLR_DEVICE)
            locked_fail(worker, &status);
        do {
            deadline = clr_thread_deadline(pause_ms);
            while (!worker->stopping && !worker->failed &&
                   clr_thread_wait(&worker->work_arrived, &worker->lock, &deadline))
                continue;
        } while (worker->resting && !worker->stopping && !worker->failed);
        if (pause_ms < OPEN_MOST_PAUSE_MS)
            pause_ms *= 2;
    }
}

static void *run(void *argument)
{
    struct clr_worker *worker = argument;

    pthread_mutex_lock(&worker->lock);
    locked_open(worker);
    while (!worker->stopping) {
        if (worker->over.count > 0) {
            pthread_mutex_unlock(&worker->lock);
            drop_ended(worker);
            pthread_mutex_lock(&worker->lock);
        } else if (locked_serve(worker)) {
            worker->polls_since = worker->urgent_last ? clr_clock_ns() : 0;
        } else if (clr_clock_ns() - worker->polls_since < SPIN_NS) {
            pthread_mutex_unlock(&worker->lock);
            sched_yield();
            pthread_mutex_lock(&worker->lock);
        } else {
            clr_thread_wait(&worker->work_arrived, &worker->lock, NULL);
        }
    }
    while (worker->under_way[CLR_TASK_JOB].count > 0)
        locked_step_under_way(worker, CLR_TASK_JOB);
    while (worker->under_way[CLR_TASK_URGENT].count > 0)
        locked_step_under_way(worker, CLR_TASK_URGENT);
    worker->failed = true;
    if (worker->report.status.code == CLR_OK)
        clr_status_set(&worker->report.status, CLR_DEVICE, 0, "the process is ending");
    locked_fail_all(worker);
    worker->ended = true;
    pthread_cond_broadcast(&worker->got_on);
    pthread_mutex_unlock(&worker->lock);
    drop_ended(worker);
    return NULL;
}

/* ---- What others ask of it. */

struct clr_worker *clr_worker_start(const struct clr_device_info *info, struct clr_status *status)
{
    struct clr_worker *worker = clr_memory_alloc_zero(sizeof *worker);
    int kind;

    if (worker == NULL) {
        clr_status_set(status, CLR_NOMEM, 0, "no memory for a worker");
        return NULL;
    }
    worker->info = info;
    for (kind = 0; kind < CLR_TASK_KINDS; kind++)
        init_queue(&worker->tasks[kind]);
    for (kind = 0; kind < KINDS_UNDER_WAY; kind++)
        init_queue(&worker->under_way[kind]);
    init_queue(&worker->over);
    worker->starting = true;
    pthread_mutex_init(&worker->lock, NULL);
    clr_system_cond_init(&worker->work_arrived);
    clr_system_cond_init(&worker->got_on);
    if (clr_thread_start(run, worker) != 0) {
        clr_status_set(status, CLR_DEVICE, 0, "no thread could be started for the device");
        clr_memory_free(worker);
        return NULL;
    }
    return worker;
}

static bool locked_lives(const struct clr_worker *worker)
{
    return !worker->ended;
}

/* Whether the device is being opened, or something is built: nobody knows for how long. */
static bool locked_is_starting(const struct clr_worker *worker)
{
    return worker->starting || (!worker->opened && !worker->failed);
}

static bool locked_starts(const struct clr_worker *worker)
{
    return worker->starting && !worker->ended;
}

/* Waits while the condition holds, and is patient once more after each step that the driver has
   ended. */
static void locked_wait_while(struct clr_worker *worker, bool (*holds)(const struct clr_worker *),
                              int64_t timeout_ms)
{
    struct clr_patience patience;
    unsigned seen = worker->milestones;

    clr_patience_begin(&patience, timeout_ms);
    while (holds(worker) && clr_patience_wait(&patience, &worker->got_on, &worker->lock)) {
        if (worker->milestones != seen)
            clr_patience_begin(&patience, timeout_ms);
        seen = worker->milestones;
    }
}

bool clr_worker_stop(struct clr_worker *worker, int64_t timeout_ms)
{
    bool ended;

    pthread_mutex_lock(&worker->lock);
    worker->stopping = true;
    pthread_cond_broadcast(&worker->work_arrived);
    locked_wait_while(worker, locked_lives, timeout_ms);
    ended = worker->ended;
    pthread_mutex_unlock(&worker->lock);
    return ended;
}

void clr_worker_rest(struct clr_worker *worker, int64_t timeout_ms)
{
    pthread_mutex_lock(&worker->lock);
    worker->resting = true;
    locked_wait_while(worker, locked_starts, timeout_ms);
    pthread_mutex_unlock(&worker->lock);
}

/* Somebody asks for something. */
static void locked_rouse(struct clr_worker *worker)
{
    if (worker->resting)
        pthread_cond_signal(&worker->work_arrived);
    worker->resting = false;
}

/* Hands a task over, which is not urgent while the worker is starting. */
static void locked_post(struct clr_worker *worker, struct clr_task *task)
{
    task->phase = CLR_TASK_PENDING;
    push(&worker->tasks[task->kind], clr_task_retain(task));
    pthread_cond_signal(&worker->work_arrived);
}

enum clr_readiness clr_worker_post(struct clr_worker *worker, struct clr_task *task)
{
    enum clr_readiness readiness = CLR_READY;

    pthread_mutex_lock(&worker->lock);
    /* The worker's own builds ask for nothing, and what a closed connection leaves neither: it
       rests until the process ends. */
    if (task->kind == CLR_TASK_URGENT || task->kind == CLR_TASK_JOB)
        locked_rouse(worker);
    if (worker->failed)
        readiness = CLR_FAILED;
    else if (locked_is_starting(worker) && task->kind == CLR_TASK_URGENT)
        readiness = CLR_STARTING;
    else
        locked_post(worker, task);
    pthread_mutex_unlock(&worker->lock);
    return readiness;
}

void clr_worker_wake(struct clr_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    worker->polls_since = clr_clock_ns();
    pthread_cond_signal(&worker->work_arrived);
    pthread_mutex_unlock(&worker->lock);
}

/* The building of an operation's program. */
struct build {
    struct clr_task task;
    struct clr_worker *worker;
    enum clr_operation operation;
    enum clr_element element;
};

static bool step_build(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    const struct build *build = (const struct build *)(void *)task;
    struct clr_worker *worker = build->worker;
    struct program *program = &worker->programs[build->operation][build->element];
    bool tested = false;

    if (clr_reducer_build(device, build->operation, build->element, &task->log, status) == CLR_OK) {
        tested = true;
        pthread_mutex_lock(&worker->lock);
        locked_mark(worker);
        pthread_mutex_unlock(&worker->lock);
        clr_self_test(device, build->operation, build->element, status);
    }
    pthread_mutex_lock(&worker->lock);
    program->phase = status->code == CLR_OK      ? BUILT
                     : status->code == CLR_NOMEM ? PAUSED
                                                 : UNBUILDABLE;
    worker->report.ready = worker->report.ready || program->phase == BUILT;
    if (program->phase == PAUSED)
        clr_backoff_failed(&program->pause, 1);
    /* An OpenCL error in a test's commands, unlike a wrong result, leaves the queues unknown. */
    if (program->phase == UNBUILDABLE && tested && status->error != 0)
        locked_fail(worker, status);
    pthread_mutex_unlock(&worker->lock);
    return false;
}

/* Without memory nothing is built: whoever needs it asks again. */
static void locked_request(struct clr_worker *worker, enum clr_operation operation,
                           enum clr_element element)
{
    struct build *build = clr_memory_alloc(sizeof *build);

    if (build == NULL)
        return;
    clr_task_init(&build->task, CLR_TASK_BUILD, step_build, NULL);
    build->worker = worker;
    build->operation = operation;
    build->element = element;
    worker->programs[operation][element].phase = REQUESTED;
    locked_post(worker, &build->task);
    clr_task_release(&build->task);
}

enum clr_readiness clr_worker_readiness(struct clr_worker *worker, enum clr_operation operation,
                                        enum clr_element element)
{
    struct program *program = &worker->programs[operation][element];
    enum clr_readiness readiness = CLR_STARTING;

    pthread_mutex_lock(&worker->lock);
    locked_rouse(worker);
    if (worker->failed || program->phase == UNBUILDABLE ||
        (program->phase == PAUSED && clr_backoff_skips(&program->pause)))
        readiness = CLR_FAILED;
    else if (program->phase == BUILT)
        readiness = CLR_READY;
    else if (program->phase != REQUESTED)
        locked_request(worker, operation, element);
    pthread_mutex_unlock(&worker->lock);
    return readiness;
}

const struct clr_device_info *clr_worker_info(const struct clr_worker *worker)
{
    return worker->info;
}

bool clr_worker_has_failed(struct clr_worker *worker)
{
    bool failed;

    pthread_mutex_lock(&worker->lock);
    failed = worker->failed;
    pthread_mutex_unlock(&worker->lock);
    return failed;
}

void clr_worker_report(struct clr_worker *worker, struct clr_worker_report *report)
{
    pthread_mutex_lock(&worker->lock);
    *report = worker->report;
    report->failed = worker->failed;
    report->builds = locked_is_starting(worker) || worker->tasks[CLR_TASK_BUILD].count > 0;
    pthread_mutex_unlock(&worker->lock);
}

/* ---- Waiting for what the thread does, and noticing that it gets nowhere. */

static void locked_give_up(struct clr_worker *worker, int64_t timeout_ms)
{
    worker->failed = true;
    clr_status_set(&worker->report.status, CLR_DEVICE, 0,
                   "the device did not answer within %lld ms", (long long)timeout_ms);
    locked_fail_all(worker);
}

/* Whether the thread has been doing one thing for longer than that. The time for which it waited in
   the queue does not count. */
static bool locked_got_nowhere(const struct clr_worker *worker, int64_t timeout_ms)
{
    return worker->since != 0 && clr_clock_ns() - worker->since > timeout_ms * 1000000;
}

/* Waits for the condition, until it is time to see whether the device still gets on, and for
   most_ms milliseconds at most. Returns whether it was woken before that. */
static bool locked_wait(struct clr_worker *worker, pthread_cond_t *condition, int64_t timeout_ms,
                        int64_t most_ms)
{
    const int64_t passed = worker->since != 0 ? (clr_clock_ns() - worker->since) / 1000000 : 0;
    int64_t left = passed < timeout_ms ? timeout_ms - passed + 1 : 1;
    struct timespec deadline = clr_thread_deadline(left < most_ms ? left : most_ms);

    return clr_thread_wait(condition, &worker->lock, &deadline);
}

/* Polls for the answer for a while: to be woken takes as long as a short scan. That is done without
   the lock, which the worker would have to wait for if several threads took it in turn. */
static void spin(const struct clr_task *task)
{
    const int64_t start = clr_clock_ns();

    while (task->phase == CLR_TASK_PENDING && clr_clock_ns() - start < AWAIT_SPIN_NS)
        sched_yield();
}

/* Whether a build keeps the task from its beginning, or for longer than timeout_ms from its end, or
   it is a job that has not begun: then its caller does not wait. */
static bool locked_is_kept(const struct clr_worker *worker, const struct clr_task *task,
                           int64_t timeout_ms)
{
    if (task->kind == CLR_TASK_JOB)
        return !task->has_begun;
    return worker->starting && task->kind == CLR_TASK_URGENT &&
           (!task->has_begun || locked_got_nowhere(worker, timeout_ms));
}

/* Waits until the task has ended, or there is no use in that any more; or until the watch, asked
   without the lock, wants a stop: then it returns true. */
static bool locked_wait_watching(struct clr_worker *worker, struct clr_task *task,
                                 int64_t timeout_ms, const struct clr_watch *watch)
{
    const int64_t end = clr_clock_ns() + timeout_ms * 1000000;
    bool stop = false;

    while (task->phase == CLR_TASK_PENDING && !worker->failed && !stop &&
           !locked_is_kept(worker, task, timeout_ms)) {
        if (!worker->starting && locked_got_nowhere(worker, timeout_ms)) {
            locked_give_up(worker, timeout_ms);
            break;
        }
        if (task->kind >= CLR_TASK_BACKGROUND && clr_clock_ns() >= end)
            return true;
        if (locked_wait(worker, &task->changed, timeout_ms,
                        watch != NULL ? WATCH_MS : timeout_ms) ||
            watch == NULL)
            continue;
        pthread_mutex_unlock(&worker->lock);
        stop = watch->wants_stop(watch->context);
        pthread_mutex_lock(&worker->lock);
    }
    return stop && task->phase == CLR_TASK_PENDING;
}

enum clr_task_phase clr_worker_await(struct clr_worker *worker, struct clr_task *task,
                                     int64_t timeout_ms, const struct clr_watch *watch,
                                     struct clr_status *status)
{
    enum clr_task_phase phase = CLR_TASK_PENDING;
    bool is_mine = false;

    if (task->kind == CLR_TASK_URGENT)
        spin(task);
    pthread_mutex_lock(&worker->lock);
    if (!locked_wait_watching(worker, task, timeout_ms, watch)) {
        phase = task->phase;
        if (phase == CLR_TASK_FAILED)
            *status = task->status;
    }
    if (phase == CLR_TASK_PENDING && worker->failed) {
        *status = worker->report.status;
        phase = CLR_TASK_FAILED;
    } else if (phase == CLR_TASK_PENDING && locked_is_kept(worker, task, timeout_ms)) {
        is_mine = !task->has_begun;
        if (is_mine) {
            take_out(&worker->tasks[task->kind], task);
            task->phase = CLR_TASK_IDLE;
        }
        phase = CLR_TASK_IDLE;
    }
    pthread_mutex_unlock(&worker->lock);
    if (is_mine)
        clr_task_release(task); /* the worker's reference */
    drop_ended(worker);
    return phase;
}

#include "engine/worker/team.h"

#include "base/clock.h"
#include "base/float_environment.h"
#include "base/lock.h"
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

/* ---- Teams. */

enum { WATCH_MS = 20, ASK_NS = 10000000 };

struct team {
    clr_portion_work *work;
    void *argument;
    atomic_int next; /* part to take */
    atomic_bool stop;
    pthread_cond_t done;
    int running; /* threads that have not returned; under the lock */
};

/* Of all teams: the thread that gives a lock back may look at it once more (winpthreads does), when
   the team that it had worked for is gone. */
CLR_LOCK(end)

/* Teams that are running. */
static atomic_int teams;

bool clr_watch_wants_stop(const struct clr_watch *watch, int64_t *asked_at)
{
    int64_t now;

    if (watch == NULL)
        return false;
    now = clr_clock_ns();
    if (now - *asked_at < ASK_NS)
        return false;
    *asked_at = now;
    return watch->wants_stop(watch->context);
}

int clr_team_size(void)
{
    const int size = clr_system_processors() / (atomic_load(&teams) + 1);

    if (size < 1)
        return 1;
    return size > CLR_TEAM_MOST ? CLR_TEAM_MOST : size;
}

static void *run_part(void *argument)
{
    struct team *team = argument;

    team->work(team->argument, atomic_fetch_add(&team->next, 1), &team->stop);
    take_end();
    team->running--;
    pthread_cond_signal(&team->done);
    /* Last: when the lock is free the caller may go on, and *team is gone. */
    give_end();
    return NULL;
}

static void ask(struct team *team, const struct clr_watch *watch)
{
    if (watch != NULL && !atomic_load(&team->stop) && watch->wants_stop(watch->context))
        atomic_store(&team->stop, true);
}

/* Waits for the threads. The watch is asked without the lock: it may take its time. */
static void wait_for_all(struct team *team, const struct clr_watch *watch)
{
    take_end();
    while (team->running > 0) {
        struct timespec deadline = clr_thread_deadline(WATCH_MS);

        if (watch == NULL) {
            clr_thread_wait(&team->done, &end, NULL);
        } else if (!clr_thread_wait(&team->done, &end, &deadline)) {
            give_end();
            ask(team, watch);
            take_end();
        }
    }
    give_end();
}

bool clr_team_run(int count, clr_portion_work *work, void *argument, const struct clr_watch *watch)
{
    struct team team = {.work = work, .argument = argument};
    int i, threads = watch == NULL ? count - 1 : count;

    atomic_fetch_add(&teams, 1);
    atomic_init(&team.next, 0);
    atomic_init(&team.stop, false);
    clr_system_cond_init(&team.done);
    team.running = threads;
    for (i = 0; i < threads; i++) {
        if (clr_thread_start(run_part, &team) != 0)
            break;
    }
    take_end();
    team.running -= threads - i;
    give_end();
    for (; i < count; i++) {
        work(argument, atomic_fetch_add(&team.next, 1), &team.stop);
        ask(&team, watch);
    }
    wait_for_all(&team, watch);
    atomic_fetch_sub(&teams, 1);
    pthread_cond_destroy(&team.done);
    return !atomic_load(&team.stop);
}

bool clr_team_run_portions(void *watch, int count, clr_portion_work *work, void *argument)
{
    return clr_team_run(count, work, argument, watch);
}

/* ---- Portions. */

/* Numbers that are worth a thread. */
enum { WORTH_A_THREAD = 131072 };

void clr_team_portions_divide(struct clr_team_portions *team, const struct clr_run *runs,
                              const struct clr_watch *watch)
{
    const uint64_t total = clr_runs_count(runs);
    uint64_t passed = 0, most = total / WORTH_A_THREAD + 1;
    int size = clr_team_size(), next = 0;

    if ((uint64_t)size > most)
        size = (int)most;
    for (; runs != NULL; runs = runs->next) {
        while (next < size && passed >= total / (uint64_t)size * (uint64_t)next)
            team->starts[next++] = runs;
        passed += runs->count;
    }
    while (next <= size)
        team->starts[next++] = NULL;
    team->portions = (struct clr_portions){size, team->starts, clr_team_run_portions,
                                           size > 1 ? (void *)(uintptr_t)watch : NULL};
}

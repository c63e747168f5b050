#include "engine/worker/team.h"

#include "base/clock.h"
#include "base/system.h"
#include "engine/worker/thread.h"

enum { WATCH_MS = 20, ASK_NS = 10000000 };

struct team {
    clr_portion_work *work;
    void *argument;
    bool is_idle;    /* its threads leave the processors to others */
    atomic_int next; /* part to take */
    atomic_bool stop;
    pthread_mutex_t lock;
    pthread_cond_t done;
    int running; /* threads that have not returned; under the lock */
};

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

    if (team->is_idle)
        clr_system_be_idle();
    team->work(team->argument, atomic_fetch_add(&team->next, 1), &team->stop);
    pthread_mutex_lock(&team->lock);
    team->running--;
    pthread_cond_signal(&team->done);
    /* Last: when the lock is free the caller may go on, and *team is gone. */
    pthread_mutex_unlock(&team->lock);
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
    pthread_mutex_lock(&team->lock);
    while (team->running > 0) {
        struct timespec deadline = clr_thread_deadline(WATCH_MS);

        if (watch == NULL) {
            clr_thread_wait(&team->done, &team->lock, NULL);
        } else if (!clr_thread_wait(&team->done, &team->lock, &deadline)) {
            pthread_mutex_unlock(&team->lock);
            ask(team, watch);
            pthread_mutex_lock(&team->lock);
        }
    }
    pthread_mutex_unlock(&team->lock);
}

static bool run(struct team *team, int count, const struct clr_watch *watch)
{
    int i, threads = watch == NULL ? count - 1 : count;

    atomic_init(&team->next, 0);
    atomic_init(&team->stop, false);
    pthread_mutex_init(&team->lock, NULL);
    clr_system_cond_init(&team->done);
    team->running = threads;
    for (i = 0; i < threads; i++) {
        if (clr_thread_start(run_part, team) != 0)
            break;
    }
    pthread_mutex_lock(&team->lock);
    team->running -= threads - i;
    pthread_mutex_unlock(&team->lock);
    for (; i < count; i++) {
        team->work(team->argument, atomic_fetch_add(&team->next, 1), &team->stop);
        ask(team, watch);
    }
    wait_for_all(team, watch);
    pthread_cond_destroy(&team->done);
    pthread_mutex_destroy(&team->lock);
    return !atomic_load(&team->stop);
}

bool clr_team_run(int count, clr_portion_work *work, void *argument, const struct clr_watch *watch)
{
    struct team team = {.work = work, .argument = argument};
    bool is_done;

    atomic_fetch_add(&teams, 1);
    is_done = run(&team, count, watch);
    atomic_fetch_sub(&teams, 1);
    return is_done;
}

bool clr_team_run_portions(void *watch, int count, clr_portion_work *work, void *argument)
{
    return clr_team_run(count, work, argument, watch);
}

bool clr_team_run_idly(void *watch, int count, clr_portion_work *work, void *argument)
{
    struct team team = {.work = work, .argument = argument, .is_idle = true};

    return run(&team, count, watch);
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

#include "engine/worker/team_portions.h"

/* Numbers that are worth a thread. */
enum { WORTH_A_THREAD = 131072 };

static bool run_team(void *context, int count, clr_portion_work *work, void *argument)
{
    return clr_team_run(count, work, argument, count > 1 ? context : NULL);
}

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
    team->portions = (struct clr_portions){size, team->starts, run_team, (void *)(uintptr_t)watch};
}

#include "engine/team.h"

int clr_team_size(void)
{
    return 1;
}

bool clr_team_run(int count, void (*work)(void *argument, int i, const atomic_bool *stop),
                  void *argument, const struct clr_watch *watch)
{
    (void)count, (void)work, (void)argument, (void)watch;
    return false;
}

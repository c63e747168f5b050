/* A list of numbers in portions, one for each thread of a team. */
#ifndef CLR_ENGINE_TEAM_PORTIONS_H
#define CLR_ENGINE_TEAM_PORTIONS_H

#include "engine/worker/team.h"
#include "numeric/order/portions.h"

struct clr_team_portions {
    struct clr_portions portions; /* has pointers into the structure: it stays where it is */
    const struct clr_run *starts[CLR_TEAM_MOST + 1];
};

/* Divides the list, at the boundaries of its runs, into portions that are worth a thread. Work on
   them starts threads and waits for them, unless there is one portion only. watch may be NULL, and
   is not asked for one portion. */
void clr_team_portions_divide(struct clr_team_portions *team, const struct clr_run *runs,
                              const struct clr_watch *watch);

#endif

/* Runs of numbers, put into a structure that keeps them in order. */
#ifndef CLR_ENGINE_ORDERED_RUNS_H
#define CLR_ENGINE_ORDERED_RUNS_H

#include "engine/worker/team.h"
#include "numeric/order/ordered.h"
#include "numeric/values/runs.h"

/*
 * Inserts the numbers of a list of runs, which may be NULL, unless the watch wants a stop. Returns
 * CLR_OK; CLR_STOPPED; or, as clr_ordered_insert(), CLR_NOMEM or CLR_LIMIT. Unless it is CLR_OK,
 * part of them is there.
 */
enum clr_code clr_ordered_runs_insert(struct clr_ordered *ordered, const struct clr_run *run,
                                      const struct clr_watch *watch);

#endif

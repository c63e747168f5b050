/*
 * Where the first rows of a scan end, in the order of an expression's numbers. A sample of the rows
 * says about where: so only what is before that has to be looked at.
 */
#ifndef CLR_ENGINE_BOUND_H
#define CLR_ENGINE_BOUND_H

#include "engine/worker/team.h"
#include "numeric/scan/scan.h"

#include <stdbool.h>
#include <stdint.h>

/* What the rows are in the order of. */
struct clr_scan_order {
    int key; /* an instruction, whose numbers count; NULLs do not */
    bool descends;
};

/*
 * Stores the number that is at a place, 0 for the first one, among those of the rows that pass the
 * scan's filter; NULL if they are fewer. *count and *nulls: of these rows. watch may be NULL.
 * Returns CLR_SCAN_DONE; or CLR_SCAN_UNSURE if there are other values than numbers and NULLs,
 * CLR_SCAN_LIMIT, CLR_SCAN_STOPPED or CLR_SCAN_FAILED.
 */
enum clr_scan_outcome clr_host_find_place(const struct clr_scan *scan,
                                          const struct clr_scan_order *order, uint64_t place,
                                          const struct clr_watch *watch, struct clr_scalar *number,
                                          uint64_t *count, uint64_t *nulls);

/* Stores a number that is not before the one at that place, and mostly not far behind it, as a part
   of the scan's blocks tells; NULL if they do not tell. watch and result as above. */
enum clr_scan_outcome clr_host_guess_place(const struct clr_scan *scan,
                                           const struct clr_scan_order *order, uint64_t place,
                                           const struct clr_watch *watch,
                                           struct clr_scalar *number);

#endif

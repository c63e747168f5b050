/* Scans over columns on the host, in as many threads as they are worth. */
#ifndef CLR_ENGINE_HOST_SCAN_H
#define CLR_ENGINE_HOST_SCAN_H

#include "engine/worker/team.h"
#include "numeric/scan/scan.h"

/* Computes the scan's tallies and answers its questions. watch may be NULL. Returns any outcome but
 * CLR_SCAN_NOT_NOW. */
enum clr_scan_outcome clr_host_scan(struct clr_scan *scan, const struct clr_watch *watch);

/*
 * Gives a scan over whole columns the blocks that are left and their rows, where zones tell that
 * some can be left out. The list, scan->blocks, is the caller's to free when the scan is done. The
 * first scan that could use a column's zones makes them, in threads, unless the watch, which may be
 * NULL, wants a stop. *made: whether columns take more memory now. Without memory the scan stays as
 * it is.
 */
void clr_host_skip(struct clr_scan *scan, const struct clr_watch *watch, bool *made);

/*
 * Has the columns of a scan get the sums of their blocks, where it is likely to take many blocks as
 * a whole: if they pass its filter, and are of one group. It takes as long as a scan of these
 * columns. watch and *made as above.
 */
void clr_host_sum_blocks(const struct clr_scan *scan, const struct clr_watch *watch, bool *made);

/* Has the lookups of a scan's filter keep for which rows they are true, where scans of the same
   rows have asked for that before, and all of the process take no more than so many bytes. lookups:
   the scan's, of which the caller is the owner. watch may be NULL. */
void clr_host_keep_truths(const struct clr_scan *scan, struct clr_lookup *lookups, int64_t most,
                          const struct clr_watch *watch);

/* Returns about how many rows the scan loads, by which threads are counted: all of them, or those
   of a sample's blocks that are not taken as a whole. */
size_t clr_host_guess_loaded(const struct clr_scan *scan);

/* ---- Where the first rows end. */

/*
 * Where the first rows of a scan end, in the order of an expression's numbers. A sample of the rows
 * says about where: so only what is before that has to be looked at.
 */

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

/*
 * Copies of scans, which a device's worker goes through while whoever asked for them may have given
 * them up.
 */
#ifndef CLR_ENGINE_SCAN_COPY_H
#define CLR_ENGINE_SCAN_COPY_H

#include "engine/columns/division.h"
#include "engine/columns/resident.h"
#include "opencl/memory/resident_column.h"
#include "opencl/reduction/scan_plan.h"

struct clr_scan_copy {
    struct clr_scan scan; /* its arrays are below, and have no columns */
    struct clr_resident *residents[CLR_MOST_COLUMNS];      /* with references */
    struct clr_resident_column *columns[CLR_MOST_COLUMNS]; /* theirs */
    struct clr_instruction instructions[CLR_MOST_SCAN_INSTRUCTIONS];
    struct clr_scalar constants[CLR_MOST_SCAN_INSTRUCTIONS];
    struct clr_tally tallies[CLR_MOST_SCAN_TALLIES];
    struct clr_lookup lookups[CLR_MOST_LOOKUPS]; /* with references to their results */
    struct clr_row_ranges ranges;                /* in the place of its blocks */
};

/* Returns a scan of a shard's rows: of one shard with the scan's blocks, and of each of several
   with all of its rows, for blocks are of whole columns. */
struct clr_scan clr_scan_of_shard(const struct clr_scan *scan, const struct clr_division *division,
                                  int shard);

/* Copies a scan that fits: see clr_scan_plan_fits(). residents: of its columns. most_ranges: of
 * rows, 1 or more. clr_scan_copy_clear() is due. */
void clr_scan_copy_init(struct clr_scan_copy *copy, const struct clr_scan *scan,
                        struct clr_resident *const *residents, int most_ranges);

/* Drops the references. */
void clr_scan_copy_clear(struct clr_scan_copy *copy);

#endif

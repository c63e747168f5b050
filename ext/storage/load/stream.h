/*
 * Scans a table as its pages pass: each thread reads and decodes pages of its own, scans the rows
 * that it has, and forgets them. Sums are exact and states merge, so how the rows are split does
 * not show. For tables whose columns are not to stay in memory.
 */
#ifndef CLR_STORAGE_STREAM_H
#define CLR_STORAGE_STREAM_H

#include "base/status.h"
#include "engine/worker/team.h"
#include "numeric/scan/scan.h"
#include "numeric/values/field.h"
#include "storage/format/outcome.h"
#include "storage/format/source.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Computes the tallies of the scan over the table whose root page is root; fields has the field of
 * each of the scan's columns, none with codes (else CLR_LOAD_TOO_LARGE: a dictionary is of a whole
 * column), and its own columns and rows are not looked at. The pages are checked
 * as those of clr_load() are, and watch serves as there. The decoded columns take at most memory
 * bytes at a time, or those of one page in one thread if that is more. Half of that is for the
 * bytes of TEXT and BLOBs, if some are wanted; CLR_LOAD_TOO_LARGE: those that are needed together,
 * or what the tallies keep, take more.
 *
 * After CLR_LOAD_DONE the tallies' states are complete, and *rows is how many rows the table has.
 */
enum clr_load_outcome clr_stream(const struct clr_source *source, uint32_t root,
                                 const struct clr_field *fields, struct clr_scan *scan,
                                 size_t memory, size_t *rows, const struct clr_watch *watch,
                                 struct clr_load_report *report, struct clr_status *status);

#endif

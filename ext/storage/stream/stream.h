/*
 * Scans a table as its pages pass: each thread reads and decodes pages of its own, scans the rows
 * that it has, and forgets them. Sums are exact and states merge, so how the rows are split does
 * not show. For tables whose columns are not to stay in memory.
 *
 * What codes mean has to be known before they are scanned: of columns with codes the dictionaries
 * come first, by clr_load_dictionaries().
 */
#ifndef CLR_STORAGE_STREAM_H
#define CLR_STORAGE_STREAM_H

#include "base/status.h"
#include "engine/worker/team.h"
#include "numeric/groups/groups.h"
#include "numeric/scan/scan.h"
#include "numeric/values/field.h"
#include "storage/format/source.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Computes the scan over the table whose root page is root; fields has the field of each of its
 * columns, none of them with bytes. Of its own columns only those with codes are looked at: each
 * has the dictionary of all of the table's values. The pages are checked as those of clr_load()
 * are, and watch serves as there. The decoded columns take at most memory bytes at a time, or those
 * of one page in one thread if that is more. CLR_LOAD_TOO_LARGE: a dictionary lacks a value, or
 * groups take more than scan->values_memory.
 *
 * After CLR_LOAD_DONE *rows is how many rows the table has, and the states of the tallies, which
 * keep no values, are complete. Of a scan with a grouping, which may keep values, *groups has the
 * groups instead, the caller's to free, or NULL where there are no rows. They are planned by a
 * sample, and the stream begins again where that misleads, at most twice; the report has the bytes
 * of all.
 */
enum clr_load_outcome clr_stream(const struct clr_source *source, uint32_t root,
                                 const struct clr_field *fields, struct clr_scan *scan,
                                 size_t memory, struct clr_groups **groups, size_t *rows,
                                 const struct clr_watch *watch, struct clr_load_report *report,
                                 struct clr_status *status);

#endif

/*
 * Scans a table as its pages pass: each thread reads and decodes pages of its own, scans the rows
 * that it has, and forgets them. Sums are exact and states merge, so how the rows are split does
 * not show. For tables whose columns are not to stay in memory.
 *
 * What codes mean has to be known before they are scanned: of columns with codes the dictionaries
 * come first, by a stream of their own.
 */
#ifndef CLR_STORAGE_STREAM_H
#define CLR_STORAGE_STREAM_H

#include "base/status.h"
#include "engine/worker/team.h"
#include "numeric/groups/groups.h"
#include "numeric/scan/scan.h"
#include "numeric/values/field.h"
#include "storage/format/outcome.h"
#include "storage/format/source.h"
#include "storage/snapshot/tree.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Computes the tallies of the scan, which keep no values, over the table whose root page is root;
 * fields has the field of each of the scan's columns, none of them with bytes. Of its own columns
 * only those with codes are looked at: each has the dictionary of all of the table's values. The
 * pages are checked as those of clr_load() are, and watch serves as there. The decoded columns take
 * at most memory bytes at a time, or those of one page in one thread if that is more.
 * CLR_LOAD_TOO_LARGE: a dictionary lacks a value.
 *
 * After CLR_LOAD_DONE the tallies' states are complete, and *rows is how many rows the table has.
 */
enum clr_load_outcome clr_stream(const struct clr_source *source, uint32_t root,
                                 const struct clr_field *fields, struct clr_scan *scan,
                                 size_t memory, size_t *rows, const struct clr_watch *watch,
                                 struct clr_load_report *report, struct clr_status *status);

/*
 * The same for a scan with a grouping, which may keep values: gives its groups, the
 * caller's to free, or NULL where there are no rows. They are planned by a sample, and the stream
 * begins again where that misleads, at most twice; the report has the bytes of all.
 * CLR_LOAD_TOO_LARGE: they take more than scan->values_memory.
 */
enum clr_load_outcome clr_stream_groups(const struct clr_source *source, uint32_t root,
                                        const struct clr_field *fields, const struct clr_scan *scan,
                                        size_t memory, struct clr_groups **groups, size_t *rows,
                                        const struct clr_watch *watch,
                                        struct clr_load_report *report, struct clr_status *status);

/*
 * Collects the dictionaries of count fields with codes. They take memory bytes at most
 * (CLR_LOAD_TOO_LARGE), each with a reference, or NULL unless the outcome is CLR_LOAD_DONE. seed is
 * theirs, and CLR_LOAD_MANY_VALUES as of clr_load().
 */
enum clr_load_outcome clr_stream_dictionaries(
    const struct clr_source *source, uint32_t root, const struct clr_field *fields, int count,
    size_t memory, uint64_t seed, struct clr_dictionary **dictionaries, size_t *rows,
    const struct clr_watch *watch, struct clr_load_report *report, struct clr_status *status);

#endif

/*
 * Loads columns of a table, or of an index: walks its b-tree, reads the pages that have rows in
 * large runs and decodes the cells, in several threads. Every offset is checked against the page
 * before it is followed. File format, sections 1.6 and 2.
 */
#ifndef CLR_STORAGE_LOAD_H
#define CLR_STORAGE_LOAD_H

#include "base/status.h"
#include "engine/worker/team.h"
#include "numeric/values/column.h"
#include "numeric/values/field.h"
#include "storage/format/source.h"
#include "storage/leaves/layout.h"

#include <stdint.h>

/*
 * Loads count columns of the table, or the index if the source says so, whose root page is root:
 * stores columns with one reference each in columns[0 .. count-1], all NULL unless the outcome is
 * CLR_LOAD_DONE. count may be 0, to find the layout. An unknown layout is filled in, when the load
 * is done; with a known one the columns' rows follow it (the snapshot must be the same: if it does
 * not fit, CLR_LOAD_MALFORMED). Rowids of a table must ascend over the whole of it, all leaves be
 * equally deep, each page be met once, and depths over 20 are refused, so that no damage makes the
 * walk endless.
 *
 * Columns with codes have a dictionary each. CLR_LOAD_MANY_VALUES: one would be too large for the
 * rows (clr_field_has_many_values()), of all, of a sample, or of those that a thread has decoded so
 * far; or a column of times has a value of another format.
 *
 * watch may be NULL. It is asked in the calling thread, which also makes all reads where the source
 * is not parallel.
 */
enum clr_load_outcome clr_load(const struct clr_source *source, uint32_t root,
                               const struct clr_field *fields, int count, struct clr_layout *layout,
                               struct clr_column **columns, const struct clr_watch *watch,
                               struct clr_load_report *report, struct clr_status *status);

/*
 * Collects the dictionaries of count fields with codes, and keeps no rows. They take memory bytes
 * at most (CLR_LOAD_TOO_LARGE), and have one reference each; they are NULL unless the outcome is
 * CLR_LOAD_DONE, with which *rows is how many rows the table has. seed is that of the dictionaries.
 * All else is as of clr_load().
 */
enum clr_load_outcome clr_load_dictionaries(
    const struct clr_source *source, uint32_t root, const struct clr_field *fields, int count,
    size_t memory, uint64_t seed, struct clr_dictionary **dictionaries, size_t *rows,
    const struct clr_watch *watch, struct clr_load_report *report, struct clr_status *status);

#endif

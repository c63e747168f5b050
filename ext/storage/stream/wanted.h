/* Rowids, or keys of an index, by which a scan needs some pages alone. */
#ifndef CLR_STORAGE_WANTED_H
#define CLR_STORAGE_WANTED_H

#include "engine/worker/team.h"
#include "numeric/scan/scan.h"
#include "numeric/values/field.h"
#include "storage/snapshot/tree.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Finds the rows without which the scan's filter is not true, by what it compares columns with
 * whose fields, one for each of the scan's columns, are the rowid, or the first of an index whose
 * orders the source knows; of the columns themselves nothing is looked at. Returns false if these
 * may be any, if SQLite might report an error for another row, or without memory. Where no row can
 * pass it is one value. The bytes of TEXT are those of scan->known_lookups.
 */
bool clr_wanted_find(const struct clr_scan *scan, const struct clr_source *source,
                     const struct clr_field *fields, struct clr_wanted *wanted);

/* Lists the leaves of the table whose root page is root as clr_tree_leaves() does. The caller frees
   the list whatever the outcome. watch may be NULL. */
enum clr_load_outcome clr_wanted_leaves(const struct clr_source *source, uint32_t root,
                                        const struct clr_wanted *wanted,
                                        const struct clr_watch *watch,
                                        struct clr_page_list *leaves);

#endif

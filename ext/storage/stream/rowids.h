/* Rowids by which a scan needs some of a table's pages alone. */
#ifndef CLR_STORAGE_ROWIDS_H
#define CLR_STORAGE_ROWIDS_H

#include "engine/worker/team.h"
#include "numeric/scan/scan.h"
#include "numeric/values/field.h"
#include "storage/snapshot/tree.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Finds the rowids without which the scan's filter is not true, by what it compares columns with
 * whose fields, one for each of the scan's columns, are the rowid; of the columns themselves
 * nothing is looked at. Returns false if these may be any, or if SQLite might report an error for a
 * row that has another one. Where no row can pass it is one rowid.
 */
bool clr_rowids_find(const struct clr_scan *scan, const struct clr_field *fields,
                     struct clr_rowids *rowids);

/* Lists the leaves of the table whose root page is root as clr_tree_leaves() does. The caller frees
   the list whatever the outcome. watch may be NULL. */
enum clr_load_outcome clr_rowids_leaves(const struct clr_source *source, uint32_t root,
                                        const struct clr_rowids *rowids,
                                        const struct clr_watch *watch,
                                        struct clr_page_list *leaves);

#endif

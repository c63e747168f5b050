/* Whose pages are read for a query: its table's, or those of the covering index in its place. */
#ifndef CLR_SQLITE_TABLE_CHOICE_H
#define CLR_SQLITE_TABLE_CHOICE_H

#include "sqlite/columns/column_source.h"

/* Before a snapshot is begun: has the table read, or the index, whose columns of that known file,
   or NULL, seem to be here; the table's go before. Returns false if neither's are: then it is open.
 */
bool clr_table_choose_kept(struct clr_column_request *request, struct clr_known_file *file);

/* In the snapshot, whose file is known now: settles what was open until then. */
void clr_table_choose_smaller(struct clr_column_request *request);

#endif

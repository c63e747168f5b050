/* The columns of a view, and how they compare: two views with the same ones can stand for each
   other. */
#ifndef CLR_SQLITE_VIEW_COLUMNS_H
#define CLR_SQLITE_VIEW_COLUMNS_H

#include "sqlite/schema/column_names.h"
#include "sqlite/schema/comparison.h"

#include <stdbool.h>

/* Zeros: none. */
struct clr_view_columns {
    struct clr_column_names names;
    struct clr_comparison *comparisons;
};

/* Reads them of schema.name; zeros at first. Returns SQLite's code; they are to be freed in any
   case. */
int clr_view_columns_read(sqlite3 *db, const char *schema, const char *name,
                          struct clr_view_columns *columns);

/* Whether all is known of the columns, and the same. */
bool clr_view_columns_agree(const struct clr_view_columns *a, const struct clr_view_columns *b);

void clr_view_columns_free(struct clr_view_columns *columns);

#endif

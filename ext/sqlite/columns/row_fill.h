/* Filling an image with columns through SQLite. */
#ifndef CLR_SQLITE_ROW_FILL_H
#define CLR_SQLITE_ROW_FILL_H

#include "sqlite/columns/column_source.h"

/*
 * Has SQLite fill the request's image with the columns that the query needs and those that it has,
 * within the transaction of its version. The table is busy,
 * and the image is to be ended as one that is changed. The image then has the columns; or the
 * request is_too_large; or its
 * reason says that there are too few rows for a scan, or too many values for codes. Returns
 * SQLite's code: a code of SQLite's other than SQLITE_INTERRUPT and SQLITE_NOMEM says that a row's
 * value is an error.
 */
int clr_row_fill(struct clr_column_request *request);

#endif

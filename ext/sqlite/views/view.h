/*
 * Accelerated views: CREATE VIRTUAL TABLE temp.name USING clreduce((SELECT ...)).
 *
 *  1. The rows are at any moment those that the SELECT returns when this connection runs it: the
 *     same values, types and bits, and the same errors, with functions that are no older than the
 *     statement that reads the view. What cannot be accelerated is run by SQLite.
 *  2. Columns have the SELECT's names; parameters are hidden columns, in order, named without their
 *     first character (?1 as it is). A missing one is NULL.
 *  3. Never stale, never torn: pages are read within a read transaction, and decoded columns are
 *     used only while the file's own counters, or SQLite's version of its cache (row_source.c),
 *     prove them fresh.
 *  4. A view lives in the temp schema, so that no stored schema can bring one along; an error in
 *     the SELECT is reported when it is created. Statements that write, several statements and
 *     PRAGMAs are refused.
 */
#ifndef CLR_SQLITE_VIEW_H
#define CLR_SQLITE_VIEW_H

#include "sqlite/session/connection.h"

/* Registers the module. Returns SQLite's result code. */
int clr_view_register(struct clr_connection *connection);

#endif

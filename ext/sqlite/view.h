/*
 * Accelerated views: CREATE VIRTUAL TABLE temp.name USING clreduce((SELECT ...)).
 *
 *  1. The rows are at any moment those that the SELECT returns when this connection runs it: the
 * same values, types and bits, and the same errors. What cannot be accelerated is run by SQLite.
 *  2. Columns have the SELECT's names; parameters are hidden columns, in order, named without their
 *     first character (?1 as it is). A missing one is NULL.
 *  3. Never stale, never torn: pages are read within a read transaction, and decoded columns are
 *     used only while the file's own counters, or SQLite's version of its cache (row_version.h),
 *     prove them fresh.
 *  4. A view lives in the temp schema, so that no stored schema can bring one along; an error in
 * the SELECT is reported when it is created. Statements that write, several statements and PRAGMAs
 *     are refused.
 */
#ifndef CLR_SQLITE_VIEW_H
#define CLR_SQLITE_VIEW_H

#include "sqlite/acceleration.h"
#include "sqlite/connection.h"
#include "sqlite/parameter_sets.h"
#include "sqlite/select.h"

struct clr_view {
    sqlite3_vtab base;
    struct clr_view *next; /* in the connection's list */
    struct clr_connection *connection;
    char *name, *argument; /* as in CREATE VIRTUAL TABLE */
    struct clr_select select;
    struct clr_acceleration *acceleration;
    int cursors;                    /* that are open */
    struct clr_parameter_sets sets; /* of the rows that open cursors gave rowids */
};

/* Registers the module. Returns SQLite's result code. */
int clr_view_register(struct clr_connection *connection);

/* Returns the connection's view of that name, or NULL. */
struct clr_view *clr_view_find(struct clr_connection *connection, const char *name);

/* Frees what is known of views that SQLite let go of. */
void clr_views_free_past(struct clr_connection *connection);

#endif

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
 *     PRAGMAs are refused. One that is made for somebody (access/made_views.h) is in no schema.
 */
#ifndef CLR_SQLITE_MODULE_H
#define CLR_SQLITE_MODULE_H

#include "sqlite/session/connection.h"
#include "sqlite/session/parameter_sets.h"
#include "sqlite/view/acceleration.h"
#include "sqlite/view/select.h"

struct clr_view {
    sqlite3_vtab base;
    struct clr_view *next;   /* in the connection's list */
    struct clr_views *views; /* the connection's */
    struct clr_connection *connection;
    char *name, *argument; /* as in CREATE VIRTUAL TABLE */
    bool is_made;          /* by clr_view_make() */
    bool is_written_from;  /* a statement that writes reads it */
    bool compares;         /* see clr_select_read() */
    struct clr_select select;
    struct clr_acceleration *acceleration;
    int cursors;                    /* that are open */
    sqlite3_stmt *idle;             /* its SELECT, for the next cursor; or NULL */
    unsigned prepared;              /* the connection's, when that was */
    struct clr_limits limits;       /* likewise */
    struct clr_parameter_sets sets; /* of the rows that open cursors gave rowids */
    sqlite3_uint64 used;            /* when it was last read: see uses below */
};

/* The views of a connection. */
struct clr_views {
    struct clr_attachment attachment;
    struct clr_view *first;
    struct clr_view
        *past; /* those that SQLite let go of, which may come back: see disconnect_view() */
    sqlite3_uint64 uses; /* how often one was read, or asked for */
    int depth;           /* how many views' rows are being fetched at the moment */
};

/* Returns the connection's, or NULL as long as it has had none. */
struct clr_views *clr_views_of(const struct clr_connection *connection);

/* Finalizes the statements of databases, unless a view is left: a connection that has statements
   cannot be closed. */
void clr_views_end(struct clr_connection *connection);

/* Returns the connection's view of that name, or NULL. */
struct clr_view *clr_view_find(struct clr_connection *connection, const char *name);

/*
 * Makes a view of a SELECT, whose name none of the connection's modules has: temp.NAME from then
 * on, until sqlite3_create_module_v2() has no module of that name any more. compares: as
 * clr_select_read() has it. Returns SQLITE_OK; SQLITE_NOTFOUND, with the reason, if it can't be
 * accelerated, which SQLite hears nothing of, since it expires all statements when a table that was
 * connected goes; or SQLite's code. Messages are freed with sqlite3_free(), and may be NULL.
 */
int clr_view_make(struct clr_connection *connection, const char *name, const char *sql,
                  bool compares, char **message);

/* Registers the module. Returns SQLite's result code. */
int clr_view_register(struct clr_connection *connection);

#endif

/* What an accelerated view is, and how it is made, connected anew and let go: SQLite's callbacks
   for that. */
#ifndef CLR_SQLITE_VIEW_LIFE_H
#define CLR_SQLITE_VIEW_LIFE_H

#include "sqlite/view/acceleration.h"
#include "sqlite/view/select.h"
#include "sqlite/session/connection.h"
#include "sqlite/views/parameter_sets.h"

/* How the names of views begin that are made for somebody: see access/made_views.h. */
#define CLR_MADE_VIEW "clreduce_view_"

struct clr_view {
    sqlite3_vtab base;
    struct clr_view *next; /* in the connection's list */
    struct clr_connection *connection;
    char *name, *argument; /* as in CREATE VIRTUAL TABLE */
    struct clr_select select;
    struct clr_acceleration *acceleration;
    int cursors;                    /* that are open */
    struct clr_parameter_sets sets; /* of the rows that open cursors gave rowids */
    sqlite3_uint64 used;            /* when it was last read: see uses below */
};

/* The views of a connection. */
struct clr_views {
    struct clr_attachment attachment;
    struct clr_view *first;
    struct clr_view *past; /* those that SQLite let go of, which may come back: see view_life.c */
    sqlite3_uint64 uses;   /* how often one was read, or asked for */
    int depth;             /* how many views' rows are being fetched at the moment */
};

/* Returns the connection's, or NULL as long as it has had none. */
struct clr_views *clr_views_of(const struct clr_connection *connection);

/* Gives up what views leave with the connection, if there is none, or none is left: a connection
   that has statements cannot be closed. */
void clr_views_end(struct clr_connection *connection);

/* Returns the connection's view of that name, or NULL. */
struct clr_view *clr_view_find(struct clr_connection *connection, const char *name);

/* xCreate and xConnect; the first pointer is the connection's struct clr_connection. */
int clr_view_create(sqlite3 *db, void *connection, int count, const char *const *arguments,
                    sqlite3_vtab **result, char **error);
int clr_view_connect(sqlite3 *db, void *connection, int count, const char *const *arguments,
                     sqlite3_vtab **result, char **error);

/* xDisconnect, after which the view may be connected again, and xDestroy. */
int clr_view_disconnect(sqlite3_vtab *view);
int clr_view_destroy(sqlite3_vtab *view);

#endif

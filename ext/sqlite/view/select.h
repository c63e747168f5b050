/*
 * The SELECT that an accelerated view holds: whether it is one, and what the view's table looks
 * like.
 */
#ifndef CLR_SQLITE_SELECT_H
#define CLR_SQLITE_SELECT_H

#include "sqlite/api.h"

#include <stdbool.h>

struct clr_select {
    char *sql;           /* without the parentheses around it */
    int column_count;    /* 0: nothing is known of them, see clr_select_keep() */
    int parameter_count; /* the largest number of a parameter */
    bool compares;       /* columns compare as the SELECT's do, and not only have their types */
    char *declaration;   /* CREATE TABLE for sqlite3_declare_vtab(): columns, hidden parameters */
    /* Of SELECT * FROM schema.view, where that is an ordinary view, what is planned is the SELECT
       that the view holds: see plan.h. Else NULL. */
    char *view_schema, *view_name;
};

/*
 * Takes the argument of CREATE VIRTUAL TABLE, a SELECT in parentheses. compares: columns are
 * declared such that they compare as they would in an ordinary view, where a virtual table can have
 * that; else as their declared types have it. Returns SQLITE_OK, to be freed with
 * clr_select_free(), or an error code with *error, which SQLite frees: SQLite's own message for
 * what it does not accept, else what a view cannot hold.
 */
int clr_select_read(sqlite3 *db, const char *argument, bool compares, struct clr_select *select,
                    char **error);

/*
 * Whether a statement that was prepared of the SELECT has the columns that were declared: those of
 * a view are others when it was created again. Returns SQLITE_OK, SQLITE_MISMATCH or SQLITE_NOMEM.
 */
int clr_select_check(const struct clr_select *select, sqlite3_stmt *statement);

/* The same of the SELECT as it is prepared now; else SQLite's code. */
int clr_select_check_now(sqlite3 *db, const struct clr_select *select);

/*
 * Takes an argument whose SELECT is an error at the moment, *error, of a view that was made before.
 * known: what was read of it then, which is copied. NULL: one column stands for its columns, of
 * which nothing is known; the view can be dropped, and reading it is an error. Returns SQLITE_OK,
 * to be freed with clr_select_free(), or an error code, with *error as above.
 */
int clr_select_keep(const char *argument, const struct clr_select *known, struct clr_select *select,
                    char **error);

/* Frees what it holds; zeros are fine. */
void clr_select_free(struct clr_select *select);

/* Prepares the SELECT; statements live as long as the view, at most. So its literals are what they
   are in the default floating-point environment. Returns SQLite's code. */
int clr_select_prepare(sqlite3 *db, const struct clr_select *select, sqlite3_stmt **statement);

#endif

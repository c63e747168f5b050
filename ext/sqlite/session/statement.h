/* Statements of our own, and what a connection's statements may do, are doing, and can name. */
#ifndef CLR_SQLITE_STATEMENT_H
#define CLR_SQLITE_STATEMENT_H

#include "query/reason.h"
#include "sqlite/api.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- Limits. */

/*
 * The limits of a connection on statements (https://sqlite.org/limits.html). They are the
 * application's, for what it writes; statements of our own are made without them.
 */
struct clr_limits {
    int values[7];
};

/* Returns what they are. */
struct clr_limits clr_limits_read(sqlite3 *db);

/* Sets them, or NULL: to the highest that SQLite was built for. Returns what they were. */
struct clr_limits clr_limits_set(sqlite3 *db, const struct clr_limits *limits);

/* ---- Statements of our own: prepared without the application's limits, which are for its. */

/* Prepares a statement with SQLITE_PREPARE_... flags. Returns as sqlite3_prepare_v3() does. */
int clr_statement_make(sqlite3 *db, const char *sql, unsigned flags, sqlite3_stmt **statement);

/* Prepares the statement whose text sqlite3_mprintf() makes of the format. Returns SQLite's result
   code; *statement is NULL unless that is SQLITE_OK. */
int clr_statement_prepare(sqlite3 *db, sqlite3_stmt **statement, const char *format, ...);

/* The same, of a text that it frees; NULL: there was no memory for it. */
int clr_statement_prepare_text(sqlite3 *db, sqlite3_stmt **statement, char *sql);

/* Whether SQLite is going to prepare a statement again, also where that is not known. */
bool clr_statement_is_outdated(sqlite3_stmt *statement);

/* Finalizes a statement, which may be NULL. Returns rc, or if that is SQLITE_OK the code with which
   the statement ended. */
int clr_statement_end(sqlite3_stmt *statement, int rc);

/* Sets SQLite's message as the reason: that of the connection's last error, or of rc, the code with
   which a statement failed. */
void clr_statement_refuse(sqlite3 *db, int rc, struct clr_reason *reason);

/* ---- Interruption. */

/* Whether a connection's statements are to stop, which SQLite before 3.41 tells nobody. */

/* Who asks: all zeros but for db at first; clr_interruption_end() when nobody asks any more. */
struct clr_interruption {
    sqlite3 *db;
    sqlite3_stmt *poll;
};

/*
 * Returns whether sqlite3_interrupt() was called, or the progress handler wants a stop, while a
 * statement of the connection runs: a small statement of our own meets the same fate, and the
 * handler, which counts its instructions. Without memory for it the answer is no. As for a
 * clr_watch the argument is void: a struct clr_interruption.
 */
bool clr_interruption_is_wanted(void *interruption);

/* Frees what asking took. */
void clr_interruption_end(struct clr_interruption *interruption);

/*
 * Returns the next statement that runs and writes, after one of them, or the first one after NULL;
 * NULL: there is no other. It may be the one that a function, or a table, is called by. One that
 * another program, or function, begins meanwhile is as one that is begun while a SELECT is.
 */
sqlite3_stmt *clr_next_writing(sqlite3 *db, sqlite3_stmt *statement);

/* Whether there is one. */
static inline bool clr_is_writing(sqlite3 *db)
{
    return clr_next_writing(db, NULL) != NULL;
}

/* ---- Names. */

/* Copies of names, memory of SQLite's. Zeros: none. */
struct clr_names {
    char **list;
    int count;
};

/* Adds a copy of a name. Returns SQLITE_OK, or SQLITE_NOMEM: also for NULL, as SQLite has then had
   no memory for it. */
int clr_names_add(struct clr_names *names, const char *name);

/* Frees what it holds. */
void clr_names_free(struct clr_names *names);

/*
 * Lists the databases that a connection has: the first is main, then temp, if it is open, and then
 * those that are attached. Where an authorizer hides the list, or refuses it, main and temp are all
 * that is known. Returns SQLITE_OK, and then clr_names_free() is due; or SQLite's result code, such
 * as SQLITE_INTERRUPT, with nothing to free.
 */
int clr_schema_names_read(sqlite3 *db, struct clr_names *names);

/* Whether the temp database is open: SQLite opens it for the first statement that needs it, and
   shows it among the databases from then on. Without it no name means something in it. */
bool clr_temp_is_open(sqlite3 *db);

#endif

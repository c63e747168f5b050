/* Statements of our own. They are prepared without the application's limits, which are for its. */
#ifndef CLR_SQLITE_STATEMENT_H
#define CLR_SQLITE_STATEMENT_H

#include "sqlite/api.h"

/* Prepares a statement with SQLITE_PREPARE_... flags. Returns as sqlite3_prepare_v3() does. */
int clr_statement_make(sqlite3 *db, const char *sql, unsigned flags, sqlite3_stmt **statement);

/* Prepares the statement whose text sqlite3_mprintf() makes of the format. Returns SQLite's result
   code; *statement is NULL unless that is SQLITE_OK. */
int clr_statement_prepare(sqlite3 *db, sqlite3_stmt **statement, const char *format, ...);

/* The same, of a text that it frees; NULL: there was no memory for it. */
int clr_statement_prepare_text(sqlite3 *db, sqlite3_stmt **statement, char *sql);

/* Finalizes a statement, which may be NULL. Returns rc, or if that is SQLITE_OK the code with which
   the statement ended. */
int clr_statement_end(sqlite3_stmt *statement, int rc);

#endif

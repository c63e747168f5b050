/* SELECTs that accelerated views take the place of: clreduce_prepare_v2() (see clreduce.h) and
   clreduce_rewrite(), the same for programs that only send text; and clreduce_accelerate(). */
#ifndef CLR_SQLITE_REWRITE_H
#define CLR_SQLITE_REWRITE_H

#include "sqlite/session/connection.h"

/* What clreduce_prepare_v2() does. */
int clr_prepare(sqlite3 *db, const char *sql, int bytes, sqlite3_stmt **statement,
                const char **tail);

/* Registers the functions. Returns SQLite's result code. */
int clr_rewrite_register(struct clr_connection *connection);

#endif

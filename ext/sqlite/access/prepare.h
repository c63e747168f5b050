/* What clreduce_prepare_v2() does: see clreduce.h; and the same for programs that only send text.
 */
#ifndef CLR_SQLITE_PREPARE_H
#define CLR_SQLITE_PREPARE_H

#include "sqlite/session/connection.h"

int clr_prepare(sqlite3 *db, const char *sql, int bytes, sqlite3_stmt **statement,
                const char **tail);

/*
 * Returns the text of the statement that clr_prepare() prepares in the place of a SELECT, to be
 * freed with sqlite3_free(). NULL: there is none, the text is no single SELECT, or there was no
 * memory; the text is then to be prepared as it is, which also tells what is wrong with it.
 */
char *clr_rewrite(struct clr_connection *connection, const char *sql);

#endif

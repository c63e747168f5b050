/* What clreduce_prepare_v2() does: see clreduce.h. */
#ifndef CLR_SQLITE_PREPARE_H
#define CLR_SQLITE_PREPARE_H

#include "sqlite/api.h"

int clr_prepare(sqlite3 *db, const char *sql, int bytes, sqlite3_stmt **statement,
                const char **tail);

#endif

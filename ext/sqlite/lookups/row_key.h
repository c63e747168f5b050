/* The functions CLR_ROW_KEY and CLR_ROW_KEY_PART: see query/query.h. */
#ifndef CLR_SQLITE_ROW_KEY_H
#define CLR_SQLITE_ROW_KEY_H

#include "sqlite/api.h"

/* Registers both. Returns SQLite's result code. */
int clr_row_key_register(sqlite3 *db);

#endif

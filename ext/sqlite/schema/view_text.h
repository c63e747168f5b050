/* The SELECTs of ordinary views, as the schema has them. */
#ifndef CLR_SQLITE_VIEW_TEXT_H
#define CLR_SQLITE_VIEW_TEXT_H

#include "sqlite/api.h"

/*
 * Reads the SELECT of a view, whose names mean tables of its own schema alone. Temporary views are
 * none here: their names mean tables of any schema. Returns SQLITE_OK with *select, to be freed
 * with sqlite3_free(), or NULL: there is no such view, or the schema cannot be read; or
 * SQLITE_NOMEM.
 */
int clr_view_text_read(sqlite3 *db, const char *schema, const char *name, char **select);

/* Returns the text behind spaces, comments and the marks of byte order that SQLite passes over. */
const char *clr_view_text_skip_blank(const char *text);

#endif

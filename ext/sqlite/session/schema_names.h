/* The names of the databases that a connection has. */
#ifndef CLR_SQLITE_SCHEMA_NAMES_H
#define CLR_SQLITE_SCHEMA_NAMES_H

#include "sqlite/api.h"

/* The first is main's, then that of temp, if it is open, and then those of the databases that are
   attached. */
struct clr_schema_names {
    char **list;
    int count;
};

/*
 * Lists them. Where an authorizer hides the list, or refuses it, those of main and temp are all
 * that is known. Returns SQLITE_OK, and then clr_schema_names_free() is due; or SQLite's result
 * code, such as SQLITE_INTERRUPT, with nothing to free.
 */
int clr_schema_names_read(sqlite3 *db, struct clr_schema_names *names);

void clr_schema_names_free(struct clr_schema_names *names);

#endif

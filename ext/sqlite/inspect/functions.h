/* clreduce_set() and clreduce_version(). */
#ifndef CLR_SQLITE_FUNCTIONS_H
#define CLR_SQLITE_FUNCTIONS_H

#include "sqlite/session/connection.h"

/* Registers the scalar functions. library_version is a constant. Returns SQLite's result code. */
int clr_functions_register(struct clr_connection *connection, const char *library_version);

#endif

/* clreduce_rewrite() and clreduce_accelerate(). */
#ifndef CLR_SQLITE_ACCESS_FUNCTIONS_H
#define CLR_SQLITE_ACCESS_FUNCTIONS_H

#include "sqlite/session/connection.h"

/* Registers the functions. Returns SQLite's result code. */
int clr_access_functions_register(struct clr_connection *connection);

#endif

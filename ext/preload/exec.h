/* sqlite3_exec(), with the SELECTs at the front of a text watched. */
#ifndef CLR_PRELOAD_EXEC_H
#define CLR_PRELOAD_EXEC_H

#include "preload/statements.h"

/* As sqlite3_exec(), with the mutex of the connection. */
int clr_exec(struct clr_connected *connected, const char *sql,
             int (*callback)(void *, int, char **, char **), void *argument, char **message);

#endif

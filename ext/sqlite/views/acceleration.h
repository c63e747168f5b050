/*
 * How an accelerated view answers without SQLite's rows: its SELECT understood as a scan over
 * columns, the columns brought from pages to memory, the scan run on a device or the host, and its
 * result row made. Wherever one of these is impossible, SQLite runs the SELECT.
 */
#ifndef CLR_SQLITE_ACCELERATION_H
#define CLR_SQLITE_ACCELERATION_H

#include "sqlite/session/connection.h"
#include "sqlite/views/select.h"

struct clr_acceleration;

/* Returns the acceleration of a view's SELECT, which must outlive it, or NULL without memory. */
struct clr_acceleration *clr_acceleration_new(struct clr_connection *connection,
                                              const struct clr_select *select);

/* Finalizes its statements and frees it; NULL is fine. */
void clr_acceleration_free(struct clr_acceleration *acceleration);

/*
 * Answers the SELECT with these parameters (select->parameter_count of them). Returns SQLITE_ROW
 * with *answer, a new statement of the caller's whose first step gives the row; SQLITE_OK if
 * SQLite has to run the SELECT; SQLITE_INTERRUPT, SQLITE_BUSY or SQLITE_NOMEM.
 */
int clr_acceleration_run(struct clr_acceleration *acceleration, sqlite3_value *const *parameters,
                         sqlite3_stmt **answer);

/* Line i, from 0, of what it does and did the last time, for a user; NULL past the last one. The
   text is valid until the next call. */
const char *clr_acceleration_explain(struct clr_acceleration *acceleration, int i);

#endif

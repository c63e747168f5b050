/* The age of a connection: a number that no other connection has, and that is another one once all
   of its statements are outdated, as by a function that takes another one's place, by an authorizer
   or by its own change of the schema. */
#ifndef CLR_SQLITE_AGE_H
#define CLR_SQLITE_AGE_H

#include "sqlite/session/connection.h"

#include <stdint.h>

/* Returns the number, or 0 where it is not known: without memory, or where SQLite does not tell
   that a statement is outdated. A pattern that is bound to LIKE outdates its own statement alone.
   *holds, false at first, says that the caller has asked and not released yet: until all have, the
   connection has a statement of ours, with which SQLite does not close it. */
uint64_t clr_age_read(struct clr_connection *connection, bool *holds);

/* Takes back that the caller has asked, if it has. Returns whether nobody else has: the next number
   is another one. */
bool clr_age_release(struct clr_connection *connection, bool *holds);

#endif

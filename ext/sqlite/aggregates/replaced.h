/* Functions that the application has in place of others. */
#ifndef CLR_SQLITE_REPLACED_H
#define CLR_SQLITE_REPLACED_H

#include "query/query.h"
#include "sqlite/session/connection.h"

#include <stdbool.h>

/* Whether the application has functions of its own in place of some that a scan computes: in place
   of such as others may have as well, only if the query calls them. True also where SQLite does not
   tell. */
bool clr_functions_are_replaced(struct clr_connection *connection, const struct clr_query *query);

#endif

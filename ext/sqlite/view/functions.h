/* What is known of functions, by PRAGMA function_list: whether they give the same result for the
   same arguments, what they do with subtypes, and which the application has in place of others. */
#ifndef CLR_SQLITE_VIEW_FUNCTIONS_H
#define CLR_SQLITE_VIEW_FUNCTIONS_H

#include "query/query.h"
#include "sqlite/api.h"
#include "sqlite/session/connection.h"

#include <stdbool.h>

/* Names of functions, each once. */
struct clr_function_names {
    char **names;
    int count;
};

/* Adds a name, unless it is there. Returns false without memory. */
bool clr_function_names_add(struct clr_function_names *list, const char *name);

/* Frees what it holds; zeros are fine. */
void clr_function_names_free(struct clr_function_names *list);

/*
 * Whether all functions that SQLite or the application has by these names are deterministic, and no
 * aggregates. Any of them may be replaced at any time. What can't be found out is not known to be
 * so.
 */
bool clr_functions_are_deterministic(sqlite3 *db, const struct clr_function_names *list);

/* Returns what the functions of a name do with subtypes: bits of enum clr_subtype_use. They may do
   whatever can't be found out. */
unsigned clr_function_subtypes(sqlite3 *db, const char *name);

/* Whether the application has functions of its own in place of some that a scan computes: in place
   of such as others may have as well, only if the query calls them. True also where SQLite does not
   tell. */
bool clr_functions_are_replaced(struct clr_connection *connection, const struct clr_query *query);

#endif

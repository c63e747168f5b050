/* What is known of functions, by PRAGMA function_list: whether they give the same result for the
   same arguments, what they do with subtypes, and which the application has in place of others. */
#ifndef CLR_SQLITE_SCHEMA_FUNCTIONS_H
#define CLR_SQLITE_SCHEMA_FUNCTIONS_H

#include "query/query.h"
#include "sqlite/api.h"
#include "sqlite/schema/bytecode.h"
#include "sqlite/session/connection.h"

#include <stdbool.h>

/* The functions that SQLite or the application has by a name. Any may be replaced at any time. */
struct clr_function {
    char *name;
    bool is_deterministic; /* all are, and none is an aggregate; false also if that is not known */
    bool is_builtin;       /* all are SQLite's own; false also if that is not known */
    unsigned subtypes;     /* bits of enum clr_subtype_use: what they may do with subtypes */
    uint64_t variants;     /* a hash of the encodings and numbers of arguments that there are */
};

/* Each name once. */
struct clr_functions {
    struct clr_function *list;
    int count;
};

/* Limits of a connection, in bytes, that make functions fail: of values, and of patterns. */
struct clr_function_limits {
    int length, pattern;
};

/* Returns what they are now. */
struct clr_function_limits clr_function_limits_read(sqlite3 *db);

/* Returns the functions of a name, which is added unless it is there; NULL without memory. The next
   call may move them. */
struct clr_function *clr_functions_add(struct clr_functions *functions, const char *name);

/* Frees what it holds; zeros are fine. */
void clr_functions_free(struct clr_functions *functions);

/* Finds out what they are and do. Returns false without memory. */
bool clr_functions_read(sqlite3 *db, struct clr_functions *functions);

/* Whether those that were deterministic, or SQLite's own, when they were read are so now; false
   without memory. Stores a hash of all their variants. */
bool clr_functions_still_are(sqlite3 *db, const struct clr_functions *functions,
                             uint64_t *variants);

/* Whether all functions that a program calls are SQLite's own, or such as the statements of lookups
   call; false also where SQLite does not tell. known: functions of which it is known just now which
   are SQLite's; or NULL. */
bool clr_functions_are_sqlites(const struct clr_connection *connection,
                               const struct clr_functions *known,
                               const struct clr_bytecode *program);

/* Whether a function of SQL may get a modifier that converts from or to local times. */
bool clr_functions_name_zone(const char *sql);

/* Whether the application has functions of its own in place of some that a scan computes: in place
   of such as others may have as well, only if the query calls them. True also where SQLite does not
   tell. */
bool clr_functions_are_replaced(struct clr_connection *connection, const struct clr_query *query);

#endif

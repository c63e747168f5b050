#include "sqlite/aggregates/replaced.h"

#include "sqlite/aggregates/aggregates.h"
#include "sqlite/session/statement.h"

#include <string.h>

/* Whether a function, as PRAGMA function_list tells of it, is one that the setting override has
   registered by SQLite's name. Without memory it may have registered some of them. */
static bool is_ours(const struct clr_connection *connection, sqlite3_stmt *list, const char *name)
{
    const char *encoding = (const char *)sqlite3_column_text(list, 3);
    const struct clr_aggregate *aggregate;
    int left = connection->overrides;

    if (encoding == NULL || strcmp(encoding, "utf16le") != 0 || sqlite3_column_int(list, 4) != 1)
        return false;
    for (aggregate = clr_aggregates; aggregate->name != NULL && left > 0; aggregate++) {
        if (!clr_aggregate_overrides(aggregate))
            continue;
        if (strcmp(aggregate->builtin, name) == 0)
            return true;
        left--;
    }
    return false;
}

bool clr_functions_are_replaced(struct clr_connection *connection, const struct clr_query *query)
{
    static const char *const names[] = {"abs", "avg", "coalesce", "count", "ifnull",
                                        "max", "min", "sum",      "total"};
    sqlite3_stmt *list = NULL;
    bool found = connection->replaced, is_empty = true;
    size_t i;

    if (clr_statement_make(connection->db, "PRAGMA function_list", 0, &list) != SQLITE_OK)
        return true;
    while (!found && sqlite3_step(list) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(list, 0);
        is_empty = false;
        if (name == NULL || sqlite3_column_int(list, 1) != 0 || is_ours(connection, list, name))
            continue;
        for (i = 0; i < sizeof names / sizeof names[0]; i++)
            found = found || strcmp(name, names[i]) == 0;
        found = found || clr_query_calls(query, name);
    }
    /* Where an authorizer hides the list it is not known. */
    return sqlite3_finalize(list) != SQLITE_OK || found || is_empty;
}

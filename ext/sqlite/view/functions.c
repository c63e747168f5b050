#include "sqlite/view/functions.h"

#include "query/query.h"
#include "sqlite/aggregates/aggregates.h"
#include "sqlite/session/statement.h"

#include <string.h>

bool clr_function_names_add(struct clr_function_names *list, const char *name)
{
    char **names, *copy;
    int i;

    for (i = 0; i < list->count; i++) {
        if (sqlite3_stricmp(list->names[i], name) == 0)
            return true;
    }
    names = sqlite3_realloc64((void *)list->names,
                              ((sqlite3_uint64)list->count + 1) * sizeof *list->names);
    if (names == NULL)
        return false;
    list->names = names;
    copy = sqlite3_mprintf("%s", name);
    if (copy == NULL)
        return false;
    names[list->count++] = copy;
    return true;
}

void clr_function_names_free(struct clr_function_names *list)
{
    int i;

    for (i = 0; i < list->count; i++)
        sqlite3_free(list->names[i]);
    sqlite3_free((void *)list->names);
    *list = (struct clr_function_names){.names = NULL};
}

/* Returns the number of a name, or -1. */
static int find_name(const struct clr_function_names *list, const char *name)
{
    int i;

    for (i = 0; i < list->count; i++) {
        if (sqlite3_stricmp(list->names[i], name) == 0)
            return i;
    }
    return -1;
}

/* Whether a function, as PRAGMA function_list tells of it, will do. */
static bool is_deterministic(const char *name, const char *type, int flags)
{
    /* These also have a scalar form, which is asked for: the query tells the forms apart. */
    if (strcmp(type, "s") != 0)
        return sqlite3_stricmp(name, "min") == 0 || sqlite3_stricmp(name, "max") == 0;
    /* It follows from where a value is stored, and not from the value. */
    if (sqlite3_stricmp(name, "sqlite_offset") == 0)
        return false;
    return (flags & SQLITE_DETERMINISTIC) != 0;
}

/* found has room for a mark of each name. */
static bool check(sqlite3_stmt *functions, const struct clr_function_names *list, char *found)
{
    int missing = list->count, i;

    /* name, builtin, type, enc, narg, flags */
    while (sqlite3_step(functions) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(functions, 0);
        const char *type = (const char *)sqlite3_column_text(functions, 2);

        i = name == NULL || type == NULL ? -1 : find_name(list, name);
        if (i < 0)
            continue;
        if (!is_deterministic(name, type, sqlite3_column_int(functions, 5)))
            return false;
        missing -= !found[i] && strcmp(type, "s") == 0;
        found[i] |= strcmp(type, "s") == 0;
    }
    return sqlite3_reset(functions) == SQLITE_OK && missing == 0;
}

bool clr_functions_are_deterministic(sqlite3 *db, const struct clr_function_names *list)
{
    sqlite3_stmt *functions = NULL;
    bool deterministic = false;
    char *found;

    if (list->count == 0)
        return true;
    found = sqlite3_malloc(list->count);
    if (found != NULL &&
        clr_statement_make(db, "PRAGMA function_list", 0, &functions) == SQLITE_OK) {
        memset(found, 0, (size_t)list->count);
        deterministic = check(functions, list, found);
    }
    sqlite3_finalize(functions);
    sqlite3_free(found);
    return deterministic;
}

/* Whether a name is one of a list that NULL ends. */
static bool is_listed(const char *const *list, const char *name)
{
    while (*list != NULL && sqlite3_stricmp(*list, name) != 0)
        list++;
    return *list != NULL;
}

/* As PRAGMA function_list tells of a function. SQLite's own flags say nothing of results, and of
   arguments from version 3.45 on. */
static unsigned subtype_use(const char *name, bool is_builtin, int flags)
{
    static const char *const readers[] = {
        "json_array", "json_array_insert", "json_insert", "json_object",
        "json_quote", "json_replace",      "json_set",    NULL};
    static const char *const passing[] = {"if", "iif", NULL};
    const unsigned reads =
        flags & SQLITE_SUBTYPE || is_listed(readers, name) ? CLR_SUBTYPE_READ : 0;

    if (!is_builtin)
        return reads | CLR_SUBTYPE_GIVEN;
    if (sqlite3_strnicmp(name, "json", 4) == 0 || strcmp(name, "->") == 0)
        return reads | CLR_SUBTYPE_GIVEN | CLR_SUBTYPE_OWN;
    return reads | (is_listed(passing, name) ? 0 : CLR_SUBTYPE_OWN);
}

unsigned clr_function_subtypes(sqlite3 *db, const char *name)
{
    sqlite3_stmt *functions = NULL;
    unsigned any = 0, all = CLR_SUBTYPE_OWN;
    bool found = false;

    if (clr_statement_make(db, "PRAGMA function_list", 0, &functions) == SQLITE_OK) {
        /* name, builtin, type, enc, narg, flags */
        while (sqlite3_step(functions) == SQLITE_ROW) {
            const char *known = (const char *)sqlite3_column_text(functions, 0);

            if (known != NULL && sqlite3_stricmp(known, name) == 0) {
                const unsigned use = subtype_use(name, sqlite3_column_int(functions, 1) != 0,
                                                 sqlite3_column_int(functions, 5));

                any |= use;
                all &= use;
                found = true;
            }
        }
    }
    if (sqlite3_finalize(functions) != SQLITE_OK || !found)
        return CLR_SUBTYPE_READ | CLR_SUBTYPE_GIVEN;
    return (any & (CLR_SUBTYPE_READ | CLR_SUBTYPE_GIVEN)) | all;
}

/* ---- Functions that the application has in place of others. */

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

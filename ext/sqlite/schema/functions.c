#include "sqlite/schema/functions.h"

#include "numeric/values/bytes.h"
#include "query/syntax/syntax.h"
#include "sqlite/aggregates/aggregates.h"
#include "sqlite/session/statement.h"

#include <string.h>

struct clr_function_limits clr_function_limits_read(sqlite3 *db)
{
    return (struct clr_function_limits){sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1),
                                        sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1)};
}

static struct clr_function *find(const struct clr_functions *functions, const char *name)
{
    int i;

    for (i = 0; i < functions->count; i++) {
        if (sqlite3_stricmp(functions->list[i].name, name) == 0)
            return &functions->list[i];
    }
    return NULL;
}

struct clr_function *clr_functions_add(struct clr_functions *functions, const char *name)
{
    struct clr_function *list = find(functions, name);

    if (list != NULL)
        return list;
    list = sqlite3_realloc64(functions->list,
                             ((sqlite3_uint64)functions->count + 1) * sizeof *functions->list);
    if (list == NULL)
        return NULL;
    functions->list = list;
    list[functions->count] = (struct clr_function){.name = sqlite3_mprintf("%s", name)};
    return list[functions->count].name == NULL ? NULL : &list[functions->count++];
}

void clr_functions_free(struct clr_functions *functions)
{
    int i;

    for (i = 0; i < functions->count; i++)
        sqlite3_free(functions->list[i].name);
    sqlite3_free(functions->list);
    *functions = (struct clr_functions){.list = NULL};
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

/* What the list has told of the functions of a name. */
struct found {
    bool is_found, has_scalar;
    bool has_other;    /* one that will not do */
    bool has_own;      /* one of the application's */
    unsigned any, all; /* of their uses of subtypes */
    uint64_t
        variants; /* a hash, in any order, of which encodings and numbers of arguments there are */
};

static uint64_t hash_variant(sqlite3_stmt *list)
{
    struct clr_value encoding = {.kind = CLR_KIND_TEXT,
                                 .bytes = (const char *)sqlite3_column_text(list, 3)};

    encoding.as.size = encoding.bytes == NULL ? 0 : strlen(encoding.bytes);
    return clr_bytes_hash(&encoding, (uint64_t)sqlite3_column_int64(list, 4));
}

static void take(sqlite3_stmt *list, const struct clr_functions *functions, struct found *found)
{
    /* name, builtin, type, enc, narg, flags */
    const char *name = (const char *)sqlite3_column_text(list, 0);
    const char *type = (const char *)sqlite3_column_text(list, 2);
    const int flags = sqlite3_column_int(list, 5);
    const struct clr_function *function =
        name == NULL || type == NULL ? NULL : find(functions, name);
    unsigned use;

    if (function == NULL)
        return;
    found += function - functions->list;
    found->has_own = found->has_own || sqlite3_column_int(list, 1) == 0;
    found->variants += hash_variant(list);
    use = subtype_use(name, sqlite3_column_int(list, 1) != 0, flags);
    found->is_found = true;
    found->all &= use;
    found->any |= use;
    found->has_other = found->has_other || !is_deterministic(name, type, flags);
    found->has_scalar = found->has_scalar || strcmp(type, "s") == 0;
}

bool clr_functions_read(sqlite3 *db, struct clr_functions *functions)
{
    const sqlite3_uint64 size = (sqlite3_uint64)functions->count * sizeof(struct found);
    struct found *found = functions->count == 0 ? NULL : sqlite3_malloc64(size);
    sqlite3_stmt *list = NULL;
    bool is_known = false;
    int i;

    if (found == NULL)
        return functions->count == 0;
    for (i = 0; i < functions->count; i++)
        found[i] = (struct found){.all = CLR_SUBTYPE_OWN};
    if (clr_statement_make(db, "PRAGMA function_list", 0, &list) == SQLITE_OK) {
        while (sqlite3_step(list) == SQLITE_ROW)
            take(list, functions, found);
        is_known = sqlite3_finalize(list) == SQLITE_OK;
    }
    for (i = 0; i < functions->count; i++) {
        struct clr_function *function = &functions->list[i];

        function->is_deterministic = is_known && found[i].has_scalar && !found[i].has_other;
        function->variants = found[i].variants;
        function->is_builtin = is_known && found[i].is_found && !found[i].has_own;
        function->subtypes = is_known && found[i].is_found
                                 ? (found[i].any & ~(unsigned)CLR_SUBTYPE_OWN) | found[i].all
                                 : CLR_SUBTYPE_READ | CLR_SUBTYPE_GIVEN;
    }
    sqlite3_free(found);
    return true;
}

bool clr_functions_still_are(sqlite3 *db, const struct clr_functions *functions, uint64_t *variants)
{
    const sqlite3_uint64 size = (sqlite3_uint64)functions->count * sizeof *functions->list;
    struct clr_functions now = {sqlite3_malloc64(size), functions->count};
    bool are = functions->count == 0;
    int i;

    *variants = 0;
    if (now.list != NULL) {
        memcpy(now.list, functions->list, size);
        are = clr_functions_read(db, &now);
        for (i = 0; i < now.count; i++) {
            *variants = *variants * 31 + now.list[i].variants;
            are = are && (now.list[i].is_deterministic || !functions->list[i].is_deterministic) &&
                  (now.list[i].is_builtin || !functions->list[i].is_builtin);
        }
    }
    sqlite3_free(now.list);
    return are;
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

/* Whether the application has a function of its own of which that is so; true also where SQLite
   does not tell. */
static bool has_own(const struct clr_connection *connection,
                    bool (*is_so)(const void *argument, const char *name), const void *argument)
{
    sqlite3_stmt *list = NULL;
    bool found = false, is_empty = true;

    if (clr_statement_make(connection->db, "PRAGMA function_list", 0, &list) != SQLITE_OK)
        return true;
    while (!found && sqlite3_step(list) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(list, 0);

        is_empty = false;
        found = name == NULL || (sqlite3_column_int(list, 1) == 0 &&
                                 !is_ours(connection, list, name) && is_so(argument, name));
    }
    /* Where an authorizer hides the list it is not known. */
    return sqlite3_finalize(list) != SQLITE_OK || found || is_empty;
}

/* Whether a query calls an aggregate of SQLite's by that name. */
static bool calls_aggregate(const struct clr_query *query, const char *name)
{
    const struct clr_call *call = query->calls, *end = call + query->call_count;

    while (call < end && !(call->builtin && strcmp(call->aggregate->builtin, name) == 0))
        call++;
    return call < end;
}

/* Whether a scan computes a function of that name for a query, or for any. */
static bool is_computed(const void *query, const char *name)
{
    return CLR_TEXT_IN(name, "abs", "avg", "coalesce", "count", "ifnull", "max", "min", "sum",
                       "total") ||
           clr_query_calls(query, name) || calls_aggregate(query, name);
}

bool clr_functions_are_replaced(struct clr_connection *connection, const struct clr_query *query)
{
    return connection->replaced || has_own(connection, is_computed, query);
}

/* Whether it is a function that only statements of lookups call. */
static bool is_of_lookups(const char *name)
{
    return CLR_TEXT_IN(name, CLR_FIXED_TIME, CLR_NUMBER, CLR_ROW_KEY, CLR_ROW_KEY_PART);
}

/* Whether a program calls a function: operations name it with its number of arguments. */
static bool is_called(const void *argument, const char *name)
{
    const struct clr_bytecode *program = argument;
    const size_t length = strlen(name);
    int i;

    if (is_of_lookups(name))
        return false;
    for (i = 0; i < program->count; i++) {
        const char *p4 = program->operations[i].p4;

        if (sqlite3_strnicmp(p4, name, (int)length) == 0 && p4[length] == '(')
            return true;
    }
    return false;
}

/* Whether a function that an operation names so is known to be SQLite's, or is of lookups. */
static bool is_known(const struct clr_functions *known, const char *call)
{
    char name[sizeof CLR_FIXED_TIME];
    const int length = (int)strcspn(call, "(");
    const struct clr_function *function;

    if (length >= (int)sizeof name)
        return false;
    sqlite3_snprintf((int)sizeof name, name, "%.*s", length, call);
    function = find(known, name);
    return (function != NULL && function->is_builtin) || is_of_lookups(name);
}

/* Whether all functions that a program calls are such ones. */
static bool are_known(const struct clr_functions *known, const struct clr_bytecode *program)
{
    const struct clr_vdbe_op *call = NULL;

    while ((call = CLR_BYTECODE_NEXT(program, call, "Function", "PureFunc", "AggStep")) != NULL) {
        if (!is_known(known, call->p4))
            return false;
    }
    return true;
}

bool clr_functions_are_sqlites(const struct clr_connection *connection,
                               const struct clr_functions *known,
                               const struct clr_bytecode *program)
{
    return (known != NULL && are_known(known, program)) || !has_own(connection, is_called, program);
}

bool clr_functions_name_zone(const char *sql)
{
    return sqlite3_strlike("%localtime%", sql, 0) == 0 || sqlite3_strlike("%utc%", sql, 0) == 0;
}

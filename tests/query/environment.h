/*
 * What the tests of queries have in common: a table, and SQLite's word for what it means.
 */
#ifndef CLR_TESTS_ENVIRONMENT_H
#define CLR_TESTS_ENVIRONMENT_H

#include "base/memory.h"
#include "batch.h"
#include "query/query_run.h"
#include "query/syntax/syntax.h"

#include "tap.h"

#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <string.h>

static sqlite3 *database;

/* ---- The environment: a table of six numbers, a TEXT and a generated column. */

static const char *const columns[] = {"a", "b", "c", "d", "e f", "true", "s", "u", "g", "rowid"};

enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* Stores what is known of them. */
static inline void know_columns(struct clr_known_column known[COLUMNS])
{
    int i;

    for (i = 0; i < COLUMNS; i++)
        known[i] = (struct clr_known_column){.name = columns[i],
                                             .number = 100 + i,
                                             .is_text = strcmp(columns[i], "s") == 0 ||
                                                        strcmp(columns[i], "u") == 0,
                                             .is_numeric = i == 1 || i == 2 || i == COLUMNS - 1,
                                             .is_binary = strcmp(columns[i], "u") != 0,
                                             .collation = "nocase",
                                             .is_rowid = i == COLUMNS - 1,
                                             .readable = strcmp(columns[i], "g") != 0};
}

static inline bool find_literal(const struct clr_node *node, struct clr_scalar *value)
{
    sqlite3_stmt *statement = NULL;
    char *sql = sqlite3_mprintf("SELECT %s%s", node->negative ? "-" : "", node->names[0].name);
    double real;
    bool found = true;

    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW) {
        found = false;
    } else if (sqlite3_column_type(statement, 0) == SQLITE_INTEGER) {
        value->tag = CLR_TAG_INTEGER;
        value->bits = sqlite3_column_int64(statement, 0);
    } else {
        real = sqlite3_column_double(statement, 0);
        value->tag = CLR_TAG_REAL;
        memcpy(&value->bits, &real, sizeof real);
    }
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    return found;
}

/* Prepares a statement, so that its parameters can be asked for; NULL if SQLite refuses it. */
static inline sqlite3_stmt *prepare(const char *sql)
{
    sqlite3_stmt *statement = NULL;

    sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    return statement;
}

/* Skips a check if the SQLite that runs does not have what the text has. */
static inline bool skips(const char *sql)
{
    const bool is_new = strstr(sql, "->") != NULL || strstr(sql, "DISTINCT FROM") != NULL ||
                        strstr(sql, "unixepoch") != NULL;

    if (!is_new || sqlite3_libversion_number() >= 3039000)
        return false;
    tap_skip(1, "SQLite is too old: %s", sql);
    return true;
}

/* As SQLite has it listed. */
static inline bool is_deterministic(const char *name)
{
    sqlite3_stmt *list = prepare("PRAGMA function_list");
    bool is = false, is_not = false;

    while (sqlite3_step(list) == SQLITE_ROW) {
        if (sqlite3_stricmp(name, (const char *)sqlite3_column_text(list, 0)) != 0)
            continue;
        is = true;
        if (strcmp((const char *)sqlite3_column_text(list, 2), "s") != 0 ||
            (sqlite3_column_int(list, 5) & SQLITE_DETERMINISTIC) == 0)
            is_not = true;
    }
    sqlite3_finalize(list);
    return is && !is_not;
}

static inline unsigned find_subtypes(const char *name)
{
    if (strcmp(name, "json_array") == 0)
        return CLR_SUBTYPE_READ | CLR_SUBTYPE_GIVEN | CLR_SUBTYPE_OWN;
    return strcmp(name, "json") == 0 ? CLR_SUBTYPE_GIVEN | CLR_SUBTYPE_OWN : CLR_SUBTYPE_OWN;
}

static inline void never(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)context, (void)count, (void)values;
}

static inline void never_final(sqlite3_context *context)
{
    (void)context;
}

static inline void open_database(void)
{
    const struct clr_aggregate *aggregate;
    char name[64];
    int form;

    if (sqlite3_open(":memory:", &database) != SQLITE_OK ||
        sqlite3_exec(database,
                     "CREATE TABLE t(a, b INTEGER, c REAL, d, \"e f\", \"true\", s TEXT, u TEXT);"
                     "CREATE TABLE \"t\"\"2\"(a)",
                     NULL, NULL, NULL) != SQLITE_OK)
        tap_bail("no database");
    for (aggregate = clr_aggregates; aggregate->name != NULL; aggregate++) {
        for (form = 0; form < CLR_FORMS; form++) {
            snprintf(name, sizeof name, "%s%s", aggregate->name,
                     clr_form_suffix((enum clr_form)form));
            sqlite3_create_function(database, name,
                                    form & CLR_FORM_MERGE ? 1 : aggregate->arguments, SQLITE_UTF8,
                                    NULL, NULL, never, never_final);
        }
    }
}

/* What the encoding of the database is said to be. */
static bool is_utf8 = true;

/* The table's schema, if the environment is to know it. */
static const char *schema = "main";

/* Notes what is known of a SELECT's numbers and functions. */
static inline void know_nodes(struct clr_syntax *syntax)
{
    struct clr_node *node;

    for (node = syntax->numbers.first; node != NULL; node = node->listed)
        node->is_known = find_literal(node, &node->value);
    for (node = syntax->functions.first; node != NULL; node = node->listed) {
        node->is_deterministic = is_deterministic(node->names[0].name);
        node->subtypes = find_subtypes(node->names[0].name);
    }
}

/* Parses and binds; *query is NULL unless the result is CLR_OK. */
static inline enum clr_code make(const char *sql, sqlite3_stmt *statement, struct clr_query **query,
                                 struct clr_reason *reason)
{
    struct clr_known_column known[COLUMNS];
    const struct clr_environment environment = {
        .columns = known,
        .column_count = COLUMNS,
        .parameter_count = statement != NULL ? sqlite3_bind_parameter_count(statement) : 0,
        .is_utf8 = is_utf8,
        .schema = schema};
    enum clr_code code = clr_query_parse(sql, query, reason);

    know_columns(known);
    if (code == CLR_OK) {
        know_nodes((*query)->syntax);
        code = clr_query_bind(*query, &environment, reason);
        if (code != CLR_OK) {
            clr_query_free(*query);
            *query = NULL;
        }
    }
    return code;
}

/* Each allocation fails once, and they are more than `least`; what is left of the query is freed,
   as valgrind and ASan can tell. */
static inline void fail_allocations(const char *sql, long least)
{
    sqlite3_stmt *statement = prepare(sql);
    bool failed = true;
    long after;

    batch_begin();
    for (after = 0; failed; after++) {
        struct clr_reason reason = {.code = CLR_WHY_NONE};
        struct clr_query *query;
        enum clr_code code;

        clr_memory_fail_after(after);
        code = make(sql, statement, &query, &reason);
        failed = clr_memory_fail_after(-1);
        batch_ok(code == (failed ? CLR_NOMEM : CLR_OK), "allocation %ld: code %d", after,
                 (int)code);
        clr_query_free(query);
    }
    batch_end("without memory");
    tap_ok(after > least, "every allocation of %ld has failed once", after - 1);
    sqlite3_finalize(statement);
}

/* The text of a reason, until the next call. */
static inline const char *text_of(const struct clr_reason *reason)
{
    static char text[CLR_REASON_TEXT];

    clr_reason_print(reason, text);
    return text;
}

#endif

#include "sqlite/schema/schema_entries.h"

#include "query/syntax/blank.h"
#include "query/syntax/grammar.h"
#include "query/syntax/lexer.h"
#include "sqlite/session/statement.h"

#include <stddef.h>
#include <string.h>

int clr_schema_entries(sqlite3 *db, const char *schema, sqlite3_stmt **entries)
{
    return clr_statement_prepare(db, entries,
                                 "SELECT name, tbl_name, sql, rootpage, type"
                                 " FROM \"%w\".sqlite_master",
                                 schema);
}

/* Returns the kind of the entry that the statement is at; 0: it is not known. */
static unsigned kind_of(sqlite3_stmt *entries)
{
    static const struct {
        const char *type;
        unsigned kind;
    } kinds[] = {{"table", CLR_SCHEMA_TABLE},
                 {"view", CLR_SCHEMA_VIEW},
                 {"trigger", CLR_SCHEMA_TRIGGER},
                 {"index", CLR_SCHEMA_INDEX}};
    const char *type = (const char *)sqlite3_column_text(entries, CLR_SCHEMA_KIND);
    size_t i;

    for (i = 0; i < sizeof kinds / sizeof kinds[0] && type != NULL; i++) {
        if (strcmp(type, kinds[i].type) == 0)
            return kinds[i].kind;
    }
    return 0;
}

bool clr_schema_entries_next(sqlite3_stmt *entries, unsigned kinds, int column, const char *name)
{
    while (sqlite3_step(entries) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(entries, column);

        if ((kind_of(entries) & kinds) != 0 && text != NULL &&
            (name == NULL || sqlite3_stricmp(text, name) == 0))
            return true;
    }
    return false;
}

bool clr_schema_entry_is_view(sqlite3_stmt *entries)
{
    return kind_of(entries) == CLR_SCHEMA_VIEW;
}

int clr_schema_has(sqlite3 *db, const char *schema, unsigned kinds, int column, const char *name,
                   bool *found)
{
    sqlite3_stmt *entries;
    const int rc = clr_schema_entries(db, schema, &entries);

    *found = rc == SQLITE_OK && clr_schema_entries_next(entries, kinds, column, name);
    return clr_statement_end(entries, rc);
}

/* ---- The SELECTs of ordinary views. */

/* Returns the part of CREATE VIEW name [(columns)] AS select, as SQLite writes it into the schema,
   that is the SELECT, or NULL if the text is another one. *columns: where the list begins, or NULL.
 */
static const char *find_select(const char *sql, const char **columns)
{
    struct clr_token token;
    int number, depth = 0;

    *columns = NULL;
    for (number = 0; clr_token_next(&sql, &token); number++) {
        depth += (token.kind == CLR_T_LP) - (token.kind == CLR_T_RP);
        if (number < 2 && !clr_token_is(&token, number == 0 ? "CREATE" : "VIEW"))
            return NULL;
        if (number == 3 && token.kind == CLR_T_LP)
            *columns = token.text;
        if (number > 2 && depth == 0 && clr_token_is(&token, "AS"))
            return clr_blank_skip(sql);
    }
    return NULL;
}

/* Copies a text, which may be NULL. Returns false without memory. */
static bool copy_text(const char *text, char **copy)
{
    *copy = text == NULL ? NULL : sqlite3_mprintf("%s", text);
    return text == NULL || *copy != NULL;
}

int clr_view_text_read(sqlite3 *db, const char *schema, const char *name, char **columns,
                       char **select)
{
    sqlite3_stmt *statement = NULL;
    const char *sql, *list, *found;
    char *copy = NULL;
    int rc;

    *select = NULL;
    if (columns != NULL)
        *columns = NULL;
    if (sqlite3_stricmp(schema, "temp") == 0)
        return SQLITE_OK;
    rc = clr_schema_entries(db, schema, &statement);
    if (rc == SQLITE_OK &&
        clr_schema_entries_next(statement, CLR_SCHEMA_VIEW, CLR_SCHEMA_NAME, name)) {
        sql = (const char *)sqlite3_column_text(statement, CLR_SCHEMA_SQL);
        found = sql == NULL ? NULL : find_select(sql, &list);
        if ((sql == NULL && sqlite3_column_type(statement, CLR_SCHEMA_SQL) != SQLITE_NULL) ||
            (found != NULL &&
             !(copy_text(found, select) && copy_text(columns == NULL ? NULL : list, &copy))))
            rc = SQLITE_NOMEM;
    }
    if (sqlite3_finalize(statement) == SQLITE_NOMEM)
        rc = SQLITE_NOMEM;
    if (rc == SQLITE_NOMEM) {
        sqlite3_free(copy);
        sqlite3_free(*select);
        *select = NULL;
        return rc;
    }
    if (columns != NULL)
        *columns = copy;
    return SQLITE_OK;
}

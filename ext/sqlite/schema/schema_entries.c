#include "sqlite/schema/schema_entries.h"

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

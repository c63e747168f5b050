#include "sqlite/access/view_names.h"

#include "sqlite/schema/schema_entries.h"
#include "sqlite/session/schema_names.h"
#include "sqlite/session/statement.h"

#include <string.h>

void clr_named_view_free(struct clr_named_view *named)
{
    if (named == NULL)
        return;
    sqlite3_free(named->schema);
    sqlite3_free(named->name);
    sqlite3_free(named);
}

static struct clr_named_view *new_named(const char *schema, const char *name,
                                        enum clr_named_kind kind)
{
    struct clr_named_view *named = sqlite3_malloc(sizeof *named);

    if (named == NULL || schema == NULL || name == NULL) {
        sqlite3_free(named);
        return NULL;
    }
    *named = (struct clr_named_view){
        .schema = sqlite3_mprintf("%s", schema), .name = sqlite3_mprintf("%s", name), .kind = kind};
    if (named->schema != NULL && named->name != NULL)
        return named;
    clr_named_view_free(named);
    return NULL;
}

/* Looks a name up in a schema. *found is NULL if nothing there has it. */
static int find_in(sqlite3 *db, const char *schema, const char *name, struct clr_named_view **found)
{
    sqlite3_stmt *statement;
    int rc = clr_schema_entries(db, schema, &statement);

    if (rc == SQLITE_OK && clr_schema_entries_next(statement, CLR_SCHEMA_TABLE | CLR_SCHEMA_VIEW,
                                                   CLR_SCHEMA_NAME, name)) {
        *found = new_named(schema, (const char *)sqlite3_column_text(statement, CLR_SCHEMA_NAME),
                           clr_schema_entry_is_view(statement) ? CLR_NAMED_VIEW : CLR_NAMED_TABLE);
        if (*found == NULL)
            rc = SQLITE_NOMEM;
    }
    return clr_statement_end(statement, rc);
}

int clr_named_view_find(sqlite3 *db, const char *name, struct clr_named_view **found)
{
    struct clr_schema_names all;
    int rc = clr_schema_names_read(db, &all), i;

    *found = NULL;
    if (rc != SQLITE_OK)
        return rc;
    for (i = 0; i < all.count && rc == SQLITE_OK && *found == NULL; i++) {
        if (sqlite3_stricmp(all.list[i], "temp") != 0)
            rc = find_in(db, all.list[i], name, found);
    }
    clr_schema_names_free(&all);
    if (rc != SQLITE_OK) {
        clr_named_view_free(*found);
        *found = NULL;
    }
    return rc;
}

/* Lists the views of a schema, in front of those in the list. */
static int list_views(sqlite3 *db, const char *schema, struct clr_named_view **list)
{
    sqlite3_stmt *statement;
    int rc = clr_schema_entries(db, schema, &statement);

    while (rc == SQLITE_OK &&
           clr_schema_entries_next(statement, CLR_SCHEMA_VIEW, CLR_SCHEMA_NAME, NULL)) {
        struct clr_named_view *named = new_named(
            schema, (const char *)sqlite3_column_text(statement, CLR_SCHEMA_NAME), CLR_NAMED_VIEW);
        if (named == NULL) {
            rc = SQLITE_NOMEM;
        } else {
            named->next = *list;
            *list = named;
        }
    }
    return clr_statement_end(statement, rc);
}

int clr_named_views_list(sqlite3 *db, struct clr_named_view **list)
{
    struct clr_schema_names all;
    int rc = clr_schema_names_read(db, &all), i;

    if (rc != SQLITE_OK)
        return rc;
    for (i = 0; i < all.count && rc == SQLITE_OK; i++) {
        if (sqlite3_stricmp(all.list[i], "temp") != 0)
            rc = list_views(db, all.list[i], list);
    }
    clr_schema_names_free(&all);
    return rc;
}

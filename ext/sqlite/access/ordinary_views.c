#include "sqlite/access/ordinary_views.h"

#include "sqlite/api.h"
#include "sqlite/schema/schema_entries.h"
#include "sqlite/schema/schema_lock.h"
#include "sqlite/schema/select_columns.h"
#include "sqlite/session/statement.h"
#include "sqlite/view/module.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

/* ---- Names. */

/* A table or view of another database than temp. */
struct named {
    struct named *next;
    char *schema, *name; /* as the schema writes it */
    bool is_view;
};

static void free_list(struct named *list)
{
    struct named *next;

    for (; list != NULL; list = next) {
        next = list->next;
        sqlite3_free(list->schema);
        sqlite3_free(list->name);
        sqlite3_free(list);
    }
}

/* Adds the entry that the statement is at to the end of a list. Returns false without memory. */
static bool add_named(const char *schema, sqlite3_stmt *statement, struct named ***end)
{
    struct named *named = sqlite3_malloc(sizeof *named);

    if (named == NULL)
        return false;
    *named = (struct named){
        .schema = sqlite3_mprintf("%s", schema),
        .name = sqlite3_mprintf("%s", sqlite3_column_text(statement, CLR_SCHEMA_NAME)),
        .is_view = clr_schema_entry_is_view(statement)};
    **end = named;
    *end = &named->next;
    return named->schema != NULL && named->name != NULL;
}

/*
 * Lists what has a name, NULL: all views, in the order in which SQLite looks names up, but for
 * temp: in main, and then in the attached databases. Returns SQLite's code; the list is to be freed
 * in any case.
 */
static int list_named(sqlite3 *db, const char *name, struct named **list)
{
    const unsigned kinds = name == NULL ? CLR_SCHEMA_VIEW : CLR_SCHEMA_TABLE | CLR_SCHEMA_VIEW;
    struct named **end = list;
    struct clr_names all;
    sqlite3_stmt *statement;
    int rc = clr_schema_names_read(db, &all), i;

    *list = NULL;
    if (rc != SQLITE_OK)
        return rc;
    for (i = 0; i < all.count && rc == SQLITE_OK && (name == NULL || *list == NULL); i++) {
        if (sqlite3_stricmp(all.list[i], "temp") == 0)
            continue;
        rc = clr_schema_entries(db, all.list[i], &statement);
        while (rc == SQLITE_OK &&
               clr_schema_entries_next(statement, kinds, CLR_SCHEMA_NAME, name)) {
            if (!add_named(all.list[i], statement, &end))
                rc = SQLITE_NOMEM;
        }
        rc = clr_statement_end(statement, rc);
    }
    clr_names_free(&all);
    return rc;
}

/* ---- Columns. */

/* The columns of a view, and how they compare: two views with the same ones can stand for each
   other. */

/* Zeros: none. */
struct view_columns {
    struct clr_names names;
    struct clr_comparison *comparisons;
};

static void view_columns_free(struct view_columns *columns)
{
    clr_names_free(&columns->names);
    sqlite3_free(columns->comparisons);
    columns->comparisons = NULL;
}

/* Reads them of schema.name; zeros at first. Returns SQLite's code; they are to be freed in any
   case. */
static int view_columns_read(sqlite3 *db, const char *schema, const char *name,
                             struct view_columns *columns)
{
    sqlite3_stmt *statement;
    int rc = clr_statement_prepare(db, &statement, "SELECT * FROM \"%w\".\"%w\"", schema, name);

    if (rc != SQLITE_OK)
        return rc;
    rc = clr_column_names_read(statement, &columns->names);
    if (rc == SQLITE_OK)
        rc = clr_comparisons_read(statement, &columns->comparisons);
    sqlite3_finalize(statement);
    return rc;
}

/* Whether all is known of the columns, and the same. */
static bool view_columns_agree(const struct view_columns *a, const struct view_columns *b)
{
    bool agree = a->names.count == b->names.count;
    int i;

    for (i = 0; i < a->names.count && agree; i++)
        agree = strcmp(a->names.list[i], b->names.list[i]) == 0 &&
                a->comparisons[i].affinity != 0 &&
                a->comparisons[i].affinity == b->comparisons[i].affinity &&
                sqlite3_stricmp(a->comparisons[i].collation, b->comparisons[i].collation) == 0;
    return agree;
}

/* ---- Views in temp. */

/* Runs a statement that is no query. Returns SQLite's code, with a message that is to be freed with
   sqlite3_free(); NULL without an error, and without memory. */
static int run(sqlite3 *db, char **message, const char *format, ...)
{
    va_list arguments;
    char *sql, *error = NULL;
    int rc;

    va_start(arguments, format);
    sql = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    rc = sql == NULL ? SQLITE_NOMEM : sqlite3_exec(db, sql, NULL, NULL, &error);
    sqlite3_free(sql);
    *message = rc == SQLITE_NOMEM ? NULL : error;
    if (rc == SQLITE_NOMEM)
        sqlite3_free(error);
    else if (rc != SQLITE_OK && error == NULL)
        *message = sqlite3_mprintf("%s", sqlite3_errstr(rc));
    return rc;
}

/* What temp.NAME selects from, as it is written below; its name follows. */
#define FROM_MADE " FROM temp.\"" CLR_MADE_VIEW

static int fail(char **message, char *text)
{
    *message = text;
    return text == NULL ? SQLITE_NOMEM : SQLITE_ERROR;
}

/* Passes on the error that SQLite reported last. Of a UTF-16 database some versions, 3.42 to 3.46
   among them, do not read the schema amid another statement, as here, unless it was read before. */
static int fail_as_sqlite(sqlite3 *db, int rc, char **message)
{
    const char *hint = sqlite3_extended_errcode(db) == SQLITE_LOCKED
                           ? ": if its text is UTF-16, read one of its tables first"
                           : "";

    *message = rc == SQLITE_NOMEM ? NULL : sqlite3_mprintf("%s%s", sqlite3_errmsg(db), hint);
    return rc;
}

/* Reads the text of temp.NAME: *sql is NULL if there is nothing of that name. */
static int read_temporary(sqlite3 *db, const char *name, char **sql)
{
    sqlite3_stmt *statement;
    int rc = clr_schema_entries(db, "temp", &statement);

    *sql = NULL;
    if (rc == SQLITE_OK && clr_schema_entries_next(statement, CLR_SCHEMA_TABLE | CLR_SCHEMA_VIEW,
                                                   CLR_SCHEMA_NAME, name)) {
        *sql = sqlite3_mprintf("%s", sqlite3_column_text(statement, CLR_SCHEMA_SQL));
        if (*sql == NULL)
            rc = SQLITE_NOMEM;
    }
    return clr_statement_end(statement, rc);
}

/* Finds the name of the accelerated view in the text of a view that was made below. Returns whether
   it is such a text. */
static bool made_name(const char *sql, char name[CLR_MADE_NAME])
{
    const char *at, *from = NULL, *end;

    if (sql == NULL || strncmp(sql, "CREATE VIEW ", 12) != 0)
        return false;
    for (at = strstr(sql, FROM_MADE); at != NULL; at = strstr(at + 1, FROM_MADE))
        from = at;
    if (from == NULL)
        return false;
    from += strlen(" FROM temp.\"");
    end = from + strcspn(from, "\"");
    if (strcmp(end, "\" AS m") != 0 || end - from >= CLR_MADE_NAME)
        return false;
    sqlite3_snprintf(CLR_MADE_NAME, name, "%.*s", (int)(end - from), from);
    return true;
}

int clr_ordinary_view_find(struct clr_connection *connection, const char *name,
                           char made[CLR_MADE_NAME])
{
    char *sql;
    int rc = read_temporary(connection->db, name, &sql);

    if (rc != SQLITE_OK || !made_name(sql, made))
        made[0] = '\0';
    sqlite3_free(sql);
    return rc;
}

/* Whether the view is written to, or its columns have a collating sequence of their own, which goes
   before another column's. */
static int check_target(sqlite3 *db, const struct named *target, char **message)
{
    bool found = false;
    char *held = NULL;
    int rc = clr_schema_has(db, target->schema, CLR_SCHEMA_TRIGGER, CLR_SCHEMA_OF_TABLE,
                            target->name, &found);

    if (rc == SQLITE_OK && !found)
        rc = clr_schema_has(db, "temp", CLR_SCHEMA_TRIGGER, CLR_SCHEMA_OF_TABLE, target->name,
                            &found);
    if (rc != SQLITE_OK)
        return fail_as_sqlite(db, rc, message);
    if (found)
        return fail(message, sqlite3_mprintf("view %Q has triggers, which an accelerated one would "
                                             "hide",
                                             target->name));
    rc = clr_view_text_read(db, target->schema, target->name, NULL, &held);
    if (rc == SQLITE_OK && held != NULL && sqlite3_strlike("%collate%", held, 0) == 0)
        rc = fail(message, sqlite3_mprintf("view %Q has COLLATE, which is not accelerated here",
                                           target->name));
    sqlite3_free(held);
    return rc;
}

/* Creates temp.NAME over the accelerated view, named m so that no column's name is taken for text.
   A plus sign leaves a column without affinity, as expressions are, where a virtual table's columns
   have one. */
static int create_view(sqlite3 *db, const struct named *target, const char *made,
                       const struct view_columns *columns, char **message)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    char *sql;
    int rc, i;

    sqlite3_str_appendf(text, "CREATE TEMP VIEW \"%w\"", target->name);
    for (i = 0; i < columns->names.count; i++)
        sqlite3_str_appendf(text, "%s\"%w\"", i == 0 ? "(" : ", ", columns->names.list[i]);
    sqlite3_str_appendall(text, ") AS");
    for (i = 0; i < columns->names.count; i++)
        sqlite3_str_appendf(text, "%s%sm.\"%w\"", i == 0 ? " SELECT " : ", ",
                            columns->comparisons[i].affinity == CLR_LETTER_NONE ? "+" : "",
                            columns->names.list[i]);
    /* As FROM_MADE has it. */
    sqlite3_str_appendf(text, " FROM temp.\"%w\" AS m", made);
    sql = sqlite3_str_finish(text);
    if (sql == NULL)
        return SQLITE_NOMEM;
    rc = run(db, message, "%s", sql);
    sqlite3_free(sql);
    return rc;
}

static int drop_view(sqlite3 *db, const char *name)
{
    char *message;
    int rc = run(db, &message, "DROP VIEW IF EXISTS temp.\"%w\"", name);

    sqlite3_free(message);
    return rc;
}

/* Creates temp.NAME, unless its columns would not be those of the view. */
static int create(sqlite3 *db, const struct named *target, const char *made,
                  const struct view_columns *want, char **message)
{
    struct view_columns got = {.comparisons = NULL};
    int rc = create_view(db, target, made, want, message);

    if (rc != SQLITE_OK)
        return rc;
    rc = view_columns_read(db, "temp", target->name, &got);
    if (rc != SQLITE_OK)
        rc = fail_as_sqlite(db, rc, message);
    else if (!view_columns_agree(want, &got))
        rc = fail(message, sqlite3_mprintf("view %Q cannot be accelerated: its columns would "
                                           "compare otherwise",
                                           target->name));
    if (rc != SQLITE_OK)
        drop_view(db, target->name);
    view_columns_free(&got);
    return rc;
}

/* Returns as clr_made_view_get(). */
static int find_made(struct clr_connection *connection, const char *sql, char made[CLR_MADE_NAME],
                     char **message)
{
    sqlite3_stmt *hold;
    int rc = clr_schema_renew(connection, sql, &hold);

    *message = NULL;
    if (rc == SQLITE_OK)
        rc = clr_made_view_get(connection, sql, false, made, message);
    else if (rc != SQLITE_NOMEM)
        *message = sqlite3_mprintf("%s", sqlite3_errmsg(connection->db));
    sqlite3_finalize(hold);
    clr_views_end(connection);
    return rc;
}

/* Makes the accelerated view, if there can be one. */
static int get_made(struct clr_connection *connection, const struct named *target, const char *sql,
                    char made[CLR_MADE_NAME], char **message)
{
    int rc = find_made(connection, sql, made, message);
    char *why;

    /* Where an allocation failed there may be another reason: so it is asked for once more. */
    if (rc == SQLITE_NOTFOUND) {
        sqlite3_free(*message);
        rc = find_made(connection, sql, made, message);
    }
    why = *message;
    if (rc == SQLITE_OK || rc == SQLITE_NOMEM || why == NULL)
        return rc;
    *message = sqlite3_mprintf("view %Q cannot be accelerated: %s", target->name, why);
    sqlite3_free(why);
    return *message == NULL ? SQLITE_NOMEM : rc == SQLITE_NOTFOUND ? SQLITE_ERROR : rc;
}

/* Makes both views. */
static int make(struct clr_connection *connection, const struct named *target, const char *sql,
                char **message)
{
    struct view_columns want = {.comparisons = NULL};
    char made[CLR_MADE_NAME];
    int rc = get_made(connection, target, sql, made, message);

    if (rc != SQLITE_OK)
        return rc;
    rc = view_columns_read(connection->db, target->schema, target->name, &want);
    if (rc != SQLITE_OK)
        rc = fail_as_sqlite(connection->db, rc, message);
    else
        rc = create(connection->db, target, made, &want, message);
    if (rc != SQLITE_OK)
        clr_made_view_drop(connection, made);
    view_columns_free(&want);
    return rc;
}

/* Finds out whether temp.NAME, whose text that is, is ours and has the columns that the view has
   now: then all is *done. If it is ours and has others it is dropped. */
static int check_temporary(struct clr_connection *connection, const struct named *target,
                           const char *select, const char *sql, bool *done, char **message)
{
    char made[CLR_MADE_NAME], name[CLR_MADE_NAME];
    struct view_columns want = {.comparisons = NULL}, got = {.comparisons = NULL};
    int rc;

    *done = false;
    if (!made_name(sql, made))
        return fail(message, sqlite3_mprintf("temp has something else of the name %Q already",
                                             target->name));
    rc = view_columns_read(connection->db, target->schema, target->name, &want);
    if (rc != SQLITE_OK)
        rc = fail_as_sqlite(connection->db, rc, message);
    /* It is the same one again, unless the columns have changed. */
    if (rc == SQLITE_OK) {
        rc = find_made(connection, select, name, message);
        if (rc == SQLITE_OK && strcmp(name, made) == 0)
            rc = view_columns_read(connection->db, "temp", target->name, &got);
        *done = rc == SQLITE_OK && strcmp(name, made) == 0 && view_columns_agree(&want, &got);
        if (rc == SQLITE_ERROR || rc == SQLITE_NOTFOUND) {
            sqlite3_free(*message);
            *message = NULL;
            rc = SQLITE_OK;
        }
    }
    if (rc == SQLITE_OK && !*done) {
        rc = run(connection->db, message, "DROP VIEW temp.\"%w\"", target->name);
        if (rc == SQLITE_OK)
            clr_made_view_drop(connection, made);
    }
    view_columns_free(&want);
    view_columns_free(&got);
    return rc;
}

/* SQLITE_ERROR: this view cannot be accelerated; other errors are not for one view alone. */
static int accelerate(struct clr_connection *connection, const struct named *target, char **message)
{
    char *select = sqlite3_mprintf("SELECT * FROM \"%w\".\"%w\"", target->schema, target->name);
    char *sql = NULL;
    bool done = false;
    int rc = SQLITE_NOMEM;

    if (select != NULL)
        rc = read_temporary(connection->db, target->name, &sql);
    if (rc != SQLITE_OK)
        rc = fail_as_sqlite(connection->db, rc, message);
    else if (sql != NULL)
        rc = check_temporary(connection, target, select, sql, &done, message);
    if (rc == SQLITE_OK && !done)
        rc = check_target(connection->db, target, message);
    if (rc == SQLITE_OK && !done)
        rc = make(connection, target, select, message);
    if (rc != SQLITE_OK && rc != SQLITE_ERROR && *message != NULL) {
        char *named = sqlite3_mprintf("view %Q: %s", target->name, *message);
        sqlite3_free(*message);
        *message = named;
    }
    sqlite3_free(sql);
    sqlite3_free(select);
    return rc;
}

/* The one that a name means, which the list begins with, if there is any. */
static int accelerate_named(struct clr_connection *connection, const struct named *meant,
                            const char *name, char **message)
{
    if (meant == NULL)
        return fail(message, sqlite3_mprintf("no database has a view %Q", name));
    if (!meant->is_view)
        return fail(message, sqlite3_mprintf("%Q is a table, and no view", name));
    return accelerate(connection, meant, message);
}

/* One of all: it counts if its name means it, and it can be accelerated. */
static int accelerate_listed(struct clr_connection *connection, const struct named *listed,
                             int *count, char **message)
{
    struct named *meant;
    int rc = list_named(connection->db, listed->name, &meant);

    if (rc != SQLITE_OK) {
        rc = fail_as_sqlite(connection->db, rc, message);
    } else if (meant != NULL && meant->is_view &&
               sqlite3_stricmp(meant->schema, listed->schema) == 0) {
        rc = accelerate(connection, meant, message);
        *count += rc == SQLITE_OK;
    }
    if (rc == SQLITE_ERROR) {
        sqlite3_free(*message);
        *message = NULL;
        rc = SQLITE_OK;
    }
    free_list(meant);
    return rc;
}

int clr_ordinary_views_accelerate(struct clr_connection *connection, const char *name, int *count,
                                  char **message)
{
    struct named *list, *listed;
    int rc = list_named(connection->db, name, &list);

    *message = NULL;
    *count = name != NULL;
    if (rc != SQLITE_OK)
        rc = fail_as_sqlite(connection->db, rc, message);
    else if (name != NULL)
        rc = accelerate_named(connection, list, name, message);
    for (listed = list; name == NULL && listed != NULL && rc == SQLITE_OK; listed = listed->next)
        rc = accelerate_listed(connection, listed, count, message);
    free_list(list);
    return rc;
}

#include "sqlite/access/made_views.h"

#include "sqlite/schema/schema_entries.h"
#include "sqlite/schema/schema_lock.h"
#include "sqlite/session/statement.h"
#include "sqlite/view/module.h"

#include <stdarg.h>
#include <stddef.h>
#include <string.h>

int clr_access_run(sqlite3 *db, char **message, const char *format, ...)
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

/* ---- Whether a SELECT is accelerated, before there is a view of it. */

static int plan(struct clr_connection *connection, const struct clr_select *select, bool *planned,
                char **message)
{
    struct clr_acceleration *acceleration = clr_acceleration_new(connection, select);
    const char *line;
    int rc = SQLITE_OK;

    if (acceleration == NULL)
        return SQLITE_NOMEM;
    *planned = acceleration->plan != NULL;
    if (!*planned) {
        line = clr_acceleration_explain(acceleration, 0);
        *message = sqlite3_mprintf("%s", line == NULL ? "" : line);
        rc = *message == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    clr_acceleration_free(acceleration);
    return rc;
}

/* What is asked for, and the answer. */
struct preview {
    struct clr_connection *connection;
    const char *sql;
    bool *planned;
    char **message;
};

static int read_and_plan(void *pointer)
{
    const struct preview *preview = pointer;
    char *argument = sqlite3_mprintf("(%s)", preview->sql);
    struct clr_select select;
    int rc = SQLITE_NOMEM;

    if (argument != NULL)
        rc = clr_select_read(preview->connection->db, argument, false, &select, preview->message);
    sqlite3_free(argument);
    if (rc != SQLITE_OK)
        return rc;
    rc = plan(preview->connection, &select, preview->planned, preview->message);
    clr_select_free(&select);
    return rc;
}

/* A stale schema takes all views along, and with the last one the databases' statements: so SQLite
   finds out about it before, and frees none while these are in use. */
int clr_preview(struct clr_connection *connection, const char *sql, bool *planned, char **message)
{
    struct preview preview = {connection, sql, planned, message};
    sqlite3_stmt *hold;
    int rc = clr_schema_renew(connection, &hold);

    *planned = false;
    *message = NULL;
    if (rc == SQLITE_OK)
        rc = clr_schema_lock_run(connection, read_and_plan, &preview);
    if (rc != SQLITE_OK && rc != SQLITE_NOMEM && *message == NULL)
        *message = sqlite3_mprintf("%s", sqlite3_errmsg(connection->db));
    sqlite3_finalize(hold);
    clr_views_end(connection);
    return rc;
}

/* ---- Views that are made. */

struct made {
    struct made *next;
    char name[CLR_MADE_NAME];
    char *sql; /* the SELECT */
    sqlite3_uint64 used;
    bool is_past; /* the SELECT has other columns now; those who use the view have it still */
};

struct made_views {
    struct clr_attachment attachment;
    struct made *first;
    int numbers; /* given out so far */
};

static void free_made(struct made *made)
{
    sqlite3_free(made->sql);
    sqlite3_free(made);
}

static void free_all(struct clr_connection *connection, void *pointer)
{
    struct made_views *views = pointer;
    struct made *made;

    (void)connection;
    while ((made = views->first) != NULL) {
        views->first = made->next;
        free_made(made);
    }
}

static const struct clr_attachment_kind made_kind = {sizeof(struct made_views), free_all};

/* Whether the view is there: it may have been dropped, or rolled back. No number is given twice. */
static int is_there(sqlite3 *db, const struct made *made, bool *found)
{
    return clr_schema_has(db, "temp", CLR_SCHEMA_TABLE, CLR_SCHEMA_NAME, made->name, found);
}

/* Checks that it still has the columns of the SELECT, whose tables may be others by now. Returns
   SQLITE_OK, SQLITE_MISMATCH or SQLite's code. */
static int check(struct clr_connection *connection, const struct made *made)
{
    const struct clr_view *view;
    sqlite3_stmt *use;
    /* This connects it, if a change of the schema has disconnected it. */
    int rc = clr_statement_prepare(connection->db, &use, "SELECT * FROM temp.\"%w\"", made->name);

    if (rc == SQLITE_OK) {
        view = clr_view_find(connection, made->name);
        rc = view == NULL ? SQLITE_MISMATCH : clr_select_check_now(connection->db, &view->select);
    }
    sqlite3_finalize(use);
    return rc;
}

static void forget(struct made_views *views, struct made *made)
{
    struct made **link = &views->first;

    while (*link != made)
        link = &(*link)->next;
    *link = made->next;
    free_made(made);
}

/* Drops a view, unless it is in use. Returns whether it is gone. */
static bool drop(sqlite3 *db, struct made_views *views, struct made *made)
{
    char *message;
    int rc = clr_access_run(db, &message, "DROP TABLE IF EXISTS temp.\"%w\"", made->name);

    sqlite3_free(message);
    if (rc == SQLITE_OK)
        forget(views, made);
    return rc == SQLITE_OK;
}

void clr_made_view_drop(struct clr_connection *connection, const char *name)
{
    struct made_views *views = clr_connection_find(connection, &made_kind);
    struct made *made = views == NULL ? NULL : views->first;

    while (made != NULL && strcmp(made->name, name) != 0)
        made = made->next;
    if (made != NULL)
        drop(connection->db, views, made);
}

/* Whether a text has the name, and not a longer one that begins with it. */
static bool mentions(const char *text, const char *name)
{
    const size_t length = strlen(name);

    while (text != NULL && (text = strstr(text, name)) != NULL) {
        if (text[length] < '0' || text[length] > '9')
            return true;
        text += length;
    }
    return false;
}

/* Whether a statement, or something else in temp, mentions the view. */
static int is_mentioned(sqlite3 *db, const struct made *made, bool *mentioned)
{
    sqlite3_stmt *statement = NULL;
    int rc;

    *mentioned = true;
    while ((statement = sqlite3_next_stmt(db, statement)) != NULL) {
        if (mentions(sqlite3_sql(statement), made->name))
            return SQLITE_OK;
    }
    *mentioned = false;
    rc = clr_schema_entries(db, "temp", &statement);
    while (rc == SQLITE_OK && !*mentioned &&
           clr_schema_entries_next(statement, CLR_SCHEMA_ANY, CLR_SCHEMA_NAME, NULL)) {
        const char *name = (const char *)sqlite3_column_text(statement, CLR_SCHEMA_NAME);
        const char *sql = (const char *)sqlite3_column_text(statement, CLR_SCHEMA_SQL);

        *mentioned = sqlite3_stricmp(name, made->name) != 0 && mentions(sql, made->name);
    }
    return clr_statement_end(statement, rc);
}

/* Returns when a view was last read or asked for. */
static sqlite3_uint64 last_use(struct clr_connection *connection, const struct made *made)
{
    const struct clr_view *view = clr_view_find(connection, made->name);

    return view != NULL && view->used > made->used ? view->used : made->used;
}

/* Finds the view that goes next, and how many there are of those that may go. */
static int find_oldest(struct clr_connection *connection, const struct made_views *views,
                       struct made **oldest, int *count)
{
    struct made *made;
    bool mentioned;
    int rc = SQLITE_OK;

    *oldest = NULL;
    *count = 0;
    for (made = views->first; made != NULL && rc == SQLITE_OK; made = made->next) {
        rc = is_mentioned(connection->db, made, &mentioned);
        if (rc != SQLITE_OK || mentioned)
            continue;
        ++*count;
        if (*oldest == NULL || last_use(connection, made) < last_use(connection, *oldest))
            *oldest = made;
    }
    return rc;
}

/* Makes room for one more. */
static int make_room(struct clr_connection *connection, struct made_views *views)
{
    struct made *oldest;
    bool dropped = true;
    int count, rc = find_oldest(connection, views, &oldest, &count);

    while (rc == SQLITE_OK && count >= CLR_MOST_MADE_VIEWS && dropped) {
        dropped = drop(connection->db, views, oldest);
        rc = find_oldest(connection, views, &oldest, &count);
    }
    return rc;
}

/* Whether some schema has something of that name. */
static int is_taken(sqlite3 *db, const char *name, bool *taken)
{
    struct clr_schema_names all;
    int rc = clr_schema_names_read(db, &all), i;

    *taken = false;
    if (rc != SQLITE_OK)
        return rc;
    for (i = 0; i < all.count && rc == SQLITE_OK && !*taken; i++)
        rc = clr_schema_has(db, all.list[i], CLR_SCHEMA_ANY, CLR_SCHEMA_NAME, name, taken);
    clr_schema_names_free(&all);
    return rc;
}

static int choose_name(sqlite3 *db, struct made_views *views, char name[CLR_MADE_NAME])
{
    bool taken = true;
    int rc = SQLITE_OK;

    while (rc == SQLITE_OK && taken) {
        sqlite3_snprintf(CLR_MADE_NAME, name, CLR_MADE_VIEW "%d", ++views->numbers);
        rc = is_taken(db, name, &taken);
    }
    return rc;
}

/* Adds the SELECT to a message of SQLite's, which may be NULL, and is freed. */
static char *name_select(char *message, const char *sql)
{
    char *named = message == NULL ? NULL : sqlite3_mprintf("%s, in '%!.60s'", message, sql);

    sqlite3_free(message);
    return named;
}

/*
 * After CREATE has failed: another connection may have changed a schema when the view was there
 * already, and newer versions of SQLite then begin CREATE again, for which the name is taken. It
 * was free before: so it is the view's.
 */
static int settle(sqlite3 *db, const struct made *made, char **message)
{
    bool found = false;

    if (is_there(db, made, &found) != SQLITE_OK || !found)
        return SQLITE_ERROR;
    sqlite3_free(*message);
    *message = NULL;
    return SQLITE_OK;
}

static int make(struct clr_connection *connection, struct made_views *views, const char *sql,
                struct made **result, char **message)
{
    struct made *made = sqlite3_malloc(sizeof *made);
    int rc;

    if (made == NULL)
        return SQLITE_NOMEM;
    memset(made, 0, sizeof *made);
    made->sql = sqlite3_mprintf("%s", sql);
    rc = made->sql == NULL ? SQLITE_NOMEM : make_room(connection, views);
    if (rc == SQLITE_OK)
        rc = choose_name(connection->db, views, made->name);
    if (rc != SQLITE_OK && rc != SQLITE_NOMEM)
        *message = name_select(sqlite3_mprintf("%s", sqlite3_errmsg(connection->db)), sql);
    if (rc == SQLITE_OK) {
        rc = clr_access_run(connection->db, message,
                            "CREATE VIRTUAL TABLE temp.\"%w\" USING clreduce((%s\n))", made->name,
                            made->sql);
        *message = name_select(*message, sql);
        if (rc == SQLITE_ERROR)
            rc = settle(connection->db, made, message);
    }
    if (rc != SQLITE_OK) {
        free_made(made);
        return rc;
    }
    made->next = views->first;
    views->first = made;
    *result = made;
    return SQLITE_OK;
}

static struct made *find_made(const struct made_views *views, const char *sql)
{
    struct made *made = views->first;

    while (made != NULL && (made->is_past || strcmp(made->sql, sql) != 0))
        made = made->next;
    return made;
}

bool clr_made_view_exists(const struct clr_connection *connection, const char *sql)
{
    const struct made_views *views = clr_connection_find(connection, &made_kind);

    return views != NULL && find_made(views, sql) != NULL;
}

/* Finds the view of a SELECT, if it is there and as it should be; else *result is NULL. */
static int find(struct clr_connection *connection, struct made_views *views, const char *sql,
                struct made **result)
{
    struct made *made = find_made(views, sql);
    bool found = false, mentioned = false;
    int rc;

    *result = NULL;
    if (made == NULL)
        return SQLITE_OK;
    rc = is_there(connection->db, made, &found);
    if (rc == SQLITE_OK && !found) {
        forget(views, made);
        return SQLITE_OK;
    }
    if (rc == SQLITE_OK)
        rc = check(connection, made);
    if (rc == SQLITE_OK)
        *result = made;
    if (rc != SQLITE_MISMATCH)
        return rc;
    made->is_past = true;
    rc = is_mentioned(connection->db, made, &mentioned);
    if (rc == SQLITE_OK && !mentioned)
        drop(connection->db, views, made);
    return rc;
}

static int get(struct clr_connection *connection, struct made_views *views, const char *sql,
               bool may_make, struct made **made, char **message)
{
    int rc = find(connection, views, sql, made);

    if (rc != SQLITE_OK) {
        if (rc != SQLITE_NOMEM)
            *message = name_select(sqlite3_mprintf("%s", sqlite3_errmsg(connection->db)), sql);
        return rc;
    }
    if (*made != NULL)
        return SQLITE_OK;
    return may_make ? make(connection, views, sql, made, message) : SQLITE_NOTFOUND;
}

int clr_made_view_get(struct clr_connection *connection, const char *sql, bool may_make,
                      char name[CLR_MADE_NAME], char **message)
{
    struct made_views *views = clr_connection_attach(connection, &made_kind);
    struct made *made = NULL;
    sqlite3_stmt *hold;
    int rc;

    *message = NULL;
    if (views == NULL)
        return SQLITE_NOMEM;
    rc = clr_schema_renew(connection, &hold);
    sqlite3_finalize(hold);
    if (rc == SQLITE_OK)
        rc = get(connection, views, sql, may_make, &made, message);
    clr_views_end(connection);
    if (rc != SQLITE_OK)
        return rc;
    made->used = ++clr_views_of(connection)->uses;
    sqlite3_snprintf(CLR_MADE_NAME, name, "%s", made->name);
    return SQLITE_OK;
}

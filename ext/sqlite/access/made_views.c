#include "sqlite/access/made_views.h"

#include "sqlite/schema/schema_entries.h"
#include "sqlite/schema/schema_lock.h"
#include "sqlite/session/statement.h"
#include "sqlite/view/module.h"

#include <string.h>

struct made {
    struct made *next;
    char name[CLR_MADE_NAME];
    char *sql; /* the SELECT */
    bool compares;
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

/* Has SQLite connect the view, if it is not. Returns SQLite's code. */
static int connect(sqlite3 *db, const struct made *made)
{
    sqlite3_stmt *use;
    int rc = clr_statement_prepare(db, &use, "SELECT * FROM temp.\"%w\"", made->name);

    sqlite3_finalize(use);
    return rc;
}

/* Checks that it still has the columns of the SELECT, whose tables may be others by now. Returns
   SQLITE_OK, SQLITE_MISMATCH or SQLite's code. */
static int check(struct clr_connection *connection, const struct made *made)
{
    const struct clr_view *view = clr_view_find(connection, made->name);

    if (clr_schema_may_go(connection->db))
        return SQLITE_MISMATCH;
    if (view == NULL) {
        connect(connection->db, made);
        view = clr_view_find(connection, made->name);
    }
    return view == NULL ? SQLITE_MISMATCH : clr_select_check_now(connection->db, &view->select);
}

static void drop(sqlite3 *db, struct made_views *views, struct made *made)
{
    sqlite3_create_module_v2(db, made->name, NULL, NULL, NULL);
    CLR_UNLINK(views->first, made);
    free_made(made);
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
    if (!clr_temp_is_open(db))
        return SQLITE_OK;
    rc = clr_schema_entries(db, "temp", &statement);
    while (rc == SQLITE_OK && !*mentioned &&
           clr_schema_entries_next(statement, CLR_SCHEMA_ANY, CLR_SCHEMA_NAME, NULL)) {
        const char *sql = (const char *)sqlite3_column_text(statement, CLR_SCHEMA_SQL);

        *mentioned = mentions(sql, made->name);
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
    int count, rc = find_oldest(connection, views, &oldest, &count);

    while (rc == SQLITE_OK && count >= CLR_MOST_MADE_VIEWS) {
        drop(connection->db, views, oldest);
        rc = find_oldest(connection, views, &oldest, &count);
    }
    return rc;
}

/* Chooses a name that nothing in temp has. */
static int choose_name(sqlite3 *db, struct made_views *views, char name[CLR_MADE_NAME])
{
    bool taken = true;
    int rc = SQLITE_OK;

    while (rc == SQLITE_OK && taken) {
        sqlite3_snprintf(CLR_MADE_NAME, name, CLR_MADE_VIEW "%d", ++views->numbers);
        taken = false;
        if (clr_temp_is_open(db))
            rc = clr_schema_has(db, "temp", CLR_SCHEMA_ANY, CLR_SCHEMA_NAME, name, &taken);
    }
    return rc;
}

static int make(struct clr_connection *connection, struct made_views *views, const char *sql,
                bool compares, struct made **result, char **message)
{
    struct made *made = clr_sqlite_alloc_zero(sizeof *made);
    int rc;

    if (made == NULL)
        return SQLITE_NOMEM;
    made->compares = compares;
    made->sql = sqlite3_mprintf("%s", sql);
    rc = made->sql == NULL ? SQLITE_NOMEM : make_room(connection, views);
    if (rc != SQLITE_OK) {
        free_made(made);
        return rc;
    }
    rc = choose_name(connection->db, views, made->name);
    if (rc == SQLITE_OK)
        rc = clr_view_make(connection, made->name, made->sql, compares, message);
    if (rc == SQLITE_OK)
        rc = connect(connection->db, made);
    /* Giving the view up must not hide what was wrong. */
    if (rc != SQLITE_OK && rc != SQLITE_NOMEM && *message == NULL)
        *message = sqlite3_mprintf("%s", sqlite3_errmsg(connection->db));
    made->next = views->first;
    views->first = made;
    if (rc == SQLITE_OK) {
        *result = made;
    } else {
        drop(connection->db, views, made);
        views->numbers--; /* nobody has been told the name */
    }
    return rc;
}

/* Finds the view of a SELECT, if it is there and as it should be; else *result is NULL. */
static int find(struct clr_connection *connection, struct made_views *views, const char *sql,
                bool compares, struct made **result)
{
    struct made *made = views->first;
    bool mentioned = false;
    int rc;

    *result = NULL;
    while (made != NULL &&
           (made->is_past || made->compares != compares || strcmp(made->sql, sql) != 0))
        made = made->next;
    if (made == NULL)
        return SQLITE_OK;
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

void clr_made_views_doubt(struct clr_connection *connection)
{
    struct made_views *views = clr_connection_find(connection, &made_kind);
    struct made *made = views == NULL ? NULL : views->first;

    for (; made != NULL; made = made->next) {
        const struct clr_view *view = clr_view_find(connection, made->name);

        if (view != NULL && view->acceleration->plan == NULL &&
            view->acceleration->looking.left > 0)
            made->is_past = true;
    }
}

int clr_made_view_get(struct clr_connection *connection, const char *sql, bool compares,
                      char name[CLR_MADE_NAME], char **message)
{
    struct made_views *views = clr_connection_attach(connection, &made_kind);
    struct made *made = NULL;
    int rc;

    *message = NULL;
    if (views == NULL)
        return SQLITE_NOMEM;
    rc = find(connection, views, sql, compares, &made);
    if (rc == SQLITE_OK && made == NULL)
        rc = make(connection, views, sql, compares, &made, message);
    if (rc != SQLITE_OK && rc != SQLITE_NOMEM && *message == NULL)
        *message = sqlite3_mprintf("%s", sqlite3_errmsg(connection->db));
    if (rc != SQLITE_OK)
        return rc;
    made->used = ++clr_views_of(connection)->uses;
    sqlite3_snprintf(CLR_MADE_NAME, name, "%s", made->name);
    return SQLITE_OK;
}

/* The contract whose numbers are cited here is in view.h. */
#include "sqlite/views/view_life.h"

#include "sqlite/database/connection_database.h"
#include "sqlite/schema/schema_lock.h"
#include "sqlite/session/virtual_table.h"

#include <string.h>

static struct clr_view *find(struct clr_view *list, const char *name)
{
    while (list != NULL && sqlite3_stricmp(list->name, name) != 0)
        list = list->next;
    return list;
}

static void free_past(struct clr_connection *connection, void *views);

static const struct clr_attachment_kind views_kind = {sizeof(struct clr_views), free_past};

struct clr_views *clr_views_of(const struct clr_connection *connection)
{
    return clr_connection_find(connection, &views_kind);
}

struct clr_view *clr_view_find(struct clr_connection *connection, const char *name)
{
    const struct clr_views *views = clr_views_of(connection);

    return views == NULL ? NULL : find(views->first, name);
}

static void free_view(struct clr_view *view)
{
    clr_acceleration_free(view->acceleration);
    clr_parameter_sets_clear(&view->sets);
    clr_select_free(&view->select);
    sqlite3_free(view->argument);
    sqlite3_free(view->name);
    sqlite3_free(view);
}

void clr_views_end(struct clr_connection *connection)
{
    const struct clr_views *views = clr_views_of(connection);

    if (views == NULL || views->first == NULL)
        clr_databases_free(connection);
}

/* Frees a view that is not, or no longer, in the list. */
static void end_view(struct clr_view *view)
{
    struct clr_connection *connection = view->connection;

    free_view(view);
    clr_views_end(connection);
}

static void unlink_view(struct clr_view **list, struct clr_view *view)
{
    while (*list != view)
        list = &(*list)->next;
    *list = view->next;
}

static void free_past(struct clr_connection *connection, void *pointer)
{
    struct clr_views *views = pointer;
    struct clr_view *view;

    (void)connection;
    while ((view = views->past) != NULL) {
        views->past = view->next;
        free_view(view);
    }
}

/* Returns what is known of the view from before: the same name, and the same SELECT. */
static const struct clr_view *find_known(const struct clr_view *list, const struct clr_view *view)
{
    while (list != NULL && (sqlite3_stricmp(list->name, view->name) != 0 ||
                            strcmp(list->argument, view->argument) != 0))
        list = list->next;
    return list;
}

static bool is_made(const struct clr_view *view)
{
    return strncmp(view->name, CLR_MADE_VIEW, sizeof CLR_MADE_VIEW - 1) == 0;
}

/* Whether the columns stay what they were when the view was made, as others have written them down:
   see ordinary_views.h. Where an ordinary view has others by then, using it is an error. */
static bool stays(const struct clr_view *known)
{
    return known->select.view_name != NULL && is_made(known);
}

/*
 * SQLite connects a view anew after each change of the schema, also to drop it, and may let go of
 * the old one only later. If the SELECT is an error by then, the view is what it was before: using
 * it reports that error. What it was is not known of one that was dropped, if ROLLBACK has brought
 * it back.
 */
static int read_select(struct clr_view *view, int is_new, char **error)
{
    struct clr_connection *connection = view->connection;
    struct clr_views *views = clr_views_of(connection);
    const struct clr_view *known = find_known(views->past, view);
    struct clr_view *past;
    /* The statements that prepare.h makes compare no columns, and have the SELECT's types. */
    int rc = clr_select_read(connection->db, view->argument, !is_made(view), &view->select, error);

    if (known == NULL)
        known = find_known(views->first, view);
    if (rc != SQLITE_OK && rc != SQLITE_NOMEM && !is_new &&
        (known != NULL || (rc & 0xff) == SQLITE_ERROR || (rc & 0xff) == SQLITE_AUTH)) {
        sqlite3_free(*error);
        *error = NULL;
        rc = known != NULL ? clr_select_copy(&known->select, &view->select)
                           : clr_select_read_unknown(view->argument, &view->select, error);
    }
    if (rc == SQLITE_OK && !is_new && known != NULL && stays(known) &&
        strcmp(known->select.declaration, view->select.declaration) != 0) {
        clr_select_free(&view->select);
        rc = clr_select_copy(&known->select, &view->select);
    }
    while ((past = find(views->past, view->name)) != NULL) {
        unlink_view(&views->past, past);
        free_view(past);
    }
    return rc;
}

/* A view that is to be made, and how it went. */
struct making {
    struct clr_view *view;
    int is_new;
    char **error;
};

/* Reads the SELECT and plans, where SQLite lets nested statements leave its schema alone. */
static int learn(void *pointer)
{
    struct making *making = pointer;
    struct clr_view *view = making->view;
    sqlite3_stmt *hold;
    int rc = clr_schema_check(view->connection, &hold);

    if (rc == SQLITE_OK)
        rc = read_select(view, making->is_new, making->error);
    if (rc == SQLITE_OK) {
        view->acceleration = clr_acceleration_new(view->connection, &view->select);
        if (view->acceleration == NULL)
            rc = SQLITE_NOMEM;
    }
    sqlite3_finalize(hold);
    return rc;
}

static int make(sqlite3 *db, void *pointer, int count, const char *const *arguments, int is_new,
                sqlite3_vtab **result, char **error)
{
    struct clr_connection *connection = pointer;
    struct making making = {NULL, is_new, error};
    struct clr_view *view;
    int rc;

    if (sqlite3_stricmp(arguments[1], "temp") != 0) { /* clause 4 */
        *error = sqlite3_mprintf("clreduce: accelerated views live in the temp schema: "
                                 "CREATE VIRTUAL TABLE temp.%s, not %s.%s",
                                 arguments[2], arguments[1], arguments[2]);
        return SQLITE_ERROR;
    }
    if (count != 4) {
        *error = sqlite3_mprintf("clreduce: one argument is needed, a SELECT in parentheses, as in "
                                 "USING clreduce((SELECT ...)), not %d",
                                 count - 3);
        return SQLITE_ERROR;
    }
    view = clr_connection_attach(connection, &views_kind) == NULL ? NULL
                                                                  : sqlite3_malloc(sizeof *view);
    if (view == NULL)
        return SQLITE_NOMEM;
    memset(view, 0, sizeof *view);
    view->connection = connection;
    view->name = sqlite3_mprintf("%s", arguments[2]);
    view->argument = sqlite3_mprintf("%s", arguments[3]);
    making.view = view;
    rc = SQLITE_NOMEM;
    if (view->name != NULL && view->argument != NULL)
        rc = clr_schema_lock_run(connection, learn, &making);
    if (rc != SQLITE_OK && rc != SQLITE_NOMEM && *error == NULL)
        *error = sqlite3_mprintf("%s", sqlite3_errmsg(db));
    if (rc == SQLITE_OK)
        rc = clr_virtual_table_declare(db, view->select.declaration);
    if (rc == SQLITE_INTERRUPT && *error == NULL)
        *error = sqlite3_mprintf("%s", sqlite3_errstr(rc));
    if (rc != SQLITE_OK) {
        end_view(view);
        return rc;
    }
    sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    view->next = clr_views_of(connection)->first;
    clr_views_of(connection)->first = view;
    *result = &view->base;
    return SQLITE_OK;
}

int clr_view_create(sqlite3 *db, void *pointer, int count, const char *const *arguments,
                    sqlite3_vtab **result, char **error)
{
    return make(db, pointer, count, arguments, 1, result, error);
}

int clr_view_connect(sqlite3 *db, void *pointer, int count, const char *const *arguments,
                     sqlite3_vtab **result, char **error)
{
    return make(db, pointer, count, arguments, 0, result, error);
}

int clr_view_destroy(sqlite3_vtab *base)
{
    struct clr_view *view = (struct clr_view *)base;

    unlink_view(&clr_views_of(view->connection)->first, view);
    end_view(view);
    return SQLITE_OK;
}

/* The view goes, but may be connected again. */
int clr_view_disconnect(sqlite3_vtab *base)
{
    struct clr_view *view = (struct clr_view *)base;
    struct clr_connection *connection = view->connection;
    struct clr_view *past = sqlite3_malloc(sizeof *past);

    if (past != NULL) {
        memset(past, 0, sizeof *past);
        past->name = view->name;
        past->argument = view->argument;
        past->select = view->select;
        past->next = clr_views_of(connection)->past;
        clr_views_of(connection)->past = past;
        view->name = view->argument = NULL;
        memset(&view->select, 0, sizeof view->select);
    }
    return clr_view_destroy(base);
}

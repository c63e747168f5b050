#include "sqlite/access/functions.h"

#include "sqlite/access/ordinary_views.h"
#include "sqlite/access/prepare.h"
#include "sqlite/session/statement.h"
#include "sqlite/session/sql_value.h"

#include <string.h>

/* Returns the argument's text, or NULL: then the error is set. */
static const char *read_text(sqlite3_context *context, const char *function, const char *what,
                             sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);

    if (sqlite3_value_type(value) == SQLITE_NULL) {
        clr_set_error(context, "%s: the argument must be %s, not NULL", function, what);
        return NULL;
    }
    if (text == NULL) {
        sqlite3_result_error_nomem(context);
        return NULL;
    }
    if ((size_t)sqlite3_value_bytes(value) != strlen(text)) {
        clr_set_error(context, "%s: the argument must not contain a NUL, as after '%!.60s'",
                      function, text);
        return NULL;
    }
    return text;
}

/* clreduce_rewrite(select): the text of a SELECT from its accelerated view, with the same
   parameters and columns; NULL if there is none. */
static void rewrite(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *text = read_text(context, "clreduce_rewrite", "the text of a statement", values[0]);
    char *rewritten = text == NULL ? NULL : clr_rewrite(sqlite3_user_data(context), text);

    (void)count;
    if (rewritten != NULL)
        sqlite3_result_text(context, rewritten, -1, sqlite3_free);
}

/* clreduce_accelerate(view): has the accelerated view of an ordinary one go before it, and returns
   1. Without an argument: all that can be accelerated, and returns how many there are. */
static void accelerate(sqlite3_context *context, int count, sqlite3_value **values)
{
    static const char function[] = "clreduce_accelerate";
    struct clr_connection *connection = sqlite3_user_data(context);
    const char *name = NULL;
    char *message = NULL;
    int rc, accelerated = 1;

    if (count > 0)
        name = read_text(context, function, "the name of a view", values[0]);
    if (count > 0 && name == NULL)
        return;
    if (clr_is_writing(connection->db)) {
        clr_set_error(context,
                      "%s: a statement that writes is running: call it in a SELECT by itself",
                      function);
        return;
    }
    rc = name != NULL ? clr_ordinary_view_accelerate(connection, name, &message)
                      : clr_ordinary_views_accelerate(connection, &accelerated, &message);
    if (rc == SQLITE_OK) {
        sqlite3_result_int(context, accelerated);
    } else if (rc == SQLITE_NOMEM || message == NULL) {
        sqlite3_result_error_nomem(context);
    } else {
        clr_set_error(context, "%s: %s", function, message);
        sqlite3_result_error_code(context, rc);
    }
    sqlite3_free(message);
}

int clr_access_functions_register(struct clr_connection *connection)
{
    static const struct {
        const char *name;
        int arguments;
        void (*call)(sqlite3_context *, int, sqlite3_value **);
    } functions[] = {
        {"clreduce_rewrite", 1, rewrite},
        {"clreduce_accelerate", 0, accelerate},
        {"clreduce_accelerate", 1, accelerate},
    };
    int rc = SQLITE_OK;
    size_t i;

    for (i = 0; i < sizeof functions / sizeof functions[0] && rc == SQLITE_OK; i++)
        rc = sqlite3_create_function_v2(connection->db, functions[i].name, functions[i].arguments,
                                        SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                        clr_connection_retain(connection), functions[i].call, NULL,
                                        NULL, clr_connection_release);
    return rc;
}

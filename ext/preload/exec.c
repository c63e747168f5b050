#include "preload/exec.h"

#include "preload/extension.h"
#include "query/syntax/blank.h"
#include "query/syntax/word.h"

#include <stdlib.h>

typedef int callback_function(void *, int, char **, char **);

/* One call of sqlite3_exec(). */
struct call {
    struct clr_connected *connected;
    callback_function *callback;
    void *argument;
};

/* ---- SQLite's own function. */

static int exec_plainly(const struct call *call, const char *sql, callback_function *callback,
                        void *argument, char **message)
{
    int rc;

    clr_in_sqlite++;
    rc = call->connected->originals->exec(call->connected->db, sql, callback, argument, message);
    clr_in_sqlite--;
    return rc;
}

static int give_up(void *argument, int count, char **values, char **names)
{
    (void)argument;
    (void)count;
    (void)values;
    (void)names;
    return 1;
}

/* Sets the error of a callback that has ended the statement, which nothing else can. */
static int abort_call(const struct call *call, char **message)
{
    int rc;

    clr_inside++;
    rc = exec_plainly(call, "SELECT 1", give_up, NULL, message);
    clr_inside--;
    return rc;
}

static int note(void *was_called, int count, char **values, char **names)
{
    (void)count;
    (void)values;
    (void)names;
    *(bool *)was_called = true;
    return 0;
}

/* Whether callbacks are called without a row where a SELECT has none: an old PRAGMA, and none that
   can be asked for without a statement. */
static bool wants_empty(const struct call *call)
{
    bool was_called = false;

    clr_inside++;
    exec_plainly(call, "SELECT 1 WHERE 0", note, &was_called, NULL);
    clr_inside--;
    return was_called;
}

/* ---- A SELECT. */

static bool is_select(const char *sql)
{
    sql = clr_blank_skip(sql);
    return clr_word_is(sql, "select") || clr_word_is(sql, "with");
}

static int step(const struct call *call, sqlite3_stmt *handle)
{
    struct clr_statement *statement = clr_statement_find(&clr_watched_count, handle);

    return statement == NULL ? call->connected->originals->step(handle)
                             : clr_statement_step(statement);
}

static int finalize(const struct call *call, sqlite3_stmt *handle)
{
    struct clr_statement *statement = clr_statement_find(&clr_watched_count, handle);

    return statement == NULL ? call->connected->originals->finalize(handle)
                             : clr_statement_finalize(statement);
}

/* Reads a row. Returns false without memory. */
static bool read_row(const struct call *call, sqlite3_stmt *handle, int count, char **values)
{
    const struct clr_originals *originals = call->connected->originals;
    sqlite3_stmt *running = clr_statement_running(handle);
    int i;

    for (i = 0; i < count; i++) {
        values[i] = (char *)originals->column_text(running, i);
        if (values[i] == NULL && originals->column_type(running, i) != SQLITE_NULL)
            return false;
    }
    values[count] = NULL;
    return true;
}

/* Calls the callback for each row. Returns SQLITE_DONE, SQLITE_ABORT if the callback has ended it,
   SQLITE_NOMEM, or the code of the step that failed. */
static int run(const struct call *call, sqlite3_stmt *handle)
{
    const struct clr_originals *originals = call->connected->originals;
    char **names = NULL, **values;
    int rc = step(call, handle), count = 0, i;
    const bool is_empty = rc == SQLITE_DONE;

    if (call->callback != NULL && (rc == SQLITE_ROW || (is_empty && wants_empty(call)))) {
        count = originals->column_count(handle);
        names = malloc((2 * (size_t)count + 1) * sizeof *names);
        if (names == NULL)
            return SQLITE_NOMEM;
        for (i = 0; i < count; i++)
            names[i] = (char *)originals->column_name(handle, i);
        if (is_empty && call->callback(call->argument, count, NULL, names))
            rc = SQLITE_ABORT;
    }
    for (; rc == SQLITE_ROW; rc = rc == SQLITE_ROW ? step(call, handle) : rc) {
        if (names == NULL)
            continue;
        values = names + count;
        if (!read_row(call, handle, count, values))
            rc = SQLITE_NOMEM;
        else if (call->callback(call->argument, count, values, names))
            rc = SQLITE_ABORT;
    }
    free(names);
    return rc;
}

int clr_exec(struct clr_connected *connected, const char *sql, callback_function *callback,
             void *argument, char **message)
{
    const struct clr_originals *originals = connected->originals;
    const struct call call = {connected, callback, argument};
    sqlite3_stmt *handle;
    const char *tail;
    int rc, end_rc;

    while (clr_may_accelerate(connected) && is_select(sql)) {
        clr_in_sqlite++;
        rc = originals->prepare_v2(connected->db, sql, -1, &handle, &tail);
        clr_in_sqlite--;
        /* SQLite says what is wrong. */
        if (rc != SQLITE_OK || handle == NULL)
            break;
        clr_statement_watch(connected, handle);
        rc = run(&call, handle);
        /* SQLite traces no end of a run that a callback has ended. */
        clr_inside += rc == SQLITE_ABORT;
        end_rc = finalize(&call, handle);
        clr_inside -= rc == SQLITE_ABORT;
        if (rc == SQLITE_ABORT && end_rc == SQLITE_OK)
            return abort_call(&call, message);
        rc = rc == SQLITE_NOMEM ? rc : end_rc;
        if (rc != SQLITE_OK) {
            if (message != NULL)
                *message = originals->mprintf("%s", originals->errmsg(connected->db));
            return rc;
        }
        sql = tail;
    }
    return exec_plainly(&call, sql, callback, argument, message);
}

/* The functions that this library exports in the place of SQLite's. */

#define SQLITE_API __attribute__((visibility("default")))
#include <sqlite3.h>

#include "preload/extension.h"
#include "preload/originals.h"
#include "preload/pointers.h"
#include "preload/statements.h"
#include "query/syntax/blank.h"
#include "query/syntax/word.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

/* ---- Connections, and the copy of SQLite that a call is for. */

static struct clr_pointers connections;

/* Returns the copy for a call that has no connection that is known. Where there is none the program
   has been linked with this library alone, and could not run. */
static const struct clr_originals *originals_of_caller(const void *caller)
{
    const struct clr_originals *originals = clr_originals_of_code(caller);

    if (originals == NULL)
        abort();
    return originals;
}

static const struct clr_originals *originals_of_db(sqlite3 *db, const void *caller)
{
    const struct clr_originals *first = atomic_load(&clr_first_originals);
    const struct clr_connected *connected;

    if (first != NULL && !atomic_load(&clr_originals_differ))
        return first;
    connected = db == NULL ? NULL : clr_pointers_get(&connections, db);
    return connected != NULL ? connected->originals : originals_of_caller(caller);
}

/* Of a statement, whose connection any copy of SQLite can tell. */
static inline const struct clr_originals *originals_of(sqlite3_stmt *statement, const void *caller)
{
    const struct clr_originals *first =
        atomic_load_explicit(&clr_first_originals, memory_order_acquire);

    if (__builtin_expect(
            first != NULL && !atomic_load_explicit(&clr_originals_differ, memory_order_relaxed), 1))
        return first;
    if (first == NULL || statement == NULL)
        return originals_of_caller(caller);
    return originals_of_db(first->db_handle(statement), caller);
}

/* ---- Opening and closing. */

/* Takes note of a new connection. */
static void connect(const struct clr_originals *originals, sqlite3 *db)
{
    struct clr_connected *connected = calloc(1, sizeof *connected), *old;

    if (connected == NULL)
        return;
    connected->originals = originals;
    connected->db = db;
    atomic_init(&connected->users, 1);
    connected->is_served = clr_extension_load(originals, db);
    connected->is_set = connected->is_served && clr_extension_set(db);
    /* One that was closed while it had statements may have been where this one is. */
    old = clr_pointers_take(&connections, db);
    if (old != NULL)
        clr_connected_release(old);
    if (!clr_pointers_put(&connections, db, connected))
        clr_connected_release(connected);
}

/* open: a call of one of SQLite's functions, which gives db. */
#define OPEN(db, open)                                                                             \
    const struct clr_originals *originals = originals_of_caller(CALLER);                           \
    const bool hooked = clr_extension_open_hook(originals);                                        \
    int rc;                                                                                        \
                                                                                                   \
    rc = originals->open;                                                                          \
    if (hooked)                                                                                    \
        clr_extension_close_hook(originals);                                                       \
    if (rc == SQLITE_OK)                                                                           \
        connect(originals, *(db));                                                                 \
    return rc

int sqlite3_open(const char *filename, sqlite3 **db)
{
    OPEN(db, open(filename, db));
}

int sqlite3_open16(const void *filename, sqlite3 **db)
{
    OPEN(db, open16(filename, db));
}

int sqlite3_open_v2(const char *filename, sqlite3 **db, int flags, const char *vfs)
{
    OPEN(db, open_v2(filename, db, flags, vfs));
}

/* Ends what the extension keeps for a connection. Returns the connection, which is not known for
   now. */
static struct clr_connected *prepare_close(const struct clr_originals *originals, sqlite3 *db,
                                           bool for_good)
{
    /* Before its memory may become another connection's. */
    struct clr_connected *connected = db == NULL ? NULL : clr_pointers_take(&connections, db);
    sqlite3_mutex *mutex;

    if (connected == NULL || !connected->is_served)
        return connected;
    mutex = originals->db_mutex(db);
    originals->mutex_enter(mutex);
    clr_inside++;
    if (for_good) {
        connected->is_closed = true;
        clr_statements_let_go(connected);
        if (connected->first == NULL)
            clr_callbacks_return(connected);
    }
    atomic_load(&clr_gate)->closing(db);
    clr_inside--;
    originals->mutex_leave(mutex);
    return connected;
}

int sqlite3_close(sqlite3 *db)
{
    const struct clr_originals *originals = originals_of_db(db, CALLER);
    struct clr_connected *connected = prepare_close(originals, db, false);
    const int rc = originals->close(db);

    if (connected == NULL)
        return rc;
    if (rc == SQLITE_OK) {
        clr_connected_release(connected);
    } else if (!clr_pointers_put(&connections, db, connected)) {
        clr_callbacks_return(connected);
        clr_connected_release(connected);
    }
    return rc;
}

int sqlite3_close_v2(sqlite3 *db)
{
    const struct clr_originals *originals = originals_of_db(db, CALLER);
    struct clr_connected *connected = prepare_close(originals, db, true);
    const int rc = originals->close_v2(db);

    if (connected != NULL)
        clr_connected_release(connected);
    return rc;
}

/* ---- Preparing. */

/* Has the gate look at what was prepared by the code at an address. SQLite's own, of its full-text
   search for one, prepares statements that are not the application's. */
static void look(const struct clr_originals *originals, const void *caller, sqlite3 *db,
                 sqlite3_stmt *statement)
{
    const bool is_sqlites = originals->begin != NULL && clr_originals_have(originals, caller);
    struct clr_connected *connected;

    if (!is_sqlites && statement != NULL && clr_inside == 0 && clr_in_sqlite == 0 &&
        (connected = clr_pointers_get(&connections, db)) != NULL && connected->is_served)
        clr_statement_watch(connected, statement);
}

/* What SQLite prepares meanwhile, to read a schema, is not the application's. call: of one of
   SQLite's functions. */
#define PREPARE(call)                                                                              \
    const struct clr_originals *originals = originals_of_db(db, CALLER);                           \
    const int inside = clr_extension_leave();                                                      \
    int rc;                                                                                        \
                                                                                                   \
    clr_in_sqlite++;                                                                               \
    rc = originals->call;                                                                          \
    clr_in_sqlite--;                                                                               \
    clr_inside = inside;                                                                           \
    if (rc == SQLITE_OK)                                                                           \
        look(originals, CALLER, db, *statement);                                                   \
    return rc

int sqlite3_prepare_v2(sqlite3 *db, const char *sql, int bytes, sqlite3_stmt **statement,
                       const char **tail)
{
    PREPARE(prepare_v2(db, sql, bytes, statement, tail));
}

int sqlite3_prepare_v3(sqlite3 *db, const char *sql, int bytes, unsigned flags,
                       sqlite3_stmt **statement, const char **tail)
{
    PREPARE(prepare_v3(db, sql, bytes, flags, statement, tail));
}

int sqlite3_prepare16_v2(sqlite3 *db, const void *sql, int bytes, sqlite3_stmt **statement,
                         const void **tail)
{
    PREPARE(prepare16_v2(db, sql, bytes, statement, tail));
}

int sqlite3_prepare16_v3(sqlite3 *db, const void *sql, int bytes, unsigned flags,
                         sqlite3_stmt **statement, const void **tail)
{
    PREPARE(prepare16_v3(db, sql, bytes, flags, statement, tail));
}

/* ---- sqlite3_exec(), with the statements at the front of a text watched that have SELECTs. */

/* What it leaves out before each statement but the first one. */
#define SPACES " \t\n\v\f\r"

typedef int callback_function(void *, int, char **, char **);

/* One call of sqlite3_exec(). */
struct call {
    struct clr_connected *connected;
    callback_function *callback;
    void *argument;
};

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

static int step_call(const struct call *call, sqlite3_stmt *handle)
{
    struct clr_statement *statement = clr_statement_find(&clr_watched_count, handle);

    return statement == NULL ? call->connected->originals->step(handle)
                             : clr_statement_step(statement);
}

static int finalize_call(const struct call *call, sqlite3_stmt *handle)
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
static int run_call(const struct call *call, sqlite3_stmt *handle)
{
    const struct clr_originals *originals = call->connected->originals;
    char **names = NULL, **values;
    int rc = step_call(call, handle), count = 0, i;
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
    for (; rc == SQLITE_ROW; rc = rc == SQLITE_ROW ? step_call(call, handle) : rc) {
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

/* Stores the message of an error, if it is asked for. Returns the error's code. */
static int tell_error(const struct call *call, int rc, char **message)
{
    const struct clr_originals *originals = call->connected->originals;

    if (message != NULL)
        *message = originals->mprintf("%s", originals->errmsg(call->connected->db));
    return rc;
}

/* As sqlite3_exec(), with the mutex of the connection. */
static int exec_watching(struct clr_connected *connected, const char *sql,
                         callback_function *callback, void *argument, char **message)
{
    const struct clr_originals *originals = connected->originals;
    const struct call call = {connected, callback, argument};
    sqlite3_stmt *handle;
    const char *tail;
    int rc, end_rc;

    /* What only writes is quicker run by SQLite's own. */
    while (clr_may_accelerate(connected) && clr_word_may_select(clr_blank_skip(sql))) {
        clr_in_sqlite++;
        rc = originals->prepare_v2(connected->db, sql, -1, &handle, &tail);
        clr_in_sqlite--;
        if (rc != SQLITE_OK)
            return tell_error(&call, rc, message);
        clr_statement_watch(connected, handle);
        rc = run_call(&call, handle);
        /* SQLite traces no end of a run that a callback has ended. */
        clr_inside += rc == SQLITE_ABORT;
        end_rc = finalize_call(&call, handle);
        clr_inside -= rc == SQLITE_ABORT;
        if (rc == SQLITE_ABORT && end_rc == SQLITE_OK)
            return abort_call(&call, message);
        rc = rc == SQLITE_NOMEM ? rc : end_rc;
        if (rc != SQLITE_OK)
            return tell_error(&call, rc, message);
        sql = tail + strspn(tail, SPACES);
    }
    return exec_plainly(&call, sql, callback, argument, message);
}

/* The connection of the sqlite3_get_table() that this thread is in and that has not called
   sqlite3_exec() yet. */
static _Thread_local sqlite3 *reads_table __attribute__((tls_model("initial-exec")));

/* SQLite's function prepares and steps by the exported functions, and ends its statements by others
   of its own: so none of them may be watched. The SELECTs that an application's text begins with
   are run here. */
int sqlite3_exec(sqlite3 *db, const char *sql, int (*callback)(void *, int, char **, char **),
                 void *argument, char **message)
{
    const struct clr_originals *originals = originals_of_db(db, CALLER);
    const bool is_applications = !clr_originals_have(originals, CALLER) || reads_table == db;
    struct clr_connected *connected;
    sqlite3_mutex *mutex;
    int rc, inside;

    reads_table = NULL;
    if (clr_inside == 0 && clr_in_sqlite == 0 && sql != NULL && db != NULL && is_applications &&
        (connected = clr_pointers_get(&connections, db)) != NULL && connected->is_served) {
        mutex = originals->db_mutex(db);
        originals->mutex_enter(mutex);
        rc = exec_watching(connected, sql, callback, argument, message);
        originals->mutex_leave(mutex);
        return rc;
    }
    inside = clr_extension_leave();
    clr_in_sqlite++;
    rc = originals->exec(db, sql, callback, argument, message);
    clr_in_sqlite--;
    clr_inside = inside;
    return rc;
}

int sqlite3_get_table(sqlite3 *db, const char *sql, char ***table, int *rows, int *columns,
                      char **message)
{
    const struct clr_originals *originals = originals_of_db(db, CALLER);
    int rc;

    reads_table = db;
    rc = originals->get_table(db, sql, table, rows, columns, message);
    reads_table = NULL;
    return rc;
}

/* ---- What begins and ends a statement's run. */

int sqlite3_step(sqlite3_stmt *handle)
{
    struct clr_statement *statement = clr_statement_find(&clr_watched_count, handle);
    const int inside = clr_extension_leave();
    const int rc = statement == NULL ? originals_of(handle, CALLER)->step(handle)
                                     : clr_statement_step(statement);

    clr_inside = inside;
    return rc;
}

/* arguments: of SQLite's function; own: the call for a statement that is watched. */
#define OF_WATCHED(type, name, parameters, arguments, own)                                         \
    type sqlite3_##name parameters                                                                 \
    {                                                                                              \
        struct clr_statement *statement = clr_statement_find(&clr_watched_count, handle);          \
                                                                                                   \
        return statement == NULL ? originals_of(handle, CALLER)->name arguments : own;             \
    }

OF_WATCHED(int, reset, (sqlite3_stmt * handle), (handle), clr_statement_reset(statement))
OF_WATCHED(int, finalize, (sqlite3_stmt * handle), (handle), clr_statement_finalize(statement))
OF_WATCHED(char *, expanded_sql, (sqlite3_stmt * handle), (handle),
           clr_statement_expanded_sql(statement))
OF_WATCHED(int, stmt_status, (sqlite3_stmt * handle, int operation, int reset),
           (handle, operation, reset), clr_statement_status(statement, operation, reset))

sqlite3_stmt *sqlite3_next_stmt(sqlite3 *db, sqlite3_stmt *handle)
{
    const struct clr_originals *originals = originals_of_db(db, CALLER);

    do {
        handle = originals->next_stmt(db, handle);
    } while (handle != NULL && clr_extension_owns(handle));
    return handle;
}

/* ---- What is asked of the statement that runs. */

struct running {
    const struct clr_originals *originals;
    sqlite3_stmt *statement;
};

static __attribute__((noinline)) struct running find_running(sqlite3_stmt *handle,
                                                             const void *caller)
{
    return (struct running){originals_of(handle, caller), clr_statement_running(handle)};
}

/* Whether the program has one copy of SQLite, whose own statements alone run. */
static inline bool is_plain(const struct clr_originals *first)
{
    return first != NULL && !atomic_load_explicit(&clr_originals_differ, memory_order_relaxed) &&
           atomic_load_explicit(&clr_companion_count, memory_order_relaxed) == 0;
}

/* An application calls some of these several times for each row: most calls are but a jump.
   arguments: with RUNNING for the handle. */
#define OF_RUNNING(type, name, parameters, arguments)                                              \
    type sqlite3_##name parameters                                                                 \
    {                                                                                              \
        struct running running = {                                                                 \
            atomic_load_explicit(&clr_first_originals, memory_order_acquire), handle};             \
                                                                                                   \
        if (__builtin_expect(is_plain(running.originals), 1))                                      \
            return running.originals->name arguments;                                              \
        running = find_running(handle, CALLER);                                                    \
        return running.originals->name arguments;                                                  \
    }
#define RUNNING running.statement

OF_RUNNING(const void *, column_blob, (sqlite3_stmt * handle, int column), (RUNNING, column))
OF_RUNNING(int, column_bytes, (sqlite3_stmt * handle, int column), (RUNNING, column))
OF_RUNNING(int, column_bytes16, (sqlite3_stmt * handle, int column), (RUNNING, column))
OF_RUNNING(double, column_double, (sqlite3_stmt * handle, int column), (RUNNING, column))
OF_RUNNING(int, column_int, (sqlite3_stmt * handle, int column), (RUNNING, column))
OF_RUNNING(sqlite3_int64, column_int64, (sqlite3_stmt * handle, int column), (RUNNING, column))
OF_RUNNING(const unsigned char *, column_text, (sqlite3_stmt * handle, int column),
           (RUNNING, column))
OF_RUNNING(const void *, column_text16, (sqlite3_stmt * handle, int column), (RUNNING, column))
OF_RUNNING(int, column_type, (sqlite3_stmt * handle, int column), (RUNNING, column))
OF_RUNNING(sqlite3_value *, column_value, (sqlite3_stmt * handle, int column), (RUNNING, column))
OF_RUNNING(int, data_count, (sqlite3_stmt * handle), (RUNNING))
OF_RUNNING(int, stmt_busy, (sqlite3_stmt * handle), (RUNNING))
OF_RUNNING(int, clear_bindings, (sqlite3_stmt * handle), (RUNNING))

/* Those that bind: a statement that runs refuses that, and so does its companion. */
OF_RUNNING(int, bind_blob,
           (sqlite3_stmt * handle, int number, const void *value, int bytes, void (*end)(void *)),
           (RUNNING, number, value, bytes, end))
OF_RUNNING(int, bind_blob64,
           (sqlite3_stmt * handle, int number, const void *value, sqlite3_uint64 bytes,
            void (*end)(void *)),
           (RUNNING, number, value, bytes, end))
OF_RUNNING(int, bind_double, (sqlite3_stmt * handle, int number, double value),
           (RUNNING, number, value))
OF_RUNNING(int, bind_int, (sqlite3_stmt * handle, int number, int value), (RUNNING, number, value))
OF_RUNNING(int, bind_int64, (sqlite3_stmt * handle, int number, sqlite3_int64 value),
           (RUNNING, number, value))
OF_RUNNING(int, bind_null, (sqlite3_stmt * handle, int number), (RUNNING, number))
OF_RUNNING(int, bind_pointer,
           (sqlite3_stmt * handle, int number, void *value, const char *type, void (*end)(void *)),
           (RUNNING, number, value, type, end))
OF_RUNNING(int, bind_text,
           (sqlite3_stmt * handle, int number, const char *value, int bytes, void (*end)(void *)),
           (RUNNING, number, value, bytes, end))
OF_RUNNING(int, bind_text16,
           (sqlite3_stmt * handle, int number, const void *value, int bytes, void (*end)(void *)),
           (RUNNING, number, value, bytes, end))
OF_RUNNING(int, bind_text64,
           (sqlite3_stmt * handle, int number, const char *value, sqlite3_uint64 bytes,
            void (*end)(void *), unsigned char encoding),
           (RUNNING, number, value, bytes, end, encoding))
OF_RUNNING(int, bind_value, (sqlite3_stmt * handle, int number, const sqlite3_value *value),
           (RUNNING, number, value))
OF_RUNNING(int, bind_zeroblob, (sqlite3_stmt * handle, int number, int bytes),
           (RUNNING, number, bytes))
OF_RUNNING(int, bind_zeroblob64, (sqlite3_stmt * handle, int number, sqlite3_uint64 bytes),
           (RUNNING, number, bytes))
OF_RUNNING(int, transfer_bindings, (sqlite3_stmt * handle, sqlite3_stmt *to),
           (RUNNING, clr_statement_running(to)))

/* ---- The application's log. */

static struct {
    void (*write)(void *, int, const char *);
    void *argument;
} application_log;

/* Leaves out what the extension's statements have SQLite write. */
static void write_log(void *unused, int code, const char *text)
{
    (void)unused;
    if (clr_inside == 0)
        application_log.write(application_log.argument, code, text);
}

/* Each option has up to three arguments, and none is wider than a pointer: so they are passed on
   as pointers, whatever they are. */
int sqlite3_config(int option, ...)
{
    /* A copy of SQLite that nobody has called yet may be calling itself. */
    const struct clr_originals *originals = originals_of_caller(CALLER);
    void *arguments[3];
    va_list list;
    int i, rc;

    va_start(list, option);
    for (i = 0; i < 3; i++)
        arguments[i] = va_arg(list, void *);
    va_end(list);
    if (option != SQLITE_CONFIG_LOG || arguments[0] == NULL ||
        originals != atomic_load(&clr_first_originals))
        return originals->config(option, arguments[0], arguments[1], arguments[2]);
    rc = originals->config(option, write_log, NULL);
    if (rc == SQLITE_OK) {
        memcpy(&application_log.write, &arguments[0], sizeof arguments[0]);
        application_log.argument = arguments[1];
    }
    return rc;
}

/* ---- Callbacks that would see what the application has not sent. */

/* Enters the mutex of a connection that is served. Returns NULL for another one. */
static struct clr_connected *enter_served(const struct clr_originals *originals, sqlite3 *db)
{
    struct clr_connected *connected = db == NULL ? NULL : clr_pointers_get(&connections, db);

    if (connected == NULL || !connected->is_served)
        return NULL;
    originals->mutex_enter(originals->db_mutex(db));
    return connected;
}

/* NULL is fine. */
static void leave_served(const struct clr_originals *originals,
                         const struct clr_connected *connected)
{
    if (connected != NULL)
        originals->mutex_leave(originals->db_mutex(connected->db));
}

static uint64_t hash_names(const char *table, const char *column)
{
    uint64_t hash = 14695981039346656037u;

    for (; *table != '\0'; table++)
        hash = (hash ^ (unsigned char)*table) * 1099511628211u;
    hash *= 1099511628211u;
    for (; *column != '\0'; column++)
        hash = (hash ^ (unsigned char)*column) * 1099511628211u;
    return hash | 1;
}

/* Whether the application lets a column be read, or with "" the table's rows. */
static bool is_readable(const struct clr_callbacks *callbacks, const char *table,
                        const char *column)
{
    const uint64_t hash = hash_names(table, column);
    int i = 0;

    while (i < CLR_MOST_READABLE && callbacks->readable[i] != hash)
        i++;
    return i < CLR_MOST_READABLE;
}

static void note_readable(struct clr_callbacks *callbacks, const char *table, const char *column)
{
    if (!is_readable(callbacks, table, column))
        callbacks->readable[callbacks->readable_count++ % CLR_MOST_READABLE] =
            hash_names(table, column);
}

/* Whether a table is SQLite's or the extension's. */
static bool is_own(const char *table)
{
    return strncasecmp(table, "sqlite_", strlen("sqlite_")) == 0 ||
           strncasecmp(table, "clreduce_", strlen("clreduce_")) == 0;
}

/* The extension reads what the application was allowed to read when it prepared a statement. Where
   another connection has changed the schema since, names may mean other tables: then SQLite runs
   the statement, and asks the application again. */
static int authorize(void *argument, int action, const char *a, const char *b, const char *c,
                     const char *d)
{
    struct clr_callbacks *callbacks = argument;
    int rc;

    if (clr_inside > 0)
        return action != SQLITE_READ || is_own(a) || is_readable(callbacks, a, b) ? SQLITE_OK
                                                                                  : SQLITE_DENY;
    rc = callbacks->authorizer(callbacks->authorizer_argument, action, a, b, c, d);
    if (action == SQLITE_READ && rc == SQLITE_OK) {
        note_readable(callbacks, a, "");
        note_readable(callbacks, a, b);
    }
    /* The statement has NULL in the place of a column, or does something in part. */
    callbacks->has_ignored = callbacks->has_ignored || rc == SQLITE_IGNORE;
    return rc;
}

int sqlite3_set_authorizer(sqlite3 *db, clr_authorizer *authorizer, void *argument)
{
    const struct clr_originals *originals = originals_of_db(db, CALLER);
    struct clr_connected *connected = enter_served(originals, db);
    int rc;

    if (connected == NULL)
        return originals->set_authorizer(db, authorizer, argument);
    connected->callbacks.authorizer = authorizer;
    connected->callbacks.authorizer_argument = argument;
    /* With a new one SQLite prepares every statement anew. */
    if (authorizer != NULL)
        connected->callbacks.has_ignored = false;
    memset(connected->callbacks.readable, 0, sizeof connected->callbacks.readable);
    rc =
        originals->set_authorizer(db, authorizer == NULL ? NULL : authorize, &connected->callbacks);
    leave_served(originals, connected);
    return rc;
}

static int trace(unsigned event, void *argument, void *p, void *x)
{
    const struct clr_callbacks *callbacks = argument;

    return clr_inside > 0 ? 0 : callbacks->trace(event, callbacks->trace_argument, p, x);
}

int sqlite3_trace_v2(sqlite3 *db, unsigned mask, clr_trace *callback, void *argument)
{
    const struct clr_originals *originals = originals_of_db(db, CALLER);
    struct clr_connected *connected = enter_served(originals, db);
    int rc;

    if (connected == NULL)
        return originals->trace_v2(db, mask, callback, argument);
    connected->callbacks.trace = callback;
    connected->callbacks.trace_argument = argument;
    connected->callbacks.trace_mask = callback == NULL ? 0 : mask;
    connected->callbacks.has_older_trace = false;
    rc = callback == NULL ? originals->trace_v2(db, mask, NULL, argument)
                          : originals->trace_v2(db, mask, trace, &connected->callbacks);
    leave_served(originals, connected);
    return rc;
}

/* The older functions that trace take the place of the newer one. Their callbacks see companions:
   the statements run as they are from now on, while there is one. */
static void note_older(struct clr_connected *connected, bool *has, bool is_there)
{
    connected->callbacks.trace_mask = 0;
    *has = is_there;
    if (!clr_may_accelerate(connected))
        clr_statements_let_go(connected);
}

void *sqlite3_trace(sqlite3 *db, void (*callback)(void *, const char *), void *argument)
{
    const struct clr_originals *originals = originals_of_db(db, CALLER);
    struct clr_connected *connected = enter_served(originals, db);
    void *old;

    if (connected != NULL)
        note_older(connected, &connected->callbacks.has_older_trace, callback != NULL);
    old = originals->trace(db, callback, argument);
    if (connected != NULL && old == &connected->callbacks)
        old = connected->callbacks.trace_argument;
    leave_served(originals, connected);
    return old;
}

void *sqlite3_profile(sqlite3 *db, void (*profile)(void *, const char *, sqlite3_uint64),
                      void *argument)
{
    const struct clr_originals *originals = originals_of_db(db, CALLER);
    struct clr_connected *connected = enter_served(originals, db);
    void *old;

    if (connected != NULL)
        note_older(connected, &connected->callbacks.has_profile, profile != NULL);
    old = originals->profile(db, profile, argument);
    leave_served(originals, connected);
    return old;
}

void sqlite3_progress_handler(sqlite3 *db, int operations, int (*progress)(void *), void *argument)
{
    const struct clr_originals *originals = originals_of_db(db, CALLER);
    struct clr_connected *connected = enter_served(originals, db);

    if (connected != NULL)
        connected->callbacks.has_progress = operations > 0 && progress != NULL;
    originals->progress_handler(db, operations, progress, argument);
    leave_served(originals, connected);
}

void *sqlite3_rollback_hook(sqlite3 *db, void (*callback)(void *), void *argument)
{
    const struct clr_originals *originals = originals_of_db(db, CALLER);
    struct clr_connected *connected = enter_served(originals, db);
    void *old;

    if (connected != NULL)
        connected->callbacks.has_rollback = callback != NULL;
    old = originals->rollback_hook(db, callback, argument);
    leave_served(originals, connected);
    return old;
}

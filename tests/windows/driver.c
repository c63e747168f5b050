/*
 * SQLite, for a program that runs elsewhere: tests/windows/wine_sqlite has Python's tests use an
 * SQLite for Windows through this program, which wine runs. Each message is its length in bytes, as
 * 32 bits, and then values: a letter and, of i (64 bits) and d (a double), 8 bytes; of t (text) and
 * b (a BLOB), a length of 32 bits and so many bytes; n is NULL.
 *
 * Read from the standard input are a command and its arguments, and written to the standard output
 * is "ok" with results, or "error" with a code and a message; before that "call", an id and
 * arguments, where SQLite calls one of the caller's functions: next to be read are then "ok" and
 * its value, or "error" and a message, and before them the function's own commands.
 */
#include <sqlite3.h>

#include <fcntl.h>
#include <io.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define WIN32_LEAN_AND_MEAN /* else there are others of the names below */
#include <windows.h>

enum { MOST = 4096, MOST_IDLE = 128 };

typedef int prepare_function(sqlite3 *, const char *, int, sqlite3_stmt **, const char **);

static struct connection {
    sqlite3 *db; /* NULL: the place is free */
    bool keeps;  /* statements, for when they are asked for again, as Python's module does */
    prepare_function *prepare;
} connections[MOST];
static struct statement {
    sqlite3_stmt *made; /* NULL: the place is free */
    bool keeps, is_idle;
} statements[MOST];

/* ---- Messages. */

static struct messages {
    unsigned char *read, *written;
    size_t at, end;
    size_t size, room; /* of the one that is written */
} messages;

static void fail(const char *what)
{
    fprintf(stderr, "driver: %s\n", what);
    exit(1);
}

static void receive(void)
{
    uint32_t size;

    if (fread(&size, sizeof size, 1, stdin) != 1)
        exit(0);
    messages.read = realloc(messages.read, size + 1);
    if (messages.read == NULL || fread(messages.read, 1, size, stdin) != size)
        fail("a message is not whole");
    messages.at = 0;
    messages.end = size;
}

static void put(const void *bytes, size_t size)
{
    if (messages.size + size > messages.room) {
        messages.room = 2 * (messages.size + size);
        messages.written = realloc(messages.written, messages.room);
        if (messages.written == NULL)
            fail("out of memory");
    }
    memcpy(messages.written + messages.size, bytes, size);
    messages.size += size;
}

static void put_int(int64_t value)
{
    put("i", 1);
    put(&value, sizeof value);
}

static void put_bytes(char kind, const void *bytes, int size)
{
    const uint32_t length = (uint32_t)size;

    put(&kind, 1);
    put(&length, sizeof length);
    if (size > 0)
        put(bytes, length);
}

static void put_text(const char *text)
{
    put_bytes('t', text, (int)strlen(text));
}

static void put_value(sqlite3_value *value)
{
    double real;

    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        put_int(sqlite3_value_int64(value));
        break;
    case SQLITE_FLOAT:
        real = sqlite3_value_double(value);
        put("d", 1);
        put(&real, sizeof real);
        break;
    case SQLITE_TEXT:
        put_bytes('t', sqlite3_value_text(value), sqlite3_value_bytes(value));
        break;
    case SQLITE_BLOB:
        put_bytes('b', sqlite3_value_blob(value), sqlite3_value_bytes(value));
        break;
    default:
        put("n", 1);
    }
}

static void send(void)
{
    const uint32_t size = (uint32_t)messages.size;

    fwrite(&size, sizeof size, 1, stdout);
    fwrite(messages.written, 1, messages.size, stdout);
    fflush(stdout);
    messages.size = 0;
}

struct value {
    char kind;
    int64_t integer;
    double real;
    const char *bytes;
    uint32_t size;
};

static void take(void *to, size_t size)
{
    if (size > messages.end - messages.at)
        fail("a message is too short");
    memcpy(to, messages.read + messages.at, size);
    messages.at += size;
}

static struct value get(void)
{
    struct value value = {.kind = 'n'};

    take(&value.kind, 1);
    if (value.kind == 'i')
        take(&value.integer, sizeof value.integer);
    if (value.kind == 'd')
        take(&value.real, sizeof value.real);
    if (value.kind != 't' && value.kind != 'b')
        return value;
    take(&value.size, sizeof value.size);
    if (value.size > messages.end - messages.at)
        fail("a message is too short");
    value.bytes = (const char *)messages.read + messages.at;
    messages.at += value.size;
    return value;
}

/* Returns the next value, a text, as a string that stays. */
static char *get_text(void)
{
    const struct value value = get();
    char *text = malloc(value.size + 1);

    if (text == NULL)
        fail("out of memory");
    memcpy(text, value.bytes, value.size);
    text[value.size] = '\0';
    return text;
}

static int get_int(void)
{
    return (int)get().integer;
}

/* ---- The caller's functions. */

static void run(const char *command);

/* Has the caller answer the message that is there, and runs the commands that it sends before.
   Returns NULL, and sets *value, or an error's text to be freed. */
static char *ask(struct value *value)
{
    char *kind;
    bool is_over = false, is_error = false;

    send();
    while (!is_over) {
        receive();
        kind = get_text();
        is_error = strcmp(kind, "error") == 0;
        is_over = is_error || strcmp(kind, "ok") == 0;
        if (!is_over)
            run(kind);
        free(kind);
    }
    if (is_error)
        return get_text();
    *value = get();
    return NULL;
}

/* Begins a message to the caller's function of that id. Those stay that are being read and written
   meanwhile: they are returned, for end_call(). */
static struct messages begin_call(void *id)
{
    const struct messages before = messages;

    messages = (struct messages){0};
    put_text("call");
    put_int((intptr_t)id);
    return before;
}

static void end_call(struct messages before, char *error)
{
    free(error);
    free(messages.read);
    free(messages.written);
    messages = before;
}

static void call(sqlite3_context *context, int count, sqlite3_value **values)
{
    const struct messages before = begin_call(sqlite3_user_data(context));
    struct value value;
    char *error;
    int i;

    for (i = 0; i < count; i++)
        put_value(values[i]);
    error = ask(&value);
    if (error != NULL)
        sqlite3_result_error(context, error, -1);
    else if (value.kind == 'i')
        sqlite3_result_int64(context, value.integer);
    else if (value.kind == 'd')
        sqlite3_result_double(context, value.real);
    else if (value.kind == 't')
        sqlite3_result_text(context, value.bytes, (int)value.size, SQLITE_TRANSIENT);
    else if (value.kind == 'b')
        sqlite3_result_blob(context, value.bytes, (int)value.size, SQLITE_TRANSIENT);
    else
        sqlite3_result_null(context);
    end_call(before, error);
}

static int compare(void *id, int a_size, const void *a, int b_size, const void *b)
{
    const struct messages before = begin_call(id);
    struct value value;
    char *error;
    int order;

    put_bytes('t', a, a_size);
    put_bytes('t', b, b_size);
    error = ask(&value);
    order = error != NULL ? 0 : (int)value.integer;
    end_call(before, error);
    return order;
}

static int authorize(void *id, int action, const char *first, const char *second,
                     const char *schema, const char *trigger)
{
    const char *const texts[] = {first, second, schema, trigger};
    const struct messages before = begin_call(id);
    struct value value;
    char *error;
    int verdict;
    size_t i;

    put_int(action);
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i] == NULL)
            put("n", 1);
        else
            put_text(texts[i]);
    }
    error = ask(&value);
    verdict = error != NULL ? SQLITE_DENY : (int)value.integer;
    end_call(before, error);
    return verdict;
}

static int look(void *id)
{
    const struct messages before = begin_call(id);
    struct value value;
    char *error = ask(&value);
    const int stops = error != NULL || (value.kind == 'i' && value.integer != 0);

    end_call(before, error);
    return stops;
}

/* ---- Commands. */

static void send_error(sqlite3 *db, int rc)
{
    put_text("error");
    put_int(db == NULL ? rc : sqlite3_extended_errcode(db));
    put_text(db == NULL ? sqlite3_errstr(rc) : sqlite3_errmsg(db));
    send();
}

static void answer(sqlite3 *db, int rc)
{
    if (rc != SQLITE_OK) {
        send_error(db, rc);
        return;
    }
    put_text("ok");
    send();
}

/* Returns the place of a statement that is idle: one of that text and connection, or the first one
   if db is NULL. -1: there is none. */
static int find_idle(sqlite3 *db, const char *sql)
{
    int i;

    for (i = 0; i < MOST; i++) {
        if (statements[i].is_idle &&
            (db == NULL || (sqlite3_db_handle(statements[i].made) == db &&
                            strcmp(sqlite3_sql(statements[i].made), sql) == 0)))
            return i;
    }
    return -1;
}

static void drop(int number)
{
    sqlite3_finalize(statements[number].made);
    statements[number] = (struct statement){0};
}

/* The statement is over. */
static void release(int number)
{
    static int idle;
    int i;

    if (!statements[number].keeps) {
        drop(number);
        return;
    }
    sqlite3_reset(statements[number].made);
    sqlite3_clear_bindings(statements[number].made);
    statements[number].is_idle = true;
    if (idle++ % MOST_IDLE == 0) {
        while ((i = find_idle(NULL, NULL)) >= 0)
            drop(i);
    }
}

static int bind(sqlite3_stmt *statement, int place, const struct value *value)
{
    switch (value->kind) {
    case 'i':
        return sqlite3_bind_int64(statement, place, value->integer);
    case 'd':
        return sqlite3_bind_double(statement, place, value->real);
    case 't':
        return sqlite3_bind_text(statement, place, value->bytes, (int)value->size,
                                 SQLITE_TRANSIENT);
    case 'b':
        return value->size == 0 ? sqlite3_bind_zeroblob(statement, place, 0)
                                : sqlite3_bind_blob(statement, place, value->bytes,
                                                    (int)value->size, SQLITE_TRANSIENT);
    default:
        return sqlite3_bind_null(statement, place);
    }
}

static void put_row(sqlite3_stmt *statement)
{
    int i;

    put_int(1);
    for (i = 0; i < sqlite3_column_count(statement); i++)
        put_value(sqlite3_column_value(statement, i));
}

/* Sends the next rows, so many at most: for each 1 and its values, and 0 behind the last one. */
static void send_rows(int number, int64_t most)
{
    sqlite3_stmt *statement = statements[number].made;
    int rc = SQLITE_ROW;

    put_text("ok");
    while (most-- > 0 && (rc = sqlite3_step(statement)) == SQLITE_ROW)
        put_row(statement);
    if (rc == SQLITE_DONE)
        put_int(0);
    if (rc == SQLITE_ROW || rc == SQLITE_DONE) {
        send();
    } else {
        messages.size = 0;
        send_error(sqlite3_db_handle(statement), rc);
    }
    if (rc != SQLITE_ROW)
        release(number);
}

/* Binds the rest of the message: values, or names and values. Returns a code of SQLite's. */
static int bind_all(sqlite3_stmt *statement, bool is_named)
{
    const int count = sqlite3_bind_parameter_count(statement);
    struct value value;
    char *name;
    int rc = SQLITE_OK, i, place;

    for (i = 1; rc == SQLITE_OK && messages.at < messages.end; i++) {
        place = i;
        if (is_named) {
            name = get_text();
            place = sqlite3_bind_parameter_index(statement, name);
            free(name);
        }
        value = get();
        if (place > 0 && place <= count)
            rc = bind(statement, place, &value);
    }
    return rc;
}

/* Finds the place of a statement of that text, which is idle or is made. Returns a code of
   SQLite's, and sets *is_one: there is one statement, or none, and then *number is -1. */
static int prepare(const struct connection *connection, const char *sql, int *number, bool *is_one)
{
    const char *rest = "";
    int rc;

    *is_one = true;
    *number = find_idle(connection->db, sql);
    if (*number >= 0) {
        statements[*number].is_idle = false;
        return SQLITE_OK;
    }
    for (*number = 0; *number < MOST && statements[*number].made != NULL; ++*number)
        ;
    if (*number == MOST)
        fail("too many statements");
    rc = connection->prepare(connection->db, sql, -1, &statements[*number].made, &rest);
    if (rc == SQLITE_OK && strspn(rest, " \t\r\n;") != strlen(rest) &&
        strncmp(rest, "--", 2) != 0) {
        *is_one = false;
        drop(*number);
    } else if (statements[*number].made == NULL) {
        *number = -1;
    } else {
        statements[*number].keeps = connection->keeps;
    }
    return rc;
}

/* Sends the statement's number, its parameters, the names of its columns, and the first row. */
static void execute(void)
{
    const struct connection *connection = &connections[get_int()];
    char *sql = get_text();
    const bool is_named = get_int() != 0;
    sqlite3_stmt *statement;
    bool is_one;
    int number, rc = prepare(connection, sql, &number, &is_one), columns, i;

    free(sql);
    if (!is_one) {
        put_text("several");
        send();
        return;
    }
    statement = number < 0 ? NULL : statements[number].made;
    if (rc == SQLITE_OK)
        rc = bind_all(statement, is_named);
    if (rc == SQLITE_OK)
        rc = statement == NULL ? SQLITE_DONE : sqlite3_step(statement);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
        send_error(connection->db, rc);
    } else {
        columns = sqlite3_column_count(statement);
        put_text("ok");
        put_int(number);
        put_int(sqlite3_bind_parameter_count(statement));
        put_int(columns);
        for (i = 0; i < columns; i++)
            put_text(sqlite3_column_name(statement, i));
        if (rc == SQLITE_ROW)
            put_row(statement);
        else
            put_int(0);
        send();
    }
    if (rc != SQLITE_ROW && number >= 0)
        release(number);
}

/* A statement without rows, for many rows of parameters. */
static void execute_many(void)
{
    sqlite3 *db = connections[get_int()].db;
    char *sql = get_text();
    const int width = get_int();
    sqlite3_stmt *statement = NULL;
    struct value value;
    int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL), i;

    while (rc == SQLITE_OK && messages.at < messages.end) {
        for (i = 1; i <= width; i++) {
            value = get();
            rc = rc == SQLITE_OK ? bind(statement, i, &value) : rc;
        }
        while (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
            ;
        rc = rc == SQLITE_OK ? sqlite3_reset(statement) : rc;
    }
    free(sql);
    answer(db, rc);
    sqlite3_finalize(statement);
}

static void open_connection(void)
{
    char *path = get_text();
    struct connection *connection;
    int number = 0, rc;

    while (number < MOST && connections[number].db != NULL)
        number++;
    if (number == MOST)
        fail("too many connections");
    connection = &connections[number];
    rc = sqlite3_open_v2(path, &connection->db, get_int(), NULL);
    free(path);
    if (rc != SQLITE_OK) {
        send_error(connection->db, rc);
        sqlite3_close(connection->db);
        connection->db = NULL;
        return;
    }
    sqlite3_extended_result_codes(connection->db, 1);
    sqlite3_busy_timeout(connection->db, get_int());
    connection->keeps = get_int() != 0;
    connection->prepare = sqlite3_prepare_v2;
    put_text("ok");
    put_int(number);
    send();
}

static void close_connection(void)
{
    struct connection *connection = &connections[get_int()];
    int i;

    for (i = 0; i < MOST; i++) {
        if (statements[i].made != NULL && sqlite3_db_handle(statements[i].made) == connection->db)
            drop(i);
    }
    sqlite3_close_v2(connection->db);
    connection->db = NULL;
    put_text("ok");
    send();
}

/* Has the statements of a connection be prepared by a function of a library that is loaded. */
static void prepare_by(void)
{
    struct connection *connection = &connections[get_int()];
    char *library = get_text(), *name = get_text();
    const HMODULE module = GetModuleHandleA(library);
    prepare_function *function =
        module == NULL ? NULL : (prepare_function *)(void *)GetProcAddress(module, name);

    if (function != NULL)
        connection->prepare = function;
    put_text("ok");
    put_int(function != NULL);
    send();
    free(library);
    free(name);
}

static wchar_t *get_path(void)
{
    char *path = get_text();
    const int size = MultiByteToWideChar(CP_UTF8, 0, path, -1, NULL, 0);
    wchar_t *wide = malloc((size_t)size * sizeof *wide);

    if (wide == NULL)
        fail("out of memory");
    MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, size);
    free(path);
    return wide;
}

/* Sends Windows' code of the error, 0 if there is none, of deleting a file or giving it another
 * name. */
static void change_file(bool renames)
{
    wchar_t *path = get_path(), *other = renames ? get_path() : NULL;
    const BOOL done = renames ? MoveFileW(path, other) : DeleteFileW(path);
    const DWORD error = done ? 0 : GetLastError();

    put_text("ok");
    put_int(error);
    send();
    free(path);
    free(other);
}

/* Copies one database over another, which has the number that comes second. */
static void back_up(void)
{
    sqlite3 *from = connections[get_int()].db, *to = connections[get_int()].db;
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");

    if (backup != NULL)
        sqlite3_backup_step(backup, -1);
    answer(to, backup == NULL ? SQLITE_ERROR : sqlite3_backup_finish(backup));
}

static void run(const char *command)
{
    sqlite3 *db;
    char *text, *error = NULL;
    int count, flags, rc;

    if (strcmp(command, "open") == 0) {
        open_connection();
    } else if (strcmp(command, "execute") == 0) {
        execute();
    } else if (strcmp(command, "many") == 0) {
        execute_many();
    } else if (strcmp(command, "rows") == 0) {
        const int number = get_int();
        const int64_t most = get().integer;

        send_rows(number, most);
    } else if (strcmp(command, "release") == 0) {
        release(get_int());
        answer(NULL, SQLITE_OK);
    } else if (strcmp(command, "close") == 0) {
        close_connection();
    } else if (strcmp(command, "state") == 0) {
        db = connections[get_int()].db;
        put_text("ok");
        put_int(sqlite3_get_autocommit(db));
        put_int(sqlite3_total_changes(db));
        put_int(sqlite3_changes(db));
        put_int(sqlite3_last_insert_rowid(db));
        send();
    } else if (strcmp(command, "script") == 0) {
        db = connections[get_int()].db;
        text = get_text();
        answer(db, sqlite3_exec(db, text, NULL, NULL, NULL));
        free(text);
    } else if (strcmp(command, "backup") == 0) {
        back_up();
    } else if (strcmp(command, "prepare_by") == 0) {
        prepare_by();
    } else if (strcmp(command, "delete") == 0 || strcmp(command, "rename") == 0) {
        change_file(*command == 'r');
    } else if (strcmp(command, "allow") == 0) {
        db = connections[get_int()].db;
        answer(db, sqlite3_enable_load_extension(db, get_int()));
    } else if (strcmp(command, "load") == 0) {
        db = connections[get_int()].db;
        text = get_text();
        rc = sqlite3_load_extension(db, text, NULL, &error);
        free(text);
        if (rc != SQLITE_OK) {
            put_text("error");
            put_int(rc);
            put_text(error != NULL ? error : "not loaded");
            send();
            sqlite3_free(error);
        } else {
            answer(db, rc);
        }
    } else if (strcmp(command, "function") == 0) {
        db = connections[get_int()].db;
        text = get_text();
        count = get_int();
        flags = get_int();
        answer(db,
               sqlite3_create_function_v2(db, text, count, flags | SQLITE_UTF8,
                                          (void *)(intptr_t)get().integer, call, NULL, NULL, NULL));
        free(text);
    } else if (strcmp(command, "collation") == 0) {
        db = connections[get_int()].db;
        text = get_text();
        answer(db, sqlite3_create_collation(db, text, SQLITE_UTF8, (void *)(intptr_t)get().integer,
                                            compare));
        free(text);
    } else if (strcmp(command, "authorizer") == 0) {
        db = connections[get_int()].db;
        rc = get_int();
        answer(db, sqlite3_set_authorizer(db, rc < 0 ? NULL : authorize, (void *)(intptr_t)rc));
    } else if (strcmp(command, "progress") == 0) {
        db = connections[get_int()].db;
        count = get_int();
        sqlite3_progress_handler(db, count, look, (void *)(intptr_t)get().integer);
        answer(db, SQLITE_OK);
    } else if (strcmp(command, "limit") == 0) {
        db = connections[get_int()].db;
        count = get_int();
        put_text("ok");
        put_int(sqlite3_limit(db, count, get_int()));
        send();
    } else if (strcmp(command, "version") == 0) {
        put_text("ok");
        put_text(sqlite3_libversion());
        send();
    } else {
        fail(command);
    }
}

int main(void)
{
    char *command;

    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
    for (;;) {
        receive();
        command = get_text();
        run(command);
        free(command);
    }
}

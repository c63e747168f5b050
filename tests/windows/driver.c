/*
 * SQLite, for a program that runs elsewhere: tests/windows/wine_sqlite has Python's tests use an
 * SQLite for Windows through this program, which wine runs. Each message is its length in bytes, as
 * 32 bits, and then values: a letter and, of i (64 bits) and d (a double), 8 bytes; of t (text) and
 * b (a BLOB), a length of 32 bits and so many bytes; n is NULL.
 *
 * Read from the standard input are a command and its arguments, and written to the standard output
 * is "ok" with results, or "error" with a code and a message; before that "call", an id and
 * arguments, where SQLite calls one of the caller's functions: next to be read are then "ok" and
 * its value, or "error" and a message.
 */
#include <sqlite3.h>

#include <fcntl.h>
#include <io.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

static sqlite3 *connections[MOST];
static sqlite3_stmt *statements[MOST];

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

/* Has the caller answer. */
static void ask(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct value value;
    char *error;
    int i;

    put_text("call");
    put_int((intptr_t)sqlite3_user_data(context));
    for (i = 0; i < count; i++)
        put_value(values[i]);
    send();
    receive();
    value = get();
    if (value.size == strlen("error")) {
        error = get_text();
        sqlite3_result_error(context, error, -1);
        free(error);
        return;
    }
    value = get();
    if (value.kind == 'i')
        sqlite3_result_int64(context, value.integer);
    else if (value.kind == 'd')
        sqlite3_result_double(context, value.real);
    else if (value.kind == 't')
        sqlite3_result_text(context, value.bytes, (int)value.size, SQLITE_TRANSIENT);
    else if (value.kind == 'b')
        sqlite3_result_blob(context, value.bytes, (int)value.size, SQLITE_TRANSIENT);
    else
        sqlite3_result_null(context);
}

/* The messages stay that are being read and written meanwhile. */
static void call(sqlite3_context *context, int count, sqlite3_value **values)
{
    const struct messages before = messages;

    messages = (struct messages){0};
    ask(context, count, values);
    free(messages.read);
    free(messages.written);
    messages = before;
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

static int free_place(void *const *places)
{
    int i = 0;

    while (i < MOST && places[i] != NULL)
        i++;
    if (i == MOST)
        fail("too many are open");
    return i;
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

/* Adds the row and the next ones, so many at most: for each 1 and its values, and 0 behind the last
   one. */
static int put_rows(sqlite3_stmt *statement, int64_t most)
{
    int rc = SQLITE_ROW, i;

    while (most-- > 0 && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        put_int(1);
        for (i = 0; i < sqlite3_column_count(statement); i++)
            put_value(sqlite3_column_value(statement, i));
    }
    if (rc == SQLITE_DONE)
        put_int(0);
    return rc;
}

/* The first row, so that a statement without rows has run, or all. */
static void step(int number, int64_t most)
{
    sqlite3_stmt *statement = statements[number];
    sqlite3 *db = sqlite3_db_handle(statement);
    const int rc = put_rows(statement, most);

    if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
        messages.size = 0;
        send_error(db, rc);
    } else {
        send();
    }
    if (rc != SQLITE_ROW) {
        sqlite3_finalize(statement);
        statements[number] = NULL;
    }
}

/* Sends the statement's number, its parameters, the names of its columns, and the first row. */
static void execute(void)
{
    sqlite3 *db = connections[get_int()];
    const int number = free_place((void *const *)statements);
    char *sql = get_text(), *name;
    const char *rest = "";
    const bool is_named = get_int() != 0;
    sqlite3_stmt *statement = NULL;
    struct value value;
    int rc = sqlite3_prepare_v2(db, sql, -1, &statement, &rest), i, count, place;

    if (rc == SQLITE_OK && strspn(rest, " \t\r\n;") != strlen(rest) &&
        strncmp(rest, "--", 2) != 0) {
        sqlite3_finalize(statement);
        free(sql);
        put_text("several");
        send();
        return;
    }
    count = statement == NULL ? 0 : sqlite3_bind_parameter_count(statement);
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
    free(sql);
    if (rc != SQLITE_OK) {
        send_error(db, rc);
        sqlite3_finalize(statement);
        return;
    }
    put_text("ok");
    put_int(statement == NULL ? -1 : number);
    put_int(count);
    put_int(statement == NULL ? 0 : sqlite3_column_count(statement));
    for (i = 0; statement != NULL && i < sqlite3_column_count(statement); i++)
        put_text(sqlite3_column_name(statement, i));
    if (statement == NULL) {
        put_int(0);
        send();
        return;
    }
    statements[number] = statement;
    step(number, 1);
}

/* A statement without rows, for many rows of parameters. */
static void execute_many(void)
{
    sqlite3 *db = connections[get_int()];
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
    const int number = free_place((void *const *)connections);
    char *path = get_text();
    const int rc = sqlite3_open_v2(path, &connections[number], get_int(), NULL);

    free(path);
    if (rc != SQLITE_OK) {
        send_error(connections[number], rc);
        sqlite3_close(connections[number]);
        connections[number] = NULL;
        return;
    }
    sqlite3_extended_result_codes(connections[number], 1);
    sqlite3_busy_timeout(connections[number], get_int());
    put_text("ok");
    put_int(number);
    send();
}

static void close_connection(void)
{
    const int number = get_int();
    int i;

    for (i = 0; i < MOST; i++) {
        if (statements[i] != NULL && sqlite3_db_handle(statements[i]) == connections[number]) {
            sqlite3_finalize(statements[i]);
            statements[i] = NULL;
        }
    }
    sqlite3_close_v2(connections[number]);
    connections[number] = NULL;
    put_text("ok");
    send();
}

/* Copies one database over another, which has the number that comes second. */
static void back_up(void)
{
    sqlite3 *from = connections[get_int()], *to = connections[get_int()];
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

        put_text("ok");
        step(number, most);
    } else if (strcmp(command, "finalize") == 0) {
        const int number = get_int();

        sqlite3_finalize(statements[number]);
        statements[number] = NULL;
        answer(NULL, SQLITE_OK);
    } else if (strcmp(command, "close") == 0) {
        close_connection();
    } else if (strcmp(command, "state") == 0) {
        db = connections[get_int()];
        put_text("ok");
        put_int(sqlite3_get_autocommit(db));
        put_int(sqlite3_total_changes(db));
        put_int(sqlite3_changes(db));
        put_int(sqlite3_last_insert_rowid(db));
        send();
    } else if (strcmp(command, "script") == 0) {
        db = connections[get_int()];
        text = get_text();
        answer(db, sqlite3_exec(db, text, NULL, NULL, NULL));
        free(text);
    } else if (strcmp(command, "backup") == 0) {
        back_up();
    } else if (strcmp(command, "allow") == 0) {
        db = connections[get_int()];
        answer(db, sqlite3_enable_load_extension(db, get_int()));
    } else if (strcmp(command, "load") == 0) {
        db = connections[get_int()];
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
        db = connections[get_int()];
        text = get_text();
        count = get_int();
        flags = get_int();
        answer(db,
               sqlite3_create_function_v2(db, text, count, flags | SQLITE_UTF8,
                                          (void *)(intptr_t)get().integer, call, NULL, NULL, NULL));
        free(text);
    } else if (strcmp(command, "limit") == 0) {
        db = connections[get_int()];
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

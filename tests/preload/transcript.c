/*
 * A program that knows nothing of clreduce: it calls SQLite, and prints what it sees. A test runs
 * it with and without the library that is loaded before SQLite's, and compares.
 *
 *     transcript CASE DATABASE
 *
 * The database has t(k INTEGER, v REAL, s TEXT, big INTEGER) with some rows.
 */
#include <sqlite3.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char groups[] = "SELECT k, sum(v) AS total, count(*) FROM t GROUP BY k ORDER BY k";
static const char bound[] = "SELECT count(*), sum(v), max(s) FROM t WHERE k > ?1 AND s <> :s";

static const char *path;
static sqlite3 *db;

static const char *text(const void *value)
{
    return value == NULL ? "NULL" : value;
}

/* What the connection says of its last call. Where that gave a row, or no more rows, the text may
   be one of an error before. */
static void say(const char *what, int rc)
{
    const int code = sqlite3_errcode(db);

    printf("%s: %d, %d %d %s\n", what, rc, code, sqlite3_extended_errcode(db),
           code == SQLITE_ROW || code == SQLITE_DONE ? "" : sqlite3_errmsg(db));
}

static sqlite3 *open_file(void)
{
    sqlite3 *opened = NULL;

    if (sqlite3_open(path, &opened) != SQLITE_OK) {
        printf("cannot open %s\n", path);
        exit(1);
    }
    sqlite3_extended_result_codes(opened, 1);
    return opened;
}

static sqlite3_stmt *prepare(const char *sql)
{
    sqlite3_stmt *statement = NULL;

    say(sql, sqlite3_prepare_v2(db, sql, -1, &statement, NULL));
    return statement;
}

static void say_row(sqlite3_stmt *statement)
{
    const int count = sqlite3_data_count(statement);
    int i;

    for (i = 0; i < count; i++)
        printf("%s%d:%s", i == 0 ? "  " : " | ", sqlite3_column_type(statement, i),
               text(sqlite3_column_text(statement, i)));
    printf(count > 0 ? "\n" : "  (no columns)\n");
}

/* Steps to the end, or so many times. */
static void run(sqlite3_stmt *statement, int most)
{
    int rc = SQLITE_ROW;

    while (rc == SQLITE_ROW && most-- > 0) {
        rc = sqlite3_step(statement);
        if (rc == SQLITE_ROW)
            say_row(statement);
    }
    say("ran", rc);
}

static void run_and_reset(sqlite3_stmt *statement, int most)
{
    run(statement, most);
    say("reset", sqlite3_reset(statement));
}

static void run_and_finalize(sqlite3_stmt *statement, int most)
{
    run(statement, most);
    say("finalize", sqlite3_finalize(statement));
}

/* A statement that is there for so many steps alone. */
static void once(const char *sql, int most)
{
    sqlite3_stmt *statement = prepare(sql);

    run(statement, most);
    sqlite3_finalize(statement);
}

static void say_expanded(sqlite3_stmt *statement)
{
    char *expanded = sqlite3_expanded_sql(statement);

    printf("%s\n", text(expanded));
    sqlite3_free(expanded);
}

static void say_message(char *message)
{
    printf("%s\n", text(message));
    sqlite3_free(message);
}

static void exec(const char *sql)
{
    say(sql, sqlite3_exec(db, sql, NULL, NULL, NULL));
}

static void select_parameters(void)
{
    sqlite3_stmt *statement = prepare(bound);
    int i;

    for (i = 0; i < 3; i++) {
        say("bind", sqlite3_bind_int(statement, 1, i));
        say("bind", sqlite3_bind_text(statement, sqlite3_bind_parameter_index(statement, ":s"),
                                      i == 1 ? "s1" : "s2", -1, SQLITE_TRANSIENT));
        run(statement, 1);
        say("bind while it runs", sqlite3_bind_int(statement, 1, 5));
        say_expanded(statement);
        run(statement, 1);
        say("bind at the end", sqlite3_bind_null(statement, 1));
        say_expanded(statement);
        if (i == 1)
            run(statement, 9);
        say("reset", sqlite3_reset(statement));
        run_and_reset(statement, 9);
        say_expanded(statement);
    }
    say("out of range", sqlite3_bind_int(statement, 3, 1));
    say("clear", sqlite3_clear_bindings(statement));
    run(statement, 9);
    say("clear", sqlite3_clear_bindings(statement));
    say("reset", sqlite3_reset(statement));
    say("bind", sqlite3_bind_double(statement, 1, 1.5));
    say("bind", sqlite3_bind_zeroblob(statement, 2, 3));
    run_and_finalize(statement, 9);
}

static void say_columns(sqlite3_stmt *statement)
{
    int i;

    printf("%s\n", text(sqlite3_sql(statement)));
    for (i = 0; i < sqlite3_column_count(statement); i++)
        printf("%s %s %s %s %s\n", text(sqlite3_column_name(statement, i)),
               text(sqlite3_column_decltype(statement, i)),
               text(sqlite3_column_database_name(statement, i)),
               text(sqlite3_column_table_name(statement, i)),
               text(sqlite3_column_origin_name(statement, i)));
    printf("data %d busy %d readonly %d explain %d\n", sqlite3_data_count(statement),
           sqlite3_stmt_busy(statement), sqlite3_stmt_readonly(statement),
           sqlite3_stmt_isexplain(statement));
}

static void select_columns(void)
{
    sqlite3_stmt *statement = prepare(groups);
    const unsigned short *wide;
    int i;

    say_columns(statement);
    run(statement, 2);
    say_columns(statement);
    printf("%lld %.17g %d %d\n", (long long)sqlite3_column_int64(statement, 0),
           sqlite3_column_double(statement, 1), sqlite3_column_int(statement, 2),
           sqlite3_column_bytes(statement, 1));
    printf("%d %d\n", sqlite3_value_type(sqlite3_column_value(statement, 1)),
           sqlite3_column_blob(statement, 0) != NULL);
    wide = sqlite3_column_text16(statement, 1);
    for (i = 0; i < sqlite3_column_bytes16(statement, 1) / 2; i++)
        printf("%x ", wide[i]);
    printf("\n");
    printf("beyond: %d %s\n", sqlite3_column_type(statement, 3),
           text(sqlite3_column_text(statement, 3)));
    run(statement, 1000);
    say_columns(statement);
    printf("at the end: %d %d\n", sqlite3_column_type(statement, 0),
           sqlite3_column_int(statement, 0));
    say("reset", sqlite3_reset(statement));
    say_columns(statement);
    printf("runs %d, none again %d\n", sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_RUN, 1),
           sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_RUN, 0));
    run(statement, 3);
    say("reset in the middle", sqlite3_reset(statement));
    run(statement, 2);
    say("finalize in the middle", sqlite3_finalize(statement));
}

static void select_errors(void)
{
    sqlite3_stmt *statement = prepare("SELECT count(*) FROM nosuch WHERE k > 1"), *other;

    say("finalize", sqlite3_finalize(statement));
    say("NULL", sqlite3_step(NULL));
    say("NULL", sqlite3_reset(NULL));
    statement = prepare("SELECT sum(big) FROM t WHERE k >= 0");
    run(statement, 9);
    run_and_reset(statement, 9);
    run_and_finalize(statement, 9);
    exec("CREATE TABLE u AS SELECT * FROM t");
    statement = prepare("SELECT count(*), sum(v) FROM u WHERE k < 5");
    other = prepare("SELECT * FROM u WHERE k = 3 AND v < 30");
    run(statement, 9);
    run(other, 2);
    exec("DROP TABLE u");
    say("reset", sqlite3_reset(statement));
    exec("ALTER TABLE u ADD COLUMN added DEFAULT 7");
    run_and_reset(other, 1);
    printf("columns: %d\n", sqlite3_column_count(other));
    run(other, 2);
    printf("columns: %d %s\n", sqlite3_column_count(other), sqlite3_column_name(other, 4));
    say("reset", sqlite3_reset(other));
    run_and_reset(statement, 9);
    exec("DROP TABLE u");
    run(statement, 9);
    run(other, 9);
    say("reset", sqlite3_reset(statement));
    exec("CREATE TABLE u(k, v)");
    run_and_finalize(statement, 9);
    say("finalize", sqlite3_finalize(other));
    exec("DROP TABLE u");
}

static void say_statements(void)
{
    sqlite3_stmt *statement = NULL;

    printf("statements:\n");
    while ((statement = sqlite3_next_stmt(db, statement)) != NULL)
        printf("  %s, busy %d\n", text(sqlite3_sql(statement)), sqlite3_stmt_busy(statement));
}

static void select_statements(void)
{
    sqlite3_stmt *first = prepare(groups), *second = prepare(bound), *third = prepare("SELECT 1");

    say_statements();
    run(first, 2);
    run(second, 9);
    say_statements();
    sqlite3_finalize(second);
    say_statements();
    sqlite3_finalize(third);
    sqlite3_finalize(first);
    say_statements();
}

static int authorize(void *count, int action, const char *a, const char *b, const char *c,
                     const char *d)
{
    ++*(int *)count;
    printf("  asked: %d %s %s %s %s\n", action, text(a), text(b), text(c), text(d));
    return SQLITE_OK;
}

/* Hides a column. */
static int hide(void *column, int action, const char *a, const char *b, const char *c,
                const char *d)
{
    (void)c, (void)d;
    return action == SQLITE_READ && strcmp(text(a), "t") == 0 && strcmp(text(b), column) == 0
               ? SQLITE_IGNORE
               : SQLITE_OK;
}

static int refuse(void *unused, int action, const char *a, const char *b, const char *c,
                  const char *d)
{
    (void)unused, (void)a, (void)b, (void)c, (void)d;
    return action == SQLITE_READ ? SQLITE_DENY : SQLITE_OK;
}

/* Allows all but to look at the schema. */
static int allow(void *unused, int action, const char *a, const char *b, const char *c,
                 const char *d)
{
    (void)unused, (void)b, (void)c, (void)d;
    return action == SQLITE_READ && strncmp(text(a), "sqlite_", 7) == 0 ? SQLITE_DENY : SQLITE_OK;
}

/* Says how many tables there are, by a statement of its own, or that it may not. */
static void ask(sqlite3_context *context, int count, sqlite3_value **values)
{
    sqlite3_stmt *statement = NULL;

    (void)count, (void)values;
    if (sqlite3_prepare_v2(db, "SELECT count(*) FROM sqlite_schema", -1, &statement, NULL) !=
        SQLITE_OK) {
        sqlite3_result_text(context, "refused", -1, SQLITE_STATIC);
        return;
    }
    sqlite3_step(statement);
    sqlite3_result_value(context, sqlite3_column_value(statement, 0));
    sqlite3_finalize(statement);
}

static void select_authorizer(void)
{
    sqlite3_stmt *before = prepare(groups), *after;
    int count = 0;

    run(before, 2);
    sqlite3_set_authorizer(db, authorize, &count);
    run_and_reset(before, 1000);
    after = prepare(bound);
    run(before, 2);
    run(after, 9);
    sqlite3_set_authorizer(db, NULL, NULL);
    printf("%d\n", count);
    say("reset", sqlite3_reset(before));
    run_and_finalize(before, 2);
    say("finalize", sqlite3_finalize(after));
    printf("%d\n", count);
    /* What it says holds. */
    sqlite3_set_authorizer(db, hide, "v");
    before = prepare(groups);
    run(before, 2);
    sqlite3_set_authorizer(db, NULL, NULL);
    sqlite3_reset(before);
    run(before, 2);
    sqlite3_set_authorizer(db, authorize, &count);
    sqlite3_reset(before);
    run(before, 2);
    sqlite3_set_authorizer(db, hide, "k");
    sqlite3_reset(before);
    run(before, 2);
    sqlite3_set_authorizer(db, refuse, NULL);
    sqlite3_reset(before);
    run_and_finalize(before, 2);
    sqlite3_finalize(prepare(groups));
    sqlite3_set_authorizer(db, authorize, &count);
    exec(bound);
    exec(bound);
    sqlite3_create_function(db, "nested", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, ask, NULL,
                            NULL);
    printf("%d\n", count);
    sqlite3_set_authorizer(db, allow, NULL);
    exec("SELECT nested(k), count(*) FROM t WHERE k < 2 GROUP BY 1");
    exec("SELECT nested(k), count(*) FROM t WHERE k < 3 GROUP BY 1");
    sqlite3_set_authorizer(db, NULL, NULL);
    exec("SELECT nested(k), count(*) FROM t WHERE k < 3 GROUP BY 1");
}

static int trace(unsigned event, void *argument, void *p, void *x)
{
    (void)argument;
    char *expanded = event == SQLITE_TRACE_CLOSE ? NULL : sqlite3_expanded_sql(p);

    printf("  traced: %u %s\n", event, text(expanded));
    if (event == SQLITE_TRACE_STMT)
        printf("    %s\n", text(x));
    if (event == SQLITE_TRACE_PROFILE)
        printf("    it took time: %d\n", *(sqlite3_int64 *)x >= 0);
    sqlite3_free(expanded);
    return 0;
}

static void trace_text(void *argument, const char *sql)
{
    (void)argument;
    printf("  traced: %s\n", text(sql));
}

static void profile(void *argument, const char *sql, sqlite3_uint64 time)
{
    (void)argument, (void)time;
    printf("  profiled: %s\n", text(sql));
}

static int refuse_row(void *unused, int count, char **values, char **names)
{
    (void)unused, (void)count, (void)values, (void)names;
    return 1;
}

static void select_trace(void)
{
    static char begin[] = "trace";
    sqlite3_stmt *statement = prepare(groups), *other;

    run(statement, 1000);
    sqlite3_reset(statement);
    sqlite3_trace_v2(db, 15, trace, NULL);
    run(statement, 2);
    sqlite3_reset(statement);
    exec(bound);
    sqlite3_trace_v2(db, 0, NULL, NULL);
    run(statement, 1000);
    sqlite3_reset(statement);
    sqlite3_trace_v2(db, 15, trace, begin);
    run(statement, 1000);
    run(statement, 2);
    sqlite3_reset(statement);
    exec(groups);
    sqlite3_exec(db, groups, refuse_row, NULL, NULL);
    other = prepare(bound);
    sqlite3_bind_int(other, 1, 4);
    sqlite3_bind_text(other, 2, "s3", -1, SQLITE_STATIC);
    run_and_finalize(other, 3);
    printf("the same argument: %d\n", sqlite3_trace(db, trace_text, NULL) == begin);
    run(statement, 1);
    sqlite3_reset(statement);
    sqlite3_trace(db, NULL, NULL);
    sqlite3_profile(db, profile, NULL);
    run(statement, 1000);
    sqlite3_finalize(statement);
    sqlite3_profile(db, NULL, NULL);
    once(bound, 9);
}

static void updated(void *argument, int action, const char *schema, const char *table,
                    sqlite3_int64 rowid)
{
    (void)argument;
    printf("  updated: %d %s.%s %lld\n", action, schema, table, (long long)rowid);
}

static int committed(void *argument)
{
    (void)argument;
    printf("  committed\n");
    return 0;
}

static void select_changes(void)
{
    sqlite3_stmt *statement;

    sqlite3_update_hook(db, updated, NULL);
    sqlite3_commit_hook(db, committed, NULL);
    exec("CREATE TEMP TABLE w(x)");
    exec("INSERT INTO w VALUES (1), (2), (3)");
    statement = prepare(groups);
    run(statement, 1000);
    printf("%d %d %lld %d\n", sqlite3_changes(db), sqlite3_total_changes(db),
           (long long)sqlite3_last_insert_rowid(db), sqlite3_get_autocommit(db));
    sqlite3_reset(statement);
    exec("BEGIN");
    exec("INSERT INTO w VALUES (4)");
    run(statement, 2);
    exec("UPDATE w SET x = x + 1");
    run(statement, 1);
    exec("COMMIT");
    run(statement, 1);
    exec("BEGIN; DELETE FROM w");
    exec("ROLLBACK");
    run(statement, 1000);
    printf("%d %d %lld %d\n", sqlite3_changes(db), sqlite3_total_changes(db),
           (long long)sqlite3_last_insert_rowid(db), sqlite3_txn_state(db, NULL));
    sqlite3_finalize(statement);
    printf("%d\n", sqlite3_txn_state(db, NULL));
}

/* Writes to the database by another connection, which says whether it could. */
static void write_beside(const char *sql)
{
    sqlite3 *other = open_file();

    printf("  beside: %d\n", sqlite3_exec(other, sql, NULL, NULL, NULL));
    sqlite3_close(other);
}

/* Databases beside main, and what is locked while statements are half read. */
static void select_attached(void)
{
    static const char beside[] = "SELECT k, sum(v), count(*) FROM beside.t GROUP BY k ORDER BY k";
    static const char both[] = "SELECT a.k, count(*) FROM t AS a JOIN beside.few AS b ON b.k = a.k "
                               "GROUP BY a.k ORDER BY 1";
    static const char temporary[] = "SELECT k, sum(v) FROM temp.mine WHERE v > 1 GROUP BY k";
    const char *const texts[] = {beside, both, temporary, groups};
    char *attach = sqlite3_mprintf("ATTACH '%q-beside' AS beside", path);
    sqlite3_stmt *statement;
    size_t i;
    int turn;

    sqlite3_exec(db, attach, NULL, NULL, NULL);
    exec("CREATE TABLE IF NOT EXISTS beside.t AS SELECT * FROM t");
    exec("CREATE TABLE IF NOT EXISTS beside.few(k INTEGER PRIMARY KEY)");
    exec("INSERT OR IGNORE INTO beside.few VALUES (3), (4), (8)");
    exec("CREATE TEMP TABLE mine AS SELECT * FROM t");
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        for (turn = 0; turn < 2; turn++) {
            statement = prepare(texts[i]);
            run(statement, 2);
            write_beside("INSERT INTO t VALUES (1, 2, 's', 4)");
            exec("DETACH beside");
            run_and_finalize(statement, 20);
        }
    }
    exec("BEGIN");
    exec(beside);
    exec(groups);
    exec("UPDATE beside.t SET v = 1 WHERE k = 3");
    exec(beside);
    exec("ROLLBACK");
    exec(beside);
    exec("DETACH beside");
    exec(beside);
    sqlite3_exec(db, attach, NULL, NULL, NULL);
    exec("DROP TABLE beside.t; DROP TABLE beside.few");
    exec("DETACH beside");
    sqlite3_free(attach);
}

static void select_close(void)
{
    sqlite3_stmt *statement = prepare(groups), *other = prepare(bound);

    run(other, 9);
    sqlite3_finalize(other);
    run(statement, 2);
    say("close", sqlite3_close(db));
    run(statement, 1);
    sqlite3_reset(statement);
    say("close", sqlite3_close(db));
    sqlite3_finalize(statement);
    printf("close: %d\n", sqlite3_close(db));
    db = open_file();
    statement = prepare(groups);
    run(statement, 2);
    other = prepare(bound);
    run(other, 1);
    printf("close_v2: %d\n", sqlite3_close_v2(db));
    printf("step: %d\n", sqlite3_step(statement));
    say_row(statement);
    printf("finalize: %d\n", sqlite3_finalize(other));
    printf("reset: %d\n", sqlite3_reset(statement));
    printf("step: %d\n", sqlite3_step(statement));
    printf("finalize: %d\n", sqlite3_finalize(statement));
    printf("close_v2: %d\n", sqlite3_close_v2(NULL));
    db = open_file();
}

static int print_row(void *left, int count, char **values, char **names)
{
    int i;

    for (i = 0; i < count; i++)
        printf("%s%s=%s", i == 0 ? "  " : " | ", names[i],
               values == NULL ? "no row" : text(values[i]));
    printf("\n");
    return --*(int *)left == 0;
}

static void select_exec(void)
{
    int left = 1000;
    char *message = NULL;

    say("exec", sqlite3_exec(db, groups, print_row, &left, NULL));
    left = 2;
    say("exec, to be ended", sqlite3_exec(db, groups, print_row, &left, &message));
    say_message(message);
    left = 1000;
    say("several", sqlite3_exec(db,
                                "SELECT count(*) FROM t WHERE k > 3; ; SELECT max(v) FROM t WHERE "
                                "k < 9; SELECT nosuch(1); SELECT 2",
                                print_row, &left, &message));
    say_message(message);
    say("no callback", sqlite3_exec(db, groups, NULL, NULL, &message));
    printf("%s\n", text(message));
    say("an error at a row",
        sqlite3_exec(db, "/* c */ SELECT sum(big) FROM t WHERE k > 1; SELECT 3", print_row, &left,
                     &message));
    say_message(message);
    say("none", sqlite3_exec(db, "SELECT v FROM t WHERE k > 99 AND v > 1", print_row, &left, NULL));
    exec("PRAGMA empty_result_callbacks = 1");
    say("none", sqlite3_exec(db, "SELECT v FROM t WHERE k > 99 AND v > 1; SELECT 4", print_row,
                             &left, NULL));
    left = 1;
    say("none, to be ended", sqlite3_exec(db, "SELECT v FROM t WHERE k > 99 AND v > 1; SELECT 4",
                                          print_row, &left, &message));
    say_message(message);
    exec("PRAGMA empty_result_callbacks = 0");
    say("with writes",
        sqlite3_exec(db,
                     "SELECT count(*) FROM t WHERE k < 3; CREATE TEMP TABLE e(x); "
                     "INSERT INTO e SELECT k FROM t; SELECT max(x) FROM e WHERE x > 0",
                     print_row, &left, NULL));
}

static void get_table(sqlite3 *of, const char *sql)
{
    int rows = -1, columns = -1, i;
    char **table = NULL, *message = NULL;

    printf("%s: %d\n", sql, sqlite3_get_table(of, sql, &table, &rows, &columns, &message));
    printf("%d rows, %d columns, %s\n", rows, columns, text(message));
    for (i = 0; table != NULL && i < (rows + 1) * columns; i++)
        printf("%s ", text(table[i]));
    printf("\n");
    sqlite3_free(message);
    sqlite3_free_table(table);
}

/* Reads a table amid another one. */
static const void *widen(const char *narrow)
{
    static unsigned short wide[1000];
    size_t i;

    for (i = 0; i == 0 || narrow[i - 1] != '\0'; i++)
        wide[i] = (unsigned char)narrow[i];
    return wide;
}

static int stop(void *calls)
{
    return --*(int *)calls < 0;
}

/* Prepares by the oldest functions, which keep what they have prepared from what has changed. */
static sqlite3_stmt *prepare_oldest(const char *sql, int wide)
{
    sqlite3_stmt *statement = NULL;
    const char *tail = NULL;
    const void *wide_tail = NULL;

    if (wide)
        say(sql, sqlite3_prepare16(db, widen(sql), -1, &statement, &wide_tail));
    else
        say(sql, sqlite3_prepare(db, sql, -1, &statement, &tail));
    if (tail != NULL)
        printf("  tail '%s'\n", tail);
    printf("  %s\n", text(sqlite3_sql(statement)));
    return statement;
}

static void select_oldest(void)
{
    static const char fails[] = "SELECT k, abs(sum(v - v) + min(k) - 9223372036854775807 - 1 - k) "
                                "FROM t WHERE k < 3 GROUP BY k; SELECT 2";
    sqlite3_stmt *statement;
    sqlite3 *other;
    int wide, turn, calls = 5;

    for (wide = 0; wide < 2; wide++) {
        statement = prepare_oldest(bound, wide);
        for (turn = 0; turn < 3; turn++) {
            sqlite3_bind_int(statement, 1, turn);
            sqlite3_bind_text(statement, 2, "s3", -1, SQLITE_STATIC);
            run(statement, 3);
            say("bind while it runs", sqlite3_bind_int(statement, 1, 1));
            say("reset", sqlite3_reset(statement));
        }
        sqlite3_finalize(statement);
        statement = prepare_oldest(fails, wide);
        run_and_reset(statement, 5);
        run_and_finalize(statement, 5);
        say("finalize", sqlite3_finalize(prepare_oldest("SELECT nosuch FROM t", wide)));
        /* Ended by the application. */
        statement = prepare_oldest(groups, wide);
        sqlite3_progress_handler(db, 1, stop, &calls);
        run(statement, 2);
        sqlite3_progress_handler(db, 0, NULL, NULL);
        say("reset", sqlite3_reset(statement));
        run_and_finalize(statement, 2);
        /* The schema changes, by this connection and by another. */
        statement = prepare_oldest(groups, wide);
        run(statement, 1);
        sqlite3_reset(statement);
        exec(wide ? "CREATE TABLE here2(x)" : "CREATE TABLE here(x)");
        run_and_reset(statement, 1);
        sqlite3_finalize(statement);
        statement = prepare_oldest(groups, wide);
        other = open_file();
        sqlite3_exec(other, wide ? "CREATE TABLE there2(x)" : "CREATE TABLE there(x)", NULL, NULL,
                     NULL);
        sqlite3_close(other);
        run_and_reset(statement, 1);
        run_and_finalize(statement, 1);
    }
    /* What a virtual table prepares meanwhile. */
    exec("CREATE VIRTUAL TABLE words USING fts5(word); INSERT INTO words SELECT s FROM t");
    statement = prepare_oldest("SELECT count(*), max(rowid) FROM words WHERE words MATCH 's3'", 0);
    run(statement, 2);
    sqlite3_finalize(statement);
    once(groups, 20);
}

static void read_within(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    get_table(db, (const char *)sqlite3_value_text(values[0]));
    sqlite3_result_int(context, 1);
}

static void select_tables(void)
{
    sqlite3 *other = open_file();

    get_table(db, groups);
    get_table(db, groups);
    get_table(other, groups);
    say("after it", 0);
    get_table(db, "SELECT max(v) AS \"the most\" FROM t WHERE k > 99");
    get_table(db, "SELECT k FROM t WHERE k > 99 AND v > 1");
    get_table(db, "SELECT count(*) FROM t WHERE k > 3; SELECT max(v) FROM t WHERE k < 9");
    say("other columns", 0);
    get_table(db, "SELECT count(*) FROM t WHERE k > 3; SELECT max(v), 1 FROM t WHERE k < 9");
    say("after it", 0);
    get_table(db, "SELECT sum(big) FROM t WHERE k > 1");
    say("after it", 0);
    get_table(db, "SELECT nosuch(k) FROM t WHERE k > 1");
    get_table(
        db,
        "CREATE TEMP TABLE e(x); INSERT INTO e SELECT k FROM t; SELECT max(x) FROM e WHERE x > 0");
    get_table(db, "");
    say("a function",
        sqlite3_create_function(db, "read_within", 1, SQLITE_UTF8, NULL, read_within, NULL, NULL));
    get_table(db, "SELECT read_within('SELECT count(*) FROM t WHERE v > 7')");
    sqlite3_close(other);
}

/* ASCII as UTF-16. */
static void select_texts(void)
{
    static const char several[] = "  SELECT count(*) FROM t WHERE k > 1 -- c\n ; SELECT 2";
    sqlite3_stmt *statement = NULL;
    const void *tail = NULL;
    const char *end = NULL;
    sqlite3 *file = db;

    say("16_v2", sqlite3_prepare16_v2(db, widen(several), -1, &statement, &tail));
    printf("%s, %d left\n", text(sqlite3_sql(statement)), *(const unsigned short *)tail);
    run(statement, 9);
    sqlite3_finalize(statement);
    say("16_v3",
        sqlite3_prepare16_v3(db, widen(groups), -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL));
    run(statement, 2);
    sqlite3_finalize(statement);
    say("v3", sqlite3_prepare_v3(db, several, 38, SQLITE_PREPARE_PERSISTENT, &statement, &end));
    printf("%s, '%s'\n", text(sqlite3_sql(statement)), end);
    run(statement, 9);
    sqlite3_finalize(statement);
    say("v1", sqlite3_prepare(db, groups, -1, &statement, NULL));
    run(statement, 2);
    sqlite3_finalize(statement);
    say("v2", sqlite3_prepare_v2(db, "  ;", -1, &statement, NULL));
    printf("%d\n", statement == NULL);
    statement = prepare("EXPLAIN QUERY PLAN SELECT k FROM t"); /* others say what will run */
    printf("%d\n", sqlite3_stmt_isexplain(statement));
    run(statement, 9);
    sqlite3_finalize(statement);
    say("open", sqlite3_open16(widen(":memory:"), &db));
    exec("PRAGMA encoding = 'UTF-16be'");
    exec("CREATE TABLE t(k, v, s); INSERT INTO t VALUES (1, 2, 'three'), (1, 5, 'six')");
    once(groups, 9);
    once("PRAGMA encoding", 1);
    printf("%d\n", sqlite3_close(db));
    db = file;
}

static void write_log(void *argument, int code, const char *message)
{
    printf("  %s %d: %s\n", (const char *)argument, code, message);
}

static int pass(void *calls)
{
    ++*(int *)calls;
    return 0;
}

/* First runs, of which long ones are stopped and begun anew; random() is never accelerated. */
static void select_first(void)
{
    static const char *const texts[] = {
        groups, "SELECT sum(random() > 0) >= 0, count(*) FROM t",
        "SELECT max(c), (SELECT min(v) FROM t) FROM (SELECT k, count(*) AS c FROM t GROUP BY k)"};
    static char begin[] = "log";
    sqlite3_stmt *statement;
    size_t i;
    int calls = 0;

    sqlite3_close(db);
    sqlite3_shutdown();
    sqlite3_config(SQLITE_CONFIG_LOG, write_log, begin);
    db = open_file();
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        statement = prepare(texts[i]);
        say("step", sqlite3_step(statement));
        printf("  %s\n", sqlite3_errmsg(db));
        say_row(statement);
        say_statements();
        printf("  run %d times\n", sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_RUN, 0));
        if (i == 1)
            printf("  %d steps, %d sorts\n",
                   sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0),
                   sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_SORT, 0));
        run_and_finalize(statement, 20);
    }
    /* The application's handler stays. */
    sqlite3_progress_handler(db, 1000, pass, &calls);
    once("SELECT count(*), max(v) FROM t WHERE s <> 'nosuch'", 3);
    calls = 0;
    statement = prepare("WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE "
                        "i < 9999) SELECT sum(i) FROM c");
    run(statement, 3);
    printf("handler called: %d\n", calls > 0);
    sqlite3_finalize(statement);
}

static void select_interrupt(void)
{
    sqlite3_stmt *statement = prepare("SELECT count(*) FROM t AS a WHERE a.k + 0 > 1"), *other;
    sqlite3 *writer = open_file();
    int calls = 0;

    run(statement, 9);
    sqlite3_reset(statement);
    sqlite3_progress_handler(db, 1, stop, &calls);
    run_and_reset(statement, 1);
    sqlite3_progress_handler(db, 0, NULL, NULL);
    run(statement, 9);
    sqlite3_reset(statement);
    sqlite3_exec(writer, "BEGIN EXCLUSIVE", NULL, NULL, NULL);
    run(statement, 1);
    run(statement, 1);
    sqlite3_exec(writer, "COMMIT", NULL, NULL, NULL);
    run_and_reset(statement, 1);
    other = prepare(groups);
    run(other, 1);
    sqlite3_interrupt(db);
    run_and_reset(other, 1);
    run_and_finalize(other, 1);
    say("finalize", sqlite3_finalize(statement));
    sqlite3_close(writer);
}

static void odd(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    sqlite3_result_int(context, sqlite3_value_int(values[0]) % 2);
}

static void select_functions(void)
{
    sqlite3_stmt *statement;

    sqlite3_create_function(db, "odd", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, odd, NULL,
                            NULL);
    once("SELECT k, count(*) FROM t WHERE odd(k) GROUP BY k ORDER BY 1", 1000);
    exec("ATTACH ':memory:' AS m; CREATE TABLE m.t AS SELECT * FROM main.t WHERE k < 4");
    statement = prepare("SELECT k, sum(v) FROM m.t GROUP BY k ORDER BY k");
    run(statement, 2);
    say_columns(statement);
    exec("DETACH m");
    run_and_reset(statement, 1);
    exec("DETACH m");
    run_and_finalize(statement, 1);
}

/* Counts by a statement of its own. */
static void count_rows(sqlite3_context *context, int count, sqlite3_value **values)
{
    sqlite3_stmt *statement = NULL;

    (void)count, (void)values;
    sqlite3_prepare_v2(sqlite3_context_db_handle(context), "SELECT count(*) FROM t WHERE k > 2", -1,
                       &statement, NULL);
    sqlite3_step(statement);
    sqlite3_result_int(context, sqlite3_column_int(statement, 0));
    sqlite3_finalize(statement);
}

static void fail(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count, (void)values;
    sqlite3_result_error(context, "it fails", -1);
}

/* Statements within others, and two of one text. */
static void select_nested(void)
{
    sqlite3_stmt *outer, *inner;

    sqlite3_create_function(db, "count_rows", 0, SQLITE_UTF8, NULL, count_rows, NULL, NULL);
    sqlite3_create_function(db, "fail", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, fail, NULL,
                            NULL);
    once("SELECT count_rows(), count(*) FROM t WHERE k > 1", 2);
    outer = prepare("SELECT count(*) FROM t WHERE fail(s) = 'x'");
    run(outer, 1);
    run_and_finalize(outer, 1);
    outer = prepare(groups);
    inner = prepare(groups);
    while (sqlite3_step(outer) == SQLITE_ROW) {
        run(inner, 1);
        printf("%d %d\n", sqlite3_column_int(outer, 0), sqlite3_column_int(inner, 0));
    }
    sqlite3_finalize(inner);
    sqlite3_finalize(outer);
}

static void run_with_columns(sqlite3_stmt *statement)
{
    run(statement, 1);
    say_columns(statement);
    run_and_reset(statement, 1000);
}

/* Statements whose columns are renamed after they were prepared: by another connection, which also
   takes that back before a statement of the same text is run, and by this one, before anything is
   accelerated. */
static void select_renamed(void)
{
    static const char few[] = "SELECT * FROM t WHERE v = 1.5 OR v = 700";
    sqlite3_stmt *statement, *second;

    once(few, 1000);
    write_beside("ALTER TABLE t RENAME COLUMN s TO w");
    once("SELECT count(*) FROM t", 1000);
    write_beside("ALTER TABLE t RENAME COLUMN w TO s");
    statement = prepare(few);
    run_with_columns(statement);
    run_with_columns(statement);
    sqlite3_finalize(statement);
    statement = prepare("SELECT * FROM t WHERE v = 2.5 OR v = 800");
    second = prepare("SELECT * FROM t WHERE v = 2.5 OR v = 800");
    exec("BEGIN IMMEDIATE");
    run_and_reset(statement, 1000);
    exec("COMMIT");
    exec("ALTER TABLE t RENAME COLUMN s TO w");
    run_with_columns(statement);
    run_with_columns(statement);
    run_with_columns(second);
    run_with_columns(second);
    sqlite3_finalize(statement);
    sqlite3_finalize(second);
}

/* A statement that is kept while what it reads changes, by this connection and by another. */
static void select_kept(void)
{
    static const char *const own[] = {
        "SAVEPOINT a; INSERT INTO t VALUES (77, 1, 'new', 0)",
        "ROLLBACK TO a; RELEASE a",
        "INSERT INTO t VALUES (78, 1, 'newer', 0)",
        "DELETE FROM t WHERE k = 78",
        "CREATE TEMP TABLE t(k, v, s, big); INSERT INTO temp.t VALUES (1, 2, 'temp', 3)",
        "DROP TABLE temp.t",
        "PRAGMA query_only = 1; PRAGMA case_sensitive_like = 1",
        "PRAGMA reverse_unordered_selects = 1",
    };
    static const char *const others[] = {
        "CREATE INDEX i ON t(k)",
        "DROP INDEX i",
        "ALTER TABLE t RENAME COLUMN s TO w",
        "ALTER TABLE t RENAME COLUMN w TO s",
        "ALTER TABLE t RENAME TO t2; CREATE TABLE t(k, v, s, big); "
        "INSERT INTO t VALUES (1, 2, 'other', 3)",
        "DROP TABLE t; ALTER TABLE t2 RENAME TO t",
        "VACUUM",
    };
    sqlite3_stmt *statement = prepare("SELECT s, count(*), max(v) FROM t GROUP BY s"), *few;
    sqlite3 *other = open_file();
    size_t i;

    few = prepare("SELECT k, s FROM t WHERE v = 1.5 OR v = 700 OR s LIKE 'N%'");
    for (i = 0; i < sizeof others / sizeof others[0]; i++) {
        printf("%s: %d\n", others[i], sqlite3_exec(other, others[i], NULL, NULL, NULL));
        run(statement, 1000);
        run(few, 1000);
        sqlite3_reset(i % 2 ? few : statement);
    }
    for (i = 0; i < sizeof own / sizeof own[0]; i++) {
        run(few, 2);
        exec(own[i]);
        run(statement, 1000);
        run(few, 1000);
    }
    sqlite3_close(other);
    say("finalize", sqlite3_finalize(statement));
    say("finalize", sqlite3_finalize(few));
}

static void select_backup(void)
{
    sqlite3_stmt *from = prepare("SELECT count(*), max(v) FROM t WHERE k > 1"), *to = NULL;
    sqlite3 *memory = NULL;
    sqlite3_backup *backup;
    sqlite3_blob *blob;

    say("blob", sqlite3_blob_open(db, "main", "t", "s", 1, 0, &blob));
    run(from, 9);
    sqlite3_blob_close(blob);
    sqlite3_open(":memory:", &memory);
    backup = sqlite3_backup_init(memory, "main", db, "main");
    printf("%d\n", sqlite3_backup_step(backup, 5));
    run(from, 1);
    printf("%d\n", sqlite3_close(db));
    printf("%d\n", sqlite3_backup_step(backup, -1));
    printf("%d\n", sqlite3_backup_finish(backup));
    sqlite3_prepare_v2(memory, "SELECT count(*), max(v) FROM t WHERE k > 1", -1, &to, NULL);
    run(to, 9);
    sqlite3_finalize(to);
    sqlite3_finalize(from);
    sqlite3_close(memory);
}

/* Opens the database anew, with a log. */
static void select_log(void)
{
    static char begin[] = "log";
    sqlite3_stmt *statement;

    sqlite3_close(db);
    sqlite3_shutdown();
    printf("%d %d %d\n", sqlite3_config(SQLITE_CONFIG_LOG, write_log, begin),
           sqlite3_config(SQLITE_CONFIG_URI, 1), sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 512, 100));
    db = open_file();
    sqlite3_create_function(db, "odd", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, odd, NULL,
                            NULL);
    statement = prepare("SELECT count(*) FROM t WHERE odd(s) = 1 AND json_extract(s, '$.x') > 1");
    run_and_finalize(statement, 3);
    once(groups, 2);
    exec("SELEC 1");
    say("finalize", sqlite3_finalize(prepare("SELECT nosuch FROM t WHERE k > 1")));
}

static int sum_groups(const char *where, int flags)
{
    sqlite3_stmt *statement = NULL;
    sqlite3 *opened = NULL;
    int i, result = 0;

    sqlite3_open_v2(where, &opened, flags, NULL);
    for (i = 0; i < 5; i++) {
        sqlite3_prepare_v2(opened, groups, -1, &statement, NULL);
        while (sqlite3_step(statement) == SQLITE_ROW)
            result += sqlite3_column_int(statement, 1) + sqlite3_column_int(statement, 2);
        sqlite3_finalize(statement);
    }
    sqlite3_close(opened);
    return result;
}

static void *run_thread(void *result)
{
    *(int *)result = sum_groups(path, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX);
    return NULL;
}

static void select_threads(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    int results[THREADS], i;
    pthread_attr_t small;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 512 << 10);
    for (i = 0; i < THREADS; i++)
        pthread_create(&threads[i], &small, run_thread, &results[i]);
    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        printf("%d\n", results[i]);
    }
    pthread_attr_destroy(&small);
}

static void select_fork(void)
{
    sqlite3_stmt *statement = prepare(groups);
    int status = 0;
    pid_t child;

    run(statement, 2);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        printf("in the child: %d\n", sum_groups(path, SQLITE_OPEN_READWRITE));
        fflush(stdout);
        _exit(3);
    }
    waitpid(child, &status, 0);
    printf("it gave %d\n", WEXITSTATUS(status));
    run(statement, 1000);
    sqlite3_finalize(statement);
}

static void select_flags(void)
{
    char uri[1000];

    snprintf(uri, sizeof uri, "file:%s?mode=ro&cache=shared", path);
    printf("%d\n", sum_groups(uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI));
    printf("%d\n", sum_groups(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX |
                                        SQLITE_OPEN_SHAREDCACHE));
    printf("%d\n", sum_groups(path, SQLITE_OPEN_READONLY | SQLITE_OPEN_PRIVATECACHE));
    say("no such file", sqlite3_open_v2("/nosuch/file", &db, SQLITE_OPEN_READONLY, NULL));
    printf("%d\n", sqlite3_close(db));
    db = open_file();
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"attached", select_attached},
    {"authorizer", select_authorizer},
    {"backup", select_backup},
    {"changes", select_changes},
    {"close", select_close},
    {"columns", select_columns},
    {"errors", select_errors},
    {"exec", select_exec},
    {"flags", select_flags},
    {"first", select_first},
    {"fork", select_fork},
    {"functions", select_functions},
    {"interrupt", select_interrupt},
    {"log", select_log},
    {"kept", select_kept},
    {"renamed", select_renamed},
    {"nested", select_nested},
    {"oldest", select_oldest},
    {"parameters", select_parameters},
    {"statements", select_statements},
    {"tables", select_tables},
    {"texts", select_texts},
    {"threads", select_threads},
    {"trace", select_trace},
};

int main(int count, char **arguments)
{
    size_t i;

    if (count < 3) {
        for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
            printf("%s\n", cases[i].name);
        return 0;
    }
    path = arguments[2];
    db = open_file();
    say("open", SQLITE_OK);
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (strcmp(cases[i].name, arguments[1]) == 0)
            cases[i].run();
    }
    printf("close: %d\n", sqlite3_close(db));
    return 0;
}

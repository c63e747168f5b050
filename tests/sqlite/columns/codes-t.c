/* Columns of codes in the cache of columns: beside those of values, from pages and filled by
   SQLite, refreshed, and given up where there are too many values. */
#include "sqlite/columns/column_source.h"

#include "base/memory.h"

#include "scratch.h"
#include "sqlite/database.h"
#include "storage/image.h"

#include <unistd.h>

static sqlite3 *db;
static struct clr_connection *connection;

/* What is asked of a table. */
struct asked {
    struct clr_table_names names;
    struct clr_table_info table;
    struct clr_query query;
    struct clr_backoff keeping;
    struct clr_deriving deriving;
    enum clr_reason_code no_pages;
};

static struct asked *ask(const char *table, enum clr_reason_code no_pages)
{
    struct asked *asked = calloc(1, sizeof *asked);
    struct clr_reason reason = {0};

    if (asked == NULL ||
        clr_table_names_find(connection, "main", table, &asked->names, &asked->table, &reason) !=
            SQLITE_OK ||
        reason.code != CLR_WHY_NONE)
        tap_bail("no table");
    clr_table_names_release(&asked->names);
    asked->no_pages = no_pages;
    return asked;
}

static void want(struct asked *asked, int column, bool with_codes)
{
    asked->query.columns[asked->query.column_count].number = column;
    asked->query.columns[asked->query.column_count++].with_codes = with_codes;
}

static void forget(struct asked *asked)
{
    clr_table_names_free(&asked->names);
    clr_table_info_free(&asked->table);
    free(asked);
}

/* Whether all columns have what SQLite reads. */
static bool are_right(const struct clr_column_request *request)
{
    const struct clr_image *image = request->image;
    struct image found = {.count = request->query->column_count, .layout = image->layout};
    sqlite3_stmt *statement;
    char text[200] = "";
    size_t row = 0;
    int code = SQLITE_OK;

    for (int i = 0; i < found.count; i++) {
        const struct clr_image_column *column = clr_column_request_find(request, i);

        if (column == NULL)
            return false;
        found.fields[i] = column->field;
        found.names[i] = column->name;
        found.columns[i] = column->column;
        if (column->column->rows != image->layout.rows ||
            (column->column->codes != NULL) != request->query->columns[i].with_codes ||
            (strcmp(clr_image_column_type(column, "mixed"), "codes") == 0) !=
                request->query->columns[i].with_codes)
            return false;
    }
    statement = image_select(&found, db, request->table->name);
    if (!image->table->is_filled) {
        code = image_compare(&found, statement, text, sizeof text);
    } else {
        while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW)
            code = image_compare_row(&found, row++, statement, text, sizeof text);
    }
    if (code != SQLITE_DONE || (image->table->is_filled && row != image->layout.rows))
        tap_diag("%d after %zu rows: %s", code, row, text);
    sqlite3_finalize(statement);
    return code == SQLITE_DONE;
}

static struct clr_column_request new_request(struct asked *asked)
{
    return (struct clr_column_request){.connection = connection,
                                       .database = clr_database_get(connection, "main"),
                                       .table = &asked->table,
                                       .names = &asked->names,
                                       .query = &asked->query,
                                       .keeping = &asked->keeping,
                                       .deriving = &asked->deriving,
                                       .no_pages = asked->no_pages};
}

static int bring_columns(struct clr_column_request *request)
{
    return clr_columns_bring(request, request->no_pages != CLR_WHY_NONE);
}

/* Brings the columns. Returns why not, or CLR_WHY_NONE, after a look at them; stores how. */
static enum clr_reason_code bring(struct asked *asked, enum clr_reading_kind *kind)
{
    struct clr_column_request request = new_request(asked);

    tap_is_int64(bring_columns(&request), SQLITE_OK, "brought");
    *kind = request.reading.kind;
    tap_ok(request.has_columns == (request.reason.code == CLR_WHY_NONE),
           "columns, or a reason why not");
    if (request.has_columns) {
        tap_ok(are_right(&request), "what SQLite reads");
        request.is_scanned = true;
    }
    clr_column_request_end(&request);
    return request.reason.code;
}

static void test_pages(const char *form)
{
    struct asked *both = ask("t", CLR_WHY_NONE), *more = ask("t", CLR_WHY_NONE);
    enum clr_reading_kind kind;

    want(both, 1, false);
    want(both, 1, true);
    tap_is_int64(bring(both, &kind), CLR_WHY_NONE, "%s: values and codes of one column", form);
    tap_is_int64(kind, CLR_READ_ABSENT, "were loaded");
    tap_is_int64(bring(both, &kind), CLR_WHY_NONE, "again");
    tap_is_int64(kind, CLR_READ_RESIDENT, "they were here");
    want(more, 0, true);
    want(more, 2, true);
    want(more, 3, true);
    want(more, 1, true);
    want(more, 2, false);
    tap_is_int64(bring(more, &kind), CLR_WHY_NONE, "more columns");
    tap_is_int64(kind, CLR_READ_ABSENT, "which were not here");
    for (int i = 0; i < 3; i++) {
        database_run(db, "UPDATE t SET b = b || %d, c = %d.5 WHERE a %% 1000 = %d", i, i, i);
        tap_is_int64(bring(both, &kind), CLR_WHY_NONE, "changed rows");
        tap_is_int64(kind, CLR_READ_REFRESHED, "were refreshed");
        tap_is_int64(bring(more, &kind), CLR_WHY_NONE, "and the others");
        tap_is_int64(kind, CLR_READ_RESIDENT, "with them");
    }
    forget(both);
    forget(more);
}

static void test_filled(const char *form)
{
    struct asked *both = ask("t", CLR_WHY_OLDER_ROWS), *more = ask("t", CLR_WHY_OLDER_ROWS);
    enum clr_reading_kind kind;
    int64_t loaded = connection->stats.rows_loaded;

    want(both, 1, true);
    want(both, 1, false);
    want(both, 3, true);
    tap_is_int64(bring(both, &kind), CLR_WHY_ASKED_ONCE, "%s: not at the first time", form);
    tap_is_int64(bring(both, &kind), CLR_WHY_NONE, "values and codes that SQLite fills");
    tap_is_int64(kind, CLR_READ_FILLED, "were filled");
    want(more, 2, true);
    bring(more, &kind);
    tap_is_int64(bring(more, &kind), CLR_WHY_NONE, "more of them");
    tap_is_int64(bring(both, &kind), CLR_WHY_NONE, "leave those that there were");
    tap_is_int64(kind, CLR_READ_RESIDENT_ROWS, "here");
    tap_ok(connection->stats.rows_loaded > loaded, "%lld rows",
           (long long)(connection->stats.rows_loaded - loaded));
    forget(both);
    forget(more);
}

/* Returns how many of the next queries of a column with too many values looked at them. */
static int count_looks(struct asked *asked, int queries, int64_t *looked)
{
    enum clr_reading_kind kind;
    int looks = 0;

    for (int i = 0; i < queries; i++) {
        const int64_t before = *looked;

        tap_is_int64(bring(asked, &kind), CLR_WHY_MANY_VALUES, "too many values");
        looks += *looked > before;
    }
    return looks;
}

static void test_many_values(void)
{
    struct asked *many = ask("many", CLR_WHY_NONE), *filled = ask("many", CLR_WHY_OLDER_ROWS);
    int64_t *looked = &connection->stats.bytes_decoded;
    enum clr_reading_kind kind;

    want(many, 0, false);
    want(many, 1, true);
    want(filled, 1, true);
    tap_is_int64(count_looks(many, 5, looked), 1, "found once for a version");
    database_run(db, "UPDATE many SET a = 0 WHERE rowid < 10");
    tap_is_int64(count_looks(many, 1, looked), 0, "not at once for the next one");
    tap_is_int64(count_looks(many, 9, looked), 1, "but then");
    database_run(db, "UPDATE many SET a = 1 WHERE rowid < 10");
    tap_is_int64(count_looks(many, 2, looked), 0, "less often");
    tap_is_int64(count_looks(many, 9, looked), 1, "and less");
    bring(filled, &kind);
    tap_is_int64(bring(filled, &kind), CLR_WHY_MANY_VALUES, "as SQLite fills them");
    tap_is_int64(bring(filled, &kind), CLR_WHY_MANY_VALUES, "and again");
    database_run(db, "UPDATE many SET b = a");
    tap_is_int64(count_looks(many, 7, looked), 0, "a version with few values");
    tap_is_int64(bring(many, &kind), CLR_WHY_NONE, "is found");
    database_run(db, "UPDATE many SET b = rowid");
    tap_is_int64(count_looks(many, 1, looked), 1, "and forgotten");
    forget(many);
    forget(filled);
}

/* Without memory there are no columns, or a reason, and nothing is left. */
static void test_memory(enum clr_reason_code no_pages)
{
    struct asked *asked = ask("t", no_pages);
    int after = 0, failures = 0, wrong = 0;
    bool failed = true;

    want(asked, 1, true);
    want(asked, 1, false);
    want(asked, 3, true);
    for (; failed; after++) {
        struct clr_column_request request = new_request(asked);
        int rc;

        clr_cache_evict(connection);
        if (no_pages != CLR_WHY_NONE) { /* not at the first time */
            wrong += bring_columns(&request) != SQLITE_OK;
            clr_column_request_end(&request);
            request = new_request(asked);
        }
        clr_memory_fail_after(after);
        rc = bring_columns(&request);
        failed = clr_memory_fail_after(-1) != 0;
        failures += failed;
        if (failed)
            wrong += rc != SQLITE_NOMEM && request.reason.code == CLR_WHY_NONE &&
                     !request.has_columns && !request.is_too_large;
        else
            wrong += rc != SQLITE_OK || !request.has_columns || !are_right(&request);
        clr_column_request_end(&request);
    }
    tap_ok(wrong == 0 && failures > 5, "%d times without memory, %d of them wrong", failures,
           wrong);
    forget(asked);
}

static void fill(const char *encoding)
{
    database_run(db, "PRAGMA encoding = '%s'; PRAGMA journal_mode = wal", encoding);
    database_run(db, "CREATE TABLE t(a INT, b, c REAL, d TEXT);"
                     "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
                     " INSERT INTO t SELECT i, CASE i %% 5 WHEN 0 THEN NULL WHEN 1 THEN i %% 7"
                     " WHEN 2 THEN i %% 7 + 0.5 WHEN 3 THEN 'caf' || char(233, 8364, 48 + i %% 7)"
                     " ELSE zeroblob(i %% 7) END, i %% 11, printf('%%.*c', i %% 90, 'd') FROM n;"
                     "CREATE TABLE many(a, b); WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                     " WHERE i < 70000) INSERT INTO many SELECT i %% 10, 'text ' || i FROM n");
}

TAP_TEST(all_tests)
{
    static const char *const encodings[] = {"UTF-8", "UTF-16le"};
    char folder[SCRATCH_PATH], path[sizeof folder + 20];

    scratch_folder(folder, "codes");
    database_register();
    TAP_EACH (i, encodings) {
        snprintf(path, sizeof path, "%s/%zu", folder, i);
        TAP_NEED(sqlite3_open(path, &db) == SQLITE_OK, "no database");
        connection = clr_connection_new(db);
        connection->settings.view_threshold = 0;
        fill(encodings[i]);
        test_pages(encodings[i]);
        test_filled(encodings[i]);
        if (i == 0) {
            test_many_values();
            test_memory(CLR_WHY_NONE);
            test_memory(CLR_WHY_OLDER_ROWS);
        }
        clr_cache_evict(connection);
        clr_databases_rest(connection);
        clr_connection_release(connection);
        sqlite3_close(db);
        remove(path);
    }
    rmdir(folder);
}

/* Columns brought from one version of a table to the next: all of it, without memory, and stopped.
 */
#include "storage/image.h"

#include "storage/format/page_set.h"
#include "storage/refresh/refresh.h"

#include "base/memory.h"
#include "batch.h"
#include "random.h"

/* The pages that differ, as a log would name them. */
static struct clr_page_set *compare_pages(const struct image_bytes *before,
                                          const struct image_bytes *after,
                                          const struct clr_source *source)
{
    struct clr_page_set *changes = clr_page_set_new(source->page_count);
    uint32_t n;
    size_t size = source->page_size;

    TAP_NEED(changes != NULL, "no memory");
    for (n = 1; n <= source->page_count; n++) {
        size_t at = (n - 1) * size;

        if (at + size > before->size || memcmp(before->data + at, after->data + at, size) != 0)
            TAP_NEED(clr_page_set_add(changes, n), "no memory");
    }
    return changes;
}

static struct image *sorted;

static int compare_rows(const void *a, const void *b)
{
    int64_t first = clr_column_value(sorted->columns[0], *(const size_t *)a);
    int64_t second = clr_column_value(sorted->columns[0], *(const size_t *)b);

    return (first > second) - (first < second);
}

/* Whether the columns, the first of which has the rowids, have what SQLite reads. */
static bool has_all(struct image *image, sqlite3 *db)
{
    size_t rows = image->layout.rows, row;
    size_t *order = malloc((rows + 1) * sizeof *order);
    sqlite3_stmt *statement = image_select(image, db, "t");
    bool same = statement != NULL && order != NULL;
    int i;

    for (row = 0; row < rows && same; row++)
        order[row] = row;
    sorted = image;
    qsort(order, rows, sizeof *order, compare_rows);
    for (row = 0; row < rows && same; row++) {
        same = sqlite3_step(statement) == SQLITE_ROW;
        for (i = 0; i < image->count && same; i++)
            same = image_same(image->columns[i], order[row], statement, i);
    }
    same = same && sqlite3_step(statement) == SQLITE_DONE;
    for (i = 0; i < image->count; i++)
        same = same && image->columns[i]->rows == rows;
    sqlite3_finalize(statement);
    free(order);
    return same;
}

/* The values of a column that is to be refreshed. */
struct values {
    size_t rows;
    int64_t *list;
};

static struct values copy_values(const struct clr_column *column)
{
    struct values values = {.rows = column->rows};
    size_t i;

    if (column->codes == NULL)
        values.list = malloc((column->rows + 1) * sizeof *values.list);
    for (i = 0; i < column->rows && values.list != NULL; i++)
        values.list[i] = clr_column_value(column, i);
    return values;
}

static bool has_values(const struct clr_column *column, const struct values *values)
{
    size_t i;

    for (i = 0; i < values->rows && column->rows == values->rows; i++) {
        if (clr_column_value(column, i) != values->list[i])
            return false;
    }
    return column->rows == values->rows;
}

static struct clr_leaf *copy_leaves(const struct clr_layout *layout)
{
    struct clr_leaf *leaves = malloc(layout->leaf_count * sizeof *leaves);

    TAP_NEED(leaves != NULL, "no memory");
    memcpy(leaves, layout->leaves, layout->leaf_count * sizeof *leaves);
    return leaves;
}

/* Whether the layout has the leaves that it had, whatever else it has room for. */
static bool has_leaves(const struct clr_layout *layout, const struct clr_layout *before,
                       const struct clr_leaf *leaves)
{
    size_t i = 0;

    if (layout->rows != before->rows || layout->leaf_count != before->leaf_count)
        return false;
    while (i < layout->leaf_count && layout->leaves[i].number == leaves[i].number &&
           layout->leaves[i].row == leaves[i].row && layout->leaves[i].rows == leaves[i].rows &&
           layout->leaves[i].branch == leaves[i].branch &&
           clr_layout_find(layout, leaves[i].number) == i + 1)
        i++;
    return i == layout->leaf_count;
}

/* The refresh, whatever allocation fails: then nothing has changed, and it can be made again.
   changed: of each column, whether it has; all, if nothing else is known. */
static enum clr_load_outcome refresh(struct image *image, const struct clr_source *source,
                                     uint32_t root, const struct clr_page_set *changes,
                                     bool *changed, long *failures)
{
    const struct clr_watch watch = {image_stop_at_once, NULL};
    struct clr_refresh_report report;
    enum clr_load_outcome outcome;
    int after;

    outcome = clr_refresh(source, root, changes, image->fields, image->count, &image->layout,
                          image->columns, changed, &watch, &report);
    batch_ok(outcome == CLR_LOAD_STOPPED || (outcome == CLR_LOAD_DONE && report.bytes_read == 0),
             "stopped: %d", outcome);
    for (after = 0;; after++) {
        const struct clr_layout layout = image->layout;
        struct clr_leaf *leaves = copy_leaves(&layout);
        struct clr_column *columns[IMAGE_COLUMNS];
        struct values values = copy_values(image->columns[1]);

        memcpy(columns, image->columns, sizeof columns);
        memset(changed, true, IMAGE_COLUMNS * sizeof *changed);
        clr_memory_fail_after(after);
        outcome = clr_refresh(source, root, changes, image->fields, image->count, &image->layout,
                              image->columns, changed, NULL, &report);
        if (clr_memory_fail_after(-1) == 0) {
            if (values.list != NULL && !changed[1])
                batch_ok(image->columns[1] == columns[1] && has_values(columns[1], &values),
                         "a column that is said not to have changed");
            free(values.list);
            free(leaves);
            return outcome;
        }
        free(values.list);
        ++*failures;
        batch_ok(outcome == CLR_LOAD_FAILED &&
                     memcmp(columns, image->columns, sizeof columns) == 0 &&
                     has_leaves(&image->layout, &layout, leaves),
                 "allocation %d: outcome %d", after, outcome);
        free(leaves);
    }
}

/* Whether a further column can be loaded into the layout as it is now, and fits it. */
static bool loads_more(const struct image *image, const struct clr_source *source, uint32_t root,
                       sqlite3 *db)
{
    struct image more = {.layout = image->layout};
    sqlite3_stmt *statement;
    char text[200] = "";
    int code;

    image_add(&more, "b", 1, false);
    if (image_load(&more, source, root) != CLR_LOAD_DONE)
        return false;
    statement = image_select(&more, db, "t");
    code = image_compare(&more, statement, text, sizeof text);
    if (code != SQLITE_DONE)
        tap_diag("%d: %s", code, text);
    sqlite3_finalize(statement);
    clr_column_release(more.columns[0]);
    return code == SQLITE_DONE;
}

/* Whether a copy of the layout has what it has, which can fail. */
static bool copies(const struct clr_layout *layout)
{
    struct clr_layout copy;
    bool same;
    long after;

    for (after = 0; clr_memory_fail_after(after), !clr_layout_copy(&copy, layout); after++)
        ;
    clr_memory_fail_after(-1);
    same = has_leaves(&copy, layout, layout->leaves) &&
           clr_tree_size(&copy.tree) == clr_tree_size(&layout->tree);
    clr_layout_free(&copy);
    return same;
}

static void change(sqlite3 *db)
{
    static const char *const changes[] = {
        "UPDATE t SET a = a + 1 WHERE rowid BETWEEN %d AND %d",
        "UPDATE t SET d = NULL, c = printf('%%.*c', %d %% 900, 'x') || rowid WHERE rowid BETWEEN "
        "1000 AND 1000 + %d %% "
        "7",
        "DELETE FROM t WHERE rowid BETWEEN %d AND %d",
        "INSERT INTO t SELECT a, b, c, d FROM t WHERE rowid BETWEEN %d AND %d",
        "INSERT OR IGNORE INTO t(rowid, a, d) SELECT rowid + 3, a, 'x' FROM t"
        " WHERE rowid BETWEEN %d AND %d",
    };
    char sql[300];
    int first = (int)random_below(3000), last = first + (int)random_below(40);

    snprintf(sql, sizeof sql, changes[random_below(sizeof changes / sizeof *changes)], first, last);
    image_sql(db, sql);
}

static void test(const char *pragmas, bool has_chains, bool with_codes)
{
    struct image image = {0};
    struct image_bytes before, after;
    struct clr_source source;
    struct clr_page_set *changes;
    uint32_t root;
    long failures = 0, refreshed = 0, grown = 0, unchanged = 0;
    bool changed[IMAGE_COLUMNS];
    sqlite3 *db = image_open(pragmas);
    int i, k;

    image_sql(db, "CREATE TABLE t(a INT, b, c, d REAL);"
                  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
                  " INSERT INTO t SELECT i, i * 0.5, 'text' || (i % 254), i FROM n");
    root = image_root(db, "t");
    image_add(&image, "rowid", CLR_FIELD_ROWID, false);
    image_add(&image, "a", 0, false);
    image.fields[1].with_codes = with_codes;
    if (has_chains)
        image_add(&image, "d", 3, true);
    if (with_codes) {
        image_add_codes(&image, "d", 3, true);
        image_add_codes(&image, "c", 2, false);
    }
    if (has_chains)
        image_add_bytes(&image, "c", 2);
    source = image_store(db, &before);
    batch_ok(image_load(&image, &source, root) == CLR_LOAD_DONE, "loaded");
    for (i = 0; i < 60; i++) {
        /* A column with another reference stays as it is. */
        struct clr_column *shared = i % 3 == 0 ? clr_column_retain(image.columns[1]) : NULL;
        size_t rows = image.columns[1]->rows;
        enum clr_load_outcome outcome;

        change(db);
        source = image_store(db, &after);
        changes = compare_pages(&before, &after, &source);
        outcome = refresh(&image, &source, root, changes, changed, &failures);
        if (shared != NULL)
            batch_ok(shared->rows == rows, "a shared column is as it was");
        for (k = 0; k < image.count && outcome == CLR_LOAD_DONE; k++) {
            const struct clr_column *column = image.columns[k];

            if (column->codes != NULL)
                batch_ok(column->code_bytes >= clr_column_code_bytes(column->dictionary->count) &&
                             column->entries_read <= column->dictionary->count,
                         "codes have room");
            unchanged += !changed[k];
            grown += column->codes != NULL &&
                     column->code_bytes > clr_column_code_bytes(column->entries_read);
        }
        clr_column_release(shared);
        if (outcome == CLR_LOAD_DONE) {
            refreshed++;
        } else {
            batch_ok(outcome == CLR_LOAD_TOO_LARGE, "change %d: outcome %d", i, outcome);
            image_free(&image);
            batch_ok(image_load(&image, &source, root) == CLR_LOAD_DONE, "loaded anew");
        }
        batch_ok(has_all(&image, db), "change %d: what SQLite reads", i);
        batch_ok(copies(&image.layout), "change %d: a copy of the layout", i);
        batch_ok(loads_more(&image, &source, root, db), "change %d: a further column", i);
        clr_page_set_free(changes);
        sqlite3_free(before.data);
        before = after;
    }
    batch_end("%s%s", pragmas, with_codes ? ", with codes" : "");
    tap_ok(refreshed > 30 && failures > refreshed, "%ld of 60 refreshed, after %ld without memory",
           refreshed, failures);
    tap_ok(unchanged > 5, "%ld columns that were as before stayed", unchanged);
    if (with_codes)
        tap_ok(grown > 0, "codes became wider: %ld times", grown);
    image_free(&image);
    image_close(db, &before);
}

/* A column of codes, of so many values at first, whose dictionary grows by what each refresh finds,
   until it has too much that no row has. Meanwhile its codes need more bytes. */
static void test_growth(int values, int refreshes, int code_bytes)
{
    struct image image = {0};
    struct image_bytes before, after;
    struct clr_source source;
    struct clr_refresh_report report;
    enum clr_load_outcome outcome = CLR_LOAD_DONE;
    struct clr_page_set *changes;
    uint32_t root;
    bool changed[IMAGE_COLUMNS];
    char sql[200];
    sqlite3 *db = image_open("PRAGMA page_size = 4096; CREATE TABLE t(a, b)");
    int i, bytes = 0;

    snprintf(sql, sizeof sql,
             "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)"
             " INSERT INTO t SELECT 'a' || (i * %d / 300001), 1 FROM n",
             values);
    image_sql(db, sql);
    root = image_root(db, "t");
    image_add(&image, "rowid", CLR_FIELD_ROWID, false);
    image_add_codes(&image, "a", 0, false);
    source = image_store(db, &before);
    tap_is_int64(image_load(&image, &source, root), CLR_LOAD_DONE, "%d values", values);
    for (i = 0; i < refreshes && outcome == CLR_LOAD_DONE; i++) {
        tap_is_int64(image.columns[1]->code_bytes,
                     clr_column_code_bytes(image.columns[1]->dictionary->count), "%u entries",
                     (unsigned)image.columns[1]->dictionary->count);
        snprintf(sql, sizeof sql,
                 "UPDATE t SET a = rowid * 10 + %d WHERE rowid BETWEEN 1000 AND %d", i,
                 i == 0 ? 2000 : 18000);
        image_sql(db, sql);
        source = image_store(db, &after);
        changes = compare_pages(&before, &after, &source);
        bytes = image.columns[1]->code_bytes;
        outcome = clr_refresh(&source, root, changes, image.fields, image.count, &image.layout,
                              image.columns, changed, NULL, &report);
        tap_ok(outcome != CLR_LOAD_DONE || has_all(&image, db), "what SQLite reads");
        clr_page_set_free(changes);
        sqlite3_free(before.data);
        before = after;
    }
    tap_is_int64(outcome, CLR_LOAD_TOO_LARGE, "then all of it is to be loaded");
    tap_is_int64(i, refreshes, "after so many changes");
    tap_is_int64(bytes, code_bytes, "bytes of the codes before that");
    image_free(&image);
    image_close(db, &before);
}

TAP_TEST(test_tables)
{
    test("PRAGMA page_size = 512", true, false);
    test("PRAGMA page_size = 1024; PRAGMA auto_vacuum = 1", true, false);
    test("PRAGMA page_size = 4096", false, false);
    test("PRAGMA page_size = 512", true, true);
    test("PRAGMA page_size = 1024; PRAGMA encoding = 'UTF-16be'", true, true);
    test_growth(1, 5, 2);
    test_growth(60000, 5, 4);
}

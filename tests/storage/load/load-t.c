/* Columns loaded from databases of many forms, compared with what SQLite reads from them. */
#include "storage/image.h"
#include "storage/sound_codes.h"

#include "random.h"

#include <unistd.h>

/* A form that a database file can have. */
struct form {
    int page_size, reserved, auto_vacuum, rows;
    const char *encoding;
    bool any_rowid;
};

static sqlite3 *open_form(const struct form *form)
{
    sqlite3 *db = image_open("");
    char sql[200];
    int reserved = form->reserved;

    sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
    snprintf(sql, sizeof sql,
             "PRAGMA page_size = %d; PRAGMA auto_vacuum = %d; PRAGMA encoding = '%s'",
             form->page_size, form->auto_vacuum, form->encoding);
    image_sql(db, sql);
    return db;
}

static void bind_any(sqlite3_stmt *statement, int i)
{
    static char text[20000];
    int size = random_below(20) == 0 ? (int)random_below(sizeof text) : (int)random_below(300);

    if (text[0] == '\0')
        for (int j = 0; j < (int)sizeof text; j++)
            text[j] = (char)('a' + j % 23);
    switch (random_below(8)) {
    case 0:
        sqlite3_bind_null(statement, i);
        break;
    case 1:
        sqlite3_bind_double(statement, i, random_finite());
        break;
    case 2:
        sqlite3_bind_double(statement, i, (double)random_between(-1000, 1000));
        break;
    case 3:
        sqlite3_bind_int64(statement, i, (int64_t)random_below(2));
        break;
    case 4:
        sqlite3_bind_blob(statement, i, text + random_below(9), size / 2, SQLITE_STATIC);
        break;
    case 5:
        sqlite3_bind_text(statement, i, text + random_below(9), size / 2, SQLITE_STATIC);
        break;
    default:
        sqlite3_bind_int64(statement, i, random_integer());
        break;
    }
}

/* Rows of which many have overflow pages, with numbers before, in and after them. */
static void insert(sqlite3 *db, const struct form *form, const char *sql)
{
    sqlite3_stmt *statement;

    TAP_NEED(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql,
             sqlite3_errmsg(db));
    for (int row = 0; row < form->rows; row++) {
        if (form->any_rowid)
            sqlite3_bind_int64(statement, 1, random_integer());
        for (int i = 2; i <= 7; i++)
            bind_any(statement, i);
        /* A length at which the columns after it lie on the leaf's last byte, or across it. */
        sqlite3_bind_zeroblob(statement, 4,
                              (int)random_below(random_below(4) == 0
                                                    ? 3 * (uint64_t)form->page_size
                                                    : (uint64_t)form->page_size / 4));
        sqlite3_step(statement);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
}

static sqlite3 *fill(const struct form *form)
{
    sqlite3 *db = open_form(form);

    image_sql(db, "BEGIN; CREATE TABLE t(a INT, b REAL, c, d REAL, e, f INTEGER);"
                  "CREATE TABLE empty(a, b)");
    insert(db, form,
           "INSERT OR IGNORE INTO t(rowid, a, b, c, d, e, f) VALUES (?, ?, ?, ?, ?, ?, ?)");
    image_sql(db, "ALTER TABLE t ADD COLUMN g INT DEFAULT 7;"
                  "ALTER TABLE t ADD COLUMN h REAL DEFAULT 2;"
                  "ALTER TABLE t ADD COLUMN i;"
                  "COMMIT; BEGIN");
    insert(db, form,
           "INSERT OR IGNORE INTO t(rowid, a, b, c, g, h, i) VALUES (?, ?, ?, ?, ?, ?, ?)");
    image_sql(db, "DELETE FROM t WHERE rowid % 5 = 1;"
                  "UPDATE t SET c = zeroblob(abs(random() % 300)) WHERE rowid % 7 = 3;"
                  "COMMIT");
    return db;
}

/* What is wanted of the columns: values; their bytes, too; codes; or each of these of some. */
enum form_of_columns { VALUES, BYTES, CODES, SOME };

static struct image new_image(enum form_of_columns form)
{
    struct image image = image_of_nine();

    for (int i = 0; i < image.count; i++) {
        struct clr_field *field = &image.fields[i];

        field->with_bytes = form == BYTES || (form == SOME && i % 3 == 1);
        field->with_codes = form == CODES || (form == SOME && i % 3 == 2);
        if (field->index != 5)
            continue;
        /* Of the one that is there twice both want the bytes at most if one has codes. */
        field->with_codes = form >= CODES && i == 10;
        field->with_bytes = form == SOME && i != 10;
    }
    return image;
}

/* Whether two columns have the same value in a row. */
static bool are_same(const struct clr_column *one, const struct clr_column *other, size_t row)
{
    struct clr_scalar a = image_value(one, row), b = image_value(other, row);
    struct clr_value first, second;

    if (a.tag != b.tag || a.tag != CLR_TAG_BYTES || !image_has_bytes(one))
        return a.tag == b.tag && a.bits == b.bits;
    first = clr_bytes_value(a.bits);
    second = clr_bytes_value(b.bits);
    return clr_bytes_equal(&first, &second);
}

/* Each column alone, by the layout that the first load has found. */
static bool alone_is_same(const struct image *image, const struct clr_source *source, uint32_t root)
{
    bool same = true;

    for (int i = 0; i < image->count; i++) {
        struct image one = {.fields = {image->fields[i]}, .count = 1, .layout = image->layout};

        if (image_load(&one, source, root) != CLR_LOAD_DONE) {
            tap_diag("%s alone: not loaded", image->names[i]);
            return false;
        }
        same = same && one.columns[0]->kind == image->columns[i]->kind &&
               one.columns[0]->rows == image->columns[i]->rows;
        for (size_t row = 0; same && row < one.columns[0]->rows; row++)
            same = are_same(one.columns[0], image->columns[i], row);
        clr_column_release(one.columns[0]);
    }
    return same;
}

static void test_table(sqlite3 *db, const struct clr_source *source, struct image *image,
                       const char *table, const char *name)
{
    uint32_t root = image_root(db, table);
    enum clr_load_outcome outcome = image_load(image, source, root);

    if (!tap_is_int64(outcome, CLR_LOAD_DONE, "%s: loaded", name)) {
        tap_diag("page %u, %s", (unsigned)image->report.page, image->status.message);
        return;
    }
    image_test(image, db, table, name);
    for (int i = 0; i < image->count; i++) {
        if (image->fields[i].with_codes)
            tap_ok(image_has_sound_codes(image->columns[i]), "%s: codes of %s", name,
                   image->names[i]);
    }
    tap_ok(alone_is_same(image, source, root), "%s: the same column by column", name);
}

static void test_form(const struct form *form)
{
    sqlite3 *db = fill(form);
    struct image image = new_image(VALUES), bytes_too = new_image(BYTES), empty = {0};
    struct image codes = new_image(CODES), some = new_image(SOME);
    struct image_bytes bytes;
    struct clr_source source;
    char name[200];

    source = image_store(db, &bytes);
    snprintf(name, sizeof name, "pages of %u less %u, auto_vacuum %d, %s, %s rowids",
             (unsigned)source.page_size, (unsigned)(source.page_size - source.usable_size),
             form->auto_vacuum, form->encoding, form->any_rowid ? "any" : "small");
    test_table(db, &source, &image, "t", name);
    source.parallel = false;
    image_free(&image);
    test_table(db, &source, &image, "t", "in one thread");
    image_free(&image);
    source.parallel = true;
    test_table(db, &source, &bytes_too, "t", "with bytes");
    image_free(&bytes_too);
    image_map(&source, &bytes);
    test_table(db, &source, &bytes_too, "t", "where pages are in memory");
    image_free(&bytes_too);
    source.mapped = NULL;
    test_table(db, &source, &codes, "t", "with codes");
    image_free(&codes);
    test_table(db, &source, &some, "t", "in any form");
    image_free(&some);
    image_add(&empty, "rowid", CLR_FIELD_ROWID, false);
    image_add(&empty, "b", 1, true);
    image_add_codes(&empty, "a", 0, false);
    test_table(db, &source, &empty, "empty", "an empty table");
    if (empty.columns[1] != NULL)
        tap_is_int64(empty.columns[1]->kind, CLR_TAG_NULL, "has no kind of value");
    image_free(&empty);
    image_close(db, &bytes);
}

/* One row of each kind that a record can have, and columns of one kind. */
TAP_TEST(test_values)
{
    static const struct form form = {.page_size = 4096, .encoding = "UTF-8"};
    static const int kinds[] = {CLR_TAG_INTEGER, CLR_TAG_REAL, CLR_TAG_BYTES, CLR_TAG_NULL,
                                CLR_TAG_MIXED};
    static const char *const names[] = {"values of all kinds", "with bytes", "with codes"};
    sqlite3 *db = open_form(&form);
    struct image image = {0};
    struct image_bytes bytes;
    struct clr_source source;

    image_sql(db,
              "CREATE TABLE t(i INT, r REAL, o TEXT, n, m);"
              "INSERT INTO t(i) VALUES (0), (1), (2), (-1), (127), (128), (-128), (-129), (32767),"
              "(32768), (-32768), (-32769), (8388607), (8388608), (-8388608), (-8388609),"
              "(2147483647), (2147483648), (-2147483648), (-2147483649), (140737488355327),"
              "(140737488355328), (-140737488355328), (-140737488355329), (9223372036854775807),"
              "(-9223372036854775808);"
              "UPDATE t SET r = i, o = 'text', m = iif(rowid % 2, i, i + 0.5);"
              "INSERT INTO t(i, r, o, m) VALUES (5, 1e999, '', x''), (5, -1e999, x'00', NULL),"
              "(5, -0.0, 1, 'm'), (5, 1e-320, 2.5, 9e18);"
              "INSERT INTO t(rowid, i, r, o) VALUES (-9223372036854775808, 9, 9, 9),"
              "(9223372036854775807, 9, 9.5, ''), (-1, 0, 0, '')");
    source = image_store(db, &bytes);
    image_add(&image, "i", 0, false);
    image_add(&image, "r", 1, true);
    image_add(&image, "o", 2, false);
    image_add(&image, "n", 3, false);
    image_add(&image, "m", 4, false);
    image_add(&image, "rowid", CLR_FIELD_ROWID, false);
    for (int what = VALUES; what <= CODES; what++) {
        for (int i = 0; i < image.count; i++) {
            image.fields[i].with_bytes = what == BYTES;
            image.fields[i].with_codes = what == CODES;
        }
        test_table(db, &source, &image, "t", names[what]);
        for (int i = 0; i < 5 && image.columns[i] != NULL; i++)
            tap_is_int64(image.columns[i]->kind, what == CODES ? CLR_TAG_MIXED : kinds[i],
                         "kind of column %d", i);
        image_free(&image);
    }
    image_close(db, &bytes);
}

/* Small rows: of few shapes, of more than are kept, and of one, through all lengths of rowids; and
   rows whose payloads have sizes of one to three bytes in turn. */
TAP_TEST(test_shapes)
{
    static const struct form form = {.page_size = 4096, .encoding = "UTF-8"};
    static const char *const tables[] = {"few", "many", "one", "long"};
    sqlite3 *db = open_form(&form);
    struct image image = {0};
    struct image_bytes bytes;
    struct clr_source source;

    image_sql(db,
              "CREATE TABLE few(a REAL, b INT, c REAL, d TEXT);"
              "CREATE TABLE many(a REAL, b INT, c REAL, d TEXT);"
              "CREATE TABLE one(a REAL, b INT, c REAL, d TEXT);"
              "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
              "INSERT INTO few SELECT i / 7.0, i % 300, iif(i % 40 = 3, NULL, i * 0.5), 'd'"
              " FROM n;"
              "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
              "INSERT INTO many SELECT zeroblob(i % 41), printf('%.*c', i % 43, i % 10), i / 3.0, i"
              " FROM n;"
              "WITH n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
              "INSERT INTO one(rowid, a, b, c, d) SELECT (1 << i % 63) + i, i + 0.25, 5, 1.5, ''"
              " FROM n WHERE i > 63 OR i < 50;"
              "CREATE TABLE long(a REAL, b INT, c REAL, d TEXT);"
              "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
              "INSERT INTO long(rowid, a, b, c, d) SELECT i * 13, iif(i % 3, i / 8.0, i), i % 7,"
              " i / 3.0, printf('%.*c', iif(i % 900, 85 + i % 29, 16400), i % 10) FROM n");
    source = image_store(db, &bytes);
    image_add(&image, "a", 0, true);
    image_add(&image, "b", 1, false);
    image_add(&image, "c", 2, true);
    image_add(&image, "rowid", CLR_FIELD_ROWID, false);
    for (int i = 0; i < 12; i++) {
        image.fields[0].with_bytes = image.fields[1].with_bytes = i / 4 == 1;
        image.fields[0].with_codes = image.fields[3].with_codes = i / 4 == 2;
        image.fields[4].with_bytes = i / 4 == 1;
        if (i == 4)
            image_add_bytes(&image, "d", 3);
        if (i == 8)
            image_add_codes(&image, "b", 1, false);
        test_table(db, &source, &image, tables[i % 4], tables[i % 4]);
        image_free(&image);
    }
    image_close(db, &bytes);
}

/* Numbers of values at which codes become wider, or are given up. */
TAP_TEST(test_many_codes)
{
    static const struct form form = {.page_size = 4096, .encoding = "UTF-8"};
    static const struct {
        int values, rows;
        bool many;
    } cases[] = {
        {1, 300000, false},     {256, 300000, false},   {257, 300000, false},
        {65536, 65536, false},  {65537, 65537, true},   {65536, 300000, false},
        {65537, 300000, false}, {300000, 300000, true}, {100000, 300000, true},
    };
    char sql[300], name[100];

    TAP_EACH (i, cases) {
        sqlite3 *db = open_form(&form);
        struct image image = {0};
        struct image_bytes bytes;
        struct clr_source source;

        snprintf(sql, sizeof sql,
                 "CREATE TABLE t(a, b); WITH n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n"
                 " LIMIT %d), v(i, j) AS (SELECT i, i * %d / %d FROM n) INSERT INTO t SELECT i,"
                 " CASE j %% 3 WHEN 0 THEN j WHEN 1 THEN 'text ' || j ELSE j + 0.5 END FROM v",
                 cases[i].rows, cases[i].values, cases[i].rows);
        image_sql(db, sql);
        source = image_store(db, &bytes);
        source.parallel = !cases[i].many || i % 2 == 0;
        snprintf(name, sizeof name, "%d of %d rows", cases[i].values, cases[i].rows);
        image_add(&image, "a", 0, false);
        image_add_codes(&image, "b", 1, false);
        if (cases[i].many) {
            tap_is_int64(image_load(&image, &source, image_root(db, "t")), CLR_LOAD_MANY_VALUES,
                         "%s are too many", name);
            tap_ok(image.report.field == 1 && image.columns[0] == NULL && image.columns[1] == NULL,
                   "which the report tells");
            if (cases[i].values == 300000)
                tap_ok(image.report.bytes_read < (int64_t)bytes.size / 8, "found by a sample");
        } else {
            test_table(db, &source, &image, "t", name);
            tap_ok((int)image.columns[1]->dictionary->count == cases[i].values, "entries");
        }
        image_free(&image);
        image_close(db, &bytes);
    }
}

/* Of the reads of several pages, which are those of leaves, the first one takes its time. */
struct late {
    struct image_bytes bytes;
    atomic_bool has_begun;
    bool fails;
};

static int read_late(void *context, enum clr_file file, void *buffer, size_t size, int64_t offset)
{
    const struct timespec pause = {0, 200000000};
    struct late *late = context;

    if (size > 4096 && !atomic_exchange(&late->has_begun, true)) {
        nanosleep(&pause, NULL);
        if (late->fails)
            return SQLITE_IOERR_READ;
    }
    return image_read(&late->bytes, file, buffer, size, offset);
}

/* Rows are in the table's order, however long a thread takes for its pages; and who waits for a
   thread that fails does not wait for ever. */
static void test_late(bool fails)
{
    struct image image = {0};
    struct late late = {.fails = fails};
    struct clr_source source;
    sqlite3 *db =
        image_open("CREATE TABLE t(a INT, b); WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
                   " INSERT INTO t SELECT i, zeroblob(300) FROM n LIMIT 20000");

    late.bytes = image_serialize(db);
    atomic_init(&late.has_begun, false);
    source = image_source(late.bytes.data);
    source.context = &late;
    source.read = read_late;
    source.parallel = true;
    image_add(&image, "a", 0, false);
    tap_is_int64(image_load(&image, &source, image_root(db, "t")),
                 fails ? CLR_LOAD_FAILED : CLR_LOAD_DONE, "a thread that is late%s",
                 fails ? ", and fails" : "");
    if (!fails) {
        tap_ok(clr_layout_is_in_order(&image.layout), "the rows are in order");
        image_test(&image, db, "t", "a thread that is late");
    }
    image_free(&image);
    image_close(db, &late.bytes);
}

TAP_TEST(test_forms)
{
    static const int page_sizes[] = {512, 1024, 4096, 65536};
    struct form form;

    test_late(false);
    test_late(true);
    for (int i = 0; i < 24; i++) {
        form.page_size = page_sizes[i % 4];
        form.reserved = i / 4 % 3 == 0 ? 0 : i / 4 % 3 == 1 ? 32 : 5;
        form.auto_vacuum = i % 3;
        form.encoding = i % 5 == 0 ? "UTF-16le" : "UTF-8";
        form.rows = i % 2 == 0 ? 1500 : 300;
        form.any_rowid = i / 2 % 2 == 0;
        test_form(&form);
    }
}

/* Databases as sources, and loaded columns compared with what SQLite reads. For tests. */
#ifndef CLR_TESTS_STORAGE_IMAGE_H
#define CLR_TESTS_STORAGE_IMAGE_H

#include "base/memory.h"
#include "storage/format/varint.h"
#include "storage/load/load.h"

#include "tap.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { IMAGE_COLUMNS = 16 };

/* A database's bytes in memory. */
struct image_bytes {
    unsigned char *data;
    size_t size;
};

/* Some columns of a table. */
struct image {
    struct clr_field fields[IMAGE_COLUMNS];
    const char *names[IMAGE_COLUMNS];
    int count;
    struct clr_layout layout;
    struct clr_column *columns[IMAGE_COLUMNS];
    struct clr_load_report report;
    struct clr_status status;
};

static inline int image_read(void *context, enum clr_file file, void *buffer, size_t size,
                             int64_t offset)
{
    const struct image_bytes *bytes = context;

    if (file != CLR_FILE_DATABASE || offset < 0 || (size_t)offset > bytes->size ||
        bytes->size - (size_t)offset < size)
        return SQLITE_IOERR_SHORT_READ;
    memcpy(buffer, bytes->data + offset, size);
    return 0;
}

/* A source by the header of the database file, whose first 100 bytes are given. Section 1.3. */
static inline struct clr_source image_source(const unsigned char *header)
{
    struct clr_source source = {.parallel = true, .read = image_read};

    source.page_size = clr_get_u16(header + 16) == 1 ? 65536 : clr_get_u16(header + 16);
    source.usable_size = source.page_size - header[20];
    source.page_count = clr_get_u32(header + 28);
    return source;
}

/* The source that reads these bytes. */
static inline struct clr_source image_bytes_source(struct image_bytes *bytes)
{
    struct clr_source source = image_source(bytes->data);

    source.context = bytes;
    return source;
}

/* Has the source's pages in memory, but for the last one of the file, of a database of these bytes.
 */
static inline void image_map(struct clr_source *source, const struct image_bytes *bytes)
{
    const size_t pages = bytes->size / source->page_size;

    source->mapped_pages =
        (uint32_t)(pages < source->page_count ? pages : (size_t)source->page_count);
    source->mapped_pages -= source->mapped_pages > 0;
    source->mapped = bytes->data;
}

/* The bytes of a connection's database, to be freed with sqlite3_free(). */
static inline struct image_bytes image_serialize(sqlite3 *db)
{
    struct image_bytes bytes;
    sqlite3_int64 size;

    bytes.data = sqlite3_serialize(db, "main", &size, 0);
    bytes.size = (size_t)size;
    return bytes;
}

/* Runs SQL that must work. */
static inline void image_sql(sqlite3 *db, const char *sql)
{
    char *message = NULL;

    TAP_NEED(sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, "%s: %s", sql, message);
}

/* Opens a database in memory, and runs SQL in it. */
static inline sqlite3 *image_open(const char *sql)
{
    sqlite3 *db;

    TAP_NEED(sqlite3_open(":memory:", &db) == SQLITE_OK, "no database");
    image_sql(db, sql);
    return db;
}

/* Stores a database's bytes as they are now, and returns the source that reads them. */
static inline struct clr_source image_store(sqlite3 *db, struct image_bytes *bytes)
{
    *bytes = image_serialize(db);
    return image_bytes_source(bytes);
}

static inline void image_close(sqlite3 *db, struct image_bytes *bytes)
{
    sqlite3_free(bytes->data);
    sqlite3_close(db);
}

static inline int64_t image_number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;
    int64_t number;

    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW)
        tap_bail("%s: %s", sql, sqlite3_errmsg(db));
    number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

static inline uint32_t image_root(sqlite3 *db, const char *table)
{
    char sql[200];

    snprintf(sql, sizeof sql, "SELECT rootpage FROM sqlite_schema WHERE name = '%s'", table);
    return (uint32_t)image_number(db, sql);
}

static inline void image_add(struct image *image, const char *name, int index, bool is_real)
{
    image->names[image->count] = name;
    image->fields[image->count++] = (struct clr_field){.index = index, .is_real = is_real};
}

/* A column with the bytes of its TEXT and BLOBs. */
static inline void image_add_bytes(struct image *image, const char *name, int index)
{
    image_add(image, name, index, false);
    image->fields[image->count - 1].with_bytes = true;
}

/* A column of codes. */
static inline void image_add_codes(struct image *image, const char *name, int index, bool is_real)
{
    image_add(image, name, index, is_real);
    image->fields[image->count - 1].with_codes = true;
}

/* Those of a table t(a INT, b REAL, c, d REAL, e, f INT) to which g INT DEFAULT 7, h REAL DEFAULT 2
   and i were added: not in the order of the record, and one of them twice. */
static inline struct image image_of_nine(void)
{
    struct image image = {0};

    image_add(&image, "h", 7, true);
    image_add(&image, "a", 0, false);
    image_add(&image, "b", 1, true);
    image_add(&image, "rowid", CLR_FIELD_ROWID, false);
    image_add(&image, "d", 3, true);
    image_add(&image, "c", 2, false);
    image_add(&image, "e", 4, false);
    image_add(&image, "f", 5, false);
    image_add(&image, "g", 6, false);
    image_add(&image, "i", 8, false);
    image_add(&image, "f", 5, false);
    image.fields[0].missing = (struct clr_scalar){.tag = CLR_TAG_INTEGER, .bits = 2};
    image.fields[8].missing = (struct clr_scalar){.tag = CLR_TAG_INTEGER, .bits = 7};
    return image;
}

static inline enum clr_load_outcome image_load(struct image *image, const struct clr_source *source,
                                               uint32_t root)
{
    return clr_load(source, root, image->fields, image->count, &image->layout, image->columns, NULL,
                    &image->report, &image->status);
}

static inline void image_free(struct image *image)
{
    for (int i = 0; i < image->count; i++) {
        clr_column_release(image->columns[i]);
        image->columns[i] = NULL;
    }
    clr_layout_free(&image->layout);
}

static inline struct clr_scalar image_value(const struct clr_column *column, size_t row)
{
    struct clr_scalar value = {.tag = column->kind};

    if (column->codes != NULL)
        return column->dictionary->entries[clr_column_code(column, row)];
    value.bits = clr_column_value(column, row);
    if (value.tag == CLR_TAG_MIXED)
        value.tag = column->tags[row];
    return value;
}

/* A value that SQLite has read, as a scalar. */
static inline struct clr_scalar image_scalar(sqlite3_stmt *statement, int i)
{
    struct clr_scalar value = {.tag = CLR_TAG_BYTES};
    double number;

    switch (sqlite3_column_type(statement, i)) {
    case SQLITE_NULL:
        value.tag = CLR_TAG_NULL;
        break;
    case SQLITE_INTEGER:
        value.tag = CLR_TAG_INTEGER;
        value.bits = sqlite3_column_int64(statement, i);
        break;
    case SQLITE_FLOAT:
        value.tag = CLR_TAG_REAL;
        number = sqlite3_column_double(statement, i);
        memcpy(&value.bits, &number, sizeof number);
        break;
    default:
        break;
    }
    return value;
}

/* Whether a column has the bytes of its TEXT and BLOBs. */
static inline bool image_has_bytes(const struct clr_column *column)
{
    return column->with_bytes || column->codes != NULL;
}

/* Whether a value of a column is what SQLite has read: TEXT and BLOBs byte by byte, in the encoding
   of the database, if the column has their bytes. */
static inline bool image_same(const struct clr_column *column, size_t row, sqlite3_stmt *statement,
                              int i)
{
    struct clr_scalar got = image_value(column, row), want = image_scalar(statement, i);
    const bool is_text = sqlite3_column_type(statement, i) == SQLITE_TEXT;
    struct clr_value value;
    const void *bytes;
    size_t size;

    if (got.tag != want.tag || got.tag != CLR_TAG_BYTES || !image_has_bytes(column))
        return got.tag == want.tag && got.bits == want.bits;
    value = clr_bytes_value(got.bits);
    /* In this order: to ask for the bytes of TEXT first would convert it. */
    bytes = sqlite3_column_blob(statement, i);
    size = (size_t)sqlite3_column_bytes(statement, i);
    return value.kind == (is_text ? CLR_KIND_TEXT : CLR_KIND_BLOB) && value.as.size == size &&
           (size == 0 || memcmp(value.bytes, bytes, size) == 0);
}

/* A run of rows, those of a leaf. */
struct image_rows {
    int64_t rowid; /* of the first */
    size_t first, count;
};

static inline int image_compare_rows(const void *a, const void *b)
{
    const struct image_rows *first = a, *second = b;

    return (first->rowid > second->rowid) - (first->rowid < second->rowid);
}

/* The rows of the layout's leaves, in the order of the keys, to be freed with free(). */
static inline struct image_rows *image_rows(const struct clr_layout *layout)
{
    struct image_rows *rows = malloc((layout->leaf_count + 1) * sizeof *rows);
    size_t first = 0;

    TAP_NEED(rows != NULL, "no memory");
    for (size_t i = 0; i < layout->leaf_count; first += layout->leaves[i++].rows)
        rows[i] = (struct image_rows){layout->leaves[i].first, first, layout->leaves[i].rows};
    qsort(rows, layout->leaf_count, sizeof *rows, image_compare_rows);
    return rows;
}

/* Compares a row with that of a statement whose columns are those of the image. Returns SQLITE_OK,
   or SQLITE_MISMATCH with a description. */
static inline int image_compare_row(const struct image *image, size_t row, sqlite3_stmt *statement,
                                    char *text, size_t size)
{
    for (int i = 0; i < image->count; i++) {
        struct clr_scalar got = image_value(image->columns[i], row);
        struct clr_scalar want = image_scalar(statement, i);

        if (image_same(image->columns[i], row, statement, i))
            continue;
        snprintf(text, size, "%s, row %zu: got %d %016llx, want %d %016llx", image->names[i], row,
                 got.tag, (unsigned long long)got.bits, want.tag, (unsigned long long)want.bits);
        return SQLITE_MISMATCH;
    }
    return SQLITE_OK;
}

/*
 * Steps a statement whose columns are those of the image and compares in the order of the keys.
 * Returns SQLITE_DONE, the code of an error of SQLite's, or SQLITE_MISMATCH with a description.
 */
static inline int image_compare(const struct image *image, sqlite3_stmt *statement, char *text,
                                size_t size)
{
    struct image_rows *rows = image_rows(&image->layout);
    int code = SQLITE_OK;

    for (size_t leaf = 0; leaf < image->layout.leaf_count && code == SQLITE_OK; leaf++) {
        for (size_t i = 0; i < rows[leaf].count && code == SQLITE_OK; i++) {
            code = sqlite3_step(statement);
            if (code == SQLITE_DONE) {
                snprintf(text, size, "more rows than SQLite has");
                code = SQLITE_MISMATCH;
            } else if (code == SQLITE_ROW) {
                code = image_compare_row(image, rows[leaf].first + i, statement, text, size);
            }
        }
    }
    free(rows);
    if (code != SQLITE_OK)
        return code;
    code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        snprintf(text, size, "fewer rows than SQLite has");
        return SQLITE_MISMATCH;
    }
    return code;
}

/* Whether two images have the same rows of the same values, in the order of the keys. */
static inline bool image_equal(const struct image *a, const struct image *b)
{
    const size_t count = a->layout.leaf_count;
    struct image_rows *left, *right;
    bool same = a->layout.rows == b->layout.rows && count == b->layout.leaf_count;

    if (!same)
        return false;
    left = image_rows(&a->layout);
    right = image_rows(&b->layout);
    for (size_t leaf = 0; leaf < count && same; leaf++) {
        same = left[leaf].count == right[leaf].count;
        for (size_t i = 0; i < left[leaf].count && same; i++) {
            for (int k = 0; k < a->count && same; k++) {
                struct clr_scalar x = image_value(a->columns[k], left[leaf].first + i);
                struct clr_scalar y = image_value(b->columns[k], right[leaf].first + i);

                same = x.tag == y.tag && x.bits == y.bits;
            }
        }
    }
    free(left);
    free(right);
    return same;
}

/* The SELECT whose columns are those of the image. Values that are no numbers come as TEXT from
   columns without bytes or codes. */
static inline sqlite3_stmt *image_select(const struct image *image, sqlite3 *db, const char *table)
{
    char sql[2000] = "SELECT ";
    sqlite3_stmt *statement = NULL;

    for (int i = 0; i < image->count; i++)
        snprintf(sql + strlen(sql), sizeof sql - strlen(sql),
                 clr_field_wants_bytes(&image->fields[i])
                     ? "%s%s"
                     : "%sCASE WHEN typeof(%s) IN ('text', 'blob') THEN 'other' ELSE %s END",
                 i == 0 ? "" : ", ", image->names[i], image->names[i]);
    snprintf(sql + strlen(sql), sizeof sql - strlen(sql), " FROM %s NOT INDEXED", table);
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        return NULL;
    return statement;
}

/* Compares with what SQLite reads from the table, as a test. */
static inline void image_test(const struct image *image, sqlite3 *db, const char *table,
                              const char *name)
{
    sqlite3_stmt *statement = image_select(image, db, table);
    char text[200] = "";

    if (!tap_is_int64(image_compare(image, statement, text, sizeof text), SQLITE_DONE,
                      "%s: what SQLite reads", name))
        tap_diag("%s", text);
    sqlite3_finalize(statement);
}

/* ---- Sources that fail or take their time, and a watch that wants no more. */

struct image_failing {
    struct image_bytes bytes;
    atomic_int reads_left; /* that work */
};

static inline int image_read_some(void *context, enum clr_file file, void *buffer, size_t size,
                                  int64_t offset)
{
    struct image_failing *failing = context;

    if (atomic_fetch_sub(&failing->reads_left, 1) <= 0)
        return SQLITE_IOERR_READ;
    return image_read(&failing->bytes, file, buffer, size, offset);
}

/* context is the struct image_bytes. */
static inline int image_read_slowly(void *context, enum clr_file file, void *buffer, size_t size,
                                    int64_t offset)
{
    struct timespec pause = {0, 2000000};

    nanosleep(&pause, NULL);
    return image_read(context, file, buffer, size, offset);
}

static inline bool image_stop_at_once(void *context)
{
    (void)context;
    return true;
}

/* Has a table read; after a failure *is_clean says whether nothing is left of it. */
typedef enum clr_load_outcome image_attempt(const struct clr_source *source, uint32_t root,
                                            struct clr_status *status, bool *is_clean);

/* Tries it with memory for more and more allocations, until all goes well. */
static inline void image_test_memory(image_attempt *attempt, const struct clr_source *source,
                                     uint32_t root, const char *done)
{
    enum clr_load_outcome outcome = CLR_LOAD_FAILED;
    bool sound = true, is_clean;
    struct clr_status status;
    int after;

    for (after = 0; outcome == CLR_LOAD_FAILED && after < 1000; after++) {
        clr_memory_fail_after(after);
        outcome = attempt(source, root, &status, &is_clean);
        clr_memory_fail_after(-1);
        if (outcome == CLR_LOAD_FAILED)
            sound = sound && is_clean && status.code == CLR_NOMEM;
    }
    tap_is_int64(outcome, CLR_LOAD_DONE, "%s when allocation %d would fail", done, after);
    tap_ok(sound && after > 10, "and before that no memory, and nothing left");
}

/* The same with more and more reads that work. */
static inline void image_test_reads(image_attempt *attempt, struct clr_source source,
                                    const struct image_bytes *bytes, uint32_t root,
                                    const char *done)
{
    enum clr_load_outcome outcome = CLR_LOAD_FAILED;
    struct image_failing failing = {.bytes = *bytes};
    bool sound = true, is_clean;
    struct clr_status status;
    int reads;

    source.context = &failing;
    source.read = image_read_some;
    for (reads = 0; outcome == CLR_LOAD_FAILED && reads < 10000; reads++) {
        atomic_store(&failing.reads_left, reads);
        outcome = attempt(&source, root, &status, &is_clean);
        if (outcome == CLR_LOAD_FAILED)
            sound = sound && is_clean && status.code == CLR_IO && status.error == SQLITE_IOERR_READ;
    }
    tap_is_int64(outcome, CLR_LOAD_DONE, "%s with %d reads", done, reads - 1);
    tap_ok(sound && reads > 10, "and with fewer it fails with SQLite's code");
}

#endif

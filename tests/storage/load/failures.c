/* Loads that cannot be: no memory, failing reads, a wish to stop, and what is no rowid table. */
#include "storage/image.h"

static bool all_null(const struct image *image)
{
    for (int i = 0; i < image->count; i++) {
        if (image->columns[i] != NULL)
            return false;
    }
    return !image->layout.known && image->layout.leaves == NULL;
}

static struct image new_image(void)
{
    struct image image = {0};

    image_add(&image, "d", 2, true);
    image_add(&image, "a", 0, false);
    image_add_bytes(&image, "b", 1);
    image_add_codes(&image, "b", 1, false);
    return image;
}

static enum clr_load_outcome attempt(const struct clr_source *source, uint32_t root,
                                     struct clr_status *status, bool *is_clean)
{
    struct image image = new_image();
    enum clr_load_outcome outcome = image_load(&image, source, root);

    *status = image.status;
    *is_clean = all_null(&image);
    image_free(&image);
    return outcome;
}

static void test_stop(struct clr_source source, uint32_t root, bool parallel)
{
    struct clr_watch watch = {image_stop_at_once, NULL};
    struct image image = new_image();

    source.read = image_read_slowly;
    source.parallel = parallel;
    tap_is_int64(clr_load(&source, root, image.fields, image.count, &image.layout, image.columns,
                          &watch, &image.report, &image.status),
                 CLR_LOAD_STOPPED, "stopped, parallel: %d", parallel);
    tap_ok(all_null(&image), "with nothing left");
    image_free(&image);
}

static void test_layout(const struct clr_source *source, uint32_t root, uint32_t other)
{
    struct image image = new_image(), more = new_image();

    image_load(&image, source, root);
    more.layout = image.layout;
    tap_is_int64(image_load(&more, source, other), CLR_LOAD_MALFORMED, "another table's layout");
    tap_ok(more.columns[0] == NULL && more.layout.known, "leaves no column, but the layout");
    image_free(&image);
    image.count = 0;
    tap_is_int64(image_load(&image, source, root), CLR_LOAD_DONE, "no column");
    tap_is_int64((int64_t)image.layout.rows, 4000, "but the number of rows");
    image_free(&image);
}

/* More rows than there may be: found at the latest when they are met, or guessed at the start. */
static void test_too_large(struct clr_source alone, uint32_t root)
{
    struct clr_source *source = &alone;
    struct image image = new_image(), whole = new_image();
    const size_t rows = 4000;
    int64_t bytes;

    alone.parallel = false; /* else all units may be under way when the guess is made */
    image.layout.most_rows = rows;
    image.layout.may_guess = true;
    tap_is_int64(image_load(&image, source, root), CLR_LOAD_DONE, "as many rows as there may be");
    bytes = image.report.bytes_read;
    image_free(&image);
    image.layout.most_rows = rows - 1;
    tap_is_int64(image_load(&image, source, root), CLR_LOAD_TOO_LARGE, "one row more");
    tap_ok(all_null(&image) && image.layout.most_rows == rows - 1, "leaves no column");
    image.layout.most_rows = rows / 3;
    tap_is_int64(image_load(&image, source, root), CLR_LOAD_TOO_LARGE, "three times as many");
    tap_ok(image.report.bytes_read > bytes / 4, "are met after %lld of %lld bytes",
           (long long)image.report.bytes_read, (long long)bytes);
    image.layout.may_guess = true;
    tap_is_int64(image_load(&image, source, root), CLR_LOAD_TOO_LARGE, "as can be guessed");
    tap_ok(image.report.bytes_read < bytes / 4, "after %lld bytes",
           (long long)image.report.bytes_read);
    image_free(&image);
    image_load(&whole, source, root);
    whole.layout.most_rows = 1;
    whole.layout.may_guess = true;
    image.layout = whole.layout;
    tap_is_int64(image_load(&image, source, root), CLR_LOAD_DONE, "a known layout has room");
    image.layout = (struct clr_layout){0};
    image_free(&image);
    image_free(&whole);
}

/* More bytes of TEXT and BLOBs than there may be, with and without the rows. */
static void test_bytes(const struct clr_source *source, uint32_t root)
{
    struct image image = new_image();
    size_t bytes, rows;

    tap_is_int64(image_load(&image, source, root), CLR_LOAD_DONE, "any bytes");
    bytes = image.columns[2]->bytes.size;
    rows = image.columns[2]->rows;
    tap_ok(bytes > 4000 * 20 && image.columns[1]->bytes.size == 0, "%zu of them", bytes);
    image_free(&image);
    image.layout.most_bytes = 50000;
    tap_is_int64(image_load(&image, source, root), CLR_LOAD_TOO_LARGE, "too many bytes");
    tap_ok(all_null(&image), "leave no column");
    /* Blocks depend on how threads meet, so that bytes are not always as many. */
    image.layout.row_bytes = 100;
    image.layout.most_bytes = 100 * rows + 4000;
    tap_is_int64(image_load(&image, source, root), CLR_LOAD_TOO_LARGE, "too many with the rows");
    image.layout.most_bytes = 4 * bytes + 100 * rows;
    tap_is_int64(image_load(&image, source, root), CLR_LOAD_DONE, "room for both");
    image_free(&image);
}

/* Dictionaries that take more than there may be, with the rows and without; and a NULL in one that
   may have none. */
static void test_codes(const struct clr_source *source, uint32_t root, uint32_t other)
{
    struct image image = {0};
    size_t size;

    image_add(&image, "d", 2, true);
    image_add_codes(&image, "a", 0, false);
    image.fields[1].never_null = true;
    tap_is_int64(image_load(&image, source, root), CLR_LOAD_DONE, "codes");
    size = clr_dictionary_size(image.columns[1]->dictionary);
    tap_ok(size > 4000 * 16 && clr_column_size(image.columns[1]) == size + 4000 * sizeof(uint16_t),
           "and a dictionary of %zu bytes", size);
    image_free(&image);
    image.layout.most_bytes = size / 2;
    tap_is_int64(image_load(&image, source, root), CLR_LOAD_TOO_LARGE, "one that is too large");
    tap_ok(all_null(&image), "leaves no column");
    image.layout.row_bytes = 100;
    image.layout.most_bytes = 100 * 4000 + size / 2;
    tap_is_int64(image_load(&image, source, root), CLR_LOAD_TOO_LARGE, "too large with the rows");
    image.layout.most_bytes = 100 * 4000 + 4 * size;
    tap_is_int64(image_load(&image, source, root), CLR_LOAD_DONE, "room for both");
    image_free(&image);
    image.fields[1].index = 1;
    image.fields[1].never_null = true;
    tap_is_int64(image_load(&image, source, other), CLR_LOAD_UNSURE, "a NULL");
    image.fields[1].missing = (struct clr_scalar){.tag = CLR_TAG_INTEGER, .bits = 9};
    tap_is_int64(image_load(&image, source, other), CLR_LOAD_DONE, "and none");
    tap_is_int64(image.columns[1]->dictionary->count, 1, "but the default");
    tap_is_int64(image.columns[1]->dictionary->entries[0].bits, 9, "which it is");
    image_free(&image);
}

TAP_TEST(test_failures)
{
    struct image_bytes bytes;
    struct clr_source source;
    struct image image = new_image();
    sqlite3 *db =
        image_open("PRAGMA page_size = 512; CREATE TABLE t(a, b, d REAL);"
                   "CREATE INDEX x ON t(a); CREATE TABLE s(a); CREATE TABLE w(a PRIMARY KEY, b) "
                   "WITHOUT ROWID; INSERT INTO w VALUES (1, 2);"
                   "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 4000)"
                   "INSERT INTO t SELECT i, zeroblob(iif(i % 100, 20, 2000)), i / 8.0 FROM n;"
                   "INSERT INTO s SELECT a FROM t; ALTER TABLE s ADD COLUMN b; ALTER TABLE s "
                   "ADD COLUMN c DEFAULT 7");
    uint32_t root;

    source = image_store(db, &bytes);
    root = image_root(db, "t");
    image_test_memory(attempt, &source, root, "loaded");
    image_test_reads(attempt, source, &bytes, root, "loaded");
    test_stop(source, root, true);
    test_stop(source, root, false);
    test_layout(&source, root, image_root(db, "s"));
    test_too_large(source, root);
    test_bytes(&source, root);
    test_codes(&source, root, image_root(db, "s"));

    tap_is_int64(image_load(&image, &source, image_root(db, "w")), CLR_LOAD_UNSUPPORTED,
                 "a table WITHOUT ROWID");
    tap_is_int64(image_load(&image, &source, image_root(db, "x")), CLR_LOAD_UNSUPPORTED,
                 "an index");
    source.is_index = true;
    tap_is_int64(image_load(&image, &source, root), CLR_LOAD_UNSUPPORTED,
                 "a table where an index is to be");
    source.is_index = false;
    tap_is_int64(image_load(&image, &source, source.page_count + 1), CLR_LOAD_MALFORMED,
                 "a root behind the end");
    tap_is_int64(image.report.page, source.page_count + 1, "which the report names");
    tap_is_int64(image_load(&image, &source, 0), CLR_LOAD_MALFORMED, "no root");
    image.fields[0].missing.tag = CLR_TAG_UNSURE;
    tap_is_int64(image_load(&image, &source, image_root(db, "s")), CLR_LOAD_UNSUPPORTED,
                 "a default that only SQLite knows");
    image.fields[0].missing.tag = CLR_TAG_NULL;
    image.fields[2].missing.tag = CLR_TAG_BYTES;
    tap_is_int64(image_load(&image, &source, image_root(db, "s")), CLR_LOAD_UNSUPPORTED,
                 "a default whose bytes only SQLite knows");
    image.fields[2].missing.tag = CLR_TAG_NULL;
    image.fields[3].missing.tag = CLR_TAG_BYTES;
    tap_is_int64(image_load(&image, &source, image_root(db, "s")), CLR_LOAD_UNSUPPORTED,
                 "or whose code");
    tap_is_int64(image_load(&image, &source, 1), CLR_LOAD_DONE, "the schema itself");
    image_free(&image);
    image_close(db, &bytes);
}

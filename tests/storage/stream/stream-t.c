/* Tables that can't be streamed, without memory, when reads fail, and when they are stopped.
   tests/sqlite/views/view-stream-t.py has what streams give. */
#include "storage/format/page.h"
#include "storage/streams.h"

static enum clr_load_outcome attempt(const struct clr_source *source, uint32_t root,
                                     struct clr_status *status, bool *is_clean)
{
    struct streamed streamed;
    enum clr_load_outcome outcome = stream_plain(source, root, field_i, NULL, &streamed);

    *status = streamed.status;
    *is_clean = true;
    return outcome;
}

static void test_stop(struct clr_source source, uint32_t root, bool parallel)
{
    struct clr_watch watch = {image_stop_at_once, NULL};
    struct streamed streamed;

    source.read = image_read_slowly;
    source.parallel = parallel;
    tap_is_int64(stream_plain(&source, root, field_i, &watch, &streamed), CLR_LOAD_STOPPED,
                 "stopped, parallel: %d", parallel);
}

/* Two leaves in each other's place: each is sound, and a unit of its own. */
TAP_TEST(test_order)
{
    struct image image = {.fields = {field_i}, .count = 1};
    struct streamed streamed;
    struct clr_source source;
    struct image_bytes bytes;
    unsigned char *page, *cells[2], child[4];
    uint32_t root;
    sqlite3 *db =
        image_open("PRAGMA page_size = 512; CREATE TABLE t(i);"
                   "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 400)"
                   "INSERT INTO t SELECT i FROM n");

    source = image_store(db, &bytes);
    root = image_root(db, "t");
    page = bytes.data + (size_t)(root - 1) * 512;
    tap_is_int64(page[0], CLR_PAGE_TABLE_INTERIOR, "a table with a page above its leaves");
    tap_is_int64(stream_plain(&source, root, field_i, NULL, &streamed), CLR_LOAD_DONE, "streamed");
    cells[0] = page + clr_get_u16(page + 12);
    cells[1] = page + clr_get_u16(page + 14);
    memcpy(child, cells[0], 4);
    memcpy(cells[0], cells[1], 4);
    memcpy(cells[1], child, 4);
    tap_is_int64(stream_plain(&source, root, field_i, NULL, &streamed), CLR_LOAD_MALFORMED,
                 "two leaves exchanged");
    tap_is_int64(streamed.report.page, clr_get_u32(child), "the second of them is named");
    tap_is_int64(image_load(&image, &source, root), CLR_LOAD_MALFORMED, "nor can they be loaded");
    image_free(&image);
    image_close(db, &bytes);
}

TAP_TEST(test_failures)
{
    sqlite3 *db = new_database(512, 3000);
    struct image_bytes bytes = image_serialize(db);
    struct clr_source source = image_bytes_source(&bytes);
    uint32_t root = image_root(db, "t");

    image_test_memory(attempt, &source, root, "streamed");
    source.parallel = false;
    image_test_reads(attempt, source, &bytes, root, "streamed");
    source.parallel = true;
    image_test_reads(attempt, source, &bytes, root, "streamed");
    test_stop(source, root, true);
    test_stop(source, root, false);
    image_close(db, &bytes);
}

/*
 * Tables scanned as their pages pass, compared with the same scan over columns that were loaded:
 * random scans, in little memory and in much. And streams that cannot be.
 */
#include "numeric/scan_reference.h"
#include "random.h"
#include "storage/format/page.h"
#include "storage/streams.h"

/* From a page in one thread to more than any thread takes. */
static const size_t memories[] = {0, 5000, 40000, 1000000, SIZE_MAX};
enum { MEMORIES = sizeof memories / sizeof memories[0] };

#ifdef __SANITIZE_THREAD__
enum { ROUNDS = 40, ROUNDS_IN_FULL = 40, ROUNDS_EMPTY = 5 };
#else
enum { ROUNDS = 150, ROUNDS_IN_FULL = 500, ROUNDS_EMPTY = 20 };
#endif

static struct image new_image(void)
{
    struct image image = {0};

    image_add(&image, "i", 0, false);
    image_add(&image, "r", 1, true);
    image_add(&image, "c", 2, false);
    image_add(&image, "d", 3, true);
    image_add(&image, "n", 4, false);
    image_add(&image, "o", 5, false);
    return image;
}

/* The scan as a stream: its outcome, as that of a scan, with its states in tallies. */
static enum clr_scan_outcome stream(const struct clr_source *source, uint32_t root,
                                    const struct image *image, const struct scans_made *made,
                                    struct clr_tally *tallies, size_t memory, size_t *rows)
{
    struct clr_scan scan = made->scan;
    struct clr_load_report report;
    struct clr_status status;
    enum clr_load_outcome outcome;
    struct clr_groups *groups;

    memcpy(tallies, made->tallies, (size_t)made->scan.tally_count * sizeof *tallies);
    scan.tallies = tallies;
    scan.columns = NULL;
    scan.rows = 0;
    outcome = clr_stream(source, root, image->fields, &scan, memory, &groups, rows, NULL, &report,
                         &status);
    if (outcome == CLR_LOAD_DONE)
        return CLR_SCAN_DONE;
    return outcome == CLR_LOAD_UNSURE ? CLR_SCAN_UNSURE : CLR_SCAN_FAILED;
}

static void test_scans(const struct clr_source *source, uint32_t root, const struct image *image,
                       int rounds, const char *name)
{
    int round, i, done = 0;
    struct clr_tally tallies[SCANS_TALLIES];
    struct scans_made made;

    batch_begin();
    for (round = 0; round < rounds; round++) {
        size_t memory = memories[random_below(MEMORIES)], rows;
        enum clr_scan_outcome expected, found;

        scans_make(&made, image->columns);
        expected = clr_host_scan(&made.scan, NULL);
        found = stream(source, root, image, &made, tallies, memory, &rows);
        batch_ok(found == expected, "round %d: outcome %d, not %d, in %zu bytes", round, found,
                 expected, memory);
        batch_ok(found != CLR_SCAN_DONE || rows == image->layout.rows, "round %d: %zu rows", round,
                 rows);
        for (i = 0; i < made.scan.tally_count && found == expected && found == CLR_SCAN_DONE; i++)
            batch_ok(reference_same_answer(&tallies[i].state, &made.tallies[i].state),
                     "round %d: tally %d, in %zu bytes", round, i, memory);
        done += expected == CLR_SCAN_DONE;
    }
    batch_end(name);
    tap_ok(done > rounds / 10, "%s: %d of %d scans had results", name, done, rounds);
}

static void test_table(int page_size, int rows, bool parallel)
{
    sqlite3 *db = new_database(page_size, rows);
    struct image_bytes bytes = image_serialize(db);
    struct clr_source source = image_bytes_source(&bytes);
    struct image image = new_image();
    char name[100];

    source.parallel = parallel;
    snprintf(name, sizeof name, "%d rows in pages of %d, parallel: %d", rows, page_size, parallel);
    TAP_NEED(image_load(&image, &source, image_root(db, "t")) == CLR_LOAD_DONE, "%s: not loaded",
             name);
    test_scans(&source, image_root(db, "t"), &image, tap_is_quick() ? ROUNDS : ROUNDS_IN_FULL,
               name);
    image_free(&image);
    TAP_NEED(image_load(&image, &source, image_root(db, "empty")) == CLR_LOAD_DONE,
             "%s: the empty table was not loaded", name);
    test_scans(&source, image_root(db, "empty"), &image, ROUNDS_EMPTY, "an empty table");
    image_free(&image);
    image_close(db, &bytes);
}

static void test_memory(const struct clr_source *source, uint32_t root)
{
    enum clr_load_outcome outcome = CLR_LOAD_FAILED;
    struct streamed streamed;
    bool sound = true;
    int after;

    for (after = 0; outcome == CLR_LOAD_FAILED && after < 1000; after++) {
        clr_memory_fail_after(after);
        outcome = stream_plain(source, root, field_i, NULL, &streamed);
        clr_memory_fail_after(-1);
        if (outcome == CLR_LOAD_FAILED)
            sound = sound && streamed.status.code == CLR_NOMEM;
    }
    tap_is_int64(outcome, CLR_LOAD_DONE, "streamed when allocation %d would fail", after);
    tap_ok(sound && after > 10, "and before that no memory");
}

static void test_reads(struct clr_source source, const struct image_bytes *bytes, uint32_t root)
{
    enum clr_load_outcome outcome = CLR_LOAD_FAILED;
    struct image_failing failing = {.bytes = *bytes};
    struct streamed streamed;
    bool sound = true;
    int reads;

    source.context = &failing;
    source.read = image_read_some;
    for (reads = 0; outcome == CLR_LOAD_FAILED && reads < 10000; reads++) {
        atomic_store(&failing.reads_left, reads);
        outcome = stream_plain(&source, root, field_i, NULL, &streamed);
        if (outcome == CLR_LOAD_FAILED)
            sound = sound && streamed.status.code == CLR_IO &&
                    streamed.status.error == SQLITE_IOERR_READ;
    }
    tap_is_int64(outcome, CLR_LOAD_DONE, "streamed with %d reads", reads - 1);
    tap_ok(sound && reads > 10, "and with fewer it fails with SQLite's code");
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

    test_memory(&source, root);
    source.parallel = false;
    test_reads(source, &bytes, root);
    source.parallel = true;
    test_reads(source, &bytes, root);
    test_stop(source, root, true);
    test_stop(source, root, false);
    image_close(db, &bytes);
}

TAP_TEST(test_tables)
{
    test_table(512, 5000, true);
    test_table(512, 700, false);
    test_table(4096, 9000, true);
    test_table(4096, 9000, false);
    test_table(65536, 30000, true);
}

/*
 * Tables scanned as their pages pass, compared with the same scan over columns that were loaded:
 * random scans, in little memory and in much. And streams that cannot be.
 */
#include "storage/image.h"

#include "base/memory.h"
#include "batch.h"
#include "engine/host/host_scan.h"
#include "engine/scans.h"
#include "numeric/groups/groups.h"
#include "numeric/scan/lookup_results.h"
#include "storage/format/page.h"
#include "storage/stream/stream.h"

#include <time.h>

/* From a page in one thread to more than any thread takes. */
static const size_t memories[] = {0, 5000, 40000, 1000000, SIZE_MAX};
enum { MEMORIES = sizeof memories / sizeof memories[0] };

#ifdef __SANITIZE_THREAD__
enum { ROUNDS = 40, ROUNDS_IN_FULL = 40, ROUNDS_EMPTY = 5 };
#else
enum { ROUNDS = 150, ROUNDS_IN_FULL = 500, ROUNDS_EMPTY = 20 };
#endif

/*
 * Makes the table t. Its pages have rows of one kind and of several, and column c, which is mixed
 * as a whole, has stretches of each type, and TEXT in one row. Every ninth row has overflow pages.
 */
static sqlite3 *new_database(int page_size, int rows)
{
    sqlite3 *db;
    char sql[1000];

    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        tap_bail("no database");
    snprintf(sql, sizeof sql,
             "PRAGMA page_size = %d; CREATE TABLE t(i INT, r REAL, c, d REAL, n, o);"
             "CREATE TABLE empty(i INT, r REAL, c, d REAL, n, o); CREATE INDEX x ON t(i);"
             "CREATE TABLE w(i PRIMARY KEY) WITHOUT ROWID; INSERT INTO w VALUES (1);"
             "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
             "INSERT INTO t SELECT i * 7919 %% 2003 - 1000, i * 37 %% 1009 / 7.0 - 60,"
             "  CASE i / 700 %% 5 WHEN 0 THEN i %% 90 WHEN 1 THEN i %% 90 * 0.5 WHEN 2 THEN NULL"
             "    WHEN 3 THEN iif(i %% 3, i %% 90, i * 0.25) ELSE iif(i = 3333, 'x', i %% 9) END,"
             "  i %% 64 - 9, NULL, zeroblob(iif(i %% 9 = 0, i * 31 %% 2500, i %% 20)) FROM n;"
             "DELETE FROM t WHERE rowid %% 11 = 5",
             page_size, rows);
    image_sql(db, sql);
    return db;
}

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

    memcpy(tallies, made->tallies, sizeof made->tallies);
    scan.tallies = tallies;
    scan.columns = NULL;
    scan.rows = 0;
    outcome = clr_stream(source, root, image->fields, &scan, memory, rows, NULL, &report, &status);
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
            batch_ok(scans_same(&tallies[i], &made.tallies[i]), "round %d: tally %d, in %zu bytes",
                     round, i, memory);
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
    if (image_load(&image, &source, image_root(db, "t")) != CLR_LOAD_DONE)
        tap_bail("%s: not loaded", name);
    test_scans(&source, image_root(db, "t"), &image, tap_is_quick() ? ROUNDS : ROUNDS_IN_FULL,
               name);
    image_free(&image);
    if (image_load(&image, &source, image_root(db, "empty")) != CLR_LOAD_DONE)
        tap_bail("%s: the empty table was not loaded", name);
    test_scans(&source, image_root(db, "empty"), &image, ROUNDS_EMPTY, "an empty table");
    image_free(&image);
    sqlite3_free(bytes.data);
    sqlite3_close(db);
}

/* ---- Streams that cannot be. */

/* The number of rows, and the sum of a column. */
struct plain {
    struct clr_instruction instructions[1];
    struct clr_tally tallies[2];
    struct clr_scan scan;
};

static void make_plain(struct plain *plain)
{
    memset(plain, 0, sizeof *plain);
    plain->instructions[0] = (struct clr_instruction){CLR_OP_COLUMN, 0, -1, -1};
    plain->tallies[0] = (struct clr_tally){.x = -1, .y = -1, .filter = -1};
    plain->tallies[1] =
        (struct clr_tally){.operations = 1u << CLR_SUM, .x = 0, .y = -1, .filter = -1};
    plain->scan = (struct clr_scan){.instruction_count = 1,
                                    .column_count = 1,
                                    .tally_count = 2,
                                    .filter = -1,
                                    .instructions = plain->instructions,
                                    .tallies = plain->tallies};
}

struct streamed {
    struct clr_load_report report;
    struct clr_status status;
    size_t rows;
};

static enum clr_load_outcome stream_plain(const struct clr_source *source, uint32_t root,
                                          struct clr_field field, const struct clr_watch *watch,
                                          struct streamed *streamed)
{
    struct plain plain;

    make_plain(&plain);
    clr_status_clear(&streamed->status);
    return clr_stream(source, root, &field, &plain.scan, 10000, &streamed->rows, watch,
                      &streamed->report, &streamed->status);
}

static const struct clr_field field_i = {.index = 0};

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

/* ---- Codes, and groups by them. */

enum { CODED = 2, GROUPS_MEMORY = 1 << 22 };

/* Columns c and o with codes; the rows' numbers by one lookup, and their groups by the other. */
struct coded {
    struct clr_dictionary *dictionaries[CODED];
    struct clr_column *columns[CODED];
    struct clr_lookup lookups[CODED];
    struct clr_instruction instructions[CODED];
    struct clr_tally tally;
    struct clr_grouping grouping;
    struct clr_scan scan;
};

static const struct clr_field coded_fields[CODED] = {{.index = 2, .with_codes = true},
                                                     {.index = 5, .with_codes = true}};

/* What is looked up for an entry: a number that follows from its value alone. */
static int64_t number_of(const struct clr_scalar *entry)
{
    if (entry->tag == CLR_TAG_BYTES)
        return (int64_t)clr_bytes_value(entry->bits).as.size % 10;
    return entry->bits % 10 + entry->tag;
}

/* Gives a lookup its results: false without memory. */
static bool look_up(const struct clr_dictionary *dictionary, struct clr_lookup *lookup)
{
    struct clr_lookup_results *results = clr_lookup_results_new(dictionary->count);
    uint32_t i;

    for (i = 0; results != NULL && i < dictionary->count; i++) {
        results->values[i] = number_of(&dictionary->entries[i]);
        results->tags[i] = CLR_TAG_INTEGER;
    }
    if (results != NULL)
        clr_lookup_set(lookup, results, dictionary->count);
    return results != NULL;
}

static void coded_free(struct coded *coded)
{
    int i;

    for (i = 0; i < CODED; i++) {
        clr_dictionary_release(coded->dictionaries[i]);
        clr_column_release(coded->columns[i]);
        clr_lookup_results_release(coded->lookups[i].results);
    }
}

/* Makes the scan over dictionaries, which are the scan's from then on. Returns false without
   memory; coded_free() is due in any case. */
static bool coded_make(struct coded *coded)
{
    int i;

    for (i = 0; i < CODED; i++) {
        coded->instructions[i] = (struct clr_instruction){CLR_OP_LOOKUP, i, i, -1};
        coded->columns[i] = clr_column_new_codes(coded->dictionaries[i], 0, sizeof(uint32_t));
        if (coded->columns[i] == NULL || !look_up(coded->dictionaries[i], &coded->lookups[i]))
            return false;
    }
    coded->tally = (struct clr_tally){.operations = 1u << CLR_SUM, .x = 0, .y = -1, .filter = -1};
    coded->grouping = (struct clr_grouping){.key_count = 1, .keys = {1}};
    coded->scan = (struct clr_scan){.instruction_count = CODED,
                                    .column_count = CODED,
                                    .lookup_count = CODED,
                                    .tally_count = 1,
                                    .filter = -1,
                                    .instructions = coded->instructions,
                                    .columns = coded->columns,
                                    .lookups = coded->lookups,
                                    .tallies = &coded->tally,
                                    .values_memory = GROUPS_MEMORY};
    return true;
}

/* Whether the groups' states together are that of all rows. */
static bool add_up(const struct clr_groups *groups, struct clr_state *all)
{
    struct clr_state sum, state;
    size_t i;

    clr_state_clear(&sum);
    for (i = 0; i < clr_groups_count(groups); i++) {
        clr_groups_state(groups, i, 0, &state);
        clr_state_merge(&sum, &state);
    }
    return sum.count == all->count && clr_sum_round(&sum.sum, 1) == clr_sum_round(&all->sum, 1);
}

/* Streams the dictionaries, the sum, and the groups. */
static enum clr_load_outcome stream_coded(const struct clr_source *source, uint32_t root,
                                          size_t memory, struct streamed *streamed, size_t *entries,
                                          bool *sound)
{
    struct clr_groups *groups = NULL;
    struct coded coded = {.grouping = {0}};
    enum clr_load_outcome outcome;
    size_t rows = 0;

    clr_status_clear(&streamed->status);
    outcome =
        clr_stream_dictionaries(source, root, coded_fields, CODED, memory, 77, coded.dictionaries,
                                &streamed->rows, NULL, &streamed->report, &streamed->status);
    if (outcome == CLR_LOAD_DONE && !coded_make(&coded)) {
        clr_status_set(&streamed->status, CLR_NOMEM, 0, "no memory for the scan");
        outcome = CLR_LOAD_FAILED;
    }
    if (outcome == CLR_LOAD_DONE)
        outcome = clr_stream(source, root, coded_fields, &coded.scan, memory, &rows, NULL,
                             &streamed->report, &streamed->status);
    coded.scan.grouping = &coded.grouping;
    if (outcome == CLR_LOAD_DONE)
        outcome = clr_stream_groups(source, root, coded_fields, &coded.scan, memory, &groups, &rows,
                                    NULL, &streamed->report, &streamed->status);
    if (outcome == CLR_LOAD_DONE) {
        *entries = (size_t)coded.dictionaries[0]->count + coded.dictionaries[1]->count;
        *sound = rows == streamed->rows && coded.tally.state.count == (int64_t)rows &&
                 add_up(groups, &coded.tally.state);
    }
    clr_groups_free(groups);
    coded_free(&coded);
    return outcome;
}

static void test_codes(const struct clr_source *source, uint32_t root, sqlite3 *db)
{
    const int64_t expected =
        image_number(db, "SELECT (SELECT count(*) FROM (SELECT DISTINCT c, typeof(c) FROM t)) + "
                         "(SELECT count(*) FROM (SELECT DISTINCT o FROM t))");
    enum clr_load_outcome outcome = CLR_LOAD_FAILED;
    struct streamed streamed;
    bool sound = false, told = true;
    size_t entries = 0;
    int after;

    tap_is_int64(stream_coded(source, root, 1 << 22, &streamed, &entries, &sound), CLR_LOAD_DONE,
                 "streamed with codes");
    tap_is_int64((int64_t)entries, expected, "the dictionaries have all values");
    tap_ok(sound, "and the groups add up");
    tap_is_int64(stream_coded(source, root, 20000, &streamed, &entries, &sound), CLR_LOAD_TOO_LARGE,
                 "dictionaries that do not fit");
    for (after = 0; outcome == CLR_LOAD_FAILED && after < 2000; after++) {
        clr_memory_fail_after(after);
        outcome = stream_coded(source, root, 1 << 22, &streamed, &entries, &sound);
        clr_memory_fail_after(-1);
        if (outcome == CLR_LOAD_FAILED)
            told = told && streamed.status.code == CLR_NOMEM;
    }
    tap_is_int64(outcome, CLR_LOAD_DONE, "with codes when allocation %d would fail", after);
    tap_ok(told && sound && after > 50, "and before that no memory");
}

/* Rows without any column. */
static void test_count(const struct clr_source *source, uint32_t root, size_t expected)
{
    struct plain plain;
    struct clr_load_report report;
    struct clr_status status;
    size_t rows;

    make_plain(&plain);
    plain.scan.instruction_count = plain.scan.column_count = 0;
    plain.scan.tally_count = 1;
    tap_is_int64(clr_stream(source, root, NULL, &plain.scan, 0, &rows, NULL, &report, &status),
                 CLR_LOAD_DONE, "streamed without a column");
    tap_ok(plain.tallies[0].state.count == (int64_t)expected && rows == expected, "counted: %zu",
           rows);
}

static void test_unusual(const struct clr_source *source, sqlite3 *db)
{
    struct clr_field field_o = {.index = 5};
    struct clr_field added = {.index = 9, .missing = {.tag = CLR_TAG_UNSURE}};
    struct image image = {.fields = {field_i}, .count = 1};
    struct streamed streamed;
    uint32_t root = image_root(db, "t");

    tap_is_int64(stream_plain(source, root, field_o, NULL, &streamed), CLR_LOAD_UNSURE,
                 "a sum of BLOBs");
    tap_is_int64(stream_plain(source, root, added, NULL, &streamed), CLR_LOAD_UNSUPPORTED,
                 "a default that only SQLite knows");
    tap_is_int64(stream_plain(source, image_root(db, "w"), field_i, NULL, &streamed),
                 CLR_LOAD_UNSUPPORTED, "a table WITHOUT ROWID");
    tap_is_int64(stream_plain(source, image_root(db, "x"), field_i, NULL, &streamed),
                 CLR_LOAD_UNSUPPORTED, "an index");
    tap_is_int64(stream_plain(source, source->page_count + 1, field_i, NULL, &streamed),
                 CLR_LOAD_MALFORMED, "a root behind the end");
    tap_is_int64(streamed.report.page, source->page_count + 1, "which the report names");
    tap_is_int64(stream_plain(source, root, field_i, NULL, &streamed), CLR_LOAD_DONE, "streamed");
    tap_is_int64((int64_t)streamed.rows, image_number(db, "SELECT count(*) FROM t"), "all rows");
    test_count(source, root, streamed.rows);
    image_load(&image, source, root);
    tap_ok(streamed.report.bytes_read > image.report.bytes_read / 2 &&
               streamed.report.bytes_read < image.report.bytes_read * 2,
           "and %lld bytes, where a load has %lld", (long long)streamed.report.bytes_read,
           (long long)image.report.bytes_read);
    image_free(&image);
}

/* Two leaves in each other's place: each is sound, and a unit of its own. */
static void test_order(void)
{
    struct image image = {.fields = {field_i}, .count = 1};
    struct streamed streamed;
    struct clr_source source;
    struct image_bytes bytes;
    unsigned char *page, *cells[2], child[4];
    uint32_t root;
    sqlite3 *db;

    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        tap_bail("no database");
    image_sql(db, "PRAGMA page_size = 512; CREATE TABLE t(i);"
                  "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 400)"
                  "INSERT INTO t SELECT i FROM n");
    bytes = image_serialize(db);
    source = image_bytes_source(&bytes);
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
    sqlite3_free(bytes.data);
    sqlite3_close(db);
}

static void test_failures(void)
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
    source = image_bytes_source(&bytes);
    test_codes(&source, root, db);
    test_unusual(&source, db);
    sqlite3_free(bytes.data);
    sqlite3_close(db);
}

int main(void)
{
    random_start();
    test_table(512, 5000, true);
    test_table(512, 700, false);
    test_table(4096, 9000, true);
    test_table(4096, 9000, false);
    test_table(65536, 30000, true);
    test_order();
    test_failures();
    return tap_done();
}

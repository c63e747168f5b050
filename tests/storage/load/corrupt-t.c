/*
 * Damaged databases: whatever the bytes, a load ends, touches no memory but its own, and is DONE
 * only with the values that SQLite reads from the same bytes; and a stream is DONE just when a load
 * is. CLREDUCE_DAMAGES sets how many pages are damaged.
 */
#include "storage/image.h"
#include "storage/sound_codes.h"

#include "engine/host/host_scan.h"
#include "random.h"
#include "storage/stream/stream.h"

/* A sound database, small enough for each of its bytes to be hit often. */
static struct image_bytes damage_new_database(int page_size, int auto_vacuum, int rows,
                                              uint32_t *root)
{
    struct image_bytes bytes;
    sqlite3 *db = image_open("");
    char sql[1000];

    snprintf(sql, sizeof sql,
             "PRAGMA page_size = %d; PRAGMA auto_vacuum = %d;"
             "CREATE TABLE t(a INT, b REAL, c, d REAL, e INT, f, g, h, i, j);"
             "CREATE TABLE other(x);"
             "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
             "INSERT INTO t SELECT i * i * i, i / 3.0,"
             "  iif(i %% 2, zeroblob(w), printf('%%.*c', w, char(65 + i %% 26))), i, i %% 3,"
             "  2, NULL, 'h', i %% 2, iif(i %% 4, NULL, printf('%%.*c', 40 + i %% 80, 'j'))"
             "  FROM (SELECT i, iif(i %% 9 = 0, i * 31 %% 2500, i %% 60) AS w FROM n);"
             "INSERT INTO other SELECT a FROM t; DELETE FROM t WHERE rowid %% 11 = 5",
             page_size, auto_vacuum, rows);
    image_sql(db, sql);
    *root = image_root(db, "t");
    bytes = image_serialize(db);
    sqlite3_close(db);
    return bytes;
}

/* A place in a page where damage is worth most: its header, its pointers, a cell's first bytes. */
static size_t damage_choose_place(const unsigned char *page, size_t page_size)
{
    size_t cells = clr_get_u16(page + 3), cell;

    switch (random_below(6)) {
    case 0:
        return random_below(12);
    case 1:
        return (8 + random_below(2 * cells + 5)) % page_size;
    case 2:
    case 3:
        cell = clr_get_u16(page + (8 + 2 * random_below(cells + 1)) % (page_size - 1));
        return (cell + random_below(14)) % page_size;
    default:
        return random_below(page_size);
    }
}

/* Damages one page, never the first: it has the schema, which SQLite reads and a load does not. */
static void damage_page(struct image_bytes *bytes, size_t page_size)
{
    size_t count = bytes->size / page_size, place;
    unsigned char *page = bytes->data + (1 + random_below(count - 1)) * page_size;
    const unsigned char *other = bytes->data + random_below(count) * page_size;

    place = damage_choose_place(page, page_size);
    switch (random_below(10)) {
    case 0:
    case 1:
    case 2:
        page[place] ^= (unsigned char)(1U << random_below(8));
        break;
    case 3:
    case 4:
        page[place] = (unsigned char)random_bits();
        break;
    case 5: /* the extremes, as numbers that seem to go on */
        memset(page + place, random_below(2) == 0 ? 0xff : 0x80,
               page_size - place < 9 ? page_size - place : 1 + random_below(9));
        break;
    case 6: /* a page number, of some page: cycles, and children of two parents */
        if (place + 4 <= page_size) {
            memset(page + place, 0, 3);
            page[place + 3] = (unsigned char)random_below(count + 2);
        }
        break;
    case 7: /* a pointer for another one */
        memcpy(page + 8 + 2 * random_below(10), page + 8 + 2 * random_below(10), 2);
        break;
    case 8:
        page[place] = (unsigned char)(page[place] + (random_below(2) == 0 ? 1 : -1));
        break;
    default:
        if (random_below(20) == 0)
            memcpy(page, other, page_size);
        else
            memmove(page + place, other + place, page_size - place < 8 ? page_size - place : 8);
        break;
    }
}

enum { PAGES_AT_ONCE = 4, EACH_TIME = 3000 };

struct result {
    int64_t done, refused, equal, differ, sqlite_refuses, exceptions, streams, streams_differ;
    int64_t unsound;
};

static void keep(const struct image_bytes *bytes)
{
    FILE *file = getenv("CLREDUCE_KEEP") != NULL ? fopen(getenv("CLREDUCE_KEEP"), "wb") : NULL;

    if (file == NULL)
        return;
    fwrite(bytes->data, 1, bytes->size, file);
    fclose(file);
}

/* SQLite's full scan of the same bytes, beside the columns if they were loaded. */
static void ask_sqlite(const struct image *image, const struct image_bytes *bytes, bool done,
                       struct result *result)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    char text[200] = "";
    int code;

    if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
        sqlite3_deserialize(db, "main", bytes->data, (sqlite3_int64)bytes->size,
                            (sqlite3_int64)bytes->size, SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
        tap_bail("no database");
    statement = image_select(image, db, "t");
    TAP_NEED(statement != NULL, "no statement: %s", sqlite3_errmsg(db));
    if (done) {
        code = image_compare(image, statement, text, sizeof text);
    } else {
        while ((code = sqlite3_step(statement)) == SQLITE_ROW)
            continue;
    }
    if (code != SQLITE_DONE && code != SQLITE_MISMATCH)
        result->sqlite_refuses++;
    if (done && code == SQLITE_DONE) {
        result->equal++;
    } else if (done) {
        if (result->differ + result->exceptions < 10) {
            tap_diag("SQLite's code %d, %s; CLREDUCE_KEEP names a file for it", code, text);
            keep(bytes);
        }
        if (code == SQLITE_MISMATCH)
            result->differ++;
        else
            result->exceptions++;
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

/* Counts the values of each of the image's columns that are not NULL. */
struct totals {
    struct clr_instruction instructions[IMAGE_COLUMNS];
    struct clr_tally tallies[IMAGE_COLUMNS];
    struct clr_scan scan;
};

static void make_totals(struct totals *totals, const struct image *image)
{
    for (int i = 0; i < image->count; i++) {
        totals->instructions[i] = (struct clr_instruction){CLR_OP_COLUMN, i, -1, -1};
        totals->tallies[i] = (struct clr_tally){.x = i, .y = -1, .filter = -1};
    }
    totals->scan = (struct clr_scan){.instruction_count = image->count,
                                     .column_count = image->count,
                                     .tally_count = image->count,
                                     .filter = -1,
                                     .instructions = totals->instructions,
                                     .columns = image->columns,
                                     .rows = image->layout.rows,
                                     .tallies = totals->tallies};
}

/* Streams the damaged bytes, beside the columns if they were loaded. */
static void try_stream(const struct image *image, const struct clr_source *source, uint32_t root,
                       bool done, struct result *result)
{
    struct totals loaded, streamed;
    struct clr_load_report report;
    struct clr_status status;
    enum clr_load_outcome outcome;
    struct clr_groups *groups;
    size_t rows;
    bool same;

    make_totals(&loaded, image);
    make_totals(&streamed, image);
    outcome = clr_stream(source, root, image->fields, &streamed.scan, random_below(100000), &groups,
                         &rows, NULL, &report, &status);
    same = (outcome == CLR_LOAD_DONE) == done;
    if (same && done) {
        same = rows == image->layout.rows && clr_host_scan(&loaded.scan, NULL) == CLR_SCAN_DONE;
        for (int i = 0; i < image->count && same; i++)
            same = loaded.tallies[i].state.count == streamed.tallies[i].state.count;
    }
    result->streams++;
    result->streams_differ += !same;
}

/* Loads the damaged bytes; some wants are few, for the decoder's other way, and some with bytes. */
static void try_damaged(const struct image_bytes *bytes, uint32_t root, struct result *result)
{
    struct image image = {0};
    struct clr_source source = image_source(bytes->data);
    enum clr_load_outcome outcome;

    source.context = (void *)(uintptr_t)bytes;
    source.parallel = random_below(8) == 0;
    if (random_below(3) == 0)
        image_map(&source, bytes);
    switch (random_below(8)) {
    case 7:
        image_add(&image, "a", 0, false);
        image_add(&image, "i", 8, false);
        break;
    case 0:
        image_add(&image, "e", 4, false);
        break;
    case 2:
        image_add_bytes(&image, "c", 2);
        break;
    case 3:
        image_add(&image, "a", 0, false);
        image_add_bytes(&image, "c", 2);
        image_add_bytes(&image, "d", 3);
        image.fields[2].is_real = true;
        image_add_bytes(&image, "e", 4);
        break;
    case 1:
        image_add(&image, "b", 1, true);
        break;
    case 4:
        image_add_codes(&image, "c", 2, false);
        image_add_codes(&image, "d", 3, true);
        image_add_codes(&image, "rowid", CLR_FIELD_ROWID, false);
        image_add(&image, "a", 0, false);
        image_add_bytes(&image, "c", 2);
        break;
    default:
        image_add(&image, "rowid", CLR_FIELD_ROWID, false);
        image_add(&image, "a", 0, false);
        image_add(&image, "d", 3, true);
        image_add(&image, "c", 2, false);
        break;
    }
    outcome = image_load(&image, &source, root);
    if (outcome == CLR_LOAD_DONE)
        result->done++;
    else
        result->refused++;
    for (int i = 0; i < image.count && outcome == CLR_LOAD_DONE; i++)
        result->unsound +=
            image.columns[i]->codes != NULL && !image_has_sound_codes(image.columns[i]);
    /* Where the load is refused SQLite's opinion only makes the test slower. */
    if (outcome == CLR_LOAD_DONE || random_below(50) == 0)
        ask_sqlite(&image, bytes, outcome == CLR_LOAD_DONE, result);
    if (random_below(4) == 0 && !image.fields[0].with_codes)
        try_stream(&image, &source, root, outcome == CLR_LOAD_DONE, result);
    image_free(&image);
}

/* A file that is shorter than its header says, and a header that says anything. Where only the
   number of pages is wrong, what can be loaded is what the sound file has. */
static void test_sizes(const struct image_bytes *sound, uint32_t root)
{
    struct image_bytes bytes = {malloc(sound->size), sound->size};
    struct image whole = {0};
    int done = 0, short_ones = 0, wrong = 0;
    struct clr_source source = image_source(sound->data);

    source.context = (void *)(uintptr_t)sound;
    image_add(&whole, "d", 3, true);
    TAP_NEED(image_load(&whole, &source, root) == CLR_LOAD_DONE, "the sound file cannot be loaded");
    for (int i = 0; i < EACH_TIME; i++) {
        struct image image = {0};
        bool is_done;

        memcpy(bytes.data, sound->data, sound->size);
        bytes.size = random_below(sound->size);
        source = image_source(bytes.data);
        source.context = &bytes;
        if (i % 2 == 0)
            source.page_count = (uint32_t)(random_bits() >> (40 + random_below(24)));
        if (i % 3 == 0)
            source.page_size = 512U << random_below(8);
        if (i % 3 == 0)
            source.usable_size = source.page_size - (uint32_t)random_below(33);
        image_add(&image, "d", 3, true);
        is_done = image_load(&image, &source, i % 5 == 0 ? (uint32_t)random_below(100) : root) ==
                  CLR_LOAD_DONE;
        done += is_done;
        if (is_done && i % 3 != 0 && i % 5 != 0) {
            short_ones++;
            wrong += !image_equal(&image, &whole);
        }
        image_free(&image);
    }
    tap_is_int64(wrong, 0, "of %d short files that could be loaded: the values of the sound one",
                 short_ones);
    tap_ok(done < EACH_TIME, "%d files of wrong sizes, of which %d could be loaded", EACH_TIME,
           done);
    image_free(&whole);
    free(bytes.data);
}

static void test_damages(int page_size, int auto_vacuum, int rows, int64_t damages)
{
    uint32_t root;
    struct image_bytes sound = damage_new_database(page_size, auto_vacuum, rows, &root), bytes;
    struct result result = {0};

    bytes.data = malloc(sound.size);
    bytes.size = sound.size;
    for (int64_t i = 0; i < damages;) {
        uint64_t pages = 1 + random_below(PAGES_AT_ONCE);

        memcpy(bytes.data, sound.data, sound.size);
        for (; pages > 0; pages--, i++)
            damage_page(&bytes, (size_t)page_size);
        try_damaged(&bytes, root, &result);
    }
    tap_diag("%d loaded, %d refused; SQLite: %d equal, %d refused", (int)result.done,
             (int)result.refused, (int)result.equal, (int)result.sqlite_refuses);
    tap_is_int64(result.differ, 0,
                 "pages of %d, auto_vacuum %d, %d rows: values as SQLite has them", page_size,
                 auto_vacuum, rows);
    tap_is_int64(result.exceptions, 0, "and none where SQLite has none");
    tap_is_int64(result.unsound, 0, "and codes of values that rows have");
    tap_is_int64(result.streams_differ, 0, "nor does one of %d streams differ from its load",
                 (int)result.streams);
    test_sizes(&sound, root);
    free(bytes.data);
    sqlite3_free(sound.data);
}

TAP_TEST(all_tests)
{
    const char *text = getenv("CLREDUCE_DAMAGES");
    int64_t damages = tap_is_quick() ? 48000 : 300000;
#ifdef __SANITIZE_THREAD__
    damages = 12000; /* one thread at a time */
#endif

    if (text != NULL)
        damages = strtoll(text, NULL, 10);
    damages /= 6;
    test_damages(512, 0, 20, damages);
    test_damages(512, 0, 150, damages);
    test_damages(512, 1, 150, damages);
    test_damages(1024, 0, 300, damages);
    test_damages(4096, 0, 5, damages);
    test_damages(4096, 0, 300, damages);
}

/*
 * Loads that a device decodes, or several, on every OpenCL device there is, against what SQLite
 * reads and what the host loads from the same bytes, sound or damaged. A CPU device runs the code
 * for GPUs as well, as in device-t.c. CLREDUCE_DAMAGES sets how many databases are damaged for each
 * device.
 */
#include "storage/damage.h"
#include "storage/feeding.h"
#include "storage/image.h"

#include "base/memory.h"
#include "engine/workers.h"
#include "opencl/devices.h"
#include "random.h"

#include <pthread.h>
#include <stdatomic.h>

enum { DAMAGES = 1500, QUICK_DAMAGES = 60, MOST_DEVICES = 3 };

/* ---- Sound databases. */

/* A form that a database file can have. */
struct form {
    int page_size, reserved, rows, long_rows; /* one row in so many has overflow pages; 0: none */
};

static const struct form forms[] = {
    {512, 0, 3000, 0},   {512, 5, 2000, 300},    {1024, 0, 5000, 900},
    {4096, 32, 9000, 0}, {4096, 0, 20000, 2500}, {65536, 0, 120000, 0},
};

/* Rows of all sorts of values, rowids of all lengths, and columns that came later. */
static sqlite3 *fill(const struct form *form)
{
    int reserved = form->reserved;
    char sql[2000];
    sqlite3 *db;

    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        tap_bail("no database");
    sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
    snprintf(sql, sizeof sql,
             "PRAGMA page_size = %d; BEGIN; CREATE TABLE t(a INT, b REAL, c, d REAL, e, f INT);"
             "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
             " INSERT INTO t(rowid, a, b, c, d, e, f) SELECT"
             "  iif(i < %d, i - 1000, (1 << (i %% 46)) * 65536 + i), (i * i * i) >> (i %% 40),"
             "  i / 3.0, iif(%d AND i %% %d = 7, zeroblob(9 * %d), iif(i %% 5, 't' || i, NULL)),"
             "  iif(i %% 3, i, 1e300 * 1e300), iif(i %% 7 = 2, 1, iif(i %% 7 = 3, 0, i * 1.5)), -i"
             " FROM n;"
             "ALTER TABLE t ADD COLUMN g INT DEFAULT 7; ALTER TABLE t ADD COLUMN h REAL DEFAULT 2;"
             "ALTER TABLE t ADD COLUMN i; INSERT INTO t(a, g, h, i) SELECT rowid, a, b, NULL FROM t"
             "  WHERE rowid < 3000 AND rowid > 0;"
             "DELETE FROM t WHERE rowid %% 5 = 1; COMMIT",
             form->page_size, form->rows, form->rows - 50, form->long_rows > 0,
             form->long_rows > 0 ? form->long_rows : 1, form->page_size);
    image_sql(db, sql);
    return db;
}

static int compare_leaves(const void *a, const void *b)
{
    const struct clr_leaf *first = a, *second = b;

    return (first->number > second->number) - (first->number < second->number);
}

/* Leaves in the order of their pages, to be freed with free(). */
static struct clr_leaf *sort_leaves(const struct clr_layout *layout)
{
    struct clr_leaf *leaves = malloc(layout->leaf_count * sizeof *leaves);

    if (leaves == NULL)
        tap_bail("no memory");
    memcpy(leaves, layout->leaves, layout->leaf_count * sizeof *leaves);
    qsort(leaves, layout->leaf_count, sizeof *leaves, compare_leaves);
    return leaves;
}

/* Whether two loads took the same notes of the leaves. */
static bool same_leaves(const struct clr_layout *fed, const struct clr_layout *here)
{
    struct clr_leaf *first, *second;
    bool same = true;
    size_t i;

    if (fed->leaf_count != here->leaf_count || fed->chain_words != here->chain_words ||
        memcmp(fed->chains, here->chains, fed->chain_words * sizeof *fed->chains) != 0)
        return false;
    first = sort_leaves(fed);
    second = sort_leaves(here);
    for (i = 0; i < fed->leaf_count; i++) {
        const struct clr_leaf *a = &first[i], *b = &second[i];

        same = same && a->number == b->number && a->first == b->first && a->last == b->last &&
               a->rows == b->rows && a->is_chained == b->is_chained;
    }
    free(first);
    free(second);
    return same;
}

/* Columns loaded one by one into a layout that is known. */
static bool same_alone(struct feeding *feeding, const struct image *image,
                       const struct clr_source *source, uint32_t root)
{
    bool same = true;
    size_t row;
    int i;

    for (i = 0; i < image->count && same; i++) {
        struct image one = {.fields = {image->fields[i]}, .count = 1, .layout = image->layout};

        same = feeding_load(feeding, &one, source, root) == CLR_LOAD_DONE &&
               feeding->decoding.is_done && one.columns[0]->kind == image->columns[i]->kind;
        for (row = 0; same && row < image->layout.rows; row++) {
            struct clr_scalar a = image_value(one.columns[0], row);
            struct clr_scalar b = image_value(image->columns[i], row);

            same = a.tag == b.tag && a.bits == b.bits;
        }
        clr_column_release(one.columns[0]);
    }
    return same;
}

static void test_form(struct feeding *feeding, const struct form *form)
{
    sqlite3 *db = fill(form);
    struct image image = image_of_nine(), here = image_of_nine();
    struct image_bytes bytes = image_serialize(db);
    struct clr_source source = image_bytes_source(&bytes);
    uint32_t root = image_root(db, "t");
    char name[100];

    snprintf(name, sizeof name, "pages of %d less %d, %s", form->page_size, form->reserved,
             form->long_rows > 0 ? "some rows long" : "no row long");
    tap_is_int64(feeding_load(feeding, &image, &source, root), CLR_LOAD_DONE, "%s: loaded", name);
    tap_ok(feeding->decoding.is_done, "%s: decoded by the device", name);
    image_test(&image, db, "t", name);
    image_load(&here, &source, root);
    tap_ok(same_leaves(&image.layout, &here.layout), "%s: the leaves are noted", name);
    tap_ok(same_alone(feeding, &image, &source, root), "%s: the same column by column", name);
    image_free(&image);
    image_free(&here);
    sqlite3_free(bytes.data);
    sqlite3_close(db);
}

/* Columns all of one kind have no tags, and those that are no numbers no values. */
static void test_kinds(struct feeding *feeding)
{
    static const int kinds[] = {CLR_TAG_INTEGER, CLR_TAG_REAL, CLR_TAG_BYTES, CLR_TAG_NULL,
                                CLR_TAG_MIXED};
    struct image image = {0};
    struct image_bytes bytes;
    struct clr_source source;
    sqlite3 *db;
    int i;

    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        tap_bail("no database");
    image_sql(db, "CREATE TABLE t(i INT, r REAL, o TEXT, n, m);"
                  "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n"
                  " WHERE i < 30000) INSERT INTO t SELECT i, i, 'text', NULL,"
                  " iif(i = 29999, 'x', i) FROM n");
    bytes = image_serialize(db);
    source = image_bytes_source(&bytes);
    image_add(&image, "i", 0, false);
    image_add(&image, "r", 1, true);
    image_add(&image, "o", 2, false);
    image_add(&image, "n", 3, false);
    image_add(&image, "m", 4, false);
    feeding_load(feeding, &image, &source, image_root(db, "t"));
    tap_ok(feeding->decoding.is_done, "columns of one kind: decoded by the device");
    image_test(&image, db, "t", "columns of one kind");
    for (i = 0; i < image.count && image.columns[i] != NULL; i++)
        tap_is_int64(image.columns[i]->kind, kinds[i], "kind of column %s", image.names[i]);
    image_free(&image);
    sqlite3_free(bytes.data);
    sqlite3_close(db);
}

/* Where most rows have overflow pages before the column, or a default that is no number. */
static void test_unsuited(struct feeding *feeding)
{
    struct image image = {0}, unsure = {0};
    struct image_bytes bytes;
    struct clr_source source;
    sqlite3 *db;

    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        tap_bail("no database");
    image_sql(db, "PRAGMA page_size = 512; CREATE TABLE t(a, b);"
                  "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n"
                  " WHERE i < 3000) INSERT INTO t SELECT zeroblob(900), i FROM n");
    bytes = image_serialize(db);
    source = image_bytes_source(&bytes);
    image_add(&image, "b", 1, false);
    tap_is_int64(feeding_load(feeding, &image, &source, image_root(db, "t")), CLR_LOAD_DONE,
                 "rows that are all long: loaded");
    tap_ok(!feeding->decoding.is_done && feeding->decoding.is_unsuited, "by the host, as is said");
    image_test(&image, db, "t", "rows that are all long");
    image_add(&unsure, "c", 2, false);
    unsure.fields[0].missing.tag = CLR_TAG_UNSURE;
    tap_is_int64(feeding_load(feeding, &unsure, &source, image_root(db, "t")), CLR_LOAD_UNSUPPORTED,
                 "a default that is no number");
    tap_ok(feeding_await(feeding), "and the device is free again");
    image_free(&image);
    image_free(&unsure);
    sqlite3_free(bytes.data);
    sqlite3_close(db);
}

/* ---- Damaged databases. */

static struct image new_damaged(void)
{
    struct image image = {0};

    image_add(&image, "a", 0, false);
    image_add(&image, "b", 1, true);
    image_add(&image, "rowid", CLR_FIELD_ROWID, false);
    image_add(&image, "e", 4, false);
    return image;
}

static void test_damaged(struct feeding *feeding, int page_size, int rows)
{
    const int most = tap_is_quick() ? QUICK_DAMAGES : DAMAGES;
    const char *setting = getenv("CLREDUCE_DAMAGES");
    const int count = setting != NULL ? atoi(setting) : most;
    int done = 0, refused = 0, fed = 0, differ = 0, i, j;
    struct image_bytes sound, bytes;
    struct clr_source source;
    uint32_t root;

    sound = damage_new_database(page_size, 0, rows, &root);
    source = image_bytes_source(&sound);
    bytes = (struct image_bytes){.data = malloc(sound.size), .size = sound.size};
    if (bytes.data == NULL)
        tap_bail("no memory");
    source.context = &bytes;
    for (i = 0; i < count; i++) {
        struct image image = new_damaged(), here = new_damaged();
        enum clr_load_outcome outcome, expected;

        memcpy(bytes.data, sound.data, sound.size);
        for (j = (int)random_below(3); j >= 0; j--)
            damage_page(&bytes, (size_t)page_size);
        outcome = feeding_load(feeding, &image, &source, root);
        expected = image_load(&here, &source, root);
        done += outcome == CLR_LOAD_DONE;
        refused += outcome == CLR_LOAD_MALFORMED;
        fed += outcome == CLR_LOAD_DONE && feeding->decoding.is_done;
        if (outcome != expected || (outcome == CLR_LOAD_DONE && !image_equal(&image, &here))) {
            differ++;
            tap_diag("database %d of page size %d: outcome %d, of the host %d", i, page_size,
                     outcome, expected);
        }
        image_free(&image);
        image_free(&here);
    }
    tap_diag("%d loaded, of which %d by the device; %d refused", done, fed, refused);
    tap_is_int64(differ, 0, "%d damaged databases of page size %d: as the host has them", count,
                 page_size);
    tap_ok(fed > 0 && refused > 0, "and both are among them: loaded by the device, and refused");
    free(bytes.data);
    sqlite3_free(sound.data);
}

/* ---- What goes wrong otherwise. */

static void test_failures(struct feeding *feeding)
{
    static const struct form form = {4096, 0, 30000, 0};
    sqlite3 *db = fill(&form);
    struct image_bytes bytes = image_serialize(db);
    struct image_failing failing = {.bytes = bytes};
    struct clr_source source = image_bytes_source(&bytes), broken = source;
    uint32_t root = image_root(db, "t");
    const struct clr_watch watch = {image_stop_at_once, NULL};
    struct image image = image_of_nine();
    enum clr_load_outcome outcome = CLR_LOAD_FAILED;
    int reads, wrong = 0;

    broken.context = &failing;
    broken.read = image_read_some;
    for (reads = 1; outcome == CLR_LOAD_FAILED && reads < 1000; reads++) {
        atomic_store(&failing.reads_left, reads);
        outcome = feeding_load(feeding, &image, &broken, root);
        wrong += outcome == CLR_LOAD_FAILED && image.status.error != SQLITE_IOERR_READ;
        image_free(&image);
    }
    tap_ok(outcome == CLR_LOAD_DONE && wrong == 0 && reads > 3,
           "a read that fails, up to the %dth: SQLite's code", reads);
    source.read = image_read_slowly;
    image.decoding = &feeding->decoding;
    tap_is_int64(clr_load(&source, root, image.fields, image.count, &image.layout, image.decoding,
                          image.columns, &watch, &image.report, &image.status),
                 CLR_LOAD_STOPPED, "a watch that wants no more");
    image_free(&image);
    image = image_of_nine();
    image.layout.most_rows = 1000;
    source.read = image_read;
    tap_is_int64(feeding_load(feeding, &image, &source, root), CLR_LOAD_TOO_LARGE,
                 "more rows than there may be");
    image.layout.most_rows = 0;
    tap_is_int64(feeding_load(feeding, &image, &source, root), CLR_LOAD_DONE, "and then it loads");
    tap_ok(feeding->decoding.is_done, "by the device, which is free again");
    image_free(&image);
    sqlite3_free(bytes.data);
    sqlite3_close(db);
}

/* An allocation that fails, by whichever thread: no memory is an outcome of the host's; of the
   device's worker it is a reason for the host to decode. */
static void test_no_memory(struct feeding *feeding)
{
    static const struct form form = {1024, 0, 5000, 700};
    sqlite3 *db = fill(&form);
    struct image_bytes bytes = image_serialize(db);
    struct clr_source source = image_bytes_source(&bytes);
    uint32_t root = image_root(db, "t");
    struct image expected = image_of_nine();
    int failed = 0, here = 0, wrong = 0;
    long fails;

    image_load(&expected, &source, root);
    for (fails = 0; fails < 200; fails += 1 + fails / (tap_is_quick() ? 5 : 20)) {
        struct image image = image_of_nine();
        enum clr_load_outcome outcome;

        image.decoding = &feeding->decoding;
        feeding->decoding.is_done = false;
        clr_memory_fail_after(fails);
        outcome = image_load(&image, &source, root);
        clr_memory_fail_after(-1);
        failed += outcome == CLR_LOAD_FAILED;
        here += outcome == CLR_LOAD_DONE && !feeding->decoding.is_done;
        wrong +=
            outcome == CLR_LOAD_FAILED ? image.status.code != CLR_NOMEM : outcome != CLR_LOAD_DONE;
        if (outcome == CLR_LOAD_DONE) {
            feeding_fetch(feeding, &image);
            wrong += !image_equal(&image, &expected);
        }
        image_free(&image);
    }
    tap_is_int64(wrong, 0, "an allocation fails: no memory, or what the host has");
    tap_ok(failed > 0, "%d loads failed, and %d were the host's", failed, here);
    image_free(&expected);
    sqlite3_free(bytes.data);
    sqlite3_close(db);
}

/* ---- Loads at the same time. */

/* PATIENCE: so many times as often, if the device was always too late. */
enum { TURNS = 10, QUICK_TURNS = 4, PATIENCE = 50 };

struct rival {
    struct feeding feeding;
    const struct clr_source *source;
    uint32_t root;
    const struct image *expected;
    int turns, loads, wrong;
    atomic_int *fed; /* of all rivals together */
};

static void *load_often(void *argument)
{
    struct rival *rival = argument;
    int i;

    for (i = 0; i < rival->turns || (i < PATIENCE * rival->turns && atomic_load(rival->fed) == 0);
         i++) {
        struct image image = image_of_nine();

        if (feeding_load(&rival->feeding, &image, rival->source, rival->root) != CLR_LOAD_DONE ||
            !image_equal(&image, rival->expected))
            rival->wrong++;
        atomic_fetch_add(rival->fed, rival->feeding.decoding.is_done);
        rival->loads++;
        image_free(&image);
    }
    return NULL;
}

static void test_rivals(struct clr_worker *worker)
{
    static const struct form form = {1024, 0, 20000, 0};
    sqlite3 *db = fill(&form);
    struct image_bytes bytes = image_serialize(db);
    struct clr_source source = image_bytes_source(&bytes);
    struct image expected = image_of_nine();
    struct rival rivals[3];
    pthread_t threads[3];
    int i, loads = 0, wrong = 0;
    atomic_int fed = 0;

    image_load(&expected, &source, image_root(db, "t"));
    for (i = 0; i < 3; i++) {
        rivals[i] = (struct rival){.source = &source,
                                   .root = image_root(db, "t"),
                                   .expected = &expected,
                                   .fed = &fed,
                                   .turns = tap_is_quick() ? QUICK_TURNS : TURNS};
        feeding_init(&rivals[i].feeding, worker);
        rivals[i].feeding.waits = false;
        if (pthread_create(&threads[i], NULL, load_often, &rivals[i]) != 0)
            tap_bail("no thread");
    }
    for (i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        loads += rivals[i].loads;
        wrong += rivals[i].wrong;
    }
    tap_is_int64(wrong, 0, "three threads that load at a time have what the host has");
    tap_ok(fed > 0, "%d of %d loads by the device", (int)fed, loads);
    image_free(&expected);
    sqlite3_free(bytes.data);
    sqlite3_close(db);
}

/* As many workers of a device decode a part of the pages each. */
static void test_devices(const struct clr_device_info *info, int count)
{
    struct clr_worker *decoders[MOST_DEVICES];
    struct feeding feeding;
    size_t i;

    tap_diag("%s (%s), %d times", info->name, info->platform, count);
    for (i = 0; i < (size_t)count; i++)
        decoders[i] = workers_start(info);
    feeding_init_many(&feeding, decoders, count);
    if (!tap_ok(feeding_await(&feeding), "the device decodes")) {
        tap_diag("%s", feeding.status.message);
        return;
    }
    for (i = 0; i < sizeof forms / sizeof forms[0]; i += tap_is_quick() ? 2 : 1)
        test_form(&feeding, &forms[i]);
    test_kinds(&feeding);
    test_unsuited(&feeding);
    test_damaged(&feeding, 512, 1200);
    test_damaged(&feeding, 1024, 1500);
    test_failures(&feeding);
    test_no_memory(&feeding);
    if (count == 1)
        test_rivals(decoders[0]);
}

static void test_device(const struct clr_device_info *info)
{
    test_devices(info, 1);
    if (devices_clash(info))
        tap_skip(1, "several devices of this PoCL abort");
    else
        test_devices(info, MOST_DEVICES);
}

int main(void)
{
    random_start();
    if (clr_team_size() < 2)
        tap_skip_all("pages are fed by several threads, and there is one processor");
    devices_each(test_device, false);
    return tap_done();
}

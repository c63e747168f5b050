/* Snapshots whose pages are partly in the write-ahead log. */
#include "batch.h"
#include "storage/image.h"

#include "storage/snapshot/wal.c"

#include "base/memory.h"

#include "random.h"

#include <fcntl.h>
#include <unistd.h>

struct files {
    int database, log;
    int64_t log_bytes; /* that were read */
};

static char path[100], log_path[110], index_path[110];

static int read_files(void *context, enum clr_file file, void *buffer, size_t size, int64_t offset)
{
    struct files *files = context;
    int descriptor = file == CLR_FILE_DATABASE ? files->database : files->log;

    if (file == CLR_FILE_WAL)
        files->log_bytes += (int64_t)size;
    return pread(descriptor, buffer, size, offset) == (ssize_t)size ? 0 : SQLITE_IOERR_SHORT_READ;
}

/* What the wal-index says of the newest snapshot: https://sqlite.org/walformat.html, section 2.1.
 */
struct snapshot {
    unsigned char salts[8];
    uint32_t last, page_count;
};

static struct snapshot read_snapshot(void)
{
    unsigned char header[48];
    struct snapshot snapshot;
    int file = open(index_path, O_RDONLY);

    TAP_NEED(file >= 0 && pread(file, header, sizeof header, 0) == (ssize_t)sizeof header,
             "no wal-index");
    close(file);
    memcpy(&snapshot.last, header + 16, 4);
    memcpy(&snapshot.page_count, header + 20, 4);
    memcpy(snapshot.salts, header + 32, 8);
    return snapshot;
}

/* The files of a database of so many pages, of 1024 bytes. */
static struct clr_source source_of(struct files *files, uint32_t page_count)
{
    return (struct clr_source){.context = files,
                               .read = read_files,
                               .page_size = 1024,
                               .usable_size = 1024,
                               .page_count = page_count};
}

static void test_snapshot(sqlite3 *db, struct files *files, const char *name)
{
    struct snapshot snapshot = read_snapshot();
    struct clr_source source = source_of(files, snapshot.page_count);
    struct image image = {0};
    struct clr_status status;
    struct clr_wal_map map = {0};

    source.parallel = true;
    tap_is_int64(clr_wal_map_read(&map, &source, snapshot.salts, snapshot.last, NULL, &status),
                 CLR_OK, "%s: the log is mapped", name);
    tap_diag("%u of %u pages in %u frames", (unsigned)map.used, (unsigned)source.page_count,
             (unsigned)snapshot.last);
    source.log = &map;
    image_add(&image, "rowid", CLR_FIELD_ROWID, false);
    image_add(&image, "a", 0, false);
    image_add(&image, "b", 1, true);
    image_add(&image, "d", 3, true);
    tap_is_int64(image_load(&image, &source, image_root(db, "t")), CLR_LOAD_DONE, "loaded");
    image_test(&image, db, "t", name);
    image_free(&image);
    clr_wal_map_free(&map);
}

static enum clr_code map(const struct clr_source *source, const struct snapshot *snapshot,
                         struct clr_status *status)
{
    struct clr_wal_map map = {0};
    enum clr_code code =
        clr_wal_map_read(&map, source, snapshot->salts, snapshot->last, NULL, status);

    if (code != CLR_OK && (map.used != 0 || map.last != 0))
        tap_ok(false, "frames only when the log is mapped");
    clr_wal_map_free(&map);
    return code;
}

static void test_refusals(struct files *files)
{
    struct snapshot good = read_snapshot(), bad = good;
    struct clr_source source = source_of(files, good.page_count);
    struct clr_status status;

    bad.salts[7] ^= 1;
    tap_is_int64(map(&source, &bad, &status), CLR_INVALID, "other salts: %s", status.message);
    bad = good;
    bad.last--;
    tap_is_int64(map(&source, &bad, &status), CLR_INVALID, "no commit: %s", status.message);
    bad.last = 1000000;
    tap_ok(map(&source, &bad, &status) != CLR_OK, "more frames: %s", status.message);
    source.page_size = 512;
    tap_is_int64(map(&source, &good, &status), CLR_INVALID, "page size: %s", status.message);
    source.page_size = 1024;
    bad.last = 0;
    tap_is_int64(map(&source, &bad, &status), CLR_OK, "no frames");
    clr_memory_fail_after(0);
    tap_is_int64(map(&source, &good, &status), CLR_NOMEM, "no memory");
    clr_memory_fail_after(-1);
    source.context = &(struct files){-1, -1, 0};
    tap_is_int64(map(&source, &good, &status), CLR_IO, "no log: %s", status.message);
    tap_is_int64(status.error, SQLITE_IOERR_SHORT_READ, "with SQLite's code");
    tap_is_int64(map(&source, &bad, &status), CLR_OK, "and none is needed without frames");
}

/* ---- A map that is kept and extended, against one that is made anew. */

enum { HEADER_BYTES = 32, FRAME_HEADER_BYTES = 24 };

/* Returns how many bytes of the log it takes to look at so many frames. */
static int64_t bytes_of(uint32_t frames)
{
    return HEADER_BYTES + (int64_t)frames * FRAME_HEADER_BYTES;
}

/* Something of what applications do to a database. The log begins anew by way of RESTART. */
static void change(sqlite3 *db)
{
    static const char *const rare[] = {
        "DELETE FROM t WHERE rowid % 3 = 0; PRAGMA incremental_vacuum",
        "PRAGMA wal_checkpoint(PASSIVE)",
        "PRAGMA wal_checkpoint(RESTART)",
        "PRAGMA wal_checkpoint(TRUNCATE); UPDATE t SET b = 2.5 WHERE rowid % 201 = 3",
        "BEGIN; UPDATE t SET a = 0 WHERE rowid < 300; ROLLBACK",
    };
    static const char *const frequent[] = {
        "UPDATE t SET a = a + 1 WHERE rowid %% 97 = %d",
        "INSERT INTO t SELECT a, b, c, d FROM t WHERE rowid %% 53 = %d",
        "DELETE FROM t WHERE rowid %% 41 = %d",
    };
    char *sql;

    if (random_below(3) == 0) {
        image_sql(db, rare[random_below(sizeof rare / sizeof *rare)]);
        return;
    }
    sql = sqlite3_mprintf(frequent[random_below(sizeof frequent / sizeof *frequent)],
                          random_between(0, 40));
    image_sql(db, sql);
    sqlite3_free(sql);
}

/* Checks that what a map tells of the latest frames is what the log does, of which nothing but its
   header is read then; and that a map of fewer frames, or of another log, tells nothing. */
static void check_changes(struct files *files, struct clr_source source,
                          const struct clr_wal_map *map, const struct snapshot *snapshot)
{
    const uint32_t first = 1 + (uint32_t)random_below(snapshot->last);
    struct clr_page_set *read = NULL, *changes = NULL;
    struct clr_wal_map other = *map;
    struct clr_status status = {0};
    uint32_t page;
    bool same;

    batch_ok(clr_wal_changes(&source, snapshot->salts, first, snapshot->last, NULL, &read,
                             &status) == CLR_OK,
             "frames %u to %u: %s", (unsigned)first, (unsigned)snapshot->last, status.message);
    source.log = map;
    files->log_bytes = 0;
    batch_ok(clr_wal_changes(&source, snapshot->salts, first, snapshot->last, NULL, &changes,
                             &status) == CLR_OK &&
                 files->log_bytes == bytes_of(0),
             "the same by a map: %lld bytes read, %s", (long long)files->log_bytes, status.message);
    same = read != NULL && changes != NULL;
    for (page = 1; page <= snapshot->page_count && same; page++)
        same = clr_page_set_has(read, page) == clr_page_set_has(changes, page);
    batch_ok(same, "frames %u to %u: other pages by a map", (unsigned)first,
             (unsigned)snapshot->last);
    clr_page_set_free(changes);
    source.log = &other;
    if (random_below(2) == 0)
        other.last--;
    else
        other.salts[7] ^= 1;
    files->log_bytes = 0;
    batch_ok(clr_wal_changes(&source, snapshot->salts, first, snapshot->last, NULL, &changes,
                             &status) == CLR_OK &&
                 files->log_bytes == bytes_of(snapshot->last - first + 1),
             "by a map of other frames: %lld bytes read, %s", (long long)files->log_bytes,
             status.message);
    clr_page_set_free(changes);
    clr_page_set_free(read);
}

static void test_extension(sqlite3 *db, struct files *files)
{
    struct clr_source source = source_of(files, 0);
    struct clr_wal_map kept = {0};
    int rounds = tap_is_quick() ? 100 : 400, extended = 0, anew = 0;

    for (int i = 0; i < rounds; i++) {
        struct clr_wal_map fresh = {0};
        struct snapshot snapshot;
        struct clr_status status = {0};
        uint32_t before;
        bool same_log;

        change(db);
        snapshot = read_snapshot();
        source.page_count = snapshot.page_count;
        same_log = memcmp(kept.salts, snapshot.salts, sizeof kept.salts) == 0 &&
                   kept.last <= snapshot.last && kept.last > 0;
        before = same_log ? kept.last : 0;
        files->log_bytes = 0;
        batch_ok(clr_wal_map_read(&kept, &source, snapshot.salts, snapshot.last, NULL, &status) ==
                     CLR_OK,
                 "round %d: %s", i, status.message);
        batch_ok(files->log_bytes == (snapshot.last == 0 ? 0 : bytes_of(snapshot.last - before)),
                 "round %d: %lld bytes read for frames %u to %u", i, (long long)files->log_bytes,
                 (unsigned)before + 1, (unsigned)snapshot.last);
        batch_ok(clr_wal_map_read(&fresh, &source, snapshot.salts, snapshot.last, NULL, &status) ==
                     CLR_OK,
                 "round %d, anew: %s", i, status.message);
        for (uint32_t page = 1; page <= snapshot.page_count; page++)
            batch_ok(clr_wal_map_find(&kept, page) == clr_wal_map_find(&fresh, page),
                     "round %d: page %u in frame %u, anew %u", i, (unsigned)page,
                     (unsigned)clr_wal_map_find(&kept, page),
                     (unsigned)clr_wal_map_find(&fresh, page));
        if (snapshot.last > 0)
            check_changes(files, source, &kept, &snapshot);
        extended += same_log && snapshot.last > before;
        anew += !same_log && snapshot.last > 0;
        clr_wal_map_free(&fresh);
    }
    batch_end("%d rounds: a map that is extended is that which is made anew", rounds);
    tap_ok(extended > rounds / 8, "%d were extended", extended);
    tap_ok(anew > rounds / 32, "%d were of a new log", anew);
    clr_wal_map_free(&kept);
}

/* A failure in the middle leaves no half of a map, and what comes next is whole. */
static void test_failing_extension(sqlite3 *db, struct files *files)
{
    struct snapshot snapshot = read_snapshot();
    struct clr_source source = source_of(files, snapshot.page_count);
    struct clr_wal_map map = {0};
    struct clr_status status;

    clr_wal_map_read(&map, &source, snapshot.salts, snapshot.last, NULL, &status);
    image_sql(db, "UPDATE t SET a = a + 1");
    snapshot = read_snapshot();
    source.page_count = snapshot.page_count;
    tap_ok(clr_wal_map_read(&map, &source, snapshot.salts, snapshot.last + 1, NULL, &status) !=
               CLR_OK,
           "a frame that is not there: %s", status.message);
    tap_is_int64(map.last, 0, "the map is of no log then");
    tap_is_int64(clr_wal_map_find(&map, 1), 0, "and has no page");
    tap_is_int64(clr_wal_map_read(&map, &source, snapshot.salts, snapshot.last, NULL, &status),
                 CLR_OK, "the next is whole");
    tap_is_int64(clr_wal_map_read(&map, &source, snapshot.salts, 0, NULL, &status), CLR_OK,
                 "no frames");
    tap_is_int64((int64_t)map.used, 0, "have no pages");
    clr_wal_map_free(&map);
}

/* The size of a map follows from the frames that are there, whatever the log says. */
static void test_hostile_size(struct files *files)
{
    struct snapshot snapshot = read_snapshot();
    struct clr_source source = source_of(files, UINT32_C(0xfffffff0));
    struct clr_wal_map map = {0};
    struct clr_status status;

    tap_is_int64(clr_wal_map_read(&map, &source, snapshot.salts, snapshot.last, NULL, &status),
                 CLR_INVALID, "another size: %s", status.message);
    tap_ok(map.capacity <= 4 * (size_t)snapshot.last + 64, "%llu slots for %u frames",
           (unsigned long long)map.capacity, (unsigned)snapshot.last);
    clr_wal_map_free(&map);
}

/* Pages that share slots in one map do not in another one, whose seed differs. */
static void test_hostile_pages(void)
{
    enum { PAGES = 4096, SHARED = 64, LONGEST = 128 };
    struct clr_wal_map known = {.seed = random_bits()}, map = {.seed = random_bits()};
    uint32_t page, pages = 0;
    size_t run = 0, longest = 0;

    tap_ok(add_frame(&map, 1) && add_frame(&known, 1), "two maps");
    for (page = 2; add_frame(&known, page) && page < PAGES; page++)
        ;
    for (page = 2; pages < PAGES && page < UINT32_MAX; page++) {
        if (clr_wal_map_slot(&known, page) < SHARED)
            pages += add_frame(&map, page);
    }
    tap_is_int64((int64_t)map.used, PAGES + 1, "pages up to %u, which share %d slots in one",
                 (unsigned)page, SHARED);
    for (size_t i = 0; i < map.capacity; i++) {
        run = map.slots[i].page == 0 ? 0 : run + 1;
        longest = run > longest ? run : longest;
    }
    tap_ok(longest < LONGEST, "lie in runs of %d at most in the other one", (int)longest);
    clr_wal_map_clear(&map);
    tap_is_int64((int64_t)map.used, 0, "cleared");
    tap_ok(map.seed != 0, "the seed stays");
    clr_wal_map_free(&known);
    clr_wal_map_free(&map);
}

/* A read that takes longer than the watch may be left unasked. */
static int read_slowly(void *context, enum clr_file file, void *buffer, size_t size, int64_t offset)
{
    usleep(11000);
    return read_files(context, file, buffer, size, offset);
}

static bool stop_at_third(void *context)
{
    return ++*(int *)context == 3;
}

static void test_stop(struct files *files)
{
    struct snapshot snapshot = read_snapshot();
    struct clr_source source = source_of(files, snapshot.page_count);
    int asked = 0;
    const struct clr_watch watch = {stop_at_third, &asked};
    struct clr_wal_map map = {0};
    struct clr_status status;
    struct clr_page_set *changes;

    source.read = read_slowly;
    TAP_NEED(snapshot.last >= 4, "the log has %u frames", (unsigned)snapshot.last);
    tap_is_int64(clr_wal_map_read(&map, &source, snapshot.salts, snapshot.last, &watch, &status),
                 CLR_STOPPED, "the watch stops it: %s", status.message);
    tap_is_int64(asked, 3, "which was asked again and again");
    tap_is_int64((int64_t)map.used, 0, "the map is of no log then");
    asked = 0;
    tap_is_int64(
        clr_wal_changes(&source, snapshot.salts, 1, snapshot.last, &watch, &changes, &status),
        CLR_STOPPED, "the same of changes");
    tap_ok(changes == NULL, "there are none then");
    clr_wal_map_free(&map);
}

TAP_TEST(all_tests)
{
    static const char *const steps[] = {
        "UPDATE t SET a = a + 1 WHERE rowid % 50 = 7",
        "INSERT INTO t SELECT a * 3, b, zeroblob(a % 3000), d FROM t LIMIT 700",
        "PRAGMA wal_checkpoint(PASSIVE); UPDATE t SET b = 1.5 WHERE rowid % 31 = 1",
        "DELETE FROM t WHERE rowid % 3 = 0; PRAGMA incremental_vacuum",
        "PRAGMA wal_checkpoint(RESTART); UPDATE t SET d = 0.25 WHERE rowid % 100 = 1",
    };
    char folder[] = "wal-t-XXXXXX";
    struct files files;
    sqlite3 *db;

    TAP_NEED(mkdtemp(folder) != NULL, "no folder");
    snprintf(path, sizeof path, "%s/t.db", folder);
    snprintf(log_path, sizeof log_path, "%s-wal", path);
    snprintf(index_path, sizeof index_path, "%s-shm", path);
    TAP_NEED(sqlite3_open(path, &db) == SQLITE_OK, "no database");
    image_sql(db, "PRAGMA page_size = 1024; PRAGMA auto_vacuum = 2; PRAGMA journal_mode = WAL;"
                  "PRAGMA wal_autocheckpoint = 0; CREATE TABLE t(a INT, b REAL, c, d REAL);"
                  "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 5000)"
                  "INSERT INTO t SELECT i * 7, i / 3.0, i || 'text', i FROM n");
    files.database = open(path, O_RDONLY);
    files.log = open(log_path, O_RDONLY);
    test_snapshot(db, &files, "all in the log");
    TAP_EACH (i, steps) {
        image_sql(db, steps[i]);
        test_snapshot(db, &files, steps[i]);
    }
    test_refusals(&files);
    test_extension(db, &files);
    test_failing_extension(db, &files);
    test_hostile_size(&files);
    test_hostile_pages();
    test_stop(&files);
    close(files.log);
    sqlite3_close(db);
    close(files.database);
    unlink(path);
    rmdir(folder);
}

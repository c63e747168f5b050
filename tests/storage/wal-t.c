/* Snapshots whose pages are partly in the write-ahead log. */
#include "image.h"

#include "storage/wal.h"

#include "base/memory.h"

#include "random.h"

#include <fcntl.h>
#include <unistd.h>

struct files {
    int database, log;
};

static char path[100], log_path[110], index_path[110];

static int read_files(void *context, enum clr_file file, void *buffer, size_t size, int64_t offset)
{
    const struct files *files = context;
    int descriptor = file == CLR_FILE_DATABASE ? files->database : files->log;

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

    if (file < 0 || pread(file, header, sizeof header, 0) != (ssize_t)sizeof header)
        tap_bail("no wal-index");
    close(file);
    memcpy(&snapshot.last, header + 16, 4);
    memcpy(&snapshot.page_count, header + 20, 4);
    memcpy(snapshot.salts, header + 32, 8);
    return snapshot;
}

static void test_snapshot(sqlite3 *db, struct files *files, const char *name)
{
    struct snapshot snapshot = read_snapshot();
    struct clr_source source = {.context = files,
                                .read = read_files,
                                .parallel = true,
                                .page_size = 1024,
                                .usable_size = 1024,
                                .page_count = snapshot.page_count};
    struct image image = {0};
    struct clr_status status;
    uint32_t *frames = NULL, n, in_log = 0;

    tap_is_int64(clr_wal_map(&source, snapshot.salts, snapshot.last, &frames, &status), CLR_OK,
                 "%s: the log is mapped", name);
    for (n = 0; n < source.page_count; n++)
        in_log += frames[n] != 0;
    tap_diag("%u of %u pages in %u frames", (unsigned)in_log, (unsigned)source.page_count,
             (unsigned)snapshot.last);
    source.frames = frames;
    image_add(&image, "rowid", CLR_FIELD_ROWID, false);
    image_add(&image, "a", 0, false);
    image_add(&image, "b", 1, true);
    image_add(&image, "d", 3, true);
    tap_is_int64(image_load(&image, &source, image_root(db, "t")), CLR_LOAD_DONE, "loaded");
    image_test(&image, db, "t", name);
    image_free(&image);
    clr_memory_free(frames);
}

static enum clr_code map(const struct clr_source *source, const struct snapshot *snapshot,
                         struct clr_status *status)
{
    uint32_t *frames;
    enum clr_code code = clr_wal_map(source, snapshot->salts, snapshot->last, &frames, status);

    if ((code == CLR_OK) != (frames != NULL))
        tap_ok(false, "frames only when the log is mapped");
    clr_memory_free(frames);
    return code;
}

static void test_refusals(struct files *files)
{
    struct snapshot good = read_snapshot(), bad = good;
    struct clr_source source = {.context = files,
                                .read = read_files,
                                .page_size = 1024,
                                .usable_size = 1024,
                                .page_count = good.page_count};
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
    source.context = &(struct files){-1, -1};
    tap_is_int64(map(&source, &good, &status), CLR_DEVICE, "no log: %s", status.message);
    tap_is_int64(status.cl_error, SQLITE_IOERR_SHORT_READ, "with SQLite's code");
    tap_is_int64(map(&source, &bad, &status), CLR_OK, "and none is needed without frames");
}

int main(void)
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
    size_t i;

    if (mkdtemp(folder) == NULL)
        tap_bail("no folder");
    snprintf(path, sizeof path, "%s/t.db", folder);
    snprintf(log_path, sizeof log_path, "%s-wal", path);
    snprintf(index_path, sizeof index_path, "%s-shm", path);
    if (sqlite3_open(path, &db) != SQLITE_OK)
        tap_bail("no database");
    image_sql(db, "PRAGMA page_size = 1024; PRAGMA auto_vacuum = 2; PRAGMA journal_mode = WAL;"
                  "PRAGMA wal_autocheckpoint = 0; CREATE TABLE t(a INT, b REAL, c, d REAL);"
                  "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 5000)"
                  "INSERT INTO t SELECT i * 7, i / 3.0, i || 'text', i FROM n");
    files.database = open(path, O_RDONLY);
    files.log = open(log_path, O_RDONLY);
    test_snapshot(db, &files, "all in the log");
    for (i = 0; i < sizeof steps / sizeof *steps; i++) {
        image_sql(db, steps[i]);
        test_snapshot(db, &files, steps[i]);
    }
    test_refusals(&files);
    close(files.log);
    sqlite3_close(db);
    close(files.database);
    unlink(path);
    rmdir(folder);
    return tap_done();
}

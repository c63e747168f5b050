/*
 * Accelerated views of a database in WAL mode while another connection does its worst: it commits,
 * checkpoints and begins the log anew in between any two calls that a view's query makes to the
 * file system, one place after the other. Each time the view has to give what its SELECT gives in
 * the same read transaction, or, without one, what some snapshot since the query began would give.
 */
#include "batch.h"
#include "scratch.h"
#include "sqlite/database.h"

enum { ROWS = 400, MOST_CALLS = 2000 };

static char folder[SCRATCH_PATH], path[sizeof folder + 20];

/* ---- The other connection, and where its turn comes. */

static sqlite3 *other;
static const char *turn; /* SQL, or NULL */
static int calls_left;   /* until then */
static bool had_turn;

/* Before a call of the reader's. What is busy or locked is no matter. */
static void count_call(void)
{
    const char *sql = turn;
    int rc;

    if (sql == NULL || calls_left-- > 0)
        return;
    turn = NULL;
    had_turn = true;
    rc = sqlite3_exec(other, sql, NULL, NULL, NULL);
    TAP_NEED(rc == SQLITE_OK || rc == SQLITE_BUSY || rc == SQLITE_LOCKED, "%s: %s", sql,
             sqlite3_errmsg(other));
}

/* ---- The reader's file system: the default one, with those turns before its calls. */

enum { TABLES = 4 };

/* Each table of calls that a file has had, and the one that it has instead. */
static const sqlite3_io_methods *real[TABLES];
static sqlite3_io_methods counted[TABLES];
static int (*open_file)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);

static const sqlite3_io_methods *real_of(sqlite3_file *file)
{
    return real[file->pMethods - counted];
}

static int count_read(sqlite3_file *file, void *buffer, int size, sqlite3_int64 offset)
{
    count_call();
    return real_of(file)->xRead(file, buffer, size, offset);
}

static int count_file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    count_call();
    return real_of(file)->xFileSize(file, size);
}

static int count_map(sqlite3_file *file, int region, int size, int extend, void volatile **area)
{
    count_call();
    return real_of(file)->xShmMap(file, region, size, extend, area);
}

static int count_lock(sqlite3_file *file, int first, int count, int flags)
{
    count_call();
    return real_of(file)->xShmLock(file, first, count, flags);
}

static void count_barrier(sqlite3_file *file)
{
    count_call();
    real_of(file)->xShmBarrier(file);
}

static int open_counted(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                        int *given)
{
    int rc = open_file(vfs, name, file, flags, given), i = 0;

    if (file->pMethods == NULL)
        return rc;
    while (i < TABLES && real[i] != NULL && real[i] != file->pMethods)
        i++;
    TAP_NEED(i != TABLES, "more than %d tables of calls", TABLES);
    real[i] = file->pMethods;
    counted[i] = *real[i];
    counted[i].iVersion = 2;
    counted[i].xRead = count_read;
    counted[i].xFileSize = count_file_size;
    counted[i].xShmMap = count_map;
    counted[i].xShmLock = count_lock;
    counted[i].xShmBarrier = count_barrier;
    file->pMethods = &counted[i];
    return rc;
}

static void register_counted(void)
{
    static sqlite3_vfs vfs;

    vfs = *sqlite3_vfs_find(NULL);
    open_file = vfs.xOpen;
    vfs.pNext = NULL;
    vfs.zName = "turns";
    vfs.xOpen = open_counted;
    TAP_NEED(sqlite3_vfs_register(&vfs, 0) == SQLITE_OK, "the file system could not be registered");
}

/* ---- What there is to see. */

#define CHANGE_ALL "UPDATE t SET a = a + 1, b = b + 1;"
#define CHANGE_SOME "UPDATE t SET a = a + 7, b = b - 1 WHERE rowid % 100 < 30;"
#define CHANGE_FEW "UPDATE t SET a = a + 5, b = b - 4 WHERE rowid % 150 = 30;"
#define GROW "INSERT INTO t SELECT a, b, c FROM t LIMIT 60;"
#define SHRINK "DELETE FROM t WHERE rowid > 300;"
#define CHECKPOINT(mode) "PRAGMA wal_checkpoint(" #mode ");"

/* What is in the log, and in the file, when the query begins. */
static const struct situation {
    const char *sql;
    const char *later; /* than the reader has loaded columns of which most pages stay; or NULL */
} situations[] = {
    {CHECKPOINT(TRUNCATE) CHANGE_ALL, NULL},
    {CHECKPOINT(RESTART) CHANGE_SOME CHANGE_ALL CHECKPOINT(PASSIVE) CHANGE_SOME, NULL},
    {CHANGE_ALL GROW CHECKPOINT(PASSIVE), NULL},
    {CHANGE_SOME CHECKPOINT(TRUNCATE), NULL},
    {CHANGE_ALL, CHANGE_FEW GROW},
    {CHANGE_FEW, CHANGE_FEW CHECKPOINT(PASSIVE)},
};

/* What the other connection does when it has its turn. */
static const char *const turns[] = {
    CHANGE_ALL,
    CHANGE_ALL CHECKPOINT(PASSIVE),
    CHANGE_SOME CHECKPOINT(PASSIVE),
    CHECKPOINT(PASSIVE) CHANGE_ALL CHECKPOINT(FULL) CHANGE_SOME,
    CHECKPOINT(RESTART) CHANGE_SOME CHANGE_ALL,
    CHECKPOINT(TRUNCATE) GROW CHANGE_SOME CHECKPOINT(PASSIVE),
    SHRINK CHECKPOINT(TRUNCATE) CHANGE_ALL,
};

enum { SITUATIONS = sizeof situations / sizeof *situations, TURNS = sizeof turns / sizeof *turns };

static const char first_select[] = "SELECT gpu_sum(a), gpu_min(a), max(a), count(*) FROM t";
static const char second_select[] = "SELECT gpu_sum(b), gpu_max(b), count(*) FROM t WHERE b > 3";

/* The reader's uses of its views. */
static const struct use {
    const char *name;
    const char *before; /* SQL of the reader's own that leaves it in a transaction, or NULL */
    bool accelerated;
} uses[] = {
    {"a view begins the transaction", NULL, true},
    {"within BEGIN", "BEGIN", true},
    {"within a query's transaction", "BEGIN; SELECT count(*) FROM t", false},
    {"within one that is like a view's before",
     "SELECT * FROM second; BEGIN; SELECT count(*) FROM t", true},
    {"within another view's transaction", "BEGIN; SELECT * FROM second", true},
};

static sqlite3 *open_with(const char *vfs)
{
    sqlite3 *db = database_open_at(path, 0, vfs);

    database_run(db, "PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0");
    return db;
}

static void fill(sqlite3 *db)
{
    database_run(db, "PRAGMA page_size = 512; PRAGMA journal_mode = WAL;"
                     "CREATE TABLE t(a INT, b INT, c TEXT)");
}

static void refill(sqlite3 *db, sqlite3 *reader, const struct situation *situation)
{
    free(database_query(reader, "SELECT clreduce_evict()"));
    database_run(db,
                 "DELETE FROM t;"
                 "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
                 " INSERT INTO t SELECT i, i * 10, 'some text' FROM n;" CHECKPOINT(RESTART),
                 ROWS);
    database_run(db, "%s", situation->sql);
    if (situation->later == NULL)
        return;
    free(database_query(reader, "SELECT * FROM first"));
    free(database_query(reader, "SELECT * FROM second"));
    database_run(db, "%s", situation->later);
}

/* One query of the reader's, with the turn before its call of that number. */
static void ask(sqlite3 *reader, const struct use *use, const char *sql, int number)
{
    char *earliest = database_query(other, first_select), *latest, *got, *again, *want;

    if (use->before != NULL)
        database_run(reader, "%s", use->before);
    had_turn = false;
    calls_left = number;
    turn = sql;
    got = database_query(reader, "SELECT * FROM first");
    turn = NULL;
    again = database_query(reader, "SELECT * FROM second");
    latest = database_query(other, first_select);
    if (use->before == NULL) {
        batch_ok(strcmp(got, earliest) == 0 || strcmp(got, latest) == 0,
                 "call %d, then %s\n got: %s\nwant: %s\n  or: %s", number, sql, got, earliest,
                 latest);
    } else {
        want = database_query(reader, first_select);
        batch_ok(strcmp(got, want) == 0, "call %d, then %s\n got: %s\nwant: %s", number, sql, got,
                 want);
        free(want);
        want = database_query(reader, second_select);
        batch_ok(strcmp(again, want) == 0, "afterwards; call %d, then %s\n got: %s\nwant: %s",
                 number, sql, again, want);
        free(want);
        database_run(reader, "COMMIT");
    }
    free(earliest);
    free(latest);
    free(got);
    free(again);
}

/*
 * A view that is asked again and again, whose columns are there, beside a commit at each place of a
 * query: whichever snapshot it is, that is known, and no query goes row by row.
 */
static void test_again(sqlite3 *reader)
{
    static const char few[] = CHANGE_FEW;
    char *earliest, *latest, *got;
    int64_t scans = 0;
    int number;

    refill(other, reader, &situations[4]);
    had_turn = true;
    for (number = 0; had_turn && number < MOST_CALLS; number++) {
        free(database_query(reader, "SELECT * FROM first"));
        earliest = database_query(other, first_select);
        scans = database_stat(reader, "scans_on_host");
        had_turn = false;
        calls_left = number;
        turn = few;
        got = database_query(reader, "SELECT * FROM first");
        turn = NULL;
        latest = database_query(other, first_select);
        batch_ok(strcmp(got, earliest) == 0 || strcmp(got, latest) == 0,
                 "call %d, then %s\n got: %s\nwant: %s\n  or: %s", number, few, got, earliest,
                 latest);
        batch_ok(database_stat(reader, "scans_on_host") == scans + 1, "call %d: accelerated",
                 number);
        free(earliest);
        free(latest);
        free(got);
    }
    batch_end("again and again: a commit at each of %d calls", number - 1);
}

static void test(const struct use *use, sqlite3 *reader)
{
    int64_t scans = database_stat(reader, "scans_on_host");
    int64_t kept = database_stat(reader, "leaves_kept");
    int number, most = 0;

    for (int situation = 0; situation < SITUATIONS; situation++) {
        for (int i = 0; i < TURNS; i++) {
            had_turn = true;
            /* In quick runs only every third call, another one first each time. */
            for (number = tap_is_quick() ? (situation + i) % 3 : 0; had_turn && number < MOST_CALLS;
                 number += tap_is_quick() ? 3 : 1) {
                refill(other, reader, &situations[situation]);
                ask(reader, use, turns[i], number);
            }
            most = number > most ? number : most;
        }
    }
    batch_end("%s: turns at each of %d calls", use->name, most - 1);
    scans = database_stat(reader, "scans_on_host") - scans;
    tap_ok(scans > 0 || !use->accelerated, "%s: %lld scans", use->name, (long long)scans);
    kept = database_stat(reader, "leaves_kept") - kept;
    tap_ok(kept > 0 || !use->accelerated, "%s: %lld leaf pages were not read again", use->name,
           (long long)kept);
}

/* ---- A file and its log that are restored once the reader's handle has gone. */

struct content {
    char name[sizeof path + 8], *bytes;
    size_t size;
};

static void save(const char *suffix, struct content *content)
{
    FILE *file;

    snprintf(content->name, sizeof content->name, "%s%s", path, suffix);
    file = fopen(content->name, "rb");
    TAP_NEED(file != NULL && fseek(file, 0, SEEK_END) == 0, "%s: %s", content->name,
             strerror(errno));
    content->size = (size_t)ftell(file);
    content->bytes = sqlite3_malloc64(content->size + 1);
    rewind(file);
    if (content->bytes == NULL || fread(content->bytes, 1, content->size, file) != content->size)
        tap_bail("%s cannot be read", content->name);
    fclose(file);
}

static void restore(const struct content *content)
{
    FILE *file = fopen(content->name, "wb");

    if (file == NULL || fwrite(content->bytes, 1, content->size, file) != content->size ||
        fclose(file) != 0)
        tap_bail("%s cannot be written", content->name);
}

static sqlite3 *open_kept(void)
{
    sqlite3 *db = open_with(NULL);

    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    DATABASE_SET(db, "device", "host", "view_threshold", "0", "keep_answers", "off");
    database_run(db, "CREATE VIRTUAL TABLE temp.first USING clreduce((%s))", first_select);
    return db;
}

/* Commits and closes, as another process does: the log stays. */
static void commit(const char *sql)
{
    sqlite3 *db = open_kept();

    database_run(db, "%s", sql);
    sqlite3_close(db);
}

static void compare_first(sqlite3 *db, const char *name)
{
    tap_ok(database_agrees(db, "SELECT * FROM first", first_select), "%s", name);
}

/* sqlite3_deserialize() puts a database in memory in the place of the file, which is closed by
   that, while the connection stays. */
static void test_deserialized(void)
{
    struct content file, log;
    sqlite3 *reader, *later;

    commit(CHANGE_FEW);
    save("", &file);
    save("-wal", &log);
    commit("UPDATE t SET a = a + 100 WHERE rowid = 1");
    reader = open_kept();
    compare_first(reader, "before sqlite3_deserialize()");
    if (sqlite3_deserialize(reader, "main", (unsigned char *)file.bytes, (sqlite3_int64)file.size,
                            (sqlite3_int64)file.size, 0) != SQLITE_OK)
        tap_bail("sqlite3_deserialize(): %s", sqlite3_errmsg(reader));
    restore(&file);
    restore(&log);
    commit("UPDATE t SET a = a + 3 WHERE rowid < 300");
    later = open_kept();
    compare_first(later, "a log that has been restored meanwhile, and goes on");
    compare_first(later, "and again");
    sqlite3_close(later);
    sqlite3_close(reader);
    sqlite3_free(file.bytes);
    sqlite3_free(log.bytes);
}

TAP_TEST(all_tests)
{
    sqlite3 *reader;

    database_register();
    register_counted();
    scratch_folder(folder, "wal");
    snprintf(path, sizeof path, "%s/t.db", folder);
    other = open_with(NULL);
    fill(other);
    reader = open_with("turns");
    DATABASE_SET(reader, "device", "host", "view_threshold", "0", "keep_answers", "off");
    database_run(reader, "CREATE VIRTUAL TABLE temp.first USING clreduce((%s))", first_select);
    database_run(reader, "CREATE VIRTUAL TABLE temp.second USING clreduce((%s))", second_select);
    TAP_EACH (i, uses)
        test(&uses[i], reader);
    test_again(reader);
    sqlite3_close(reader);
    sqlite3_close(other);
    test_deserialized();
    scratch_remove(folder);
}

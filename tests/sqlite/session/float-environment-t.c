/*
 * Clause 9 of the contract: the floating-point environment is the caller's. With another rounding
 * mode, subnormal numbers flushed to zero, or exceptions that trap, every result has the bits that
 * it has without, and the caller finds its environment as it was. A view returns what its SELECT
 * returns in the same environment.
 */
#include "child.h"
#include "sqlite/database.h"

#include <fenv.h>

enum { ROWS = 1500 };

/* ---- Environments. */

struct environment {
    const char *name;
    int rounding;
    uint64_t more; /* bits of the control register besides */
};

#if defined(__x86_64__)
#define FLUSH UINT64_C(0x8040)
#define TRAPS UINT64_C(0x0680) /* masks of invalid operations, divisions by zero, overflow */
static void set_more(uint64_t bits)
{
    uint32_t control;

    __asm__ volatile("stmxcsr %0" : "=m"(control));
    control ^= (uint32_t)bits;
    __asm__ volatile("ldmxcsr %0" : : "m"(control) : "memory");
}
static uint64_t read_control(void)
{
    uint32_t control;

    __asm__ volatile("stmxcsr %0" : "=m"(control));
    return control & 0xffc0;
}
#elif defined(__aarch64__)
#define FLUSH (UINT64_C(1) << 24)
#define TRAPS UINT64_C(0) /* most processors have none */
static uint64_t read_control(void)
{
    uint64_t control;

    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
}
static void set_more(uint64_t bits)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(read_control() ^ bits) : "memory");
}
#else
#define FLUSH UINT64_C(0)
#define TRAPS UINT64_C(0)
static uint64_t read_control(void)
{
    return (uint64_t)fegetround();
}
static void set_more(uint64_t bits)
{
    (void)bits;
}
#endif

static const struct environment environments[] = {
    {"rounding upward", FE_UPWARD, 0},
    {"rounding downward", FE_DOWNWARD, 0},
    {"rounding toward zero", FE_TOWARDZERO, 0},
    {"flushing to zero", FE_TONEAREST, FLUSH},
    {"flushing to zero and rounding downward", FE_DOWNWARD, FLUSH},
    {"traps", FE_TONEAREST, TRAPS},
};

enum { ENVIRONMENTS = sizeof environments / sizeof environments[0] };

static const struct environment plain = {"the default one", FE_TONEAREST, 0};

static int not_restored; /* how often SQLite returned with another environment */

static void enter(const struct environment *environment)
{
    fesetround(environment->rounding);
    set_more(environment->more);
}

static void leave(const struct environment *environment, uint64_t control)
{
    not_restored += read_control() != control;
    set_more(environment->more);
    fesetround(FE_TONEAREST);
}

/* ---- Queries. */

/* As database_query(), of a statement that is prepared before: literals depend on it. */
static char *query_in(sqlite3 *db, const struct environment *environment, const char *sql)
{
    struct database_text result = {NULL, 0, 0};
    sqlite3_stmt *query = NULL;
    uint64_t control;
    int rc;

    database_append(&result, "", 0);
    rc = sqlite3_prepare_v2(db, sql, -1, &query, NULL);
    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        enter(environment);
        control = read_control();
        rc = sqlite3_step(query);
        leave(environment, control);
        for (int i = 0; rc == SQLITE_ROW && i < sqlite3_column_count(query); i++) {
            database_append(&result, " ", 1);
            database_append_value(&result, query, i);
        }
        if (rc == SQLITE_ROW)
            database_append(&result, "\n", 1);
    }
    enter(environment);
    control = read_control();
    sqlite3_finalize(query);
    leave(environment, control);
    if (rc != SQLITE_DONE) {
        database_append(&result, "error: ", 7);
        database_append(&result, sqlite3_errmsg(db), strlen(sqlite3_errmsg(db)));
    }
    return result.text;
}

#define WINDOW " OVER (ORDER BY rowid ROWS BETWEEN 9 PRECEDING AND 2 FOLLOWING)"

/* SQLite computes nothing in these itself. */
static const char *const queries[] = {
    "SELECT gpu_sum(x), gpu_total(y), gpu_avg(x), gpu_avg(y), gpu_avg(i), gpu_sum(m), gpu_sum(d)"
    " FROM t",
    "SELECT gpu_dot(x, y), gpu_dot(x, i), gpu_dot(i, y), gpu_dot(m, y), gpu_dot(d, d),"
    " gpu_dot(d, y) FROM t",
    "SELECT gpu_var_pop(y), gpu_var_samp(i), gpu_stddev_pop(y), gpu_stddev_samp(m), gpu_norm(y),"
    " gpu_norm(d), gpu_var_pop(d) FROM t",
    "SELECT gpu_covar_pop(y, m), gpu_corr(y, m), gpu_regr_slope(y, i), gpu_regr_intercept(y, m),"
    " gpu_regr_r2(y, m), gpu_regr_avgx(y, m), gpu_regr_sxx(y, m), gpu_regr_sxy(y, m) FROM t",
    "SELECT gpu_min(d), gpu_max(d), gpu_min(z), gpu_max(z), gpu_min(m), gpu_max(m) FROM t",
    "SELECT gpu_median(y), gpu_percentile(y, 33), gpu_percentile(i, 77), gpu_median(m),"
    " gpu_percentile(z, 91), gpu_percentile_cont(d, f), gpu_percentile_cont(i, f),"
    " gpu_percentile_disc(z, f) FROM t",
    "SELECT gpu_count_distinct(d), gpu_count_distinct(z), gpu_mode(z), gpu_count_distinct(i),"
    " gpu_count_distinct(y), gpu_mode(d) FROM t",
    "SELECT gpu_histogram(y, -9, 17, 21), gpu_histogram(i, -3, 9000, 1000),"
    " gpu_histogram(z, 0, 1, 7), gpu_histogram(d, l, h, 7), gpu_histogram(y, l, f, 9) FROM t",
    "SELECT g, gpu_sum(x), gpu_avg(y), gpu_sum(d), gpu_dot(y, m), gpu_stddev_pop(y),"
    " gpu_median(y) FROM t GROUP BY g",
    "SELECT gpu_sum_state(x), gpu_corr_state(y, m), gpu_max_state(z), gpu_avg_state(d),"
    " gpu_histogram_state(d, l, h, 7) FROM t",
    "SELECT gpu_sum_merge(a), gpu_corr_merge(b), gpu_min_merge(c), gpu_avg_merge(e),"
    " gpu_histogram_merge(k), gpu_corr_state_merge(b)"
    " FROM (SELECT gpu_sum_state(x) AS a, gpu_corr_state(y, m) AS b, gpu_min_state(z) AS c,"
    " gpu_avg_state(d) AS e, gpu_histogram_state(y, -9, 17, 21) AS k FROM t GROUP BY g)",
    "SELECT gpu_sum(x)" WINDOW ", gpu_avg(d)" WINDOW ", gpu_dot(y, m)" WINDOW
    ", gpu_stddev_samp(y)" WINDOW " FROM t LIMIT 300",
    "SELECT gpu_min(z)" WINDOW ", gpu_max(m)" WINDOW ", gpu_median(y)" WINDOW
    ", gpu_percentile(i, 31)" WINDOW ", gpu_count_distinct(z)" WINDOW ", gpu_mode(z)" WINDOW
    ", gpu_histogram(d, l, h, 7)" WINDOW " FROM t LIMIT 300",
    "SELECT gpu_avg_merge(s)" WINDOW " FROM s",
    /* SQLite's numbers of TEXT, within an aggregate. */
    "SELECT gpu_sum(w), gpu_dot(w, y), gpu_var_pop(w) FROM t",
    "SELECT gpu_sum(w)" WINDOW " FROM t LIMIT 300",
    /* Errors. */
    "SELECT gpu_histogram(y, 17, -9, 21) FROM t",
    "SELECT gpu_sum(big) FROM t",
    "SELECT gpu_sum_merge(x) FROM t",
    "SELECT gpu_percentile_cont(y, 2) FROM t",
    /* Accelerated, and computing nothing but aggregates. */
    "SELECT * FROM v",
    "SELECT * FROM states",
};

enum { QUERIES = sizeof queries / sizeof queries[0] };

#define VALUES                                                                                     \
    "SELECT gpu_sum(x), gpu_total(y), gpu_avg(y), gpu_dot(x, y), gpu_dot(d, y),"                   \
    " gpu_stddev_pop(y), gpu_corr(y, m), gpu_min(d), gpu_max(z), gpu_median(y),"                   \
    " gpu_percentile(y, 33), gpu_count_distinct(d), gpu_mode(z), gpu_histogram(y, -9, 17, 21),"    \
    " count(*), count(i) FROM t"
#define STATES "SELECT gpu_avg_state(y), gpu_corr_state(y, m), gpu_max_state(z) FROM t"

/* SQLite computes in these; a view of each is c0 and so on. */
static const char *const computing[] = {
    "SELECT gpu_sum(y * y), gpu_sum(d * y), gpu_sum(y / 3) FROM t",
    "SELECT gpu_sum(x), count(*) FROM t WHERE d > 0",
    "SELECT count(*), gpu_sum(i) FROM t WHERE y + m < 0.1",
    "SELECT gpu_avg(y) / 3, gpu_sum(m) FROM t",
    "SELECT rowid, gpu_avg(y) / 3, gpu_sum(d) * 0.5, -gpu_max(z) FROM t GROUP BY rowid",
    "SELECT avg(g), total(g), min(z), max(d), count(g) FROM t",
    "SELECT gpu_sum(v), count(*) FROM t WHERE x IS NOT NULL",
    "SELECT gpu_histogram(y, -1.1, 0.7, 9), gpu_percentile_cont(y, 0.3) FROM t",
    "SELECT gpu_sum(y) FILTER (WHERE i % 7 = 3), gpu_sum(0.1) FROM t",
};

/* ---- The table: reals of all sizes in x, of one size in y, subnormal ones in d, both types in m,
   few values in z. */
static double hard_value(int column)
{
    static const double few[] = {0.0, 0x1p-1074, 0x3p-1074, 1.0, 0x1p-1073};

    if (column == 0)
        return random_below(4) == 0 ? random_finite() : random_hard(1000, 1100);
    if (column == 2)
        return random_compose(random_bits() & 1, random_below(3), random_bits());
    if (column == 3)
        return few[random_below(sizeof few / sizeof few[0])];
    return random_hard(1018, 1028);
}

static void fill(sqlite3 *db)
{
    sqlite3_stmt *insert;
    char text[32];

    database_run(db, "CREATE TABLE t(x, y, d, z, m, i, g, big, f, l, h, w, v AS (y * 3.3)); BEGIN");
    insert = database_prepare(db, "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (int row = 0; row < ROWS; row++) {
        sqlite3_reset(insert);
        for (int column = 0; column < 5; column++)
            sqlite3_bind_double(insert, column + 1, hard_value(column));
        if (random_below(3) == 0)
            sqlite3_bind_int64(insert, 4, random_between(0, 1));
        if (random_below(2) == 0)
            sqlite3_bind_int64(insert, 5, random_between(-40, 40));
        sqlite3_bind_int64(insert, 6, random_integer() >> random_below(20));
        sqlite3_bind_int64(insert, 7, row * 41 / ROWS);
        sqlite3_bind_int64(insert, 8, INT64_MAX);
        sqlite3_bind_double(insert, 9, 0.3);
        sqlite3_bind_double(insert, 10, -0x1p-1024);
        sqlite3_bind_double(insert, 11, 0x1.8p-1024);
        snprintf(text, sizeof text, "%.17g", hard_value(1));
        sqlite3_bind_text(insert, 12, text, -1, SQLITE_TRANSIENT);
        TAP_NEED(sqlite3_step(insert) == SQLITE_DONE, "%s", sqlite3_errmsg(db));
    }
    sqlite3_finalize(insert);
    database_run(db, "COMMIT; CREATE TABLE s AS SELECT gpu_avg_state(d) AS s FROM t GROUP BY g");
}

/* ---- The tests. */

static void compare(sqlite3 *db, const struct environment *environment, char *const *expected,
                    const char *where)
{
    int differing = 0;

    not_restored = 0;
    TAP_EACH (i, queries) {
        char *found = query_in(db, environment, queries[i]);
        if (strcmp(found, expected[i]) != 0) {
            differing++;
            tap_diag("%s\n got: %.300s\nwant: %.300s", queries[i], found, expected[i]);
        }
        free(found);
    }
    tap_is_int64(differing, 0, "%s, %s: the same bits", environment->name, where);
    tap_is_int64(not_restored, 0, "%s, %s: the environment is as it was", environment->name, where);
}

/* Views are what their SELECTs are in the same environment. */
static void compare_views(sqlite3 *db, const struct environment *environment)
{
    int differing = 0;

    TAP_EACH (i, computing) {
        char *sql = sqlite3_mprintf("SELECT * FROM c%d", (int)i), *found, *expected;

        expected = query_in(db, environment, computing[i]);
        found = query_in(db, environment, sql);
        if (strcmp(found, expected) != 0) {
            differing++;
            tap_diag("%s\n got: %.300s\nwant: %.300s", computing[i], found, expected);
        }
        free(found);
        free(expected);
        sqlite3_free(sql);
    }
    tap_is_int64(differing, 0, "%s: views are what their SELECTs are", environment->name);
}

static void create_views(sqlite3 *db)
{
    DATABASE_SET(db, "view_threshold", "1", "keep_answers", "off");
    database_run(db, "CREATE VIRTUAL TABLE temp.v USING clreduce((" VALUES "))");
    database_run(db, "CREATE VIRTUAL TABLE temp.states USING clreduce((" STATES "))");
    TAP_EACH (i, computing)
        database_run(db, "CREATE VIRTUAL TABLE temp.c%d USING clreduce((%s))", (int)i,
                     computing[i]);
}

static void drop_views(sqlite3 *db)
{
    database_run(db, "DROP TABLE v; DROP TABLE states");
    TAP_EACH (i, computing)
        database_run(db, "DROP TABLE c%d", (int)i);
}

/* Returns how many scans the views of queries[] took. */
static int64_t count_scans(sqlite3 *db, const struct environment *environment)
{
    int64_t before = database_stat(db, "scans_on_host") + database_stat(db, "scans_on_device");

    free(query_in(db, environment, "SELECT * FROM v"));
    free(query_in(db, environment, "SELECT * FROM states"));
    return database_stat(db, "scans_on_host") + database_stat(db, "scans_on_device") - before;
}

/* As database_wait_for_device(), in the environment. */
static bool wait_for_device(sqlite3 *db, const struct environment *environment)
{
    const int64_t refused = database_without_device(db);
    const time_t start = time(NULL);

    while (database_stat(db, "chunks_to_device") == 0 && database_without_device(db) == refused &&
           time(NULL) - start < 60) {
        free(query_in(db, environment, queries[0]));
        sqlite3_sleep(1);
    }
    return database_stat(db, "chunks_to_device") > 0;
}

TAP_TEST(all_tests)
{
    char path[] = "float-environment-XXXXXX";
    char *expected[QUERIES];
    sqlite3 *db = NULL;
    int64_t served;

    database_register();
    TAP_NEED(mkstemp(path) >= 0 && sqlite3_open(path, &db) == SQLITE_OK, "no database");
    fill(db);
    database_set(db, "device", "host");
    create_views(db);
    for (int i = 0; i < QUERIES; i++)
        expected[i] = query_in(db, &plain, queries[i]);
    tap_is_int64(count_scans(db, &plain), 2, "the views are accelerated");
    for (int i = 0; i < ENVIRONMENTS; i++) {
        compare(db, &environments[i], expected, "one chunk");
        compare_views(db, &environments[i]);
        tap_is_int64(count_scans(db, &environments[i]), 2, "%s: plain columns are scanned",
                     environments[i].name);
        compare_views(db, &plain);
    }
    database_set(db, "chunk_size", "50");
    for (int i = 0; i < ENVIRONMENTS; i++)
        compare(db, &environments[i], expected, "full chunks");
    /* Of views that are made, and columns that are read, in another environment. */
    for (int i = 0; i < ENVIRONMENTS; i++) {
        drop_views(db);
        database_run(db, "SELECT clreduce_evict()");
        enter(&environments[i]);
        create_views(db);
        leave(&environments[i], read_control());
        compare_views(db, &environments[i]);
        compare_views(db, &plain);
        compare(db, &plain, expected, "after views made in another one");
    }
    /* The first use of a device, too, is in another environment: so are all its threads. */
    DATABASE_SET(db, "host_threshold", "1", "start_after", "0");
    database_use_device(db);
    if (wait_for_device(db, &environments[4])) {
        served = database_stat(db, "chunks_to_device");
        /* On a busy machine the host takes most chunks. */
        for (int i = 0; i < 50 * ENVIRONMENTS &&
                        (i < ENVIRONMENTS || database_stat(db, "chunks_to_device") == served);
             i++)
            compare(db, &environments[i % ENVIRONMENTS], expected, "a device");
        tap_ok(database_stat(db, "chunks_to_device") > served, "the device did work");
    } else {
        tap_skip(2 * ENVIRONMENTS + 1, "no device");
    }
    for (int i = 0; i < QUERIES; i++)
        free(expected[i]);
    sqlite3_close(db);
    unlink(path);
}

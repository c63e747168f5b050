/*
 * Accelerated views on two devices, of which one is lost in a scan: see failures.h. PoCL is asked
 * for two; of others a test can use what the machine has.
 */
#include "opencl/devices.h"
#include "opencl/failing_library.h"
#include "sqlite/failures.h"

enum { ROWS = 4000, LIMIT_S = 60 };

/* ---- One run: until two devices answer, and then, one of them lost, until the other one does. */

static const char *const selects[] = {
    "SELECT gpu_sum(i), gpu_total(r), gpu_min(r), gpu_max(i) FROM t",
    "SELECT count(*), gpu_sum(y) FROM t WHERE g < 3 AND r IS NOT NULL",
};

enum { SELECTS = sizeof selects / sizeof selects[0] };

/* How a device is lost: its next scan fails. */
static const char *const loss = "clEnqueueReadBuffer:-36:1:1";

/* Asks all views, until their plans end so. Returns how many answers differ, and all if that takes
   too long. */
static int ask_until(sqlite3 *db, bool by_two)
{
    const double start = child_now();
    int differing = 0, there = 0;

    while (there < SELECTS && differing == 0 && child_now() - start < LIMIT_S) {
        there = 0;
        for (int i = 0; i < SELECTS; i++) {
            char name[200], *plan;

            snprintf(name, sizeof name, "SELECT * FROM v%d", i);
            differing += !database_agrees(db, name, selects[i]);
            snprintf(name, sizeof name,
                     "SELECT line LIKE '%%(2 devices)' FROM clreduce_plan('v%d')"
                     " WHERE line LIKE 'accelerated: device%%'",
                     i);
            plan = database_query(db, name);
            there += strcmp(plan, by_two ? "1\n" : "0\n") == 0;
            free(plan);
        }
        usleep(5000);
    }
    return there == SELECTS ? differing : SELECTS;
}

static int run(const char *device_timeout)
{
    char path[SCRATCH_PATH], *devices;
    int differing;
    sqlite3 *db;

    scratch_file(path, "devices");
    db = database_open_at(path, 0, NULL);
    database_run(db, "PRAGMA synchronous = OFF");
    database_fill(db, ROWS);
    for (int i = 0; i < SELECTS; i++)
        database_run(db, "CREATE VIRTUAL TABLE temp.v%d USING clreduce((%s))", i, selects[i]);
    database_set(db, "devices", "2");
    failures_use_devices(db, device_timeout);
    find_library();
    differing = ask_until(db, true);
    printf("%s, by two devices\n", differing == 0 ? "yes" : "no");
    set_rule(loss);
    differing += ask_until(db, false);
    printf("%s, by the other device\n", differing == 0 ? "yes" : "no");
    devices = database_query(db, "SELECT sum(reason LIKE 'failed: clEnqueue%')"
                                 " * sum(column_bytes > 0) FROM clreduce_devices");
    printf("devices lost times devices that have columns: %s", devices);
    free(devices);
    failures_print(db, differing);
    sqlite3_close(db);
    unlink(path);
    return differing;
}

/* ---- The test. */

static void test_loss(void)
{
    struct failures_attempt attempt;

    failures_attempt(&attempt, "nothing", "20000");
    failures_expect(&attempt, "yes, by two devices", "two devices answer");
    failures_conclude(&attempt, attempt.passed,
                      "the host's results, by the other device in the end");
    failures_expect(&attempt, "have columns: 1", "one is lost");
}

static bool has_two_devices(void)
{
    struct clr_catalog catalog;
    bool found = false;

    clr_catalog_fill(&catalog, NULL, CLR_REACH_ALL);
    for (size_t i = 1; i < catalog.count; i++)
        found = found || (clr_catalog_is_alike(&catalog.devices[0], &catalog.devices[i]) &&
                          !devices_clash(&catalog.devices[i]));
    clr_memory_free(catalog.devices);
    return found;
}

int main(int count, char **arguments)
{
    setenv("POCL_DEVICES", "pthread pthread", 1);
    /* Devices that share the host's columns would have no bytes of them. */
    setenv("CLREDUCE_DEVICE_COLUMNS", "copied", 1);
    if (count == 1 && !has_two_devices())
        tap_skip_all("OpenCL has no two devices alike that can be used at once");
    return failures_main(count, arguments, run, test_loss);
}

/*
 * The first look for devices: while the host still loads the first columns that are worth one, and
 * not at all where the settings, or the number of rows, say that none is.
 */
#include "engine/worker/runtime.h"
#include "engine/worker/team.h"
#include "sqlite/askers.h"
#include "sqlite/slow_reads.h"

enum { ROWS = 20000, DELAY_US = 200000, PROMPT_MS = 60000, STILL_MS = 100, LIMIT_S = 300 };

/* Asks a view with these settings; all is read again. Returns whether the answer is right. */
static bool ask(sqlite3 *db, const char *device, const char *start_after, const char *threshold)
{
    struct asker asker;

    database_run(db, "SELECT clreduce_evict()");
    database_set(db, "device", device);
    database_set(db, "start_after", start_after);
    database_set(db, "host_threshold", threshold);
    asker_start(&asker, db, 0);
    return asker_join(&asker) == POOL_SAME;
}

static void test_start(sqlite3 *db)
{
    struct asker asker;
    int left;

    database_run(db, "SELECT clreduce_evict()");
    database_set(db, "device", "auto");
    database_set(db, "start_after", "0");
    database_set(db, "host_threshold", "1");
    slow_reads_delay(DELAY_US);
    asker_start(&asker, db, 0);
    for (left = PROMPT_MS; left > 0 && !clr_runtime_started() && !asker_is_done(&asker, 5, false);)
        left -= 5;
    tap_ok(clr_runtime_started() && !asker_is_done(&asker, STILL_MS, false),
           "devices are looked for while the columns are read");
    slow_reads_delay(0);
    tap_ok(asker_join(&asker) == POOL_SAME, "the answer is right");
}

int main(void)
{
    sqlite3 *db;

    slow_reads_begin(LIMIT_S);
    if (clr_team_size() < 2)
        tap_skip_all("a single thread reads all of it");
    database_register();
    pool_begin();
    pool_make(0, "DELETE", ROWS);
    db = asker_connect(0);
    tap_ok(ask(db, "host", "0", "1") && !clr_runtime_started(), "not if the setting is host");
    tap_ok(ask(db, "auto", "1000000", "1") && !clr_runtime_started(), "not by auto for few rows");
    tap_ok(ask(db, "cpu", "0", "1000000") && !clr_runtime_started(), "nor by a name for very few");
    tap_ok(database_stat(db, "bytes_decoded") > 0, "all that was read");
    test_start(db);
    sqlite3_close(db);
    pool_end();
    return tap_done();
}

/* Zones of blocks, when their making is stopped or has no memory, and when blocks are taken by them
   as a whole. tests/sqlite/views/view-skipping-t.py has which blocks are left out, and the answers.
 */
#include "engine/host/host_groups.h"
#include "engine/host/host_scan.h"

#include "base/memory.h"
#include "numeric/scans.h"

#include "tap.h"

#include <math.h>

enum { LARGE = 3000000, MANY = 6 << 20 };

/* sum(x), count(*) WHERE x >= low AND x <= high */
static const struct clr_instruction instructions[] = {
    {CLR_OP_COLUMN, 0, -1, -1},      {CLR_OP_CONSTANT, 0, -1, -1}, {CLR_OP_CONSTANT, 1, -1, -1},
    {CLR_OP_GREATER_EQUAL, 0, 1, 0}, {CLR_OP_LESS_EQUAL, 0, 2, 0}, {CLR_OP_AND, 3, 4, 0}};
static struct clr_scalar constants[2];
static struct clr_column *column;
static struct clr_tally tally;
static struct clr_scan scan;

/* Rows 0, 1, 2, ... */
static void make_scan(size_t rows)
{
    column = scans_new(CLR_TAG_INTEGER, rows);
    for (size_t i = 0; i < rows; i++)
        column->values[i] = (int64_t)i;
    tally = (struct clr_tally){.operations = 1 << CLR_SUM, .x = 0, .y = -1, .filter = -1};
    scan = (struct clr_scan){.instruction_count = 6,
                             .constant_count = 2,
                             .column_count = 1,
                             .tally_count = 1,
                             .filter = 5,
                             .instructions = instructions,
                             .constants = constants,
                             .columns = &column,
                             .rows = rows,
                             .values_memory = SIZE_MAX,
                             .tallies = &tally};
}

static void ask(int64_t low, int64_t high)
{
    constants[0] = (struct clr_scalar){CLR_TAG_INTEGER, low};
    constants[1] = (struct clr_scalar){CLR_TAG_INTEGER, high};
}

/* Runs the scan, and takes back what was left out. Returns how many blocks that was, or -1 if the
   answer is wrong. */
static long run(int64_t low, int64_t high, const struct clr_watch *watch, bool *made)
{
    const size_t rows = scan.rows;
    const int64_t last = high < (int64_t)rows ? high : (int64_t)rows - 1;
    const int64_t first = low < 0 ? 0 : low, count = last < first ? 0 : last - first + 1;
    long skipped;
    bool right;

    ask(low, high);
    clr_host_skip(&scan, watch, made);
    skipped = (long)(clr_zones_of(rows) - clr_zones_of(scan.rows));
    right = clr_host_scan(&scan, NULL) == CLR_SCAN_DONE && tally.state.count == count;
    if (right && count > 0)
        right = clr_sum_round(&tally.state.sum, 1) == (double)((first + last) * count / 2);
    clr_memory_free((void *)scan.blocks);
    scan.blocks = NULL;
    scan.rows = rows;
    return right ? skipped : -1;
}

static bool never(void *context)
{
    (void)context;
    return false;
}

static bool always(void *context)
{
    (void)context;
    return true;
}

/* Threads make zones, and are stopped: then a later scan makes them. */
TAP_TEST(test_stop)
{
    const struct clr_watch stopping = {always, NULL}, going = {never, NULL};
    long skipped = 0;
    bool made;

    make_scan(LARGE);
    if (clr_team_size() > 1) {
        skipped = run(7, 9, &stopping, &made);
        /* Threads may be done before the watch is asked. */
        tap_ok(made ? skipped == (long)clr_zones_of(LARGE) - 1 : skipped == 0, "a stop");
    }
    tap_is_int64(run(LARGE / 2 - 1, LARGE / 2, &going, &made), (long)clr_zones_of(LARGE) - 1,
                 "the rest is left out");
    clr_column_release(column);
}

/* Whether blocks of many that may have rows are left out is guessed by some of them: the ones that
   are empty here are of a coarse zone that is not asked, of the rest, for which nothing is guessed,
   and of one that is asked. */
TAP_TEST(test_guess)
{
    static const size_t empty[] = {5 * CLR_COARSE_ZONES + 3,
                                   CLR_COARSE_ZONES * CLR_COARSE_ZONES + 1,
                                   16 * CLR_COARSE_ZONES + 2};
    static const long skipped[] = {0, 1, 3};
    size_t i, found;
    bool made;

    for (size_t k = 0; k < 3; k++) {
        make_scan(MANY);
        for (i = 0; i < MANY; i++)
            column->values[i] = (int64_t)(i % 1000);
        for (i = 0; i < (k + 1) * CLR_ZONE_ROWS; i++)
            column->values[empty[i / CLR_ZONE_ROWS] * CLR_ZONE_ROWS + i % CLR_ZONE_ROWS] = -1;
        for (i = 0, found = 0; i < MANY; i++)
            found += column->values[i] >= 3 && column->values[i] <= 4;
        ask(3, 4);
        clr_host_skip(&scan, NULL, &made);
        tap_is_int64((long)(clr_zones_of(MANY) - clr_zones_of(scan.rows)), skipped[k],
                     "%zu blocks are empty", k + 1);
        tap_ok(clr_host_scan(&scan, NULL) == CLR_SCAN_DONE && tally.state.count == (int64_t)found,
               "%zu rows are found", found);
        clr_memory_free((void *)scan.blocks);
        clr_column_release(column);
    }
}

/* Without memory all rows are scanned. */
TAP_TEST(test_nomem)
{
    long after = 0, without = 0, before;
    bool failed = true, made;

    make_scan(10000);
    for (; failed; after++) {
        const size_t rows = scan.rows;

        ask(3, 4);
        clr_memory_fail_after(after);
        clr_host_skip(&scan, NULL, &made);
        failed = clr_memory_fail_after(-1);
        before = (long)(clr_zones_of(rows) - clr_zones_of(scan.rows));
        without += before == 0;
        if (failed && before != 0)
            tap_ok(false, "allocation %ld: blocks are left out", after);
        clr_memory_free((void *)scan.blocks);
        scan.blocks = NULL;
        scan.rows = rows;
    }
    tap_ok(without > 1 && without == after - 1, "%ld allocations fail", without);
    tap_is_int64(run(3, 4, NULL, &made), 9, "and then none does");
    clr_column_release(column);
}

/* Whether a scan takes all rows but those of so many blocks as a whole: it does not see that their
   values are no longer those of which zones were made. */
static bool takes_whole(size_t rows, size_t others, const struct clr_grouping *grouping)
{
    const size_t blocks = clr_zones_of(rows);
    struct clr_device_scan *const none = NULL;
    struct clr_groups *groups = NULL;
    struct clr_state state;
    double changed;
    size_t i;
    bool right;

    for (i = 0; i < blocks; i++)
        column->values[i * CLR_ZONE_ROWS] += 1000000000;
    scan.grouping = grouping;
    if (grouping == NULL) {
        right = clr_host_scan(&scan, NULL) == CLR_SCAN_DONE;
        changed = right ? clr_sum_round(&tally.state.sum, 1) : 0;
    } else {
        right = clr_host_group(&scan, NULL, none, &groups) == CLR_SCAN_DONE;
        for (changed = 0, i = 0; right && i < clr_groups_count(groups); i++) {
            clr_groups_state(groups, i, 0, &state);
            changed += clr_sum_round(&state.sum, 1);
        }
        clr_groups_free(groups);
    }
    for (i = 0; i < blocks; i++)
        column->values[i * CLR_ZONE_ROWS] -= 1000000000;
    for (i = 0; i < rows; i++)
        changed -= (double)column->values[i];
    scan.grouping = NULL;
    return right && fabs(changed - (double)others * 1e9) < 1e6; /* which is rounded */
}

/* Sums of blocks are made where a scan takes many as a whole, and then it takes those. */
TAP_TEST(test_whole)
{
    const struct clr_grouping grouping = {.key_count = 1, .keys = {1}};
    const struct clr_instruction loads[] = {{CLR_OP_COLUMN, 0, -1, -1}, {CLR_OP_COLUMN, 1, -1, -1}};
    const size_t rows = 100 * CLR_ZONE_ROWS + 5;
    struct clr_column *keys = scans_new(CLR_TAG_INTEGER, rows), *columns[2];
    bool made;

    make_scan(rows);
    scan.filter = -1;
    columns[0] = column;
    columns[1] = keys;
    scan.columns = columns;
    scan.column_count = scan.instruction_count = 2;
    scan.instructions = loads;
    for (size_t i = 0; i < rows; i++)
        keys->values[i] = (int64_t)(i % 1000);
    scan.grouping = &grouping;
    clr_host_sum_blocks(&scan, NULL, &made);
    tap_ok(made && clr_column_zones(keys) != NULL && clr_column_zones(column) == NULL,
           "no sums where each block has many groups");
    clr_column_release(keys);
    columns[1] = keys = scans_new(CLR_TAG_INTEGER, rows);
    for (size_t i = 0; i < rows; i++)
        keys->values[i] = (int64_t)(i / 10000) + 1;
    tap_ok(takes_whole(rows, 101, &grouping), "no block is taken as a whole without them");
    scan.grouping = &grouping;
    clr_host_sum_blocks(&scan, NULL, &made);
    tap_ok(made && clr_column_zones(column) != NULL, "sums where blocks have one");
    tap_ok(takes_whole(rows, 10, &grouping), "all blocks but those of two groups");
    tap_ok(takes_whole(rows, 0, NULL), "all blocks of one group of all rows");
    tally.filter = 1; /* which is true */
    tap_ok(takes_whole(rows, 101, &grouping) && takes_whole(rows, 101, NULL),
           "none where an aggregate has a filter of its own");
    tally.filter = -1;
    clr_column_release(column);
    columns[0] = column = scans_new(CLR_TAG_INTEGER, rows);
    for (size_t i = 0; i < rows; i++)
        column->values[i] = (int64_t)(i % 7);
    column->values[CLR_ZONE_ROWS + 7] = INT64_C(1) << 46; /* of a block that no plan looks at */
    scan.grouping = &grouping;
    clr_host_sum_blocks(&scan, NULL, &made);
    tap_ok(made && takes_whole(rows, 11, &grouping),
           "all but those, and one that is too large for its part of a word");
    clr_column_release(keys);
    clr_column_release(column);
}

/* Without a sum of blocks that are too wide for it, their rows are taken. */
TAP_TEST(test_wide)
{
    const size_t rows = 4 * CLR_ZONE_ROWS;
    bool made;

    make_scan(rows);
    scan.filter = -1;
    column->values[7] = INT64_MAX / 64;
    clr_host_sum_blocks(&scan, NULL, &made);
    tap_ok(made, "sums are made");
    tap_ok(clr_column_zone_sum(column, 0) == NULL && clr_column_zone_sum(column, 1) != NULL,
           "but of a block that is too wide");
    tap_ok(takes_whole(rows, 1, NULL), "whose rows are taken");
    clr_column_release(column);
}

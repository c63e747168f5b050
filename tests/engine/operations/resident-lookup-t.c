/*
 * Lookups on every OpenCL device there is: columns of codes of all sizes there, and results of all
 * kinds, against the host's scan.
 */
#include "engine/host/host_scan.h"
#include "engine/shards.h"
#include "numeric/scan_reference.h"
#include "numeric/scans.h"
#include "opencl/devices.h"

enum { ROWS = 20011, COLUMNS = 5, CODES = 2, MANY = 200 };

/* Two columns of values, and three of codes, whose dictionaries have so many entries. */
static const uint32_t entries[COLUMNS - CODES] = {256, 1000, 70000};

static struct clr_worker *worker;
static struct clr_column *columns[COLUMNS];
static struct clr_sharded *copies[COLUMNS];

static void open_columns(void)
{
    int ready = 0;

    columns[0] = scans_column(CLR_TAG_REAL, ROWS, 0);
    columns[1] = scans_column(CLR_TAG_INTEGER, ROWS, 0);
    for (int i = CODES; i < COLUMNS; i++)
        columns[i] = scans_codes((uint8_t)(1 << (i - CODES)), entries[i - CODES], ROWS, false);
    for (int i = 0; i < COLUMNS; i++) {
        copies[i] = shards_copy(worker, columns[i]);
        ready += clr_sharded_state(copies[i]) == CLR_RESIDENT_READY;
    }
    tap_is_int64(ready, COLUMNS, "the columns are on the device");
    for (int i = CODES; i < COLUMNS; i++)
        tap_is_uint64(clr_sharded_size(copies[i], NULL),
                      workers_own(worker, (size_t)ROWS << (i - CODES)),
                      "codes of %d bytes take these", 1 << (i - CODES));
}

static void close_columns(void)
{
    for (int i = 0; i < COLUMNS; i++) {
        clr_sharded_release(copies[i]);
        clr_column_release(columns[i]);
    }
}

/* A scan by hand: the columns of values, and after them lookups. */
static void begin(struct scans_made *made)
{
    scans_begin(made, columns, CODES);
    made->scan.column_count = COLUMNS;
    memcpy(made->columns, columns, sizeof columns);
}

/* Adds a lookup over a column of codes, and returns its instruction. */
static int add_lookup(struct scans_made *made, int column, uint8_t kind, bool is_short)
{
    made->lookups[made->scan.lookup_count] = scans_lookup(kind, is_short, entries[column - CODES]);
    return scans_add(made, CLR_OP_LOOKUP, column, made->scan.lookup_count++);
}

static void drop(struct scans_made *made)
{
    for (int i = 0; i < made->scan.lookup_count; i++)
        clr_lookup_results_release(made->lookups[i].results);
}

static bool agrees(struct scans_made *made, enum clr_scan_outcome expected,
                   const struct clr_tally *tallies, enum clr_scan_outcome found)
{
    bool same = found == expected;

    for (int i = 0; i < made->scan.tally_count && same && found == CLR_SCAN_DONE; i++) {
        struct clr_tally wanted = tallies[i];
        same = reference_same_answer(&made->tallies[i].state, &wanted.state);
    }
    if (!same)
        tap_diag("outcome %d instead of %d", (int)found, (int)expected);
    return same;
}

/* One check: the device gives what the host does, at once if it has the program. */
static void compare(struct scans_made *made, bool at_once, const char *what)
{
    struct clr_tally tallies[8];
    struct clr_device_work work = {0};
    const enum clr_scan_outcome expected = clr_host_scan(&made->scan, NULL);

    memcpy(tallies, made->tallies, sizeof tallies);
    tap_ok(agrees(made, expected, tallies,
                  at_once ? shards_scan_once(&made->scan, copies, &work)
                          : shards_scan(&made->scan, copies)),
           "%s: outcome %d", what, (int)expected);
}

/* The kind of shape that views have: a condition, and sums of lookups and of values. */
static void make_mixture(struct scans_made *made)
{
    int truth, mixed, reals, integers, sum;

    begin(made);
    truth = add_lookup(made, CODES, CLR_TAG_INTEGER, true);
    mixed = add_lookup(made, CODES + 1, CLR_TAG_MIXED, false);
    reals = add_lookup(made, CODES + 2, CLR_TAG_REAL, false);
    integers = add_lookup(made, CODES, CLR_TAG_INTEGER, false);
    sum = scans_add(made, CLR_OP_ADD, mixed, integers);
    made->scan.filter =
        scans_add(made, CLR_OP_GREATER, truth, add_lookup(made, CODES, CLR_TAG_MIXED, true));
    scans_tally(made, 1u << CLR_SUM, 0, -1);
    scans_tally(made, 1u << CLR_SUM | 1u << CLR_EXTREMES, mixed, -1);
    scans_tally(made, 1u << CLR_DOT, reals, 0);
    scans_tally(made, 1u << CLR_EXTREMES, integers, -1);
    scans_tally(made, 0, sum, -1);
}

static void test_mixture(void)
{
    struct scans_made made;

    make_mixture(&made);
    compare(&made, false, "lookups of all kinds");
    compare(&made, true, "once more, with results that are there");
    drop(&made);
    for (int i = 0; i < 3; i++) {
        make_mixture(&made);
        compare(&made, true, "other results, by the same program");
        drop(&made);
    }
}

/* What the tag says alone is not loaded; what SQLite alone can tell is unsure. */
static void test_others(void)
{
    static const uint8_t kinds[] = {CLR_TAG_NULL, CLR_TAG_BYTES, CLR_TAG_UNSURE};
    struct clr_lookup_results *results;
    struct scans_made made;
    int lookup;

    for (size_t i = 0; i < sizeof kinds; i++) {
        begin(&made);
        lookup = add_lookup(&made, CODES + 1, kinds[i], true);
        scans_tally(&made, 0, lookup, -1);
        scans_tally(&made, 1u << CLR_SUM, 1, -1);
        compare(&made, false, "results of one kind that has no values");
        drop(&made);
    }
    begin(&made);
    lookup = add_lookup(&made, CODES + 1, CLR_TAG_MIXED, true);
    made.scan.filter = lookup;
    scans_tally(&made, 1u << CLR_SUM, 0, -1);
    compare(&made, false, "a lookup is the filter");
    drop(&made);
    made.lookups[0] = scans_lookup(CLR_TAG_MIXED, true, entries[1]);
    results = made.lookups[0].results;
    results->tags[999] = CLR_TAG_UNSURE;
    results->values[999] = 0;
    clr_lookup_set(&made.lookups[0], results, entries[1]);
    compare(&made, false, "an error for a value");
    compare(&made, true, "an error for a value, once its program is built");
    drop(&made);
}

/* Scans with other results, the program of which is there. Returns whether the answer is right. */
static bool scan_others(struct scans_made *made, uint8_t kind, bool is_short,
                        struct clr_device_work *work)
{
    struct clr_tally tallies[8];
    enum clr_scan_outcome expected;

    clr_lookup_results_release(made->lookups[0].results);
    made->lookups[0] = scans_lookup(kind, is_short, entries[made->instructions[2].a - CODES]);
    expected = clr_host_scan(&made->scan, NULL);
    memcpy(tallies, made->tallies, sizeof tallies);
    memset(work, 0, sizeof *work);
    return agrees(made, expected, tallies, shards_scan_once(&made->scan, copies, work));
}

/* Returns the bytes that say of so many entries whether they are true. */
static int64_t truths_of(uint32_t count)
{
    return (count / 32 + 1) * (int64_t)sizeof(uint32_t);
}

/* The device keeps what was used last, and lets go of the rest. Few results are known by what they
   are: those of a lookup that is evaluated again need not be sent. */
static void test_many(void)
{
    struct clr_lookup_results *first, *again;
    struct clr_device_work work = {0};
    struct scans_made made;
    int right = 0;

    begin(&made);
    made.scan.filter = add_lookup(&made, CODES + 2, CLR_TAG_INTEGER, true);
    scans_tally(&made, 1u << CLR_SUM, 1, -1);
    compare(&made, false, "many lookups: the first");
    for (int i = 0; i < MANY; i++)
        right += scan_others(&made, CLR_TAG_INTEGER, true, &work);
    tap_is_int64(right, MANY, "and others");
    tap_is_int64(work.bytes, entries[2] + truths_of(entries[2]),
                 "each is sent, a byte for each entry, and whether that is true");
    memset(&work, 0, sizeof work);
    shards_scan_once(&made.scan, copies, &work);
    tap_is_int64(work.bytes, 0, "once");
    tap_is_int64(atomic_load(&made.lookups[0].results->references), 1, "and needed there only");
    drop(&made);

    begin(&made);
    made.scan.filter = add_lookup(&made, CODES, CLR_TAG_MIXED, false);
    scans_tally(&made, 1u << CLR_SUM, 1, -1);
    compare(&made, false, "few results");
    first = made.lookups[0].results;
    again = clr_lookup_results_new(entries[0]);
    TAP_NEED(again != NULL, "no memory");
    memcpy(again->values, first->values, entries[0] * sizeof first->values[0]);
    memcpy(again->tags, first->tags, entries[0]);
    clr_lookup_set(&made.lookups[0], again, entries[0]);
    clr_lookup_results_release(first);
    shards_scan_once(&made.scan, copies, &work);
    tap_is_int64(work.bytes, 0, "the same once more are not sent");
    right = 0;
    for (int i = 0; i < MANY; i++)
        right += scan_others(&made, CLR_TAG_MIXED, false, &work);
    tap_is_int64(right, MANY, "others are");
    tap_is_int64(work.bytes, 9 * (int64_t)entries[0] + truths_of(entries[0]), "with tags");
    drop(&made);
}

static void test_device(const struct clr_device_info *info)
{
    tap_diag("%s (%s), as %s", info->name, info->platform, clr_device_type_name(info->type));
    worker = workers_start(info);
    open_columns();
    test_mixture();
    test_others();
    test_many();
    tap_ok(clr_worker_stop(worker, SHARDS_TIMEOUT_MS), "the worker ends");
    close_columns();
}

TAP_TEST(all_tests)
{
    devices_each(test_device, false);
}

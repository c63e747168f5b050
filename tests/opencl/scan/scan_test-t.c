/*
 * The examination of a scan's program: it passes one that is right, and notices each way of being
 * wrong; and real programs of scans made at random pass it.
 */
#include "opencl/memory/trial.h"

#include "base/clock.h"
#include "engine/host/host_scan.h"
#include "numeric/scans.h"
#include "opencl/core/device.h"
#include "opencl/devices.h"
#include "opencl/scan/scanner.h"

enum { ROWS = 64, SCANS = 60, PROGRAMS = 3, QUICK_PROGRAMS = 1 };

static struct clr_device *device;

/* ---- A program whose results are the host's, and then spoiled. */

enum spoiled { NOTHING, COUNT, NON_INTEGERS, SUM, LEAST, UNSURE, SPOILED };

static const char *const spoiled_names[SPOILED] = {
    "nothing", "the count",  "the count of others than INTEGERs",
    "the sum", "an extreme", "whether all is sure",
};

struct fake {
    enum spoiled spoiled;
    int sure; /* rounds in which there was something to compare */
};

static void spoil_sum(struct clr_sum *sum, enum clr_element element)
{
    if (element == CLR_INTEGER)
        clr_sum_add_integer(sum, 1, 1);
    else if (clr_sum_is_unusual(sum))
        sum->nan = !sum->nan;
    else
        sum->plus_infinity = 1;
}

static void spoil(enum spoiled spoiled, const struct clr_scan_step *step, struct clr_state *state,
                  bool *unsure)
{
    struct clr_range *range = step->element == CLR_REAL ? &state->reals : &state->integers;

    if (spoiled == COUNT)
        state->count++;
    else if (spoiled == NON_INTEGERS)
        state->non_integers++;
    else if (spoiled == UNSURE)
        *unsure = !*unsure;
    else if (spoiled == SUM && step->operation != CLR_EXTREMES)
        spoil_sum(&state->sum, step->element);
    else if (spoiled == LEAST && step->operation == CLR_EXTREMES)
        clr_range_add(range, range->seen && range->least != INT64_MIN ? INT64_MIN : 1);
}

static enum clr_code run_fake(void *context, const struct clr_scan_plan *plan,
                              struct clr_resident_column *const *columns, bool *unsure,
                              bool *inexact, struct clr_status *status)
{
    const struct clr_scan_step *step = &plan->steps[0];
    struct fake *fake = context;
    struct clr_scan copy = *plan->scan;
    enum clr_scan_outcome outcome = clr_host_scan(&copy, NULL);

    (void)columns, (void)status;
    *unsure = outcome == CLR_SCAN_UNSURE;
    *inexact = false;
    fake->sure += outcome == CLR_SCAN_DONE;
    spoil(fake->spoiled, step, &plan->scan->tallies[step->tally].state, unsure);
    return CLR_OK;
}

/* Returns what the first bundle of the scan's steps comes to; whether there is one. */
static bool examine(const struct clr_scan *scan, struct fake *fake, struct clr_scan_step *step,
                    struct clr_status *status)
{
    struct clr_scan_bundle bundles[CLR_MOST_SCAN_STEPS];
    const struct clr_scan_run run = {fake, run_fake};
    struct clr_scan_trial *trial;
    uint8_t kinds[SCANS_COLUMNS];
    struct clr_scan_plan plan;

    for (int i = 0; i < SCANS_COLUMNS; i++)
        kinds[i] = clr_column_device_kind(scan->columns[i]);
    clr_scan_plan(scan, kinds, &plan);
    if (plan.count == 0)
        return false;
    clr_scan_bundles(&plan, bundles);
    *step = plan.steps[bundles[0].steps[0]];
    trial = clr_scan_trial_new(&plan, &bundles[0]);
    TAP_NEED(trial != NULL, "no memory");
    clr_status_clear(status);
    clr_scan_test(device, trial, &run, status);
    clr_memory_free(trial);
    return true;
}

/* Whether spoiling makes a difference to what the step is for. */
static bool concerns(enum spoiled spoiled, const struct clr_scan_step *step)
{
    if (spoiled == SUM)
        return step->takes && step->operation != CLR_EXTREMES;
    if (spoiled == LEAST)
        return step->takes && step->operation == CLR_EXTREMES;
    return true;
}

/* Columns of codes of all sizes, and lookups of all kinds. */
enum { LOOKUPS = 6, ENTRIES = 50 };

static struct clr_column *codes[LOOKUPS];
static struct clr_lookup lookups[LOOKUPS];

static void make_lookups(void)
{
    static const struct {
        uint8_t code_bytes, kind;
        bool is_short;
    } made[LOOKUPS] = {{1, CLR_TAG_INTEGER, true}, {2, CLR_TAG_MIXED, false},
                       {4, CLR_TAG_REAL, false},   {1, CLR_TAG_MIXED, true},
                       {2, CLR_TAG_NULL, true},    {4, CLR_TAG_INTEGER, false}};

    for (int i = 0; i < LOOKUPS; i++) {
        codes[i] = scans_codes(made[i].code_bytes, ENTRIES, ROWS, false);
        lookups[i] = scans_lookup(made[i].kind, made[i].is_short, ENTRIES);
    }
}

static void free_lookups(void)
{
    for (int i = 0; i < LOOKUPS; i++) {
        clr_column_release(codes[i]);
        clr_lookup_results_release(lookups[i].results);
    }
}

/* Makes a scan; every other one has a lookup. */
static void make_scan(struct scans_made *made, struct clr_column *const *columns, int number)
{
    const int lookup = number / 2 % LOOKUPS;

    scans_make(made, columns);
    if (number % 2 != 0)
        scans_look_up(made, codes[lookup], &lookups[lookup]);
}

static void test_spoiled(struct clr_column *const *columns)
{
    int examined[SPOILED] = {0}, wrong[SPOILED] = {0};
    struct clr_scan_step step;
    struct scans_made made;
    struct clr_status status;

    for (int i = 0; i < SCANS; i++) {
        make_scan(&made, columns, i);
        for (enum spoiled spoiled = NOTHING; spoiled < SPOILED; spoiled++) {
            struct fake fake = {spoiled, 0};
            if (!examine(&made.scan, &fake, &step, &status) || fake.sure == 0 ||
                !concerns(fake.spoiled, &step))
                continue;
            examined[spoiled]++;
            wrong[spoiled] += spoiled == NOTHING ? status.code != CLR_OK
                                                 : status.code != CLR_DEVICE || status.error != 0;
        }
    }
    for (int spoiled = NOTHING; spoiled < SPOILED; spoiled++) {
        tap_ok(examined[spoiled] > 0, "%s is spoiled", spoiled_names[spoiled]);
        tap_is_int64(wrong[spoiled], 0, "and that is noticed, in %d scans", examined[spoiled]);
    }
}

/* ---- Real programs. */

static void test_programs(struct clr_column *const *columns)
{
    const int programs = tap_is_quick() ? QUICK_PROGRAMS : PROGRAMS;
    int built = 0, failed = 0;
    int64_t start = clr_clock_ns();
    uint8_t kinds[SCANS_COLUMNS];
    struct clr_scan_plan plan;
    struct clr_status status;
    struct scans_made made;

    for (int scans = 0; built < programs && scans < 10 * programs; scans++) {
        bool requested;

        make_scan(&made, columns, scans + 1);
        for (int i = 0; i < SCANS_COLUMNS; i++)
            kinds[i] = clr_column_device_kind(made.columns[i]);
        clr_status_clear(&status);
        clr_scan_plan(&made.scan, kinds, &plan);
        requested = devices_request(device, &plan, &status);
        while (requested && status.code == CLR_OK) {
            char *log = NULL;

            built++;
            requested = clr_device_build(device, &log, &status);
            clr_memory_free(log);
        }
        failed += status.code != CLR_OK;
        if (status.code != CLR_OK)
            tap_diag("%s", status.message);
    }
    tap_ok(built > 0, "%d programs are built, in %d ms", built,
           (int)((clr_clock_ns() - start) / 1000000));
    tap_is_int64(failed, 0, "and pass");
}

static void test_device(const struct clr_device_info *info)
{
    struct clr_column *columns[SCANS_COLUMNS];

    tap_diag("%s, as %s, %s doubles", info->name, info->type == CLR_DEVICE_CPU ? "cpu" : "gpu",
             info->doubles ? "with" : "without");
    device = devices_open(info);
    scans_columns(columns, ROWS);
    make_lookups();
    if (info->doubles)
        test_spoiled(columns);
    test_programs(columns);
    for (int i = 0; i < SCANS_COLUMNS; i++)
        clr_column_release(columns[i]);
    free_lookups();
    clr_device_close(device);
}

/* By integers: the programs are others, and what is done with their results is not. */
static void test_without_doubles(const struct clr_device_info *info)
{
    struct clr_device_info without = *info;

    without.doubles = false;
    test_device(&without);
}

TAP_TEST(test_devices)
{
    devices_each(test_device, true);
    devices_each(test_without_doubles, false);
}

/*
 * Histograms of columns in a device's memory, on every OpenCL device there is, against the host's
 * answers: what is answered when, and with how many launches. A CPU device runs the code for GPUs
 * as well, as in device-t.c. tests/opencl/bins/binner-t.c has what may go wrong in the kernels.
 */
#include "base/memory.h"
#include "batch.h"
#include "engine/host/host_scan.h"
#include "engine/operations/resident.h"
#include "engine/shards.h"
#include "engine/workers.h"
#include "numeric/bins_data.h"
#include "numeric/scan_reference.h"
#include "opencl/devices.h"

#include "tap.h"

#include <math.h>
#include <unistd.h>

enum { ROWS = 30011, COLUMNS = 2, QUESTIONS = 24, MOST_BINS = 40000 };

/* A column of REALs and one of INTEGERs, and questions about them. */
struct world {
    struct clr_column *columns[COLUMNS];
    struct clr_sharded *copies[COLUMNS];
    struct clr_instruction instructions[COLUMNS];
    struct clr_tally tallies[COLUMNS];
    struct clr_question questions[QUESTIONS];
    struct clr_scan scan;
};

static uint64_t counts[QUESTIONS][MOST_BINS + 2], expected_counts[QUESTIONS][MOST_BINS + 2];

static void open_world(struct world *world, struct clr_worker *worker, size_t rows)
{
    int i;

    memset(world, 0, sizeof *world);
    for (i = 0; i < COLUMNS; i++) {
        world->columns[i] = shards_column(i == 0 ? CLR_TAG_REAL : CLR_TAG_INTEGER, rows);
        world->copies[i] = shards_copy(worker, world->columns[i]);
        world->instructions[i] = (struct clr_instruction){CLR_OP_COLUMN, i, -1, -1};
        world->tallies[i] =
            (struct clr_tally){.operations = CLR_KEEP | 1u << CLR_EXTREMES | 1u << CLR_SUM,
                               .x = i,
                               .y = -1,
                               .filter = -1};
    }
    world->scan = (struct clr_scan){.instruction_count = COLUMNS,
                                    .column_count = COLUMNS,
                                    .tally_count = COLUMNS,
                                    .filter = -1,
                                    .instructions = world->instructions,
                                    .columns = world->columns,
                                    .rows = rows,
                                    .tallies = world->tallies,
                                    .questions = world->questions,
                                    .values_memory = UINT64_MAX};
}

static void close_world(struct world *world)
{
    int i;

    for (i = 0; i < COLUMNS; i++) {
        clr_sharded_release(world->copies[i]);
        clr_column_release(world->columns[i]);
    }
}

/* ---- Questions. */

static void add_bins(struct world *world, int column, struct clr_value low, struct clr_value high,
                     int64_t number)
{
    struct clr_question *question = &world->questions[world->scan.question_count];

    *question = (struct clr_question){.kind = CLR_ASK_BINS, .tally = column};
    question->counts = counts[world->scan.question_count++];
    clr_bins_init(&question->bins, &low, &high, number);
}

/* Of any bins, but no more than there are rows: more are for the host. */
static void add_any(struct world *world, size_t rows)
{
    struct clr_bins bins;

    bins_make(&bins, random_below(3) ? 0 : (int)random_below(BINS_FAMILIES), MOST_BINS);
    add_bins(world, (int)random_below(COLUMNS), bins.low, bins.high,
             (uint64_t)bins.count > rows ? (int64_t)rows : bins.count);
}

/* Asks once. */
static enum clr_scan_outcome ask_once(struct world *world, struct clr_device_work *work,
                                      struct clr_status *status)
{
    return clr_resident_histograms(clr_sharded_division(world->copies[0]), &world->scan,
                                   world->copies, SHARDS_TIMEOUT_MS, NULL, work, status);
}

/* Asks until there is an answer, or something else than NOT_NOW. */
static enum clr_scan_outcome ask(struct world *world, struct clr_device_work *work,
                                 struct clr_status *status)
{
    int64_t start = clr_clock_ns();
    enum clr_scan_outcome outcome;

    clr_status_clear(status);
    memset(work, 0, sizeof *work);
    while ((outcome = ask_once(world, work, status)) == CLR_SCAN_NOT_NOW && !shards_late(start)) {
        memset(work, 0, sizeof *work);
        usleep(1000);
    }
    return outcome;
}

/* Compares the scan's answers with the host's. */
static void check_answers(struct world *world)
{
    struct clr_tally tallies[COLUMNS];
    const int number = world->scan.question_count;
    int i;

    memcpy(tallies, world->tallies, sizeof tallies);
    for (i = 0; i < number; i++)
        world->questions[i].counts = expected_counts[i];
    if (clr_host_scan(&world->scan, NULL) != CLR_SCAN_DONE)
        tap_bail("the host does not answer");
    for (i = 0; i < number; i++) {
        const struct clr_question *question = &world->questions[i];
        batch_ok(memcmp(counts[i], expected_counts[i],
                        ((size_t)question->bins.count + 2) * sizeof counts[i][0]) == 0,
                 "question %d: %" PRId64 " bins", i, question->bins.count);
        world->questions[i].counts = counts[i];
    }
    for (i = 0; i < COLUMNS; i++)
        batch_ok(reference_same_answer(&tallies[i].state, &world->tallies[i].state), "tally %d", i);
}

/* ---- Tests. */

static void test_answers(struct clr_worker *worker, size_t rows)
{
    struct clr_device_work work;
    struct clr_status status;
    struct world world;
    int round, i;

    open_world(&world, worker, rows);
    batch_begin();
    for (round = 0; round < 30; round++) {
        world.scan.question_count = 0;
        for (i = random_between(1, QUESTIONS); i > 0; i--)
            add_any(&world, rows);
        if (batch_ok(ask(&world, &work, &status) == CLR_SCAN_DONE, "an answer: %s", status.message))
            check_answers(&world);
    }
    batch_end("histograms of %zu rows", rows);
    close_world(&world);
}

/* The first who asks does not wait for the kernels; each histogram is a launch, and the tallies are
   one. */
static void test_requests(struct clr_worker *worker)
{
    struct clr_device_work work = {0};
    struct clr_status status;
    struct world world;
    int i;

    open_world(&world, worker, ROWS);
    clr_status_clear(&status);
    for (i = 0; i < COLUMNS; i++)
        add_bins(&world, i, bins_integer(-100), bins_integer(100), 10);
    tap_ok(ask_once(&world, &work, &status) == CLR_SCAN_NOT_NOW, "who asks first does not wait");
    tap_ok(ask(&world, &work, &status) == CLR_SCAN_DONE, "then there is an answer: %s",
           status.message);
    tap_ok(ask(&world, &work, &status) == CLR_SCAN_DONE && work.kernels >= COLUMNS + 1,
           "of %d launches", (int)work.kernels);
    close_world(&world);
}

/* What is for the host. */
static void test_others(struct clr_worker *worker)
{
    struct clr_device_work work = {0};
    struct clr_status status;
    struct world world;

    open_world(&world, worker, ROWS);
    world.columns[0]->values[17] = scans_bits(INFINITY);
    clr_sharded_release(world.copies[0]);
    world.copies[0] = shards_copy(worker, world.columns[0]);
    add_bins(&world, 0, bins_integer(0), bins_integer(1), 2);
    tap_ok(ask(&world, &work, &status) == CLR_SCAN_DONE, "an infinity has its bin");
    batch_begin();
    check_answers(&world);
    batch_end("the same as the host's");

    world.scan.question_count = 0;
    add_bins(&world, 0, bins_integer(0), bins_integer(1), ROWS + 1);
    clr_status_clear(&status);
    tap_ok(ask_once(&world, &work, &status) == CLR_SCAN_NOT_NOW, "more bins than rows");
    world.scan.question_count = 0;
    add_bins(&world, 0, bins_integer(0), bins_integer(1), 100);
    tap_ok(ask(&world, &work, &status) == CLR_SCAN_DONE, "a histogram");
    world.scan.values_memory = clr_resident_bins_memory(&world.questions[0].bins) - 1;
    tap_ok(ask_once(&world, &work, &status) == CLR_SCAN_NOT_NOW,
           "but not in less memory than it takes");
    world.scan.values_memory = UINT64_MAX;
    world.scan.filter = 0;
    tap_ok(ask_once(&world, &work, &status) == CLR_SCAN_NOT_NOW, "nor of some of the rows");
    close_world(&world);
}

static void test_refusals(struct clr_worker *worker)
{
    struct clr_column *mixed = scans_column(CLR_TAG_MIXED, 100, 0);
    struct clr_sharded *other = shards_copy(worker, mixed);
    struct clr_device_work work = {0};
    struct clr_status status;
    struct clr_bins bins;
    struct world world;
    int fails, failed = 0;

    bins_make(&bins, 0, 10);
    clr_status_clear(&status);
    tap_ok(clr_resident_bins(other, &bins, counts[0], SHARDS_TIMEOUT_MS, NULL, &work, &status) ==
                   CLR_SCAN_FAILED &&
               status.code == CLR_INVALID,
           "bins of a column of several types");
    clr_sharded_release(other);
    clr_column_release(mixed);

    open_world(&world, worker, ROWS);
    add_bins(&world, 1, bins_integer(0), bins_integer(100), 10);
    tap_ok(ask(&world, &work, &status) == CLR_SCAN_DONE, "the device is in use");
    for (fails = 0; fails < 20; fails++) {
        enum clr_scan_outcome outcome;
        clr_status_clear(&status);
        clr_memory_fail_after(fails);
        outcome = ask_once(&world, &work, &status);
        if (!clr_memory_fail_after(-1))
            break;
        failed += outcome == CLR_SCAN_FAILED && status.code == CLR_NOMEM;
    }
    tap_ok(failed == fails && fails >= 4 && fails < 20, "no memory, %d times", failed);
    batch_begin();
    batch_ok(ask(&world, &work, &status) == CLR_SCAN_DONE, "%s", status.message);
    check_answers(&world);
    batch_end("what can be repeated");
    close_world(&world);
}

static void test_stop(struct clr_worker *worker)
{
    struct clr_device_work work = {0};
    struct clr_status status;
    struct world world;

    open_world(&world, worker, ROWS);
    add_bins(&world, 1, bins_integer(0), bins_integer(100), 10);
    ask(&world, &work, &status);
    tap_ok(clr_worker_stop(worker, SHARDS_TIMEOUT_MS), "the worker ends");
    tap_ok(ask_once(&world, &work, &status) == CLR_SCAN_NOT_NOW, "and answers no more");
    close_world(&world);
}

static void test_device(const struct clr_device_info *info)
{
    static const size_t rows[] = {1, 2, 1000, 100003};
    struct clr_worker *worker = workers_start(info);
    size_t i;

    tap_diag("%s (%s), as %s", info->name, info->platform, clr_device_type_name(info->type));
    test_requests(worker);
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
        test_answers(worker, rows[i]);
    test_others(worker);
    test_refusals(worker);
    test_stop(worker);
}

int main(void)
{
    random_start();
    devices_each(test_device, false);
    return tap_done();
}

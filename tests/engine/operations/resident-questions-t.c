/*
 * Questions about columns in a device's memory, on every OpenCL device there is, against the host's
 * answers: what is answered when, and with how many launches. A CPU device runs the code for GPUs
 * as well, as in device-t.c. tests/opencl/bins/binner-t.c and resident-order-t.c have what may go
 * wrong in the kernels.
 */
#include "base/memory.h"
#include "batch.h"
#include "engine/host/host_scan.h"
#include "engine/operations/resident_bins.h"
#include "engine/operations/resident_questions.h"
#include "engine/orders.h"
#include "engine/shards.h"
#include "engine/workers.h"
#include "numeric/bins_data.h"
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
        world->columns[i] = orders_column(i == 0 ? CLR_TAG_REAL : CLR_TAG_INTEGER, rows);
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

static struct clr_question *add_question(struct world *world, enum clr_question_kind kind,
                                         int column)
{
    struct clr_question *question = &world->questions[world->scan.question_count];

    *question = (struct clr_question){.kind = kind, .tally = column};
    question->counts = counts[world->scan.question_count++];
    return question;
}

static void add_position(struct world *world, int column, double fraction)
{
    add_question(world, random_below(2) ? CLR_ASK_BETWEEN : CLR_ASK_AT, column)->fraction =
        fraction;
}

static void add_bins(struct world *world, int column, struct clr_value low, struct clr_value high,
                     int64_t number)
{
    clr_bins_init(&add_question(world, CLR_ASK_BINS, column)->bins, &low, &high, number);
}

static void add_any(struct world *world)
{
    int column = (int)random_below(COLUMNS);

    switch (random_below(4)) {
    case 0:
        add_question(world, random_below(2) ? CLR_ASK_MODE : CLR_ASK_DISTINCT, column);
        break;
    case 1:
        bins_make(&add_question(world, CLR_ASK_BINS, column)->bins,
                  random_below(3) ? 0 : (int)random_below(BINS_FAMILIES), MOST_BINS);
        break;
    default:
        add_position(world, column,
                     random_below(4) == 0 ? (double)random_below(2)
                                          : (double)random_below(1001) / 1000);
        break;
    }
}

/* Asks once. */
static enum clr_scan_outcome ask_once(struct world *world, struct clr_device_work *work,
                                      struct clr_status *status)
{
    return clr_resident_answer(clr_sharded_division(world->copies[0]), &world->scan, world->copies,
                               ORDERS_TIMEOUT_MS, NULL, work, status);
}

/* Asks until there is an answer, or something else than NOT_NOW. */
static enum clr_scan_outcome ask(struct world *world, struct clr_device_work *work,
                                 struct clr_status *status)
{
    int64_t start = clr_clock_ns();
    enum clr_scan_outcome outcome;

    clr_status_clear(status);
    memset(work, 0, sizeof *work);
    while ((outcome = ask_once(world, work, status)) == CLR_SCAN_NOT_NOW && !orders_late(start)) {
        memset(work, 0, sizeof *work);
        usleep(1000);
    }
    return outcome;
}

static bool is_same_answer(const struct clr_value *a, const struct clr_value *b)
{
    return a->kind == b->kind && a->as.integer == b->as.integer; /* bits, of either kind */
}

/* Compares the scan's answers with the host's. */
static void check_answers(struct world *world)
{
    struct clr_question found[QUESTIONS];
    struct clr_tally tallies[COLUMNS];
    const int number = world->scan.question_count;
    int i;

    memcpy(found, world->questions, sizeof found);
    memcpy(tallies, world->tallies, sizeof tallies);
    for (i = 0; i < number; i++)
        world->questions[i].counts = expected_counts[i];
    if (clr_host_scan(&world->scan, NULL) != CLR_SCAN_DONE)
        tap_bail("the host does not answer");
    for (i = 0; i < number; i++) {
        const struct clr_question *question = &world->questions[i];
        if (question->kind == CLR_ASK_BINS)
            batch_ok(memcmp(counts[i], expected_counts[i],
                            ((size_t)question->bins.count + 2) * sizeof counts[i][0]) == 0,
                     "question %d: %" PRId64 " bins", i, question->bins.count);
        else
            batch_ok(is_same_answer(&found[i].answer, &question->answer),
                     "question %d, of kind %d about column %d", i, (int)question->kind,
                     question->tally);
        world->questions[i].counts = counts[i];
    }
    for (i = 0; i < COLUMNS; i++)
        batch_ok(scans_same(&tallies[i], &world->tallies[i]), "tally %d", i);
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
            add_any(&world);
        for (i = 0; i < world.scan.question_count; i++) {
            struct clr_bins *bins = &world.questions[i].bins;
            /* More bins than rows are for the host. */
            if (world.questions[i].kind == CLR_ASK_BINS && (uint64_t)bins->count > rows)
                clr_bins_init(bins, &bins->low, &bins->high, (int64_t)rows);
        }
        if (batch_ok(ask(&world, &work, &status) == CLR_SCAN_DONE, "an answer: %s", status.message))
            check_answers(&world);
    }
    batch_end("questions about %zu rows", rows);
    close_world(&world);
}

/* Returns the launches of the second answer, when all columns have been sorted. */
static int64_t count_launches(struct world *world)
{
    struct clr_device_work work;
    struct clr_status status;

    ask(world, &work, &status);
    tap_ok(ask(world, &work, &status) == CLR_SCAN_DONE, "%d questions: %s",
           world->scan.question_count, status.message);
    return work.kernels;
}

/* One launch finds the keys of all percentiles of a column, and the extremes as well. */
static void test_requests(struct clr_worker *worker)
{
    struct world world;
    int i;

    open_world(&world, worker, ROWS);
    for (i = 0; i < COLUMNS; i++)
        world.tallies[i].operations = CLR_KEEP | 1u << CLR_EXTREMES;
    for (i = 0; i < COLUMNS; i++)
        add_position(&world, i, 0.5);
    tap_is_int64(count_launches(&world), 2, "a percentile of each column: a launch for each");
    for (i = 0; i < 4; i++)
        add_position(&world, 0, i / 3.0);
    add_question(&world, CLR_ASK_MODE, 0);
    add_question(&world, CLR_ASK_DISTINCT, 0);
    tap_is_int64(count_launches(&world), 2, "five of one, its mode and distinct values: no more");
    add_bins(&world, 0, bins_integer(-100), bins_integer(100), 100);
    tap_is_int64(count_launches(&world), 3, "a histogram: one more");
    batch_begin();
    check_answers(&world);
    batch_end("all of them together");
    close_world(&world);
}

/* After the first question all columns are being sorted. */
static void test_start(struct clr_worker *worker)
{
    const size_t own = workers_own(worker, (size_t)ROWS * 8);
    struct clr_device_work work = {0};
    struct clr_status status;
    struct world world;

    open_world(&world, worker, ROWS);
    add_position(&world, 0, 0.5);
    add_bins(&world, 1, bins_integer(-100), bins_integer(100), 10);
    add_position(&world, 1, 0.5);
    clr_status_clear(&status);
    tap_ok(ask_once(&world, &work, &status) == CLR_SCAN_NOT_NOW, "who asks first does not wait");
    tap_ok(clr_sharded_size(world.copies[0], NULL) >= own + ROWS * 8 &&
               clr_sharded_size(world.copies[1], NULL) >= own + ROWS * 8,
           "both columns are being sorted");
    tap_ok(ask(&world, &work, &status) == CLR_SCAN_DONE, "then there is an answer");
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
    add_question(&world, CLR_ASK_MODE, 0);
    tap_ok(ask(&world, &work, &status) == CLR_SCAN_DONE, "an infinity has its mode");
    add_bins(&world, 0, bins_integer(0), bins_integer(1), 2);
    tap_ok(ask(&world, &work, &status) == CLR_SCAN_DONE, "and its bin");
    batch_begin();
    check_answers(&world);
    batch_end("the same as the host's");
    add_position(&world, 0, 0.5);
    tap_ok(ask(&world, &work, &status) == CLR_SCAN_UNSURE, "but no percentile");

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
    tap_ok(clr_resident_bins(other, &bins, counts[0], ORDERS_TIMEOUT_MS, NULL, &work, &status) ==
                   CLR_SCAN_FAILED &&
               status.code == CLR_INVALID,
           "bins of a column of several types");
    clr_sharded_release(other);
    clr_column_release(mixed);

    open_world(&world, worker, ROWS);
    add_bins(&world, 1, bins_integer(0), bins_integer(100), 10);
    add_position(&world, 1, 0.5);
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
    tap_ok(clr_worker_stop(worker, ORDERS_TIMEOUT_MS), "the worker ends");
    tap_ok(ask_once(&world, &work, &status) == CLR_SCAN_NOT_NOW, "and answers no more");
    close_world(&world);
}

static void test_device(const struct clr_device_info *info)
{
    static const size_t rows[] = {1, 2, 1000, 100003};
    struct clr_worker *worker = workers_start(info);
    size_t i;

    tap_diag("%s (%s), as %s", info->name, info->platform, clr_device_type_name(info->type));
    test_start(worker);
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
        test_answers(worker, rows[i]);
    test_requests(worker);
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

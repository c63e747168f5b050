/*
 * The order of columns in a device's memory, on every OpenCL device there is, against qsort(): what
 * is answered when, what it takes, and what is left of it. A CPU device runs the code for GPUs as
 * well, as in device-t.c. tests/opencl/sort/sorter-t.c has what may go wrong in the sorting
 * itself, and order-failure-t.c what OpenCL's failures lead to.
 */
#include "engine/operations/resident_order.h"

#include "base/memory.h"
#include "batch.h"
#include "engine/operations/resident_scan.h"
#include "engine/orders.h"
#include "engine/shards.h"
#include "engine/workers.h"
#include "opencl/devices.h"

#include "tap.h"

#include <pthread.h>
#include <unistd.h>

enum { ROWS = 30011 };

/* One question at any ranks, and what is wrong about the answer. */
static void check_answer(struct clr_worker *worker, struct clr_resident *resident,
                         const struct clr_column *column, const int64_t *keys)
{
    struct clr_order order = {.rank_count =
                                  column->rows > 0 ? random_between(0, CLR_MOST_RANKS) : 0};
    struct clr_device_work work = {0};
    struct clr_status status;
    struct clr_runs runs;
    int i;

    for (i = 0; i < order.rank_count; i++)
        order.ranks[i] = random_below(column->rows);
    if (!batch_ok(orders_ask(worker, resident, &order, &work, &status) == CLR_SCAN_DONE,
                  "an answer: %s", status.message))
        return;
    for (i = 0; i < order.rank_count; i++)
        batch_ok(order.keys[i] == keys[order.ranks[i]], "rank %llu",
                 (unsigned long long)order.ranks[i]);
    orders_runs(column, keys, &runs);
    batch_ok(order.runs.distinct == runs.distinct && order.runs.longest == runs.longest &&
                 order.runs.mode == runs.mode,
             "the runs");
}

/* bytes: of each value, or 0 for a column that is not narrow. */
static void test_answers(struct clr_worker *worker, uint8_t kind, uint8_t bytes, size_t rows)
{
    struct clr_column *column = orders_column(kind, rows);
    struct clr_resident *resident;
    int64_t *keys;
    int i;

    if (bytes > 0)
        scans_narrow(&column, bytes);
    resident = orders_resident(worker, column);
    keys = orders_sort(column);
    batch_begin();
    for (i = 0; i < 10; i++)
        check_answer(worker, resident, column, keys);
    batch_end("%zu %s, %d bytes", rows, kind == CLR_TAG_REAL ? "REALs" : "INTEGERs", bytes);
    free(keys);
    clr_resident_free(resident);
    clr_column_release(column);
}

/* What is said before there is an order, and what it takes. */
static void test_course(struct clr_worker *worker)
{
    struct clr_column *column = orders_column(CLR_TAG_REAL, ROWS);
    struct clr_resident *resident = orders_resident(worker, column);
    struct clr_order order = {.rank_count = 1};
    struct clr_device_work work = {0};
    struct clr_status status;

    clr_status_clear(&status);
    tap_is_uint64(clr_resident_size(resident), workers_own(worker, ROWS * 8), "a column alone");
    tap_ok(clr_resident_order(worker, resident, &order, ORDERS_TIMEOUT_MS, NULL, &work, &status) ==
               CLR_SCAN_NOT_NOW,
           "the first who asks does not wait");
    tap_ok(clr_resident_size(resident) >= workers_own(worker, ROWS * 8) + ROWS * 8,
           "the order takes memory as well");
    tap_ok(work.kernels == 0, "nothing has been done for him");
    tap_ok(orders_ask(worker, resident, &order, &work, &status) == CLR_SCAN_DONE,
           "then there is one: %s", status.message);
    tap_ok(work.kernels > 3 && work.passes == work.kernels, "who gets the first answer is told "
                                                            "what sorting cost");
    tap_is_uint64(clr_resident_size(resident), workers_own(worker, ROWS * 8) + ROWS * 8,
                  "a column with its order");
    memset(&work, 0, sizeof work);
    tap_ok(orders_ask(worker, resident, &order, &work, &status) == CLR_SCAN_DONE &&
               work.kernels == 1,
           "the next of one launch, which finds the keys");
    order.rank_count = 0;
    tap_ok(clr_resident_order(worker, resident, &order, ORDERS_TIMEOUT_MS, NULL, &work, &status) ==
                   CLR_SCAN_DONE &&
               work.kernels == 1,
           "and of none if no ranks are asked for");
    clr_resident_free(resident);
    clr_column_release(column);
}

static void test_refusals(struct clr_worker *worker)
{
    struct clr_column *column = orders_column(CLR_TAG_INTEGER, 100);
    struct clr_column *mixed = scans_column(CLR_TAG_MIXED, 100, 0);
    struct clr_resident *resident = orders_resident(worker, column);
    struct clr_resident *other = orders_resident(worker, mixed);
    struct clr_order order = {.rank_count = 1, .ranks = {100}};
    struct clr_device_work work = {0};
    struct clr_status status;
    long i;

    tap_ok(orders_ask(worker, resident, &order, &work, &status) == CLR_SCAN_FAILED &&
               status.code == CLR_INVALID,
           "a rank that there is not");
    tap_is_string(status.message, "there is no rank 100 among 100 rows", "and its number");
    order.ranks[0] = 99;
    order.rank_count = CLR_MOST_RANKS + 1;
    tap_ok(orders_ask(worker, resident, &order, &work, &status) == CLR_SCAN_FAILED &&
               status.code == CLR_INVALID,
           "too many ranks");
    order.rank_count = 1;
    tap_ok(orders_ask(worker, other, &order, &work, &status) == CLR_SCAN_FAILED &&
               status.code == CLR_INVALID,
           "a column of several types");
    clr_resident_free(other);
    tap_ok(orders_ask(worker, resident, &order, &work, &status) == CLR_SCAN_DONE,
           "the device is in use");
    clr_memory_fail_after(0);
    tap_ok(orders_ask(worker, resident, &order, &work, &status) == CLR_SCAN_FAILED &&
               status.code == CLR_NOMEM,
           "no memory for a question");
    clr_memory_fail_after(-1);
    tap_ok(orders_ask(worker, resident, &order, &work, &status) == CLR_SCAN_DONE,
           "which can be repeated");
    clr_resident_free(resident);
    for (i = 0; i < 2; i++) {
        resident = orders_resident(worker, column);
        clr_memory_fail_after(i);
        tap_ok(orders_ask(worker, resident, &order, &work, &status) == CLR_SCAN_FAILED &&
                   status.code == CLR_NOMEM,
               "no memory to have it sorted");
        tap_is_uint64(clr_resident_size(resident), workers_own(worker, 800),
                      "which takes none on the device");
        clr_memory_fail_after(-1);
        tap_ok(orders_ask(worker, resident, &order, &work, &status) == CLR_SCAN_DONE,
               "it is sorted when there is some");
        clr_resident_free(resident);
    }
    clr_column_release(mixed);
    clr_column_release(column);
}

/* Given back at any moment of the sorting, while others are sorted and scanned. */
static void test_freeing(struct clr_worker *worker)
{
    enum { MANY = 24 };
    struct clr_column *column = orders_column(CLR_TAG_INTEGER, tap_is_quick() ? 100000 : 400000);
    struct clr_resident *residents[MANY];
    struct clr_order order = {.rank_count = 0};
    struct clr_device_work work = {0};
    struct clr_status status;
    int i;

    for (i = 0; i < MANY; i++)
        residents[i] = orders_resident(worker, column);
    clr_status_clear(&status);
    for (i = 0; i < MANY; i++) {
        clr_resident_order(worker, residents[i], &order, ORDERS_TIMEOUT_MS, NULL, &work, &status);
        usleep((useconds_t)random_below(3000));
        if (i % 4 != 0) {
            clr_resident_free(residents[i]);
            residents[i] = NULL;
        }
    }
    batch_begin();
    for (i = 0; i < MANY; i += 4)
        batch_ok(orders_ask(worker, residents[i], &order, &work, &status) == CLR_SCAN_DONE, "%s",
                 status.message);
    batch_end("columns are sorted while others are freed");
    for (i = 0; i < MANY; i++)
        clr_resident_free(residents[i]);
    for (i = 0; i < ORDERS_TIMEOUT_MS && atomic_load(&column->references) > 1; i++)
        usleep(1000);
    tap_ok(atomic_load(&column->references) == 1, "nobody keeps the column");
    clr_column_release(column);
}

struct asker {
    struct clr_worker *worker;
    struct clr_resident *resident;
    uint64_t rank;
    int64_t expected;
    int wrong;
};

static void *ask_repeatedly(void *argument)
{
    struct asker *asker = argument;
    struct clr_order order = {.rank_count = 1, .ranks = {asker->rank}};
    struct clr_device_work work = {0};
    struct clr_status status;
    int i;

    for (i = 0; i < 20; i++) {
        if (orders_ask(asker->worker, asker->resident, &order, &work, &status) != CLR_SCAN_DONE ||
            order.keys[0] != asker->expected)
            asker->wrong++;
    }
    return NULL;
}

static void test_threads(struct clr_worker *worker)
{
    enum { THREADS = 4 };
    struct clr_column *column = orders_column(CLR_TAG_REAL, ROWS);
    struct clr_resident *resident = orders_resident(worker, column);
    int64_t *keys = orders_sort(column);
    struct asker askers[THREADS];
    pthread_t threads[THREADS];
    int i, wrong = 0;

    for (i = 0; i < THREADS; i++) {
        uint64_t rank = random_below(ROWS);
        askers[i] = (struct asker){worker, resident, rank, keys[rank], 0};
        if (pthread_create(&threads[i], NULL, ask_repeatedly, &askers[i]) != 0)
            tap_bail("no thread");
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        wrong += askers[i].wrong;
    }
    tap_is_int64(wrong, 0, "several threads orders_ask at a time, before and after");
    free(keys);
    clr_resident_free(resident);
    clr_column_release(column);
}

/* A sum is had while a column is being sorted that takes much longer. */
static void test_turns(struct clr_worker *worker)
{
    struct clr_column *large = orders_column(CLR_TAG_INTEGER, tap_is_quick() ? 1000000 : 4000000);
    struct clr_column *small = orders_column(CLR_TAG_INTEGER, 1000);
    struct clr_resident *sorted = orders_resident(worker, large);
    struct clr_sharded *summed = shards_copy(worker, small);
    const struct clr_division *division = clr_sharded_division(summed);
    struct clr_instruction instruction = {CLR_OP_COLUMN, 0, -1, -1};
    struct clr_tally tally = {.operations = 1u << CLR_SUM, .x = 0, .y = -1, .filter = -1};
    struct clr_scan scan = {.instruction_count = 1,
                            .column_count = 1,
                            .tally_count = 1,
                            .filter = -1,
                            .instructions = &instruction,
                            .columns = &small,
                            .rows = 1000,
                            .tallies = &tally};
    struct clr_order order = {.rank_count = 0};
    struct clr_device_work work = {0};
    int64_t start = clr_clock_ns();
    enum clr_scan_outcome outcome;
    struct clr_status status;
    int between = 0;

    clr_status_clear(&status);
    while ((outcome = clr_resident_scan(division, &scan, &summed, ORDERS_TIMEOUT_MS, NULL, &work,
                                        &status)) == CLR_SCAN_NOT_NOW &&
           !orders_late(start))
        usleep(1000);
    tap_ok(outcome == CLR_SCAN_DONE, "a sum");
    while (clr_resident_order(worker, sorted, &order, ORDERS_TIMEOUT_MS, NULL, &work, &status) ==
               CLR_SCAN_NOT_NOW &&
           !orders_late(start))
        between += clr_resident_scan(division, &scan, &summed, ORDERS_TIMEOUT_MS, NULL, &work,
                                     &status) == CLR_SCAN_DONE;
    tap_ok(between >= 1, "%d sums while a column is being sorted", between);
    clr_resident_free(sorted);
    clr_sharded_release(summed);
    clr_column_release(large);
    clr_column_release(small);
}

static void test_stop(struct clr_worker *worker)
{
    struct clr_column *column = orders_column(CLR_TAG_INTEGER, ROWS);
    struct clr_resident *sorted = orders_resident(worker, column);
    struct clr_resident *unsorted = orders_resident(worker, column);
    struct clr_order order = {.rank_count = 1};
    struct clr_device_work work = {0};
    struct clr_status status;

    orders_ask(worker, sorted, &order, &work, &status);
    tap_ok(clr_worker_stop(worker, ORDERS_TIMEOUT_MS), "the worker ends");
    tap_ok(clr_resident_order(worker, sorted, &order, ORDERS_TIMEOUT_MS, NULL, &work, &status) ==
                   CLR_SCAN_NOT_NOW &&
               clr_resident_order(worker, unsorted, &order, ORDERS_TIMEOUT_MS, NULL, &work,
                                  &status) == CLR_SCAN_NOT_NOW,
           "and answers no more");
    clr_resident_free(sorted);
    clr_resident_free(unsorted);
    clr_column_release(column);
}

static void test_device(const struct clr_device_info *info)
{
    static const size_t rows[] = {0, 1, 2, 1000, 100003, 1000003};
    struct clr_worker *worker = workers_start(info);
    uint8_t bytes;
    size_t i;

    tap_diag("%s (%s), as %s", info->name, info->platform, clr_device_type_name(info->type));
    test_course(worker);
    for (i = 0; i < sizeof rows / sizeof rows[0] - tap_is_quick(); i++) {
        for (bytes = 4; bytes > 0; bytes /= 2) {
            test_answers(worker, CLR_TAG_INTEGER, bytes, rows[i]);
            test_answers(worker, CLR_TAG_REAL, bytes, rows[i]);
        }
        test_answers(worker, CLR_TAG_INTEGER, 0, rows[i]);
        test_answers(worker, CLR_TAG_REAL, 0, rows[i]);
    }
    test_refusals(worker);
    test_freeing(worker);
    test_threads(worker);
    test_turns(worker);
    test_stop(worker);
}

int main(void)
{
    random_start();
    devices_each(test_device, false);
    return tap_done();
}

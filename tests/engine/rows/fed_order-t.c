/*
 * The order of numbers that are kept as they come, by a device of this machine, against qsort().
 * What failures of OpenCL lead to is in tests/sqlite/aggregates/fed-order-failure-t.c.
 */
#include "engine/rows/fed_order.h"

#include "base/clock.h"
#include "base/memory.h"
#include "batch.h"
#include "engine/fed.h"
#include "engine/worker/runtime.h"
#include "random.h"

#include "tap.h"

#include <unistd.h>

enum { LARGEST = 400000 };

static struct clr_settings settings;
static struct clr_stats stats;
static struct clr_budget budget;

/* ---- A store with numbers. */

struct store {
    struct clr_kept kept;
    struct clr_feed feed;
    struct clr_fed_order fed;
};

static void begin(struct store *store)
{
    memset(store, 0, sizeof *store);
    budget = (struct clr_budget){.limit = SIZE_MAX};
    clr_kept_init(&store->kept, &budget);
}

static void end(struct store *store)
{
    clr_fed_order_end(&store->fed);
    clr_kept_clear(&store->kept);
    if (budget.used != 0)
        tap_ok(false, "%llu bytes are left", (unsigned long long)budget.used);
}

static void add(struct store *store, enum clr_kind kind, int64_t bits)
{
    struct clr_feed *feed = &store->feed;
    const bool real = kind == CLR_KIND_REAL;

    if (real ? feed->real == feed->real_end : feed->integer == feed->integer_end) {
        clr_fed_order_offer(&store->fed, &store->kept, feed, &settings);
        if (clr_kept_make_room(&store->kept, feed, kind) != CLR_OK)
            tap_bail("no memory");
    }
    if (real)
        memcpy(feed->real++, &bits, sizeof bits);
    else
        *feed->integer++ = bits;
}

/* Numbers of which some are equal; zeros of both signs among REALs. */
static int64_t any_number(enum clr_kind kind)
{
    double real;
    int64_t bits;

    if (kind == CLR_KIND_INTEGER)
        return random_below(3) == 0 ? (int64_t)random_below(100) : random_integer();
    if (random_below(3) == 0)
        real = random_below(2) == 0 ? -0.0 : 0.0;
    else
        real = (double)random_integer() * 1e-3;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

static int compare_keys(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static int64_t keys[LARGEST];

/* Fills a store with numbers of the kind, and keys with their keys in order. */
static void fill(struct store *store, enum clr_kind kind, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        keys[i] = any_number(kind);
        add(store, kind, keys[i]);
        if (kind == CLR_KIND_REAL)
            keys[i] = clr_real_to_key(keys[i]);
    }
    qsort(keys, count, sizeof *keys, compare_keys);
}

static bool ask(struct store *store, struct clr_order *order)
{
    return clr_fed_order_ask(&store->fed, &store->kept, &store->feed, &settings, NULL, &stats,
                             order);
}

/* Whether a and b, neighbours in order, are equal numbers: so are zeros of both signs. */
static bool are_equal(enum clr_kind kind, int64_t a, int64_t b)
{
    return a == b || (kind == CLR_KIND_REAL && a == -1 && b == 0);
}

static bool is_right(const struct clr_order *order, enum clr_kind kind, size_t count)
{
    uint64_t distinct = 0, length = 0, longest = 0;
    int64_t mode = 0;
    size_t i;

    for (i = 0; i < count; i++) {
        bool equal = i > 0 && are_equal(kind, keys[i - 1], keys[i]);
        length = equal ? length + 1 : 1;
        distinct += !equal;
        if (length > longest) {
            longest = length;
            mode = kind == CLR_KIND_REAL && keys[i] == -1 ? 0 : keys[i];
        }
    }
    for (i = 0; i < (size_t)order->rank_count; i++) {
        if (order->keys[i] != keys[order->ranks[i]])
            return false;
    }
    return order->runs.distinct == distinct && order->runs.longest == longest &&
           order->runs.mode == mode;
}

/* Asks for an order until there is one: the first ones come before the kernels are built. */
static bool try_until_answered(enum clr_kind kind, size_t count, struct clr_order *order)
{
    int64_t start = clr_clock_ns();
    struct store store;
    bool answered = false;

    while (!answered && clr_clock_ns() - start < (int64_t)FED_TIMEOUT_S * 1000000000) {
        begin(&store);
        fill(&store, kind, count);
        answered = ask(&store, order);
        end(&store);
        if (!answered)
            usleep(10000);
    }
    return answered;
}

static void test_answers(enum clr_kind kind)
{
    /* Around the numbers in the store itself, the first blocks, and the growth on the device. */
    static const size_t counts[] = {65, 66, 320, 321, 1000, 65536, 300001, LARGEST};
    size_t i;

    batch_begin();
    for (i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        size_t count = counts[i];
        struct clr_order order = {.rank_count = 4,
                                  .ranks = {0, count / 2, count - 1, random_below(count)}};
        int64_t bytes = stats.bytes_to_device, kernels = stats.kernels_launched;

        batch_ok(try_until_answered(kind, count, &order), "%zu numbers: an answer: %s", count,
                 stats.last_error.message);
        batch_ok(is_right(&order, kind, count), "%zu numbers: the right one", count);
        batch_ok(stats.bytes_to_device - bytes == (int64_t)count * 8 &&
                     stats.kernels_launched > kernels && stats.chunks_to_device > 0,
                 "%zu numbers: what was done", count);
    }
    batch_end("%s in order", kind == CLR_KIND_REAL ? "REALs" : "INTEGERs");
}

/* ---- When there is none. */

static void test_refusals(void)
{
    struct clr_settings usual = settings;
    struct clr_order order = {.rank_count = 1};
    struct store store;

    begin(&store);
    fill(&store, CLR_KIND_REAL, 1000);
    add(&store, CLR_KIND_INTEGER, 1);
    tap_ok(store.fed.ordering != NULL && !ask(&store, &order), "not of numbers of two types");
    end(&store);

    begin(&store);
    add(&store, CLR_KIND_INTEGER, 1);
    fill(&store, CLR_KIND_REAL, 1000);
    tap_ok(store.fed.ordering == NULL && store.fed.given_up && !ask(&store, &order),
           "nor if that was clear before");
    end(&store);

    settings.host_threshold = 100;
    begin(&store);
    fill(&store, CLR_KIND_REAL, 5000);
    tap_ok(store.fed.ordering == NULL && !ask(&store, &order), "few numbers are for the host");
    end(&store);
    settings = usual;

    strcpy(settings.device, "host");
    begin(&store);
    fill(&store, CLR_KIND_REAL, 5000);
    tap_ok(store.fed.ordering == NULL && !ask(&store, &order), "if it is the setting, all are");
    end(&store);
    settings = usual;
}

/* At any moment, and in either order. */
static void test_ending(void)
{
    struct store store;
    int i;

    for (i = 0; i < 40; i++) {
        begin(&store);
        fill(&store, CLR_KIND_INTEGER, (size_t)random_between(1, 150000));
        if (random_below(2) == 0)
            usleep((useconds_t)random_below(2000));
        if (random_below(2) == 0)
            clr_kept_clear(&store.kept);
        end(&store);
    }
    tap_ok(clr_runtime_started() &&
               try_until_answered(CLR_KIND_REAL, 1000, &(struct clr_order){.rank_count = 0}),
           "what is given up at any moment does no harm");
}

/* Each allocation of a store and its order fails once: then there is no answer, or a right one. */
static void test_no_memory(void)
{
    struct clr_order order = {.rank_count = 1};
    long after, failures = 0;
    bool answered = false;
    int happened = 1;
    struct store store;
    size_t i;

    batch_begin();
    /* Without a failure nor an answer the worker was too late for either. */
    for (after = 0; (happened || !answered) && after < 200; after++) {
        struct clr_feed *feed = &store.feed;

        begin(&store);
        /* Room first, with all the memory there is: what is offered later is full blocks. */
        fill(&store, CLR_KIND_REAL, 320);
        clr_fed_order_end(&store.fed);
        clr_memory_fail_after(after);
        clr_fed_order_offer(&store.fed, &store.kept, feed, &settings);
        order.ranks[0] = 17;
        answered = ask(&store, &order);
        usleep(2000); /* the worker's allocations as well */
        happened = clr_memory_fail_after(-1);
        failures += happened != 0;
        batch_ok(!answered || is_right(&order, CLR_KIND_REAL, 320), "allocation %ld", after);
        end(&store);
    }
    for (i = 0; i < 20 && !answered; i++)
        answered = try_until_answered(CLR_KIND_REAL, 320, &order);
    batch_ok(answered, "without a failure there is an answer");
    batch_end("no memory: %ld failures in %ld rounds", failures, after);
    tap_ok(failures > 0, "allocations have failed");
}

int main(void)
{
    settings = fed_settings();
    random_start();
    test_answers(CLR_KIND_INTEGER);
    test_answers(CLR_KIND_REAL);
    test_refusals();
    test_ending();
    test_no_memory();
    return tap_done();
}

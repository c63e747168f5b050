/*
 * The order of numbers that are kept as they come, by a device of this machine, against qsort(),
 * and distinct numbers that are kept for it, against counting them here. What failures of OpenCL
 * lead to is in tests/sqlite/device-failure-t.c.
 */
#include "engine/fed_distinct.h"
#include "engine/fed_order.h"

#include "base/clock.h"
#include "base/memory.h"
#include "batch.h"
#include "engine/runtime.h"
#include "numeric/mode.h"
#include "opencl/devices.h"
#include "random.h"

#include "tap.h"

#include <unistd.h>

enum { PATIENCE_S = 60, LARGEST = 400000 };

static struct clr_settings settings;
static struct clr_stats stats;
static struct clr_budget budget;

/* ---- A store with numbers. */

struct store {
    struct clr_kept kept;
    struct clr_kept_feed feed;
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
    struct clr_kept_feed *feed = &store->feed;
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

    while (!answered && clr_clock_ns() - start < (int64_t)PATIENCE_S * 1000000000) {
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
    long after, without = 0;
    int happened = 1;
    struct store store;
    size_t i;

    batch_begin();
    for (after = 0; happened && after < 200; after++) {
        struct clr_kept_feed *feed = &store.feed;
        bool answered;

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
        without += !answered;
        batch_ok(!answered || is_right(&order, CLR_KIND_REAL, 320), "allocation %ld", after);
        end(&store);
        for (i = 0; i < 20 && !answered && !happened; i++)
            answered = try_until_answered(CLR_KIND_REAL, 320, &order);
        batch_ok(answered || happened, "without a failure there is an answer");
    }
    batch_end("no memory: %ld of %ld times no answer", without, after);
    tap_ok(without > 3 && after < 200, "allocations have failed");
}

/* ---- Distinct numbers. */

struct numbers {
    struct clr_distinct distinct;
    struct clr_fed_distinct fed;
};

static void begin_numbers(struct numbers *numbers, bool typed, uint64_t limit)
{
    budget = (struct clr_budget){.limit = limit};
    clr_distinct_init(&numbers->distinct, &budget, typed, 1);
    clr_fed_distinct_init(&numbers->fed, &numbers->distinct, &budget, &settings);
}

static void end_numbers(struct numbers *numbers)
{
    clr_fed_distinct_end(&numbers->fed);
    clr_distinct_free(&numbers->distinct);
    if (budget.used != 0)
        tap_ok(false, "%llu bytes are left", (unsigned long long)budget.used);
}

/* Adds numbers in parts as the aggregates do: from first on, REALs a quarter of it apart. */
static enum clr_code add_numbers(struct numbers *numbers, enum clr_kind kind, int64_t first,
                                 size_t count)
{
    union {
        int64_t integers[512];
        double reals[512];
    } batch;
    enum clr_code code = CLR_OK;
    size_t i, part;

    for (; count > 0 && code == CLR_OK; count -= part) {
        part = count < 512 ? count : 512;
        for (i = 0; i < part; i++, first++) {
            if (kind == CLR_KIND_REAL)
                batch.reals[i] = (double)first * 0.25;
            else
                batch.integers[i] = first;
        }
        code = clr_fed_distinct_add(&numbers->fed, kind, &batch, part);
        if (code == CLR_OK)
            code = clr_fed_distinct_consider(&numbers->fed, NULL);
    }
    return code;
}

/* What is said of 40,000 different numbers, some of which come twice and one three times. */
static bool count_and_check(enum clr_kind kind, bool typed, bool may_launch, bool *by_device)
{
    int64_t launched = stats.kernels_launched;
    struct clr_distinct_result result = {0};
    struct numbers numbers;
    bool kept, right;

    begin_numbers(&numbers, typed, SIZE_MAX);
    add_numbers(&numbers, kind, 0, 10);
    add_numbers(&numbers, kind, -20000, 40000);
    kept = numbers.fed.keeping && clr_distinct_size(&numbers.distinct) == 0;
    add_numbers(&numbers, kind, 8, 1);
    right =
        clr_fed_distinct_count(&numbers.fed, typed, may_launch, NULL, &stats, &result) == CLR_OK &&
        result.size == 40000 &&
        (!typed ||
         (result.count == 3 && result.mode.kind == kind &&
          (kind == CLR_KIND_REAL ? result.mode.as.real == 2.0 : result.mode.as.integer == 8)));
    end_numbers(&numbers);
    *by_device = stats.kernels_launched > launched;
    return kept && right;
}

static void test_distinct(enum clr_kind kind, bool typed)
{
    const char *name = kind == CLR_KIND_REAL ? "REALs" : "INTEGERs";
    int64_t start = clr_clock_ns();
    bool right = true, by_device = false;

    tap_ok(count_and_check(kind, typed, false, &by_device) && !by_device,
           "%s are kept and counted here%s", name, typed ? ", with their mode" : "");
    while (right && !by_device && clr_clock_ns() - start < (int64_t)PATIENCE_S * 1000000000)
        right = count_and_check(kind, typed, true, &by_device);
    tap_ok(right && by_device, "%s are kept and counted by the device%s", name,
           typed ? ", with their mode" : "");
}

/* Numbers of both types, of which some are equal. */
static void test_mixed(bool typed)
{
    struct clr_distinct_result result = {0};
    struct numbers numbers;

    begin_numbers(&numbers, typed, SIZE_MAX);
    add_numbers(&numbers, CLR_KIND_REAL, -20000, 40000); /* -5000.0 to 4999.75 */
    add_numbers(&numbers, CLR_KIND_INTEGER, 0, 6000);
    add_numbers(&numbers, CLR_KIND_INTEGER, 3, 1);
    tap_ok(numbers.fed.keeping &&
               clr_fed_distinct_count(&numbers.fed, typed, true, NULL, &stats, &result) == CLR_OK &&
               result.size == 41000,
           "numbers of both types are counted");
    tap_ok(!typed || (result.count == 3 && result.mode.kind == CLR_KIND_INTEGER &&
                      result.mode.as.integer == 3),
           "and the mode's type is known");
    end_numbers(&numbers);
}

/* Adds 120,000 numbers, of which so many are different, and counts them. */
static bool can_count(uint64_t limit, bool typed, bool keeps, int64_t different)
{
    struct clr_distinct_result result = {0};
    enum clr_code code = CLR_OK;
    struct numbers numbers;
    bool right = false;
    int64_t added;

    begin_numbers(&numbers, typed, limit);
    if (!keeps)
        numbers.fed.look = UINT64_MAX;
    for (added = 0; added < 120000 && code == CLR_OK; added += different)
        code = add_numbers(&numbers, CLR_KIND_INTEGER, 0, (size_t)different);
    if (code == CLR_OK && numbers.fed.keeping &&
        clr_fed_distinct_count(&numbers.fed, typed, false, NULL, &stats, &result) == CLR_OK)
        right = result.size == (uint64_t)different;
    else if (code == CLR_OK &&
             (!numbers.fed.keeping || clr_fed_distinct_fold(&numbers.fed) == CLR_OK))
        right = clr_distinct_size(&numbers.distinct) == (uint64_t)different;
    end_numbers(&numbers);
    return right;
}

/* Where the tables have enough memory, keeping has it too. */
static void test_limits(bool typed)
{
    static const int64_t different[] = {20000, 30000, 60000, 120000};
    int enough = 0, too_little = 0;
    uint64_t limit;
    size_t i;

    batch_begin();
    for (i = 0; i < sizeof different / sizeof different[0]; i++) {
        for (limit = 100000; limit < 12000000; limit += limit / 5) {
            bool suffices = can_count(limit, typed, false, different[i]);
            enough += suffices;
            too_little += !suffices;
            batch_ok(!suffices || can_count(limit, typed, true, different[i]),
                     "%lld different ones in %llu bytes", (long long)different[i],
                     (unsigned long long)limit);
        }
    }
    batch_end("%d limits suffice, %d do not", enough, too_little);
    tap_ok(enough > 10 && too_little > 10, "there are such and such");
}

static bool stop_always(void *context)
{
    *(int *)context += 1;
    return true;
}

/* Many numbers take a while, in which somebody may want a stop. */
static void test_stop(void)
{
    enum { MANY = 5000000 };
    struct clr_distinct_result result;
    struct numbers numbers;
    int asked = 0;
    struct clr_watch watch = {stop_always, &asked};
    enum clr_code code;

    begin_numbers(&numbers, false, SIZE_MAX);
    add_numbers(&numbers, CLR_KIND_INTEGER, 0, MANY);
    code = clr_fed_distinct_count(&numbers.fed, false, false, &watch, &stats, &result);
    tap_ok(code == (asked > 0 ? CLR_STOPPED : CLR_OK),
           "who is asked %d times, and wants a stop, gets it", asked);
    end_numbers(&numbers);
}

/* What is kept is folded into the tables. */
static void test_folding(bool typed)
{
    struct clr_value mode = {.kind = CLR_KIND_NONE};
    struct numbers numbers;

    begin_numbers(&numbers, typed, SIZE_MAX);
    add_numbers(&numbers, CLR_KIND_REAL, -20000, 40000);
    add_numbers(&numbers, CLR_KIND_INTEGER, 3, 2);
    tap_ok(numbers.fed.keeping && clr_fed_distinct_fold(&numbers.fed) == CLR_OK &&
               !numbers.fed.keeping && clr_distinct_size(&numbers.distinct) == 40000,
           "numbers come back into the tables");
    tap_ok(!typed || (clr_mode_find(&numbers.distinct, &mode) && mode.kind == CLR_KIND_INTEGER &&
                      mode.as.integer == 3),
           "as often as they came");
    end_numbers(&numbers);

    begin_numbers(&numbers, typed, 2 << 20);
    tap_ok(add_numbers(&numbers, CLR_KIND_INTEGER, 0, 20000) == CLR_OK && numbers.fed.keeping,
           "numbers are kept");
    numbers.fed.look = UINT64_MAX;
    while (numbers.fed.keeping && add_numbers(&numbers, CLR_KIND_INTEGER, 5, 10000) == CLR_OK)
        ;
    tap_ok(!numbers.fed.keeping && numbers.fed.count > 60000 && numbers.fed.count < 100000 &&
               clr_distinct_size(&numbers.distinct) == 20000,
           "until they take more than they may");
    end_numbers(&numbers);

    begin_numbers(&numbers, typed, SIZE_MAX);
    add_numbers(&numbers, CLR_KIND_INTEGER, 0, 20000);
    while (numbers.fed.keeping && numbers.fed.count < 2000000)
        add_numbers(&numbers, CLR_KIND_INTEGER, 5, 10000);
    tap_ok(!numbers.fed.keeping && numbers.fed.count < 1200000 &&
               clr_distinct_size(&numbers.distinct) == 20000,
           "until most turn out to be equal");
    end_numbers(&numbers);

    begin_numbers(&numbers, typed, SIZE_MAX);
    while (numbers.fed.count < 60000)
        add_numbers(&numbers, CLR_KIND_INTEGER, 0, 3);
    add_numbers(&numbers, CLR_KIND_INTEGER, 0, 20000);
    tap_ok(!numbers.fed.keeping && clr_distinct_size(&numbers.distinct) == 20000,
           "they are not kept where most are equal");
    end_numbers(&numbers);
}

int main(void)
{
    struct clr_device_info device = devices_choose();
    struct clr_status status;

    random_start();
    clr_settings_init(&settings);
    clr_settings_set(&settings, "device", clr_device_type_name(device.type), &status);
    settings.host_threshold = 1;
    settings.start_after = 0;
    settings.device_timeout = (int64_t)PATIENCE_S * 1000;
    test_answers(CLR_KIND_INTEGER);
    test_answers(CLR_KIND_REAL);
    test_refusals();
    test_ending();
    test_no_memory();
    test_distinct(CLR_KIND_INTEGER, false);
    test_distinct(CLR_KIND_REAL, false);
    test_distinct(CLR_KIND_INTEGER, true);
    test_distinct(CLR_KIND_REAL, true);
    test_mixed(false);
    test_mixed(true);
    test_limits(false);
    test_limits(true);
    test_stop();
    test_folding(false);
    test_folding(true);
    return tap_done();
}

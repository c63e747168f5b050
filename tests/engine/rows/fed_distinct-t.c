/* Distinct numbers that are kept and counted together, against what is known of them. */
#include "engine/rows/fed_distinct.h"

#include "batch.h"
#include "numeric/distinct/distinct.h"

static struct clr_settings settings;
static struct clr_budget budget;

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
    size_t part;

    for (; count > 0 && code == CLR_OK; count -= part) {
        part = count < 512 ? count : 512;
        for (size_t i = 0; i < part; i++, first++) {
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

/* 40,000 different numbers, some of which come twice and one three times. */
static void test_distinct(enum clr_kind kind, bool typed)
{
    const char *name = kind == CLR_KIND_REAL ? "REALs" : "INTEGERs";
    struct clr_distinct_result result = {0};
    struct numbers numbers;

    begin_numbers(&numbers, typed, SIZE_MAX);
    add_numbers(&numbers, kind, 0, 10);
    add_numbers(&numbers, kind, -20000, 40000);
    tap_ok(numbers.fed.keeping && clr_distinct_size(&numbers.distinct) == 0, "%s are kept", name);
    add_numbers(&numbers, kind, 8, 1);
    tap_ok(clr_fed_distinct_count(&numbers.fed, typed, NULL, &result) == CLR_OK &&
               result.size == 40000 &&
               (!typed || (result.count == 3 && result.mode.kind == kind &&
                           (kind == CLR_KIND_REAL ? result.mode.as.real == 2.0
                                                  : result.mode.as.integer == 8))),
           "and counted%s", typed ? ", with their mode" : "");
    end_numbers(&numbers);
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
               clr_fed_distinct_count(&numbers.fed, typed, NULL, &result) == CLR_OK &&
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

    begin_numbers(&numbers, typed, limit);
    if (!keeps)
        numbers.fed.look = UINT64_MAX;
    for (int64_t added = 0; added < 120000 && code == CLR_OK; added += different)
        code = add_numbers(&numbers, CLR_KIND_INTEGER, 0, (size_t)different);
    if (code == CLR_OK && numbers.fed.keeping &&
        clr_fed_distinct_count(&numbers.fed, typed, NULL, &result) == CLR_OK)
        right = result.size == (uint64_t)different;
    else if (code == CLR_OK &&
             (!numbers.fed.keeping || clr_fed_distinct_fold(&numbers.fed, NULL) == CLR_OK))
        right = clr_distinct_size(&numbers.distinct) == (uint64_t)different;
    end_numbers(&numbers);
    return right;
}

/* Where the tables have enough memory, keeping has it too. */
static void test_limits(bool typed)
{
    static const int64_t different[] = {20000, 30000, 60000, 120000};
    int enough = 0, too_little = 0;

    TAP_EACH (i, different) {
        for (uint64_t limit = 100000; limit < 12000000; limit += limit / 5) {
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
TAP_TEST(test_stop)
{
    enum { MANY = 5000000 };
    struct clr_distinct_result result;
    struct numbers numbers;
    int asked = 0;
    struct clr_watch watch = {stop_always, &asked};
    enum clr_code code;

    begin_numbers(&numbers, false, SIZE_MAX);
    add_numbers(&numbers, CLR_KIND_INTEGER, 0, MANY);
    code = clr_fed_distinct_count(&numbers.fed, false, &watch, &result);
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
    tap_ok(numbers.fed.keeping && clr_fed_distinct_fold(&numbers.fed, NULL) == CLR_OK &&
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

TAP_TEST(test_kinds)
{
    clr_settings_init(&settings);
    settings.host_threshold = 1;
    test_distinct(CLR_KIND_INTEGER, false);
    test_distinct(CLR_KIND_REAL, false);
    test_distinct(CLR_KIND_INTEGER, true);
    test_distinct(CLR_KIND_REAL, true);
    test_mixed(false);
    test_mixed(true);
    test_limits(false);
    test_limits(true);
    test_folding(false);
    test_folding(true);
}

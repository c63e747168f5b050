/* Groups on the host, against a scan of each group's rows alone. */
#include "engine/host/host_groups.h"

#include "engine/slow_groups.h"
#include "numeric/groups/group_scan.h"

/* One after the other, in an order that threads might have. */
static bool run_serially(void *context, int count, clr_portion_work *work, void *argument)
{
    const atomic_bool never = false;
    int i;

    (void)context;
    for (i = count - 1; i >= 0; i--)
        work(argument, i, &never);
    return true;
}

static void check(struct made *made, int threads, const char *what)
{
    const struct clr_group_team team = {.size = threads, .run = run_serially, .context = NULL};
    struct clr_groups *groups = NULL;
    const enum clr_scan_outcome outcome = threads > 0
                                              ? clr_group_scan(&made->scan, &team, &groups)
                                              : clr_host_group(&made->scan, NULL, NULL, &groups);

    batch_ok(outcome == compare(made, groups, what), "%s, outcome %d", what, (int)outcome);
    batch_ok((groups != NULL) == (outcome == CLR_SCAN_DONE), "%s, groups only if done", what);
    clr_groups_free(groups);
}

static void test_random(void)
{
    static const size_t sizes[] = {0, 1, 2, 30, 1023, 1024, 1025, 3000, 5000, 20000};
    const int rounds = tap_is_quick() ? 50 : 1000;
    struct made *made = malloc(sizeof *made);
    char what[100];
    int round;

    batch_begin();
    for (round = 0; round < rounds; round++) {
        const size_t rows = sizes[random_below(10)];
        const int threads = (int)random_below(6);

        make_scan(made, rows);
        snprintf(what, sizeof what, "round %d, %zu rows, %d threads", round, rows, threads);
        check(made, threads, what);
        free_scan(made);
    }
    batch_end("groups of random scans");
    free(made);
}

/* A scan of one key and one tally of these families. */
static void make_plain(struct made *made, size_t rows, enum family key, enum family value,
                       unsigned operations)
{
    make_scan(made, rows);
    clr_column_release(made->columns[0]);
    clr_column_release(made->columns[KEY_COLUMNS]);
    made->columns[0] = make_column(rows, key, &made->bytes);
    made->columns[KEY_COLUMNS] = make_column(rows, value, &made->bytes);
    made->scan.filter = -1;
    made->scan.tally_count = 1;
    made->scan.question_count = 0;
    made->tallies[0] = (struct clr_tally){.operations = operations,
                                          .x = KEY_COLUMNS,
                                          .y = operations == 1u << CLR_DOT ? KEY_COLUMNS : -1,
                                          .filter = -1};
    if (operations & CLR_KEEP)
        make_question(made, 0);
    made->grouping.key_count = 1;
    made->grouping.keys[0] = 0;
}

/* Each family of values, by each sort of number. */
static void test_families(void)
{
    static const enum family keys[] = {FEW_INTEGERS, SOME_INTEGERS, ANY_INTEGERS, FEW_REALS,
                                       INTEGERS_OR_NULL};
    static const unsigned operations[] = {0,
                                          1u << CLR_SUM,
                                          1u << CLR_DOT,
                                          1u << CLR_EXTREMES,
                                          CLR_KEEP | 1u << CLR_EXTREMES,
                                          1u << CLR_SUM | CLR_BOUNDS};
    struct made *made = malloc(sizeof *made);
    char what[100];
    int key, value, operation;

    batch_begin();
    for (key = 0; key < 5; key++) {
        for (value = 0; value < ALL_FAMILIES; value++) {
            for (operation = 0; operation < 6; operation++) {
                make_plain(made, 5000, keys[key], (enum family)value, operations[operation]);
                snprintf(what, sizeof what, "keys %d, values %d, operation %d", key, value,
                         operation);
                check(made, (key + value) % 3 + 1, what);
                free_scan(made);
            }
        }
    }
    batch_end("each sort of keys and values");
    free(made);
}

/* Each code of a column is a group of its own, or two are one. */
static void test_codes(void)
{
    struct made *made = malloc(sizeof *made);
    char what[100];
    int sort, i;

    batch_begin();
    for (sort = 0; sort < 64; sort++) {
        const bool null = sort & 4, twice = sort & 8, more = sort & 16;

        make_plain(made, (size_t)(sort & 32 ? 5000 : 130), FEW_INTEGERS, FEW_INTEGERS,
                   sort & 32 ? 1u << CLR_SUM | CLR_BOUNDS : CLR_KEEP | 1u << CLR_EXTREMES);
        for (i = 0; i < ENTRIES; i++) {
            made->tags[0][i] = null && i == 7 ? CLR_TAG_NULL : CLR_TAG_INTEGER;
            made->values[0][i] = made->tags[0][i] == CLR_TAG_NULL ? 0 : (3 * i + 1) % ENTRIES;
        }
        if (twice)
            made->values[0][11] = made->values[0][12];
        if (more) /* the key is looked at by another one too */
            made->tallies[0].filter = CODES;
        made->grouping.keys[0] = CODES;
        made->grouping.descending[0] = sort & 1;
        made->grouping.by_first = sort & 2;
        snprintf(what, sizeof what, "codes %d", sort);
        check(made, sort % 3 + 1, what);
        free_scan(made);
    }
    batch_end("groups of codes");
    free(made);
}

/* What is added to parts of words, up to the most that these hold: all rows in one group, or in
   some. */
static void test_packed(void)
{
    static const int64_t sizes[] = {1, 7, 8, 1000, 1 << 14};
    struct made *made = malloc(sizeof *made);
    const size_t rows = 40000;
    char what[100];
    size_t row;
    int sort, i;

    batch_begin();
    for (sort = 0; sort < 60; sort++) {
        const int64_t size = sizes[sort % 5];
        const int signs = sort / 5 % 3; /* above 0, below, both */

        make_plain(made, rows, FEW_INTEGERS, FEW_INTEGERS, 1u << CLR_SUM);
        made->scan.tally_count = TALLIES;
        for (i = 0; i < TALLIES; i++) {
            struct clr_column *column = made->columns[KEY_COLUMNS + i % VALUE_COLUMNS];

            column->kind = CLR_TAG_INTEGER;
            memset(column->tags, CLR_TAG_INTEGER, rows);
            for (row = 0; row < rows; row++)
                column->values[row] = signs == 2 && (row + (size_t)i) % 2 == 0 ? -size
                                      : signs == 1                             ? -size
                                                                               : size;
            /* The sample, of the first rows and others, does not have these: up to, and beyond,
               what may be added. */
            if (i < VALUE_COLUMNS && sort >= 30)
                for (row = 1100; row < 1110; row++)
                    column->values[row] *= (int64_t)1 << (row - 1100);
            made->tallies[i] = (struct clr_tally){
                .operations =
                    i < VALUE_COLUMNS ? 1u << CLR_SUM | (sort % 2 ? CLR_BOUNDS : 0) : 1u << CLR_DOT,
                .x = KEY_COLUMNS + i % VALUE_COLUMNS,
                .y = i < VALUE_COLUMNS ? -1 : KEY_COLUMNS + 1,
                .filter = -1};
        }
        made->columns[0]->kind = CLR_TAG_INTEGER;
        memset(made->columns[0]->tags, CLR_TAG_INTEGER, rows);
        for (row = 0; row < rows; row++)
            made->columns[0]->values[row] = sort % 4 == 0 ? 5 : (int64_t)(row % 3);
        snprintf(what, sizeof what, "parts of words %d", sort);
        check(made, sort % 3, what);
        free_scan(made);
    }
    batch_end("sums in parts of words");
    free(made);
}

/* The planned is not what comes: the sample is of a few blocks. */
static void test_surprises(void)
{
    struct made *made = malloc(sizeof *made);
    const size_t rows = 100 * 1024;
    char what[100];
    int surprise;
    static const struct clr_scalar values[] = {
        {CLR_TAG_NULL, 0}, {CLR_TAG_INTEGER, INT64_MIN}, {CLR_TAG_INTEGER, 7},
        {CLR_TAG_REAL, 1}, {CLR_TAG_REAL, INT64_MIN},    {CLR_TAG_BYTES, 0}};

    batch_begin();
    for (surprise = 0; surprise < 24; surprise++) {
        const int column = surprise % 2 == 0 ? 0 : KEY_COLUMNS;
        const struct clr_scalar value = values[surprise / 2 % 6];

        make_plain(made, rows, FEW_INTEGERS, surprise < 12 ? FEW_INTEGERS : ROUND_REALS,
                   1u << CLR_SUM | (surprise % 4 < 2 ? 1u << CLR_EXTREMES : CLR_BOUNDS));
        memset(made->columns[column]->tags, made->columns[column]->kind, rows);
        made->columns[column]->kind = CLR_TAG_MIXED;
        made->columns[column]->tags[2 * 1024 + 5] = value.tag;
        made->columns[column]->values[2 * 1024 + 5] = value.bits;
        snprintf(what, sizeof what, "surprise %d", surprise);
        check(made, 2, what);
        free_scan(made);
    }
    batch_end("rows that are not as planned");
    free(made);
}

/* One after the other: more of them than there are plans. */
static void test_many_surprises(void)
{
    struct made *made = malloc(sizeof *made);
    const size_t rows = 100 * 1024;
    int i;

    batch_begin();
    make_plain(made, rows, FEW_INTEGERS, FEW_INTEGERS, 1u << CLR_SUM);
    made->scan.tally_count = TALLIES;
    for (i = 0; i < TALLIES; i++) {
        const int column = i < VALUE_COLUMNS ? KEY_COLUMNS + i : i - VALUE_COLUMNS + 1;

        clr_column_release(made->columns[column]);
        made->columns[column] = make_column(rows, FEW_INTEGERS, &made->bytes);
        memset(made->columns[column]->tags, CLR_TAG_INTEGER, rows);
        made->columns[column]->kind = CLR_TAG_MIXED;
        made->columns[column]->tags[(size_t)(2 + i) * 4096 - 5] = CLR_TAG_REAL;
        made->tallies[i] =
            (struct clr_tally){.operations = 1u << CLR_SUM, .x = column, .y = -1, .filter = -1};
    }
    check(made, 1, "surprises in each tally");
    free_scan(made);
    batch_end("more surprises than plans");
    free(made);
}

/* What the keys of test_places() are. */
enum places {
    UNIQUE,
    REPEATED,     /* half of the rows' are those of the others */
    LATE_REPEATS, /* where they are no longer looked for there are few */
    WIDE,         /* as many places as there can be */
    SMALL_NULLS,  /* two keys, which go down, and are NULL now and then */
    PLACES
};

static void set_place(struct made *made, size_t row, enum places places)
{
    const uint64_t mixed = (row + 1) * 0x9e3779b97f4a7c15;
    const size_t part = row % 20000, half = made->scan.rows / 2;
    int64_t *key = &made->columns[0]->values[row], *second = &made->columns[1]->values[row];

    *second = 0;
    if (places == UNIQUE)
        *key = (int64_t)(mixed >> 24);
    else if (places == REPEATED)
        *key = (int64_t)((row % half + 1) * 0x9e3779b97f4a7c15 >> 24);
    else if (places == LATE_REPEATS)
        *key = part < 17000 ? (int64_t)(mixed >> 24) : (int64_t)(row % 7);
    else if (places == WIDE)
        *key = (int64_t)(mixed >> 2);
    else
        *key = (int64_t)(mixed >> 44) - 1000;
    if (places != SMALL_NULLS)
        return;
    *second = (int64_t)(mixed >> 20 & 1023) * -1000;
    made->columns[0]->tags[row] = mixed >> 30 & 7 ? CLR_TAG_INTEGER : CLR_TAG_NULL;
    made->columns[1]->tags[row] = mixed >> 40 & 7 ? CLR_TAG_INTEGER : CLR_TAG_NULL;
}

/* Places that are sorted: nearly all rows are groups, in each of three parts, or in one. */
static void test_places(void)
{
    static const unsigned operations[] = {
        1u << CLR_SUM, CLR_KEEP | 1u << CLR_EXTREMES | 1u << CLR_SUM, 1u << CLR_EXTREMES};
    struct made *made = malloc(sizeof *made);
    char what[100];
    size_t row;
    int round;

    batch_begin();
    for (round = 0; round < PLACES * 4; round++) {
        const enum places places = (enum places)(round % PLACES);
        const int threads = round % 2 == 0 ? 3 : 1, tally = round % 3;
        const size_t rows = (size_t)threads * 20480;

        make_plain(made, rows, SPREAD_INTEGERS, ROUND_REALS, operations[tally]);
        clr_column_release(made->columns[1]);
        made->columns[1] = make_column(rows, FEW_INTEGERS, &made->bytes);
        made->columns[0]->kind = made->columns[1]->kind =
            places == SMALL_NULLS ? CLR_TAG_MIXED : CLR_TAG_INTEGER;
        for (row = 0; row < rows; row++)
            set_place(made, row, places);
        for (row = 17; tally == 0 && row < rows; row += 500) /* to be spilled */
            made->columns[KEY_COLUMNS]->values[row] = bits_of(0x1p900);
        made->grouping.key_count = places == WIDE ? 1 : 2;
        made->grouping.keys[0] = 0;
        made->grouping.keys[1] = 1;
        made->grouping.descending[0] = made->grouping.descending[1] = places == SMALL_NULLS;
        made->grouping.by_first = round == 0;
        snprintf(what, sizeof what, "round %d", round);
        check(made, threads, what);
        free_scan(made);
    }
    batch_end("places that are sorted");
    free(made);
}

static void test_memory(void)
{
    struct made *made = malloc(sizeof *made);
    static const enum family keys[] = {FEW_INTEGERS, ANY_INTEGERS, FEW_REALS, SPREAD_INTEGERS};
    const struct clr_group_team team = {.size = 3, .run = run_serially, .context = NULL};
    int key, after, failures;

    batch_begin();
    for (key = 0; key < 8; key++) {
        bool failed = true;

        make_plain(made, key % 4 == 3 ? 51000 : 20000, keys[key % 4], ANY_REALS,
                   key < 4 ? CLR_KEEP | 1u << CLR_EXTREMES | 1u << CLR_SUM : 1u << CLR_SUM);
        made->columns[KEY_COLUMNS]->values[0] = bits_of(1.0);
        made->grouping.by_first = made->grouping.by_first && key % 4 != 3; /* so they are sorted */
        for (after = failures = 0; failed && after < 5000; after++) {
            struct clr_groups *groups = NULL;
            enum clr_scan_outcome outcome;

            clr_memory_fail_after(after);
            outcome = clr_group_scan(&made->scan, &team, &groups);
            failed = clr_memory_fail_after(-1) != 0;
            batch_ok(outcome == (failed ? CLR_SCAN_FAILED : CLR_SCAN_DONE),
                     "allocation %d of keys %d: %d", after, key, (int)outcome);
            failures += failed;
            clr_groups_free(groups);
            if (after > 60)
                after += 37;
        }
        batch_ok(failures > 10 && !failed, "%d failures", failures);
        free_scan(made);
    }
    batch_end("without memory");
    free(made);
}

static void test_limits(void)
{
    struct made *made = malloc(sizeof *made);
    struct clr_groups *groups = NULL;
    uint64_t limit;
    int done = 0, limited = 0, i;

    for (i = 0; i < 4; i++) {
        make_plain(made, 50000, i < 2 ? ANY_INTEGERS : SPREAD_INTEGERS, ROUND_REALS,
                   i % 2 == 0 ? 1u << CLR_SUM : CLR_KEEP | 1u << CLR_EXTREMES);
        for (limit = 1; limit < (uint64_t)1 << 40; limit *= 2) {
            enum clr_scan_outcome outcome;

            made->scan.values_memory = limit;
            outcome = clr_host_group(&made->scan, NULL, NULL, &groups);
            done += outcome == CLR_SCAN_DONE;
            limited += outcome == CLR_SCAN_LIMIT;
            if (outcome == CLR_SCAN_DONE && clr_groups_size(groups) > limit)
                tap_diag("%d bytes", (int)clr_groups_size(groups));
            clr_groups_free(groups);
        }
        free_scan(made);
    }
    tap_ok(done + limited == 160 && done > 40 && limited > 40, "groups take what they may: %d %d",
           done, limited);
    free(made);
}

static bool stop_at_once(void *context)
{
    (void)context;
    return true;
}

static void test_stop(void)
{
    const struct clr_watch watch = {stop_at_once, NULL};
    struct made *made = malloc(sizeof *made);
    struct clr_groups *groups = NULL;
    int i, stopped = 0;

    for (i = 0; i < 5; i++) {
        make_plain(made, 3000000, ANY_INTEGERS, ROUND_REALS, CLR_KEEP | 1u << CLR_EXTREMES);
        stopped += clr_host_group(&made->scan, &watch, NULL, &groups) == CLR_SCAN_STOPPED;
        free_scan(made);
    }
    tap_is_int64(stopped, 5, "a watch stops it");
    free(made);
}

/* Many groups, as many as rows, and all in one. */
static void test_many(void)
{
    struct made *made = malloc(sizeof *made);
    const size_t rows = tap_is_quick() ? 300000 : 2000000;
    struct clr_groups *groups = NULL;
    struct clr_state state;
    size_t i;
    int sort;

    for (sort = 0; sort < 4; sort++) {
        bool right = true;

        make_plain(made, rows, FEW_INTEGERS, ROUND_REALS, 1u << CLR_SUM);
        for (i = 0; i < rows; i++)
            made->columns[0]->values[i] = sort == 0   ? 5
                                          : sort == 1 ? (int64_t)(rows - i)
                                          : sort == 2 ? (int64_t)(i * 0x9e3779b97f4a7c15)
                                                      : (int64_t)(i % (rows / 2));
        made->grouping.by_first = sort == 2;
        made->grouping.descending[0] = false;
        tap_is_int64(clr_host_group(&made->scan, NULL, NULL, &groups), CLR_SCAN_DONE, "%zu rows",
                     rows);
        tap_is_uint64(clr_groups_count(groups),
                      sort == 0   ? 1
                      : sort == 3 ? rows / 2
                                  : rows,
                      "their groups");
        for (i = 0; i < clr_groups_count(groups) && sort > 0; i++) {
            const size_t row = sort == 1 ? rows - 1 - i : i;
            const int64_t *values = made->columns[KEY_COLUMNS]->values;

            clr_groups_state(groups, i, 0, &state);
            right =
                right && clr_groups_key(groups, i, 0).bits == made->columns[0]->values[row] &&
                clr_sum_round(&state.sum, 1) ==
                    (sort == 3 ? value_real_of(values[row]) + value_real_of(values[row + rows / 2])
                               : value_real_of(values[row]));
        }
        tap_ok(right, "keys and sums of each");
        clr_groups_free(groups);
        free_scan(made);
    }
    free(made);
}

int main(void)
{
    random_start();
    test_random();
    test_families();
    test_codes();
    test_packed();
    test_surprises();
    test_many_surprises();
    test_places();
    test_memory();
    test_limits();
    test_stop();
    test_many();
    free(keyed);
    return tap_done();
}

/* Groups on the host, against a scan of each group's rows alone. */
#include "engine/host/group_checks.h"

TAP_TEST(test_random)
{
    static const size_t sizes[] = {0, 1, 2, 30, 1023, 1024, 1025, 3000, 5000, 20000};
    const int rounds = tap_is_quick() ? 50 : 1000;
    int round;

    batch_begin();
    for (round = 0; round < rounds; round++) {
        const size_t rows = sizes[random_below(10)];
        const int threads = (int)random_below(6);

        make_scan(rows);
        check(threads, "round %d, %zu rows, %d threads", round, rows, threads);
    }
    batch_end("groups of random scans");
}

/* Each family of values, by each sort of number. */
TAP_TEST(test_families)
{
    static const enum family keys[] = {FEW_INTEGERS, SOME_INTEGERS, ANY_INTEGERS, FEW_REALS,
                                       INTEGERS_OR_NULL};
    static const unsigned operations[] = {0,
                                          1u << CLR_SUM,
                                          1u << CLR_DOT,
                                          1u << CLR_EXTREMES,
                                          CLR_KEEP | 1u << CLR_EXTREMES,
                                          1u << CLR_SUM | CLR_BOUNDS};
    int key, value, operation;

    batch_begin();
    for (key = 0; key < 5; key++) {
        for (value = 0; value < ALL_FAMILIES; value++) {
            for (operation = 0; operation < 6; operation++) {
                make_plain(3100, keys[key], (enum family)value, operations[operation]);
                check((key + value) % 3 + 1, "keys %d, values %d, operation %d", key, value,
                      operation);
            }
        }
    }
    batch_end("each sort of keys and values");
}

/* Each code of a column is a group of its own, or two are one. */
TAP_TEST(test_codes)
{
    int sort, i;

    batch_begin();
    for (sort = 0; sort < 64; sort++) {
        const bool null = sort & 4, twice = sort & 8, more = sort & 16;

        make_plain((size_t)(sort & 32 ? 5000 : 130), FEW_INTEGERS, FEW_INTEGERS,
                   sort & 32 ? 1u << CLR_SUM | CLR_BOUNDS : CLR_KEEP | 1u << CLR_EXTREMES);
        for (i = 0; i < ENTRIES; i++) {
            made->tags[0][i] = null && i == 7 ? CLR_TAG_NULL : CLR_TAG_INTEGER;
            made->values[0][i] = made->tags[0][i] == CLR_TAG_NULL ? 0 : (3 * i + 1) % ENTRIES;
        }
        if (twice)
            made->values[0][11] = made->values[0][12];
        if (more) /* the key is looked at by another one too */
            made->of.tallies[0].filter = CODES;
        made->grouping.keys[0] = CODES;
        made->grouping.descending[0] = sort & 1;
        made->grouping.by_first = sort & 2;
        check(sort % 3 + 1, "codes %d", sort);
    }
    batch_end("groups of codes");
}

/* What is added to parts of words, up to the most that these hold: all rows in one group, or in
   some. */
TAP_TEST(test_packed)
{
    static const int64_t sizes[] = {1, 7, 8, 1000, 1 << 14};
    const size_t rows = 40000;
    size_t row;
    int sort, i;

    batch_begin();
    for (sort = 0; sort < 60; sort++) {
        const int64_t size = sizes[sort % 5];
        const int signs = sort / 5 % 3; /* above 0, below, both */

        make_plain(rows, FEW_INTEGERS, FEW_INTEGERS, 1u << CLR_SUM);
        made->of.scan.tally_count = TALLIES;
        for (i = 0; i < TALLIES; i++) {
            struct clr_column *column = made->of.columns[KEY_COLUMNS + i % VALUE_COLUMNS];

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
            made->of.tallies[i] = (struct clr_tally){
                .operations =
                    i < VALUE_COLUMNS ? 1u << CLR_SUM | (sort % 2 ? CLR_BOUNDS : 0) : 1u << CLR_DOT,
                .x = KEY_COLUMNS + i % VALUE_COLUMNS,
                .y = i < VALUE_COLUMNS ? -1 : KEY_COLUMNS + 1,
                .filter = -1};
        }
        made->of.columns[0]->kind = CLR_TAG_INTEGER;
        memset(made->of.columns[0]->tags, CLR_TAG_INTEGER, rows);
        for (row = 0; row < rows; row++)
            made->of.columns[0]->values[row] = sort % 4 == 0 ? 5 : (int64_t)(row % 3);
        check(sort % 3, "parts of words %d", sort);
    }
    batch_end("sums in parts of words");
}

/* The planned is not what comes: the sample is of a few blocks. */
TAP_TEST(test_surprises)
{
    const size_t rows = 100 * 1024;
    int surprise;
    static const struct clr_scalar values[] = {
        {CLR_TAG_NULL, 0}, {CLR_TAG_INTEGER, INT64_MIN}, {CLR_TAG_INTEGER, 7},
        {CLR_TAG_REAL, 1}, {CLR_TAG_REAL, INT64_MIN},    {CLR_TAG_BYTES, 0}};

    batch_begin();
    for (surprise = 0; surprise < 24; surprise++) {
        const int column = surprise % 2 == 0 ? 0 : KEY_COLUMNS;
        const struct clr_scalar value = values[surprise / 2 % 6];

        make_plain(rows, FEW_INTEGERS, surprise < 12 ? FEW_INTEGERS : ROUND_REALS,
                   1u << CLR_SUM | (surprise % 4 < 2 ? 1u << CLR_EXTREMES : CLR_BOUNDS));
        memset(made->of.columns[column]->tags, made->of.columns[column]->kind, rows);
        made->of.columns[column]->kind = CLR_TAG_MIXED;
        made->of.columns[column]->tags[2 * 1024 + 5] = value.tag;
        made->of.columns[column]->values[2 * 1024 + 5] = value.bits;
        check(2, "surprise %d", surprise);
    }
    batch_end("rows that are not as planned");
}

/* One after the other: more of them than there are plans. */
TAP_TEST(test_many_surprises)
{
    const size_t rows = 100 * 1024;
    int i;

    batch_begin();
    make_plain(rows, FEW_INTEGERS, FEW_INTEGERS, 1u << CLR_SUM);
    made->of.scan.tally_count = TALLIES;
    for (i = 0; i < TALLIES; i++) {
        const int column = i < VALUE_COLUMNS ? KEY_COLUMNS + i : i - VALUE_COLUMNS + 1;

        clr_column_release(made->of.columns[column]);
        made->of.columns[column] = make_column(rows, FEW_INTEGERS);
        memset(made->of.columns[column]->tags, CLR_TAG_INTEGER, rows);
        made->of.columns[column]->kind = CLR_TAG_MIXED;
        made->of.columns[column]->tags[(size_t)(2 + i) * 4096 - 5] = CLR_TAG_REAL;
        made->of.tallies[i] =
            (struct clr_tally){.operations = 1u << CLR_SUM, .x = column, .y = -1, .filter = -1};
    }
    check(1, "surprises in each tally");
    batch_end("more surprises than plans");
}

TAP_TEST(test_memory)
{
    static const enum family keys[] = {FEW_INTEGERS, ANY_INTEGERS, FEW_REALS, SPREAD_INTEGERS};
    const struct clr_group_team team = {.size = 3, .run = run_serially, .context = NULL};
    int key, after, failures;

    batch_begin();
    for (key = 0; key < 8; key++) {
        bool failed = true;

        make_plain(key % 4 == 3 ? 51000 : 20000, keys[key % 4], ANY_REALS,
                   key < 4 ? CLR_KEEP | 1u << CLR_EXTREMES | 1u << CLR_SUM : 1u << CLR_SUM);
        made->of.columns[KEY_COLUMNS]->values[0] = scans_bits(1.0);
        made->grouping.by_first = made->grouping.by_first && key % 4 != 3; /* so they are sorted */
        for (after = failures = 0; failed && after < 5000; after++) {
            struct clr_groups *groups = NULL;
            enum clr_scan_outcome outcome;

            clr_memory_fail_after(after);
            outcome = clr_group_scan(&made->of.scan, &team, NULL, NULL, &groups);
            failed = clr_memory_fail_after(-1) != 0;
            batch_ok(outcome == (failed ? CLR_SCAN_FAILED : CLR_SCAN_DONE),
                     "allocation %d of keys %d: %d", after, key, (int)outcome);
            failures += failed;
            clr_groups_free(groups);
            if (after > 60)
                after += 37;
        }
        batch_ok(failures > 10 && !failed, "%d failures", failures);
        free_scan();
    }
    batch_end("without memory");
}

TAP_TEST(test_limits)
{
    struct clr_groups *groups = NULL;
    uint64_t limit;
    int done = 0, limited = 0, i;

    for (i = 0; i < 4; i++) {
        make_plain(50000, i < 2 ? ANY_INTEGERS : SPREAD_INTEGERS, ROUND_REALS,
                   i % 2 == 0 ? 1u << CLR_SUM : CLR_KEEP | 1u << CLR_EXTREMES);
        for (limit = 1; limit < (uint64_t)1 << 40; limit *= 2) {
            enum clr_scan_outcome outcome;

            made->of.scan.values_memory = limit;
            outcome = clr_host_group(&made->of.scan, NULL, NULL, &groups);
            done += outcome == CLR_SCAN_DONE;
            limited += outcome == CLR_SCAN_LIMIT;
            if (outcome == CLR_SCAN_DONE && clr_groups_size(groups) > limit)
                tap_diag("%d bytes", (int)clr_groups_size(groups));
            clr_groups_free(groups);
        }
        free_scan();
    }
    tap_ok(done + limited == 160 && done > 40 && limited > 40, "groups take what they may: %d %d",
           done, limited);
}

/* Without groups: values that questions need to be copied, as a filter leaves some, take memory. */
TAP_TEST(test_questions)
{
    struct clr_scan *scan = &made->of.scan;
    bool failed = true;
    int kind, after;

    batch_begin();
    for (kind = 0; kind <= CLR_ASK_BINS; kind++, failed = true) {
        make_plain(150000, FEW_INTEGERS, ROUND_REALS, CLR_KEEP | 1u << CLR_EXTREMES);
        scan->grouping = NULL;
        made->questions[0].kind = (enum clr_question_kind)kind;
        scan->values_memory = 0;
        batch_ok(kind > CLR_ASK_AT || clr_host_scan(scan, NULL) == CLR_SCAN_DONE,
                 "a column's own values take nothing");
        made->of.instructions[INSTRUCTIONS - 1] =
            (struct clr_instruction){CLR_OP_NOT_NULL, KEY_COLUMNS, 0, 0};
        scan->filter = INSTRUCTIONS - 1;
        scan->values_memory = 150000 * sizeof(int64_t) - 1;
        batch_ok(clr_host_scan(scan, NULL) == CLR_SCAN_LIMIT, "the limit, question %d", kind);
        scan->values_memory = UINT64_MAX;
        for (after = 0; failed; after += after > 30 ? 61 : 1) {
            enum clr_scan_outcome outcome;

            clr_memory_fail_after(after);
            outcome = clr_host_scan(scan, NULL);
            failed = clr_memory_fail_after(-1);
            batch_ok(outcome == (failed ? CLR_SCAN_FAILED : CLR_SCAN_DONE) ||
                         (kind <= CLR_ASK_AT && outcome == CLR_SCAN_DONE),
                     "allocation %d of question %d", after, kind);
        }
        batch_ok(after > 5, "%d allocations fail", after);
        free_scan();
    }
    batch_end("questions without groups");
}

static bool stop_at_once(void *context)
{
    (void)context;
    return true;
}

TAP_TEST(test_stop)
{
    const struct clr_watch watch = {stop_at_once, NULL};
    struct clr_groups *groups = NULL;
    int i, stopped = 0;

    make_plain(3000000, ANY_INTEGERS, ROUND_REALS, CLR_KEEP | 1u << CLR_EXTREMES);
    for (i = 0; i < 5; i++)
        stopped += clr_host_group(&made->of.scan, &watch, NULL, &groups) == CLR_SCAN_STOPPED;
    free_scan();
    tap_is_int64(stopped, 5, "a watch stops it");
}

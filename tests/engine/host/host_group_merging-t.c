/* How groups of the host come together: by sorting, by counting, and many of them. */
#include "engine/host/group_checks.h"

/* What the keys of test_places() are. */
enum places {
    UNIQUE,
    REPEATED,     /* half of the rows' are those of the others */
    LATE_REPEATS, /* where they are no longer looked for there are few */
    WIDE,         /* as many places as there can be */
    SMALL_NULLS,  /* two keys, which go down, and are NULL now and then */
    PLACES
};

static void set_place(size_t row, enum places places)
{
    const uint64_t mixed = (row + 1) * 0x9e3779b97f4a7c15;
    const size_t part = row % 20000, half = made->of.scan.rows / 2;
    int64_t *key = &made->of.columns[0]->values[row], *second = &made->of.columns[1]->values[row];

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
    made->of.columns[0]->tags[row] = mixed >> 30 & 7 ? CLR_TAG_INTEGER : CLR_TAG_NULL;
    made->of.columns[1]->tags[row] = mixed >> 40 & 7 ? CLR_TAG_INTEGER : CLR_TAG_NULL;
}

/* Places that are sorted: nearly all rows are groups, in each of three parts, or in one. */
TAP_TEST(test_places)
{
    static const unsigned operations[] = {
        1u << CLR_SUM, CLR_KEEP | 1u << CLR_EXTREMES | 1u << CLR_SUM, 1u << CLR_EXTREMES};
    size_t row;
    int round;

    batch_begin();
    for (round = 0; round < PLACES * 4; round++) {
        const enum places places = (enum places)(round % PLACES);
        const int threads = round % 2 == 0 ? 3 : 1, tally = round % 3;
        const size_t rows = (size_t)threads * 20480;

        make_plain(rows, SPREAD_INTEGERS, ROUND_REALS, operations[tally]);
        clr_column_release(made->of.columns[1]);
        made->of.columns[1] = make_column(rows, FEW_INTEGERS);
        made->of.columns[0]->kind = made->of.columns[1]->kind =
            places == SMALL_NULLS ? CLR_TAG_MIXED : CLR_TAG_INTEGER;
        for (row = 0; row < rows; row++)
            set_place(row, places);
        for (row = 17; tally == 0 && row < rows; row += 500) /* to be spilled */
            made->of.columns[KEY_COLUMNS]->values[row] = scans_bits(0x1p900);
        made->grouping.key_count = places == WIDE ? 1 : 2;
        made->grouping.keys[0] = 0;
        made->grouping.keys[1] = 1;
        made->grouping.descending[0] = made->grouping.descending[1] = places == SMALL_NULLS;
        made->grouping.by_first = round == 0;
        check(threads, "round %d", round);
    }
    batch_end("places that are sorted");
}

/* Positions among INTEGERs in small ranges: anywhere, and as large as they can be counted. */
TAP_TEST(test_counted)
{
    static const int64_t firsts[] = {INT64_MIN, -3, INT64_MAX - 8, INT64_MAX - 800};
    static const int ranges[] = {1, 9, 700};
    int round;

    batch_begin();
    for (round = 0; round < 72; round++) {
        const size_t rows = round % 5 == 0 ? 2800 : (size_t)random_below(9000) + 1;
        const int range = ranges[round % 3], threads = round % 2 == 0 ? 3 : 1;
        const int64_t first = firsts[range > 9 ? round / 3 % 2 * 3 : round / 3 % 4];
        struct clr_column *column;
        size_t row;

        make_plain(rows, round % 4 == 0 ? INTEGERS_OR_NULL : FEW_INTEGERS, FEW_INTEGERS,
                   CLR_KEEP | 1u << CLR_EXTREMES);
        column = made->of.columns[KEY_COLUMNS];
        for (row = 0; row < rows; row++)
            column->values[row] = first + (int64_t)random_below((uint64_t)range);
        column->values[0] = first;
        column->values[rows - 1] = first + (range - 1);
        made->questions[0].kind = random_below(2) == 0 ? CLR_ASK_AT : CLR_ASK_BETWEEN;
        check(threads, "round %d, %zu rows", round, rows);
    }
    batch_end("positions among INTEGERs that are counted");
}

/* The same without memory. */
TAP_TEST(test_counted_memory)
{
    const struct clr_group_team team = {.size = 3, .run = run_serially, .context = NULL};
    bool failed = true;
    int after;

    batch_begin();
    make_plain(20000, FEW_INTEGERS, FEW_INTEGERS, CLR_KEEP | 1u << CLR_EXTREMES);
    made->questions[0].kind = CLR_ASK_BETWEEN;
    for (after = 0; failed && after < 1000; after++) {
        struct clr_groups *groups = NULL;
        enum clr_scan_outcome outcome;

        clr_memory_fail_after(after);
        outcome = clr_group_scan(&made->of.scan, &team, NULL, NULL, &groups);
        failed = clr_memory_fail_after(-1) != 0;
        batch_ok(outcome == (failed ? CLR_SCAN_FAILED : CLR_SCAN_DONE), "allocation %d: %d", after,
                 (int)outcome);
        clr_groups_free(groups);
    }
    batch_ok(after > 10 && !failed, "%d failures", after);
    free_scan();
    batch_end("positions without memory");
}

/* A key, and its hash. */
struct hashed {
    uint64_t hash;
    int64_t bits;
};

static int compare_hashed(const void *a, const void *b)
{
    const uint64_t x = ((const struct hashed *)a)->hash, y = ((const struct hashed *)b)->hash;

    return (x > y) - (x < y);
}

/* Draws REALs until there are some whose hashes begin with the same 32 bits as the ones before, and
   stores both, as bits. Returns how many they are. */
static size_t find_alike(uint64_t seed, int64_t *alike, size_t most)
{
    enum { DRAWN = 400000 };
    static struct hashed drawn[DRAWN];
    struct clr_group_plan *plan = calloc(1, sizeof *plan);
    size_t count = 0, i;

    plan->seed = seed;
    plan->numbering = CLR_NUMBERED_BY_KEYS;
    plan->grouping.key_count = 1;
    for (i = 0; i < DRAWN; i++) {
        const uint64_t key[] = {(uint64_t)scans_bits(1.0) | random_bits() >> 12, CLR_TAG_REAL};
        drawn[i] = (struct hashed){clr_group_hash_key(plan, key), (int64_t)key[0]};
    }
    qsort(drawn, DRAWN, sizeof *drawn, compare_hashed);
    for (i = 1; i < DRAWN && count + 2 <= most; i++) {
        if (drawn[i].hash >> 32 != drawn[i - 1].hash >> 32 || drawn[i].bits == drawn[i - 1].bits)
            continue;
        alike[count++] = drawn[i - 1].bits;
        alike[count++] = drawn[i].bits;
    }
    free(plan);
    return count;
}

/* Keys whose hashes are sorted as equal, in each of several parts. */
TAP_TEST(test_alike)
{
    int64_t alike[20];
    size_t count, row;
    int by_first;

    batch_begin();
    for (by_first = 0; by_first < 2; by_first++) {
        make_plain(20000, FEW_REALS, ROUND_REALS, CLR_KEEP | 1u << CLR_SUM);
        count = find_alike(made->of.scan.seed, alike, sizeof alike / sizeof *alike);
        batch_ok(count > 0, "%zu keys", count);
        for (row = 0; row < made->of.scan.rows; row++)
            made->of.columns[0]->values[row] = alike[random_below(count)];
        made->grouping.by_first = by_first == 1;
        check(3, "keys with hashes alike");
    }
    batch_end("keys whose hashes begin alike");
}

/* Many groups, as many as rows, and all in one. */
TAP_TEST(test_many)
{
    const size_t rows = tap_is_quick() ? 300000 : 2000000;
    struct clr_groups *groups = NULL;
    struct clr_state state;
    size_t i;
    int sort;

    for (sort = 0; sort < 4; sort++) {
        bool right = true;

        make_plain(rows, FEW_INTEGERS, ROUND_REALS, 1u << CLR_SUM);
        for (i = 0; i < rows; i++)
            made->of.columns[0]->values[i] = sort == 0   ? 5
                                             : sort == 1 ? (int64_t)(rows - i)
                                             : sort == 2 ? (int64_t)(i * 0x9e3779b97f4a7c15)
                                                         : (int64_t)(i % (rows / 2));
        made->grouping.by_first = sort == 2;
        made->grouping.descending[0] = false;
        tap_is_int64(clr_host_group(&made->of.scan, NULL, NULL, &groups), CLR_SCAN_DONE, "%zu rows",
                     rows);
        tap_is_uint64(clr_groups_count(groups),
                      sort == 0   ? 1
                      : sort == 3 ? rows / 2
                                  : rows,
                      "their groups");
        for (i = 0; i < clr_groups_count(groups) && sort > 0; i++) {
            const size_t row = sort == 1 ? rows - 1 - i : i;
            const int64_t *values = made->of.columns[KEY_COLUMNS]->values;

            clr_groups_state(groups, i, 0, &state);
            right =
                right && clr_groups_key(groups, i, 0).bits == made->of.columns[0]->values[row] &&
                clr_sum_round(&state.sum, 1) ==
                    (sort == 3 ? value_real_of(values[row]) + value_real_of(values[row + rows / 2])
                               : value_real_of(values[row]));
        }
        tap_ok(right, "keys and sums of each");
        clr_groups_free(groups);
        free_scan();
    }
}

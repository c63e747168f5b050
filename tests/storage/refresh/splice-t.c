/* Columns with runs of rows left out, moved and put in, against the same done row by row; and their
   zones, against those of the rows that have come of it. */
#include "storage/refresh/spliced_columns.c"

#include "base/memory.h"
#include "batch.h"
#include "numeric/filter/filter_terms.h"
#include "numeric/scan/evaluate.h"
#include "numeric/values/value.h"
#include "random.h"

#include <stdlib.h>

enum { MOST_ROWS = 4000, MOST_RUNS = 60 };

/* Rows of several coarse zones. */
enum { MANY_ROWS = 3 * CLR_COARSE_ZONES * CLR_ZONE_ROWS };

/* A row, as plain as it can be. */
struct cell {
    int64_t value;
    uint8_t tag;
};

static struct cell old_cells[MANY_ROWS], fresh_cells[MOST_ROWS], want[MANY_ROWS + MOST_ROWS];

/* Of decimals, or 0. */
static double random_power(void)
{
    static const double powers[] = {0.0, 0.0, 10.0, 100.0};

    return powers[random_below(sizeof powers / sizeof powers[0])];
}

/* A column of cells, all of one tag if kind is one, whose values have so many bits, or are decimals
   of integers that have; narrow if it is to be and they can be kept so. */
static struct clr_column *make_column(struct cell *cells, size_t rows, uint8_t kind, int bits,
                                      bool is_narrow)
{
    struct clr_column *column = clr_column_new(rows + random_below(MOST_ROWS)), *narrow = NULL;
    const double power = bits == 64 ? 0.0 : random_power();
    size_t i;

    TAP_NEED(column != NULL, "no memory");
    column->rows = rows;
    column->kind = kind;
    for (i = 0; i < rows; i++) {
        cells[i].value = (int64_t)((random_bits() >> (64 - bits)) - (bits > 30 ? 1000 : 0));
        if (power != 0.0)
            cells[i].value = clr_decimal_bits(cells[i].value, power);
        cells[i].tag = kind == CLR_TAG_MIXED ? (uint8_t)random_below(4) : kind;
        column->values[i] = cells[i].value;
        if (kind == CLR_TAG_MIXED)
            column->tags[i] = cells[i].tag;
    }
    if (is_narrow)
        narrow = clr_column_new_narrow(column);
    if (narrow == NULL)
        return column;
    clr_column_release(column);
    return narrow;
}

/*
 * A random splice of both columns, and what it gives: runs of old rows, some left out, with fresh
 * ones between them.
 */
static void make_splice(struct clr_splice *splice, size_t old_rows, size_t fresh_rows)
{
    size_t at = 0, used = 0, rows, i;

    splice->rows = splice->old_count = splice->fresh_count = 0;
    while (splice->old_count + splice->fresh_count < MOST_RUNS &&
           (at < old_rows || used < fresh_rows)) {
        bool is_old = used == fresh_rows || (at < old_rows && random_below(2) == 0);
        const struct cell *from = is_old ? old_cells + at : fresh_cells + used;

        rows = 1 + random_below(is_old ? 100 : 40);
        if (rows > (is_old ? old_rows - at : fresh_rows - used))
            rows = is_old ? old_rows - at : fresh_rows - used;
        if (!is_old || random_below(4) > 0) {
            struct clr_row_run run = {is_old ? at : used, splice->rows, rows};

            if (is_old)
                splice->old[splice->old_count++] = run;
            else
                splice->fresh[splice->fresh_count++] = run;
            for (i = 0; i < rows; i++)
                want[splice->rows + i] = from[i];
            splice->rows += rows;
        }
        *(is_old ? &at : &used) += rows;
    }
}

/* Adds a run of rows to the splice, if there are any. */
static void add_run(struct clr_splice *splice, bool is_old, size_t from, size_t rows)
{
    const struct clr_row_run run = {from, splice->rows, rows};

    if (rows == 0)
        return;
    if (is_old)
        splice->old[splice->old_count++] = run;
    else
        splice->fresh[splice->fresh_count++] = run;
    memcpy(want + splice->rows, (is_old ? old_cells : fresh_cells) + from, rows * sizeof *want);
    splice->rows += rows;
}

/* A random splice by which all old rows that are left are where they were, but for those after one
   place at times: fresh rows take the place of as many, and some go or come at the end. */
static void make_staying_splice(struct clr_splice *splice, size_t old_rows, size_t fresh_rows)
{
    size_t at = 0, used = 0, rows;

    splice->rows = splice->old_count = splice->fresh_count = 0;
    while (splice->old_count < MOST_RUNS / 2 && at < old_rows) {
        rows = 1 + random_below(1 + old_rows / (1 + random_below(40)));
        rows = rows < old_rows - at ? rows : old_rows - at;
        add_run(splice, true, at, rows);
        at += rows;
        rows = random_below(random_below(8) == 0 ? 2000 : 40);
        rows = rows < old_rows - at ? rows : old_rows - at;
        rows = rows < fresh_rows - used ? rows : fresh_rows - used;
        add_run(splice, false, used, rows);
        at += rows - (random_below(40) == 0 && rows > 0);
        used += rows;
    }
    if (random_below(2) == 0)
        add_run(splice, true, at, old_rows - at);
    if (random_below(2) == 0)
        add_run(splice, false, used, fresh_rows - used);
}

static bool is_wanted(const struct clr_column *column, const struct clr_splice *splice)
{
    size_t i;

    for (i = 0; i < splice->rows; i++) {
        uint8_t tag = column->kind == CLR_TAG_MIXED ? column->tags[i] : column->kind;

        if (clr_column_value(column, i) != want[i].value || tag != want[i].tag)
            return false;
    }
    return column->rows == splice->rows;
}

static struct clr_zones *find_zones(struct clr_column *column)
{
    struct clr_zones *zones = clr_zones_new(column, column->rows);

    TAP_NEED(zones != NULL && clr_column_find_zones(column, 0, zones->count, zones), "no memory");
    clr_zones_join(zones, 0, zones->count);
    clr_zones_complete(zones);
    return zones;
}

/* Whether zones are the same, as far as what they have is defined. */
static bool is_same_zone(const struct clr_zone *zone, const struct clr_zone *other)
{
    const unsigned numbers = CLR_TYPE(CLR_TAG_INTEGER) | CLR_TYPE(CLR_TAG_REAL);

    return zone->types == other->types &&
           ((zone->types & numbers) == 0 || (zone->types & numbers) == numbers ||
            (zone->least == other->least && zone->greatest == other->greatest));
}

/* Whether sums of a zone are the same. Of REALs the same sum may be of other parts, if they were
   kept in another way when it was found. */
static bool is_same_sum(const struct clr_zone *zone, const struct clr_zone_sum *sum,
                        const struct clr_zone_sum *other)
{
    double parts[2], others[2];

    memcpy(parts, sum->parts, sizeof parts);
    memcpy(others, other->parts, sizeof others);
    return sum->numbers == other->numbers &&
           ((zone->types & CLR_TYPE(CLR_TAG_REAL)) != 0
                ? parts[0] - others[0] == others[1] - parts[1]
                : sum->parts[0] == other->parts[0] && sum->parts[1] == other->parts[1]);
}

/* Whether a column's zones are those of its rows. */
static bool has_zones(struct clr_column *column)
{
    const struct clr_zones *zones = clr_column_zones(column);
    struct clr_zones *found = find_zones(column);
    bool right = zones != NULL && zones->count == found->count && zones->types == found->types &&
                 zones->rows == found->rows;
    size_t i;

    for (i = 0; right && i < clr_zones_coarse(found->count); i++)
        right = is_same_zone(&zones->zones[zones->count + i], &found->zones[found->count + i]);
    for (i = 0; right && i < found->count; i++) {
        const struct clr_zone *own = &zones->zones[i], *rows = &found->zones[i];
        const struct clr_zone_sum *own_sum = clr_column_zone_sum(column, i);
        const struct clr_zone_sum *sum =
            found->sums == NULL || !found->sums[i].is_known ? NULL : &found->sums[i];

        right = is_same_zone(own, rows) && (own_sum == NULL) == (sum == NULL);
        right = right && (sum == NULL || is_same_sum(rows, own_sum, sum));
    }
    clr_memory_free(found);
    return right;
}

/* How many bits values have. */
static int random_size(void)
{
    static const int sizes[] = {7, 8, 8, 9, 16, 17, 31, 32, 33, 64};

    return sizes[random_below(sizeof sizes / sizeof sizes[0])];
}

static uint8_t random_kind(void)
{
    return random_below(3) == 0 ? CLR_TAG_MIXED : (uint8_t)random_below(3);
}

/* Splices by which most rows stay, of columns of many zones: those of some blocks are made anew in
   the zones that there are. */
static void test_staying_rows(void)
{
    static struct clr_row_run old_runs[MOST_RUNS], fresh_runs[MOST_RUNS];
    struct clr_splice splice = {.old = old_runs, .fresh = fresh_runs};
    long kept = 0, renewed = 0, gone = 0;
    int i;

    for (i = 0; i < 400; i++) {
        const size_t old_rows = 1 + random_below(i % 4 == 0 ? MANY_ROWS : 3 * MOST_ROWS);
        const size_t fresh_rows = random_below(MOST_ROWS);
        const uint8_t kind = random_kind();
        struct clr_column *old =
            make_column(old_cells, old_rows, kind, random_size(), random_below(2) > 0);
        struct clr_column *fresh = make_column(fresh_cells, fresh_rows, kind, random_size(), false);
        const struct clr_zones *zones;
        struct clr_column *result;

        clr_column_set_zones(old, find_zones(old));
        zones = clr_column_zones(old);
        make_staying_splice(&splice, old_rows, fresh_rows);
        result = splice_begin(&splice, old, fresh, old->dictionary);
        TAP_NEED(result != NULL, "no memory");
        splice_finish(&splice, old, fresh, NULL, result);
        batch_ok(is_wanted(result, &splice), "staying splice %d, %zu rows", i, splice.rows);
        kept += result == old && clr_column_zones(result) == zones;
        renewed += clr_column_zones(result) != zones && clr_column_zones(result) != NULL;
        gone += clr_column_zones(result) == NULL;
        batch_ok(clr_column_zones(result) == NULL || has_zones(result),
                 "the zones of staying splice %d", i);
        if (result != old)
            clr_column_release(old);
        clr_column_release(result);
        clr_column_release(fresh);
    }
    batch_end("splices by which rows stay");
    tap_ok(kept > 50 && renewed > 50 && gone < 100,
           "%ld have the zones that there were, %ld others, %ld none", kept, renewed, gone);
}

TAP_TEST(all_tests)
{
    static struct clr_row_run old_runs[MOST_RUNS], fresh_runs[MOST_RUNS];
    struct clr_splice splice = {.old = old_runs, .fresh = fresh_runs};
    long in_place = 0, anew = 0, lent = 0;
    int i;

    for (i = 0; i < 20000; i++) {
        size_t old_rows = random_below(MOST_ROWS / (1 + random_below(50)));
        size_t fresh_rows = random_below(MOST_ROWS / (1 + random_below(50)));
        struct clr_column *old =
            make_column(old_cells, old_rows, random_kind(), random_size(), random_below(4) > 0);
        struct clr_column *fresh = make_column(fresh_cells, fresh_rows, random_kind(),
                                               random_size(), false),
                          *result;
        const bool is_shared = random_below(3) == 0, zoned = random_below(2) == 0;
        bool failed;

        old->is_lent = is_shared && random_below(2) == 0;
        if (zoned)
            clr_column_set_zones(old, find_zones(old));
        if (is_shared)
            clr_column_retain(old);
        make_splice(&splice, old_rows, fresh_rows);
        batch_ok(splice_changes(&splice, old, fresh, NULL) || is_wanted(old, &splice),
                 "splice %d changes nothing", i);
        result = splice_begin(&splice, old, fresh, old->dictionary);
        TAP_NEED(result != NULL, "no memory");
        clr_memory_fail_after(zoned && random_below(4) == 0 ? (long)random_below(3) : -1);
        splice_finish(&splice, old, fresh, NULL, result);
        failed = clr_memory_fail_after(-1);
        batch_ok(is_wanted(result, &splice), "splice %d, %zu rows%s", i, splice.rows,
                 result == old ? " in place" : "");
        batch_ok(zoned && !failed ? has_zones(result) : clr_column_zones(result) == NULL,
                 "the zones of splice %d%s", i, failed ? ", for which there is no memory" : "");
        if (is_shared && !old->is_lent) {
            batch_ok(result != old && old->rows == old_rows &&
                         (old_rows == 0 ||
                          clr_column_value(old, old_rows - 1) == old_cells[old_rows - 1].value),
                     "splice %d: the old column is as it was", i);
        }
        if (is_shared)
            clr_column_release(old);
        lent += is_shared && result == old;
        in_place += result == old;
        anew += result != old;
        if (result != old)
            clr_column_release(old);
        clr_column_release(result);
        clr_column_release(fresh);
    }
    batch_end("random splices");
    tap_ok(in_place > 1000 && anew > 1000 && lent > 200,
           "%ld in place, of which %ld had been lent, %ld into a new column", in_place, lent, anew);
    test_staying_rows();
}

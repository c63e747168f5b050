/* A part of the rows gives for narrow columns what it gives for the same values of 8 bytes each,
   also where the rows are not as the plan expects. tests/sqlite/views/view-group-plans-t.py has
   what groups give. */
#include "numeric/grouping/part.h"

#include "batch.h"
#include "numeric/scans.h"
#include "random.h"

enum { ROWS = 3 * CLR_BLOCK + 100, KEYS = 2, COLUMNS = 4 };

/* INTEGERs, or decimals, that are at most so many above the least one. */
struct range {
    int64_t least;
    uint64_t more;
    double power; /* of decimals, or 0 */
};

static struct range draw_range(double power)
{
    static const uint64_t widths[] = {0, 7, 200, 60000, UINT32_MAX};

    return (struct range){random_between(-1000, 1000), widths[random_below(5)], power};
}

/* A column of values of a range; of another one, now and then, the least or the greatest. */
static struct clr_column *make_column(const struct range *range, const struct range *other)
{
    struct clr_column *column =
        scans_new(range->power != 0.0 ? CLR_TAG_REAL : CLR_TAG_INTEGER, ROWS);

    for (size_t i = 0; i < ROWS; i++) {
        const struct range *of = random_below(200) == 0 ? other : range;
        const int64_t integer = of->least + (int64_t)(of == other ? random_below(2) * of->more
                                                                  : random_below(of->more + 1));

        column->values[i] = range->power != 0.0 ? clr_decimal_bits(integer, range->power) : integer;
        column->tags[i] = column->kind;
    }
    return column;
}

/* The same column, narrow, or NULL if it can't be. */
static struct clr_column *make_narrow(const struct clr_column *column)
{
    const struct clr_frame bounds = clr_frame_find(NULL, column->values, ROWS);
    const struct clr_frame frame = clr_frame_choose(&bounds, 1);
    struct clr_column *narrow = frame.bytes == 0 ? NULL : clr_column_new_framed(ROWS, &frame);

    if (narrow == NULL)
        return NULL;
    narrow->rows = ROWS;
    narrow->kind = column->kind;
    clr_column_put_values(narrow, 0, column->values, ROWS);
    return narrow;
}

/* Takes all rows of a scan of these columns, but for that like the plan's. */
static struct clr_group_part *take(const struct clr_group_plan *plan, struct clr_column **columns,
                                   struct clr_group_memory *memory)
{
    static const atomic_bool never = false;
    struct clr_scan scan = *plan->scan;
    struct clr_group_part *part = clr_group_part_new(plan, memory, 0, ROWS);

    TAP_NEED(part != NULL, "no memory");
    scan.columns = columns;
    clr_group_part_begin(part, NULL);
    clr_group_part_take(part, &scan, 0, ROWS, &never);
    clr_group_part_end(part);
    return part;
}

/* Puts a sum of two words, of which the upper one counts 2^width, in one way: whole blocks and rows
   one by one share it out in others. */
static void join(int64_t *record, int high, int low, int width)
{
    clr_i128 sum;

    if (high < 0 || low < 0)
        return;
    sum = (clr_i128)record[high] * ((clr_i128)1 << width) + record[low];
    record[high] = (int64_t)(sum >> 64);
    record[low] = (int64_t)sum;
}

static void join_sums(const struct clr_group_part *part)
{
    for (size_t i = 0; i < clr_group_part_count(part); i++) {
        int64_t *record = clr_group_part_record(part, i);

        for (int t = 0; t < part->plan->tally_count; t++) {
            const struct clr_group_tally *kept = &part->plan->tallies[t];

            join(record, kept->integer_high, kept->integer, 32);
            join(record, kept->real_high, kept->real_low,
                 kept->window.high_exponent - kept->window.low_exponent);
        }
    }
}

static bool same(const struct clr_group_part *a, const struct clr_group_part *b)
{
    const size_t bytes = clr_group_part_count(a) * a->plan->stride * sizeof(int64_t);

    if (a->outcome != b->outcome || memcmp(&a->doubts, &b->doubts, sizeof a->doubts) != 0)
        return false;
    if (a->outcome != CLR_SCAN_DONE)
        return true;
    if (clr_group_part_count(a) != clr_group_part_count(b))
        return false;
    join_sums(a);
    join_sums(b);
    return a->addends.spills.count == b->addends.spills.count &&
           memcmp(a->records.start, b->records.start, bytes) == 0;
}

TAP_TEST(test_narrow)
{
    static const struct clr_group_doubts none;
    static struct clr_group_plan plan;
    int done = 0, narrow_columns = 0, round, i;

    for (round = 0; round < batch_rounds(1000); round++) {
        struct clr_group_memory memory = {INT64_MAX};
        const size_t most = random_below(2) == 0 ? ROWS : 1 << 30;
        struct clr_grouping grouping = {.key_count = random_between(0, KEYS), .keys = {0, 1}};
        struct clr_column *sampled[COLUMNS], *wide[COLUMNS], *narrow[COLUMNS];
        struct clr_group_part *want, *got;
        struct scans_made made;

        for (i = 0; i < COLUMNS; i++) {
            const double power = i < COLUMNS - 1 ? 0.0 : random_below(2) == 0 ? 100.0 : 1e6;
            const struct range range = draw_range(power);
            const struct range other = random_below(8) == 0 ? draw_range(power) : range;

            sampled[i] = make_column(&range, &range);
            wide[i] = make_column(&range, &other);
            narrow[i] = make_narrow(wide[i]);
            narrow_columns += narrow[i] != NULL;
        }
        scans_begin(&made, sampled, COLUMNS);
        for (i = 1; i < COLUMNS; i++)
            scans_tally(&made, random_below(4) > 0 ? 1u << CLR_SUM : 1u << CLR_EXTREMES, i, -1);
        if (random_below(4) == 0)
            made.scan.filter = random_between(0, COLUMNS - 1);
        grouping.by_first = random_below(4) == 0;
        grouping.descending[0] = random_below(3) == 0;
        made.scan.grouping = &grouping;
        made.scan.values_memory = UINT64_MAX;
        TAP_NEED(clr_group_plan_make(&plan, &made.scan, most, CLR_GROUPS_OF_PORTIONS, &none) ==
                     CLR_SCAN_DONE,
                 "no memory");
        want = take(&plan, wide, &memory);
        for (i = 0; i < COLUMNS; i++) {
            if (narrow[i] == NULL)
                continue;
            clr_column_release(wide[i]);
            wide[i] = narrow[i];
        }
        got = take(&plan, wide, &memory);
        batch_ok(same(got, want), "round %d: %d and %d", round, (int)got->outcome,
                 (int)want->outcome);
        done += want->outcome == CLR_SCAN_DONE;
        clr_group_part_free(want);
        clr_group_part_free(got);
        scans_release(&made);
        for (i = 0; i < COLUMNS; i++)
            clr_column_release(wide[i]);
    }
    batch_ok(done > round / 4 && done < round && narrow_columns > round,
             "%d of %d are as planned, %d narrow columns", done, round, narrow_columns);
    batch_end("narrow columns, and such of 8 bytes");
}

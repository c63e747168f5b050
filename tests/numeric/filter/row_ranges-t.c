/* Lists of blocks as few ranges of rows: what is in them, and what is left out between them. */
#include "numeric/filter/filter_terms.h"

#include "batch.h"
#include "random.h"

enum { MOST_BLOCKS = 300 };

static uint32_t blocks[MOST_BLOCKS];

/* Lists some of so many blocks, in runs. Returns the rows of those listed; the last block of all
   has so many. */
static size_t list_blocks(size_t all, size_t last_rows)
{
    size_t count = 0, i;
    bool listed = false;

    for (i = 0; i < all; i++) {
        if (random_below(20) == 0)
            listed = !listed;
        if (listed)
            blocks[count++] = (uint32_t)i;
    }
    return count == 0 || blocks[count - 1] < all - 1 ? count * CLR_ZONE_ROWS
                                                     : (count - 1) * CLR_ZONE_ROWS + last_rows;
}

/* Whether the ranges have the listed blocks, ascend, and end where the blocks do. */
static bool have_all(const struct clr_row_ranges *ranges, size_t rows)
{
    const size_t count = clr_zones_of(rows), missing = count * CLR_ZONE_ROWS - rows;
    size_t k = 0, end = 0;
    int i;

    for (i = 0; i < ranges->count; i++) {
        const struct clr_row_range *range = &ranges->ranges[i];

        if (range->rows == 0 || range->first < end ||
            range->first != (size_t)blocks[k] * CLR_ZONE_ROWS)
            return false;
        end = range->first + range->rows;
        while (k < count && (size_t)blocks[k] * CLR_ZONE_ROWS < end)
            k++;
        if (end != ((size_t)blocks[k - 1] + 1) * CLR_ZONE_ROWS - (k == count ? missing : 0))
            return false;
    }
    return k == count;
}

/* Returns how many blocks lie between two ranges, at least. */
static size_t find_least_gap(const struct clr_row_ranges *ranges)
{
    size_t least = SIZE_MAX;
    int i;

    for (i = 1; i < ranges->count; i++) {
        const struct clr_row_range *last = &ranges->ranges[i - 1];
        const size_t between = ranges->ranges[i].first - last->first - last->rows;

        least = between / CLR_ZONE_ROWS < least ? between / CLR_ZONE_ROWS : least;
    }
    return least;
}

/* How many ranges there would be with that gap. */
static int count_ranges(size_t rows, size_t gap)
{
    const size_t count = clr_zones_of(rows);
    int ranges = count > 0;
    size_t i;

    for (i = 1; i < count; i++)
        ranges += blocks[i] - blocks[i - 1] > gap;
    return ranges;
}

TAP_TEST(test_random)
{
    const int rounds = tap_is_quick() ? 2000 : 20000;
    struct clr_row_ranges ranges;
    int round, several = 0;

    batch_begin();
    for (round = 0; round < rounds; round++) {
        const size_t all = random_below(MOST_BLOCKS) + 1, gap = random_below(30) + 1;
        const size_t rows = list_blocks(all, random_below(CLR_ZONE_ROWS) + 1);
        const int most = (int)random_below(2 * CLR_MOST_ROW_RANGES) + 1;
        const int room = most < CLR_MOST_ROW_RANGES ? most : CLR_MOST_ROW_RANGES;
        const struct clr_scan scan = {.rows = rows, .blocks = blocks};

        clr_row_ranges_find(&scan, gap, most, &ranges);
        batch_ok(have_all(&ranges, rows), "round %d: %d ranges of %zu rows", round, ranges.count,
                 rows);
        batch_ok(ranges.count <= room && find_least_gap(&ranges) >= gap,
                 "round %d: %d ranges of %d, %zu blocks apart", round, ranges.count, room, gap);
        if (count_ranges(rows, gap) <= room)
            batch_ok(ranges.count == count_ranges(rows, gap), "round %d: all gaps", round);
        several += ranges.count > 1;
    }
    batch_end("ranges of blocks");
    tap_ok(several > rounds / 4, "%d of %d lists have several", several, rounds);
}

TAP_TEST(test_all)
{
    struct clr_scan scan = {.rows = 5000};
    struct clr_row_ranges ranges;

    clr_row_ranges_find(&scan, 1, 3, &ranges);
    tap_ok(ranges.count == 1 && ranges.ranges[0].first == 0 && ranges.ranges[0].rows == 5000,
           "all rows are one range");
    scan.rows = 0;
    clr_row_ranges_find(&scan, 1, 3, &ranges);
    tap_is_int64(ranges.count, 0, "no rows are none");
}

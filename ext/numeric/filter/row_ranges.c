#include "numeric/filter/row_ranges.h"

#include "numeric/values/zones.h"

/* Stores the first ranges, as far as there is room. Returns how many there are. */
static int divide(const uint32_t *blocks, size_t count, size_t gap, int most,
                  struct clr_row_ranges *ranges)
{
    size_t first = 0, i;

    ranges->count = 0;
    for (i = 1; i <= count; i++) {
        if (i < count && blocks[i] - blocks[i - 1] <= gap)
            continue;
        if (ranges->count == most)
            return most + 1;
        ranges->ranges[ranges->count++] =
            (struct clr_row_range){(size_t)blocks[first] * CLR_ZONE_ROWS,
                                   ((size_t)blocks[i - 1] - blocks[first] + 1) * CLR_ZONE_ROWS};
        first = i;
    }
    return ranges->count;
}

void clr_row_ranges_find(const struct clr_scan *scan, size_t gap, int most,
                         struct clr_row_ranges *ranges)
{
    const size_t count = clr_zones_of(scan->rows);

    ranges->count = 0;
    if (scan->rows == 0)
        return;
    if (scan->blocks == NULL) {
        ranges->count = 1;
        ranges->ranges[0] = (struct clr_row_range){0, scan->rows};
        return;
    }
    most = most < CLR_MOST_ROW_RANGES ? most : CLR_MOST_ROW_RANGES;
    while (divide(scan->blocks, count, gap, most, ranges) > most)
        gap *= 2;
    /* The last block may be short. */
    ranges->ranges[ranges->count - 1].rows -= count * CLR_ZONE_ROWS - scan->rows;
}

/* Zones: the least and the greatest value of each block of a column's rows, by which a scan knows
   of blocks that hold nothing for it. */
#ifndef CLR_NUMERIC_ZONES_H
#define CLR_NUMERIC_ZONES_H

#include <stddef.h>
#include <stdint.h>

/* Rows of a zone, and zones that have a coarse one together. */
enum { CLR_ZONE_ROWS = 1024, CLR_COARSE_ZONES = 64 };

struct clr_zone {
    /* Of a column of codes: codes. Else, if the block's numbers are all of one type, bits of these;
       defined where there are any. */
    int64_t least, greatest;
    uint8_t types; /* bits 1 << tag of the values there are; of a column of codes 0 */
};

/* Constant from the time on that a column has them. */
struct clr_zones {
    uint8_t types;           /* those of all blocks together */
    size_t count;            /* of blocks; the last one may have fewer rows */
    struct clr_zone zones[]; /* of the blocks; behind them the coarse ones */
};

/* Returns how many zones so many rows have. */
static inline size_t clr_zones_of(size_t rows)
{
    return (rows + CLR_ZONE_ROWS - 1) / CLR_ZONE_ROWS;
}

/* Returns how many coarse zones so many zones have. */
static inline size_t clr_zones_coarse(size_t zones)
{
    return (zones + CLR_COARSE_ZONES - 1) / CLR_COARSE_ZONES;
}

/* Returns zones of so many rows, whose content is not set, or NULL without memory. Free with
   clr_zones_free(), for which NULL is fine. */
struct clr_zones *clr_zones_new(size_t rows);
void clr_zones_free(struct clr_zones *zones);

/* Returns the bytes that they take; NULL: 0. */
size_t clr_zones_size(const struct clr_zones *zones);

#endif

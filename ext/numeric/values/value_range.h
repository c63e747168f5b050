/* Ranges of values, in the order that SQLite sorts them: NULL, numbers, TEXT by BINARY, BLOBs. */
#ifndef CLR_NUMERIC_VALUE_RANGE_H
#define CLR_NUMERIC_VALUE_RANGE_H

#include "numeric/values/value.h"

#include <stdbool.h>

/* One end of a range. Of kind NONE the value is NULL. Its bytes are the caller's. */
struct clr_value_end {
    struct clr_value value;
    bool is_there; /* false: the range has no such end */
    bool is_open;  /* the value itself, and what is equal to it, are not in the range */
};

/* Zeros: all values. */
struct clr_value_range {
    struct clr_value_end lower, upper;
};

/* Returns the value itself, and what is equal to it. */
struct clr_value_range clr_value_range_at(const struct clr_value *value);

/* Returns a range without values. */
struct clr_value_range clr_value_range_none(void);

bool clr_value_range_is_none(const struct clr_value_range *range);

/* Whether it has one value, and what is equal to it. */
bool clr_value_range_is_one(const struct clr_value_range *range);

/* Whether it has an end. */
static inline bool clr_value_range_is_bounded(const struct clr_value_range *range)
{
    return range->lower.is_there || range->upper.is_there;
}

/* Returns the values that both have. */
struct clr_value_range clr_value_range_intersect(const struct clr_value_range *a,
                                                 const struct clr_value_range *b);

/* Returns a range that has the values of both, and those between. */
struct clr_value_range clr_value_range_unite(const struct clr_value_range *a,
                                             const struct clr_value_range *b);

/* Returns -1 for a value that is below the range, 1 for one that is above, and else 0; the range is
   not none. */
int clr_value_range_side(const struct clr_value_range *range, const struct clr_value *value);

#endif

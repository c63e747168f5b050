/* What counting different values finds out. */
#ifndef CLR_NUMERIC_DISTINCT_RESULT_H
#define CLR_NUMERIC_DISTINCT_RESULT_H

#include "numeric/values/value.h"

#include <stdint.h>

struct clr_distinct_result {
    uint64_t size;         /* how many different values there are */
    uint64_t count;        /* how often the most frequent one is there; 0: there is none */
    struct clr_value mode; /* that one; the least of them, if there are several. As distinct.h says,
                              an INTEGER if one of those equal to it is, else REAL */
};

/* Makes a value that is there count times, 1 and up, the result's mode if it comes before that. A
   whole number is INTEGER here. */
static inline void clr_distinct_consider(struct clr_distinct_result *result, uint64_t count,
                                         const struct clr_value *value)
{
    if (count < result->count ||
        (count == result->count && clr_value_compare(value, &result->mode, 1) >= 0))
        return;
    result->count = count;
    result->mode = *value;
}

/* Adds the result of the TEXT and BLOBs beside some numbers to that of these. Of values that are
   equally frequent numbers come first. */
static inline void clr_distinct_join(struct clr_distinct_result *numbers,
                                     const struct clr_distinct_result *bytes)
{
    numbers->size += bytes->size;
    if (bytes->count > numbers->count) {
        numbers->count = bytes->count;
        numbers->mode = bytes->mode;
    }
}

#endif

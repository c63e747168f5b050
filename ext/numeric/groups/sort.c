#include "numeric/groups/groups_private.h"

#include <string.h>

enum { DIGITS = 8, DIGIT_BITS = 8, DIGIT_VALUES = 1 << DIGIT_BITS, PIECE = 1 << 16 };

static inline size_t digit_of(uint64_t key, int digit)
{
    return key >> digit * DIGIT_BITS & (DIGIT_VALUES - 1);
}

static bool count_digits(const struct clr_group_item *items, size_t count,
                         size_t counts[DIGITS][DIGIT_VALUES], const atomic_bool *stop)
{
    size_t i;
    int digit;

    for (i = 0; i < count; i++) {
        if (i % PIECE == 0 && clr_portion_stops(stop))
            return false;
        for (digit = 0; digit < DIGITS; digit++)
            counts[digit][digit_of(items[i].key, digit)]++;
    }
    return true;
}

static bool scatter(const struct clr_group_item *from, struct clr_group_item *to, size_t count,
                    int digit, size_t counts[DIGIT_VALUES], const atomic_bool *stop)
{
    size_t i, start = 0;

    for (i = 0; i < DIGIT_VALUES; i++) {
        const size_t here = counts[i];
        counts[i] = start;
        start += here;
    }
    for (i = 0; i < count; i++) {
        if (i % PIECE == 0 && clr_portion_stops(stop))
            return false;
        to[counts[digit_of(from[i].key, digit)]++] = from[i];
    }
    return true;
}

/* Knuth, TAOCP 3, 5.2.5: from the least significant digit. One that is the same in all keys costs
   nothing but the look at it. */
enum clr_scan_outcome clr_group_sort(struct clr_group_item *items, struct clr_group_item *scratch,
                                     size_t count, const atomic_bool *stop)
{
    size_t counts[DIGITS][DIGIT_VALUES];
    struct clr_group_item *from = items, *to = scratch, *other;
    int digit;

    memset(counts, 0, sizeof counts);
    if (!count_digits(items, count, counts, stop))
        return CLR_SCAN_STOPPED;
    for (digit = 0; digit < DIGITS && count > 0; digit++) {
        if (counts[digit][digit_of(items[0].key, digit)] == count)
            continue;
        if (!scatter(from, to, count, digit, counts[digit], stop))
            return CLR_SCAN_STOPPED;
        other = from;
        from = to;
        to = other;
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
    return CLR_SCAN_DONE;
}

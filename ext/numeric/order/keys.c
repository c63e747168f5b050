#include "numeric/order/keys.h"

#include <string.h>

enum { DIGITS = 8, DIGIT_BITS = 8, DIGIT_VALUES = 1 << DIGIT_BITS };

static void insertion_sort(uint64_t *keys, size_t count)
{
    size_t i, j;

    for (i = 1; i < count; i++) {
        uint64_t key = keys[i];
        for (j = i; j > 0 && keys[j - 1] > key; j--)
            keys[j] = keys[j - 1];
        keys[j] = key;
    }
}

static inline size_t digit_of(uint64_t key, int digit)
{
    return key >> (digit * DIGIT_BITS) & (DIGIT_VALUES - 1);
}

/* Moves the keys from one array to the other in the order of a digit; counts becomes the ends. */
static void scatter(const uint64_t *from, uint64_t *to, size_t count, int digit,
                    size_t counts[DIGIT_VALUES])
{
    size_t i, start = 0;

    for (i = 0; i < DIGIT_VALUES; i++) {
        size_t here = counts[i];
        counts[i] = start;
        start += here;
    }
    for (i = 0; i < count; i++)
        to[counts[digit_of(from[i], digit)]++] = from[i];
}

void clr_radix_sort(uint64_t *keys, uint64_t *scratch, size_t count)
{
    size_t counts[DIGITS][DIGIT_VALUES];
    uint64_t *from = keys, *to = scratch, *other;
    size_t i;
    int digit;

    if (count <= CLR_INSERTION_LIMIT) {
        insertion_sort(keys, count);
        return;
    }
    memset(counts, 0, sizeof counts);
    for (i = 0; i < count; i++) {
        for (digit = 0; digit < DIGITS; digit++)
            counts[digit][digit_of(keys[i], digit)]++;
    }
    for (digit = 0; digit < DIGITS; digit++) {
        if (counts[digit][digit_of(keys[0], digit)] == count)
            continue;
        scatter(from, to, count, digit, counts[digit]);
        other = from;
        from = to;
        to = other;
    }
    if (from != keys)
        memcpy(keys, from, count * sizeof *keys);
}

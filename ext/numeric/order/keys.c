#include "numeric/order/keys.h"

#include "numeric/order/portions.h"

#include <string.h>

/* PIECE: items between two looks at whether to stop. */
enum { DIGITS = 8, DIGIT_BITS = 8, DIGIT_VALUES = 1 << DIGIT_BITS, PIECE = 4096 };

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

/* ---- Sorting of items, whose first eight bytes are their keys. Their size, and whether anything
   stops it, are constants where this is inlined. */

static inline uint64_t key_at(const unsigned char *items, size_t i, size_t size)
{
    uint64_t key;

    memcpy(&key, items + i * size, sizeof key);
    return key;
}

static inline size_t digit_of(uint64_t key, int digit)
{
    return key >> (digit * DIGIT_BITS) & (DIGIT_VALUES - 1);
}

static inline bool stops(const atomic_bool *stop, size_t i)
{
    return stop != NULL && i % PIECE == 0 && clr_portion_stops(stop);
}

/* Moves the items from one array to the other in the order of a digit; counts becomes the ends. */
static inline __attribute__((always_inline)) bool
scatter(const unsigned char *from, unsigned char *to, size_t count, size_t size, int digit,
        size_t counts[DIGIT_VALUES], const atomic_bool *stop)
{
    size_t i, start = 0;

    for (i = 0; i < DIGIT_VALUES; i++) {
        size_t here = counts[i];
        counts[i] = start;
        start += here;
    }
    for (i = 0; i < count; i++) {
        if (stops(stop, i))
            return false;
        memcpy(to + size * counts[digit_of(key_at(from, i, size), digit)]++, from + i * size, size);
    }
    return true;
}

static inline __attribute__((always_inline)) bool sort(void *items, void *scratch, size_t count,
                                                       size_t size, const atomic_bool *stop)
{
    size_t counts[DIGITS][DIGIT_VALUES];
    unsigned char *from = items, *to = scratch, *other;
    size_t i;
    int digit;

    memset(counts, 0, sizeof counts);
    for (i = 0; i < count; i++) {
        if (stops(stop, i))
            return false;
        for (digit = 0; digit < DIGITS; digit++)
            counts[digit][digit_of(key_at(from, i, size), digit)]++;
    }
    for (digit = 0; digit < DIGITS && count > 0; digit++) {
        if (counts[digit][digit_of(key_at(from, 0, size), digit)] == count)
            continue;
        if (!scatter(from, to, count, size, digit, counts[digit], stop))
            return false;
        other = from;
        from = to;
        to = other;
    }
    if (from != items)
        memcpy(items, from, count * size);
    return true;
}

void clr_radix_sort(uint64_t *keys, uint64_t *scratch, size_t count)
{
    if (count <= CLR_INSERTION_LIMIT)
        insertion_sort(keys, count);
    else
        sort(keys, scratch, count, sizeof *keys, NULL);
}

bool clr_radix_sort_items(void *items, void *scratch, size_t count, const atomic_bool *stop)
{
    return sort(items, scratch, count, CLR_SORTED_ITEM, stop);
}

/* ---- Ranks of few. */

enum { BUCKET_BITS = 9, BUCKETS = 1 << BUCKET_BITS };

/* Finds the least key, and by how many bits keys are to be shifted for their buckets. Returns
   whether there is more than one key. */
static bool find_range(const uint64_t *keys, size_t count, uint64_t *least, int *shift)
{
    uint64_t greatest = keys[0], range;
    size_t i;

    *least = keys[0];
    for (i = 1; i < count; i++) {
        *least = keys[i] < *least ? keys[i] : *least;
        greatest = keys[i] > greatest ? keys[i] : greatest;
    }
    range = greatest - *least;
    *shift = range < BUCKETS ? 0 : 64 - BUCKET_BITS - __builtin_clzll(range);
    return range != 0;
}

/* Copies the keys of a bucket. Returns how many they are. */
static size_t gather(const uint64_t *keys, size_t count, uint64_t least, int shift, uint64_t bucket,
                     uint64_t *result)
{
    size_t gathered = 0, i;

    for (i = 0; i < count; i++) {
        const uint64_t key = keys[i];

        result[gathered] = key;
        gathered += (key - least) >> shift == bucket;
    }
    return gathered;
}

/* Returns the least key of the buckets behind one; there is one. */
static uint64_t find_next(const uint64_t *keys, size_t count, uint64_t least, int shift,
                          uint64_t bucket)
{
    uint64_t next = UINT64_MAX;
    size_t i;

    for (i = 0; i < count; i++)
        if ((keys[i] - least) >> shift > bucket && keys[i] < next)
            next = keys[i];
    return next;
}

void clr_few_select(const uint64_t *keys, uint64_t *scratch, size_t count, size_t rank,
                    uint64_t found[2])
{
    uint64_t least, next = 0, bucket;
    uint32_t counts[BUCKETS];
    bool has_next = false;
    size_t before, i;
    int shift;

    while (count > CLR_INSERTION_LIMIT && find_range(keys, count, &least, &shift)) {
        memset(counts, 0, sizeof counts);
        for (i = 0; i < count; i++)
            counts[(keys[i] - least) >> shift]++;
        for (bucket = 0, before = 0; before + counts[bucket] <= rank; bucket++)
            before += counts[bucket];
        /* The last one of a bucket stays the last one of what is looked at from then on. */
        if (rank + 1 == before + counts[bucket] && rank + 1 < count) {
            next = find_next(keys, count, least, shift, bucket);
            has_next = true;
        }
        count = gather(keys, count, least, shift, bucket, scratch);
        keys = scratch;
        rank -= before;
    }
    if (count <= CLR_INSERTION_LIMIT) {
        memmove(scratch, keys, count * sizeof *keys);
        clr_radix_sort(scratch, NULL, count);
        keys = scratch;
    }
    found[0] = keys[rank];
    found[1] = rank + 1 < count ? keys[rank + 1] : has_next ? next : found[0];
}

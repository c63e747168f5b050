/*
 * Loops over a block of rows on their way to groups, in the widest instructions that the processor
 * has. Arrays have CLR_BLOCK values. A result may be where an operand is, unless it says otherwise.
 */
#ifndef CLR_NUMERIC_GROUP_LOOPS_H
#define CLR_NUMERIC_GROUP_LOOPS_H

#include "numeric/grouping/window.h"
#include "numeric/scan/block.h"

/* Records, and what a block's rows add to them: words[w][row] to word w of the record numbers[row].
   Without words[0] each row adds 1 to word 0. See struct clr_group_tally. */
struct clr_group_adding {
    int64_t *records;
    size_t stride;
    const int64_t *const *words;
    int adds, all; /* words */
    const uint32_t *numbers;
    const uint16_t *rows; /* which ones, count of them; NULL: the first ones */
    size_t count;
    const uint64_t *selected; /* the same rows, as bits */
    const uint64_t *ends;     /* the last rows of few runs, as bits; or NULL */
    bool fetches;             /* records are far away */
    const int64_t *ahead;     /* as in scan/loops.h, or NULL */
};

/* What an INTEGER adds to a row's place: its product with the factor, and the start, modulo 2^32 or
   2^64. Beyond size above first it has no place. */
struct clr_group_placing {
    int64_t first;
    uint64_t size, factor, start;
};

/* What INTEGERs add to a part of a word: see struct clr_group_field. */
struct clr_group_packing {
    int64_t limit; /* of their sizes */
    int shift;
    bool first;    /* the words are stored, and not added to */
    int64_t start; /* is added to each */
};

struct clr_group_loops {
    /* Add what INTEGERs add to places, or, the first ones, store it. Return whether all of them
       have places. ahead: as in scan/loops.h. */
    bool (*place)(const struct clr_group_placing *placing, bool first, const int64_t *integers,
                  uint32_t *places, const int64_t *ahead);
    bool (*place_long)(const struct clr_group_placing *placing, bool first, const int64_t *integers,
                       uint64_t *places, const int64_t *ahead);

    /* The same of what a narrow column keeps of its INTEGERs, all of which have places: the start
       has its least one. */
    void (*place_words)(const struct clr_group_placing *placing, bool first, const void *kept,
                        int bytes, uint32_t *restrict places);

    /* Cuts REALs into digits. Returns whether all of them lie within the window. The other one
       stores which do not, and 0 for their digits. */
    bool (*cut)(const struct clr_window *window, const int64_t *reals, int64_t *high, int64_t *low,
                const int64_t *ahead);
    void (*cut_carefully)(const struct clr_window *window, const int64_t *reals, int64_t *high,
                          int64_t *low, uint8_t *outside);

    /* The same of a narrow column's decimals, as its frame keeps them in words from the first one
       on. */
    bool (*cut_words)(const struct clr_window *window, const struct clr_frame *frame,
                      const void *words, int64_t *restrict high, int64_t *restrict low);

    /* Stores the lower 32 bits of INTEGERs, and the upper ones with the sign. */
    void (*split)(const int64_t *integers, int64_t *low, int64_t *high);

    /* Stores which INTEGERs' sizes are above the limit, and 0 for them. */
    void (*limit)(const int64_t *integers, int64_t limit, int64_t *limited, uint8_t *outside);

    /* Adds INTEGERs to parts of words. Returns whether no INTEGER's size is above the limit: those
       are added too. */
    bool (*pack)(const struct clr_group_packing *packing, const int64_t *restrict integers,
                 int64_t *restrict words, const int64_t *ahead);

    /* The same of what a narrow column keeps of its INTEGERs, none of which is above the limit. The
       start has its least one. */
    void (*pack_words)(const struct clr_group_packing *packing, const void *kept, int bytes,
                       int64_t *restrict words);

    /* Stores products of INTEGERs. Returns whether their sizes are not above the limit; if not,
       stores which are, and 0 for them. y is not where the products are. */
    bool (*multiply)(const int64_t *x, const int64_t *y, int64_t limit, int64_t *products,
                     uint8_t *outside);

    /* Stores words of which the greatest means the least or greatest value, INTEGERs or else
       REALs, where the mask is 1, and 0 where it is 0; without masks, of all. least or greatest may
       be NULL. values are not where the results are. */
    void (*find_extremes)(const int64_t *values, const int64_t *masks, bool real, int64_t *least,
                          int64_t *greatest, const int64_t *ahead);

    void (*add)(const struct clr_group_adding *adding);
};

/* The values of a word to which a block's rows add nothing. */
extern const int64_t clr_group_zeros[CLR_BLOCK];

/* Returns the best loops for this processor, or for tests the best but `skipped` ones; NULL if
   there are no more. */
const struct clr_group_loops *clr_group_loops_choose(int skipped);

/* The words that find_extremes() makes of a value. */
static inline uint64_t clr_group_word_of_least(int64_t value)
{
    return ~((uint64_t)value ^ (uint64_t)1 << 63);
}

static inline uint64_t clr_group_word_of_greatest(int64_t value)
{
    return (uint64_t)value ^ (uint64_t)1 << 63;
}

/* The value of which find_extremes() made a word. */
static inline int64_t clr_group_least_of(uint64_t word)
{
    return (int64_t)(~word ^ (uint64_t)1 << 63);
}

static inline int64_t clr_group_greatest_of(uint64_t word)
{
    return (int64_t)(word ^ (uint64_t)1 << 63);
}

#endif

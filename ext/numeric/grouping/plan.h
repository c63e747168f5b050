/*
 * How the groups of a scan are found and what is kept of each: chosen from a sample of the rows, in
 * the hope that all rows are like it. Where they are not, the scan begins again by another plan.
 */
#ifndef CLR_NUMERIC_GROUP_PLAN_H
#define CLR_NUMERIC_GROUP_PLAN_H

#include "numeric/grouping/window.h"
#include "numeric/scan/block.h"

enum clr_group_numbering {
    CLR_NUMBERED_DIRECTLY, /* all keys are INTEGER or NULL in small ranges: their place is it */
    CLR_NUMBERED_BY_PLACE, /* likewise, but the place, of 63 bits, is looked for in a table */
    CLR_NUMBERED_BY_KEYS   /* the keys themselves are */
};

/* NULL is 0, and an INTEGER its distance from first, plus 1; from the other end if descending. A
   place is the sum of these times their factors: its order is that of the groups. */
struct clr_group_key {
    int64_t first;
    uint64_t size; /* how many there are, NULL among them */
    uint64_t factor;
};

/*
 * Where a number lies in a word that is added: so many bits of it, from `shift` on. Numbers beside
 * each other are added at once, as what is added to a word is the sum of each times 2^shift. They
 * have signs, so that one borrows from those above while it is less than 0.
 */
struct clr_group_field {
    int shift, bits; /* of the word's CLR_WORD_BITS */
};

enum { CLR_WORD_BITS = 64 };

/*
 * What is kept of a tally in a group's record: the numbers of words, or -1. Words are added,
 * modulo 2^64, or, of extremes, the greatest is taken, as unsigned numbers, where 0 is that of no
 * rows.
 */
struct clr_group_tally {
    unsigned operations; /* of the tally */
    bool has_x;
    unsigned x_types, y_types; /* that rows are expected to have; NULL only if `missing` is there */
    int filter;                /* the tally's, or -1 if that is true for all rows */
    int missing;               /* rows of the group that do not count */
    int others;                /* rows that count and have an operand that is no INTEGER */
    int integer, integer_high; /* the sum of INTEGERs, or of their products; see the next */
    int64_t integer_limit;     /* 0: `integer` has their lower 32 bits and integer_high the upper;
                                  else all of those that are not greater in size, in the field */
    struct clr_group_field field;
    bool is_bounded;         /* no row that counts has a greater INTEGER: one is a doubt */
    int real_high, real_low; /* digits of REALs */
    struct clr_window window;
    int extremes[4];  /* INTEGERs: least, greatest; keys of REALs: least, greatest */
    bool gathers;     /* the values that count, or pairs, lie together by group in the end */
    bool gathers_sum; /* and the sum is made of them */
    bool pairs;       /* they are pairs; without them a product is a square */
    int gathered_by;  /* the tally that lists them: this one, or an earlier one with the same values
                       */
};

/* Of a tally, as bits: its arguments have other types; too much lies outside of its window;
   something lies outside, where nothing was to; too much is too large for a part of a word. */
enum clr_group_doubt {
    CLR_DOUBT_TYPES = 1,
    CLR_DOUBT_WINDOW = 2,
    CLR_DOUBT_BOUNDS = 4,
    CLR_DOUBT_FIELD = 8
};

/* What has turned out to be another way than the sample. */
struct clr_group_doubts {
    bool any;
    bool keys;
    uint8_t tallies[CLR_MOST_TALLIES]; /* of each, enum clr_group_doubt */
};

/* Doubts a tally. */
static inline void clr_group_doubt(struct clr_group_doubts *doubts, int tally,
                                   enum clr_group_doubt doubt)
{
    doubts->tallies[tally] |= (uint8_t)doubt;
    doubts->any = true;
}

/* Doubts everything: a plan that is made then will do. */
static inline void clr_group_doubt_all(struct clr_group_doubts *doubts)
{
    doubts->any = doubts->keys = true;
    memset(doubts->tallies, -1, sizeof doubts->tallies);
}

struct clr_group_plan {
    const struct clr_scan *scan; /* NULL when the groups are complete */
    struct clr_grouping grouping;
    int tally_count;
    uint64_t seed; /* of hashes */
    enum clr_group_numbering numbering;
    struct clr_group_key keys[CLR_MOST_KEYS];
    bool by_codes; /* places are the codes of the only key, which is a lookup: rows need no look at
                      what the codes stand for, and those of one group come together in the end */
    bool in_runs; /* for devices: rows of a group mostly lie beside each other, as some rows tell */
    uint64_t places; /* how many there may be */
    int adds, words; /* of a record: added ones, then extremes; word 0 counts the rows, */
    struct clr_group_field count; /* here */
    size_t stride;                /* words from one record to the next: clr_group_plan_stride() */
    struct clr_group_tally tallies[CLR_MOST_TALLIES];
};

/* Who goes through the rows by a plan. */
enum clr_group_runner {
    CLR_GROUPS_ON_DEVICE,   /* it knows words of their own alone, and places of values */
    CLR_GROUPS_OF_PORTIONS, /* threads, which get portions with codes of their own */
    CLR_GROUPS_OF_COLUMNS   /* threads, which have all rows */
};

/*
 * Makes a plan for so many rows at most, of which the scan has all, or some, by which the others
 * are judged. Returns CLR_SCAN_DONE, or CLR_SCAN_FAILED without memory.
 */
enum clr_scan_outcome clr_group_plan_make(struct clr_group_plan *plan, const struct clr_scan *scan,
                                          size_t rows, enum clr_group_runner runner,
                                          const struct clr_group_doubts *doubts);

/* Returns the words from one record to the next that serve a runner best: for threads one of up to
   a cache line lies in one; a device has them without gaps, and behind a record's words that of its
   first row, if groups come in that order. */
size_t clr_group_plan_stride(const struct clr_group_plan *plan, enum clr_group_runner runner);

/* Returns the number in a field of a word. */
static inline int64_t clr_group_field_get(const struct clr_group_field *field, int64_t word)
{
    const int above = CLR_WORD_BITS - field->bits;
    uint64_t bits = (uint64_t)word >> field->shift;

    if (field->shift > 0) /* give back what those below have borrowed */
        bits += (uint64_t)word >> (field->shift - 1) & 1;
    return (int64_t)(bits << above) >> above;
}

/* Adds a record of a group to another one. */
static inline void clr_group_record_add(const struct clr_group_plan *plan,
                                        const int64_t *restrict from, int64_t *restrict to)
{
    int w;

    for (w = 0; w < plan->adds; w++)
        to[w] = (int64_t)((uint64_t)to[w] + (uint64_t)from[w]);
    for (; w < plan->words; w++)
        if ((uint64_t)from[w] > (uint64_t)to[w])
            to[w] = from[w];
}

/* Whether groups come together by sorting their places, and not by looking for equal keys. */
static inline bool clr_group_plan_sorts(const struct clr_group_plan *plan)
{
    return plan->numbering == CLR_NUMBERED_BY_PLACE && !plan->grouping.by_first;
}

/* Adds the place of an INTEGER, or of NULL, to a word. Returns whether it has none. */
static inline bool clr_group_add_place(const struct clr_group_key *key, bool descending,
                                       bool is_null, int64_t value, uint64_t *word)
{
    const uint64_t distance = (uint64_t)value - (uint64_t)key->first;
    const uint64_t place = is_null ? 0 : distance + 1;

    *word += (descending ? key->size - 1 - place : place) * key->factor;
    return !is_null && distance > key->size - 2;
}

/* Returns the lookup that the only key of a scan is. */
static inline const struct clr_lookup *clr_group_codes_lookup(const struct clr_scan *scan)
{
    return &scan->lookups[scan->instructions[scan->grouping->keys[0]].b];
}

/* Returns how many rows a group has. */
static inline int64_t clr_group_row_count(const struct clr_group_plan *plan, const int64_t *record)
{
    return clr_group_field_get(&plan->count, record[0]);
}

/* Returns how many values of so many rows may lie outside of their windows: one in 64, and some are
   always fine. */
static inline uint64_t clr_group_most_spilled(uint64_t rows)
{
    return rows / 64 + 256;
}

#define CLR_NUMBER_TYPES (CLR_TYPE(CLR_TAG_INTEGER) | CLR_TYPE(CLR_TAG_REAL))
#define CLR_ALL_TYPES (CLR_NUMBER_TYPES | CLR_TYPE(CLR_TAG_NULL) | CLR_TYPE(CLR_TAG_BYTES))

static inline bool clr_tally_does(const struct clr_tally *tally, enum clr_operation operation)
{
    return (tally->operations & 1u << operation) != 0;
}

#endif

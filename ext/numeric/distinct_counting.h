/*
 * Counting the different numbers among portions: what the two ways of it share, that for few
 * (distinct_portions.c) and that for many (distinct_groups.c).
 */
#ifndef CLR_NUMERIC_DISTINCT_COUNTING_H
#define CLR_NUMERIC_DISTINCT_COUNTING_H

#include "numeric/distinct.h"
#include "numeric/distinct_result.h"
#include "numeric/portions.h"

/* Keys that are taken out of a run at a time. */
enum { CLR_KEY_BLOCK = 256 };

/* Numbers that are whole have keys apart from those of the others. */
enum { CLR_DOMAIN_WHOLE, CLR_DOMAIN_FRACTIONAL, CLR_DOMAINS };

/* A look at all keys of a portion, block by block. */
struct clr_key_reader {
    const struct clr_run *run, *end;
    size_t position;
    const atomic_bool *stop;
    size_t count[CLR_DOMAINS];
    uint64_t keys[CLR_DOMAINS][CLR_KEY_BLOCK];
};

/* What a thread counts for itself. */
struct clr_key_counter {
    struct clr_budget budget;
    struct clr_number_table tables[CLR_DOMAINS];
    enum clr_code code;
    struct clr_distinct_result result;
};

struct clr_counting {
    const struct clr_portions *portions;
    bool with_mode;
    uint64_t total; /* how many numbers there are */
    uint64_t seed;
    struct clr_key_counter *counters; /* one for each portion */
    atomic_bool many;                 /* more different numbers than FEW were found */
    int groups;                       /* of each domain; a power of two */
    size_t *places;  /* portions->count * CLR_DOMAINS * groups: where each puts its next key */
    size_t *ends;    /* CLR_DOMAINS * groups: where a group ends in keys */
    uint64_t *keys;  /* all, by group */
    atomic_int next; /* group to count */
    int64_t sought;  /* whether an INTEGER has this value */
    atomic_bool found;
};

void clr_key_reader_begin(struct clr_key_reader *reader, const struct clr_counting *counting,
                          int portion, const atomic_bool *stop);

/* Fills the reader's keys; returns false at the end. */
bool clr_key_reader_next(struct clr_key_reader *reader);

/* Sets up a counter for each portion, which together may take so many bytes; frees them. */
void clr_counting_begin(struct clr_counting *counting, uint64_t memory);
void clr_counting_end(struct clr_counting *counting);

/* Runs work on all portions. Returns the first code of a counter that is not CLR_OK, or
 * CLR_STOPPED.
 */
enum clr_code clr_counting_run(struct clr_counting *counting, clr_portion_work *work);

/* Adds what is in a table to the result. */
void clr_counting_conclude(const struct clr_counting *counting,
                           const struct clr_number_table *table, int domain,
                           struct clr_distinct_result *result);

/* Counts many different numbers: distinct_groups.c. memory: as above. Adds to the result. */
enum clr_code clr_counting_many(struct clr_counting *counting, uint64_t memory,
                                struct clr_distinct_result *result);

#endif

/*
 * Counting the different values among portions, and finding the most frequent of them: what does
 * not depend on what the values are. Numbers are those of distinct_numbers.c, TEXT and BLOBs those
 * of distinct_bytes.c.
 *
 * Method: few different values are counted by each portion for itself, and the counts added. Many
 * are scattered by a hash first, so that equal ones come together, into groups whose tables stay in
 * a processor's cache: radix partitioning, as of hash joins (Manegold, Boncz, Kersten, "Optimizing
 * main-memory join on modern hardware", 2002).
 */
#ifndef CLR_NUMERIC_DISTINCT_COUNTING_H
#define CLR_NUMERIC_DISTINCT_COUNTING_H

#include "base/status.h"
#include "numeric/distinct/address_table.h"
#include "numeric/distinct/distinct_result.h"
#include "numeric/distinct/number_table.h"
#include "numeric/order/portions.h"

/* Values that are taken out of a portion at a time, between two looks at whether to stop. */
enum { CLR_COUNTING_BLOCK = 256 };

/* Different values that a portion counts for itself at the most. */
enum { CLR_COUNTING_FEW = 16384 };

/* Numbers that are whole have keys apart from those of the others. */
enum { CLR_DOMAIN_WHOLE, CLR_DOMAIN_FRACTIONAL, CLR_DOMAINS };

/* What a thread counts for itself. */
struct clr_counter {
    struct clr_budget budget;
    union {
        struct clr_number_table numbers[CLR_DOMAINS];
        struct clr_address_table addresses;
    } tables;
    enum clr_code code;
    struct clr_distinct_result result;
};

struct clr_counting;

/* What values are. Each function works for one portion, in the thread of its counter. */
struct clr_counting_kind {
    size_t item_size;      /* bytes of a value on its way to its group, a multiple of 8 */
    uint64_t group_values; /* a group has about so many values, as far as most_groups allows */
    int most_groups;       /* of each domain; a power of two */
    int domains;           /* values of different domains are never equal */

    /* Set up and free a counter's tables, which take their memory from its budget. */
    void (*begin)(struct clr_counter *counter, uint64_t seed);
    void (*end)(struct clr_counter *counter);

    /* Counts a portion's values. Sets counting->many and may stop when there are more than
       CLR_COUNTING_FEW different ones. */
    void (*count)(struct clr_counting *counting, int portion, const atomic_bool *stop);

    /* Adds what another counter has. */
    enum clr_code (*merge)(struct clr_counter *counter, const struct clr_counter *other);

    /* Adds what is in the tables to a result, the mode only if counting->with_mode. */
    void (*conclude)(const struct clr_counting *counting, const struct clr_counter *counter,
                     struct clr_distinct_result *result);

    /* Goes through a portion's values, each of which advances places[g] by one, g being its group
       of all domains' groups; if it stores, it puts the value as an item where that was. */
    void (*spread)(const struct clr_counting *counting, int portion, size_t *places, bool stores,
                   const atomic_bool *stop);

    /* Counts the items of a group, from first up to last, and adds them to the counter's result. */
    void (*count_group)(const struct clr_counting *counting, int group, size_t first, size_t last,
                        struct clr_counter *counter, const atomic_bool *stop);
};

struct clr_counting {
    /* The caller's. */
    const struct clr_counting_kind *kind;
    const struct clr_portions *portions;
    const void *values; /* the kind's own, beside the portions */
    uint64_t total;     /* how many values there are */
    bool with_mode;
    uint64_t memory; /* bytes that it may take */
    uint64_t seed;   /* as for clr_distinct_init() */

    struct clr_counter *counters; /* one for each portion */
    atomic_bool many;
    int groups;      /* of each domain; a power of two */
    size_t *places;  /* for each portion and group: where it puts its next item */
    size_t *ends;    /* where a group ends among the items */
    void *items;     /* all, by group */
    atomic_int next; /* group to count */
};

/* Stores the result. Returns CLR_OK, CLR_NOMEM, CLR_LIMIT or CLR_STOPPED. */
enum clr_code clr_counting_run(struct clr_counting *counting, struct clr_distinct_result *result);

#endif

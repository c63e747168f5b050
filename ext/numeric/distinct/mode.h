/*
 * The mode: the most frequent of many values, and the least of them if there are several. Numbers
 * come before TEXT and TEXT before BLOB; see clr_value_compare().
 */
#ifndef CLR_NUMERIC_MODE_H
#define CLR_NUMERIC_MODE_H

#include "numeric/distinct/distinct.h"

/* Stores the mode of a typed collection by looking at all of it; returns false if it is empty.
   Bytes are the collection's. */
bool clr_mode_find(const struct clr_distinct *distinct, struct clr_value *mode);

/*
 * For a window, whose mode is asked for after every row: a heap of values by how often they are, or
 * were, there. What is no longer true is dropped when it comes to the top, and all of it when it is
 * more than the truth, so that a change costs O(log n) on average.
 */
struct clr_mode_entry {
    uint64_t count;
    struct clr_value value; /* bytes: of an entry of the collection, which is held */
};

struct clr_mode_heap {
    struct clr_distinct *distinct; /* the window's values, typed; the caller's */
    struct clr_budget *budget;
    struct clr_mode_entry *entries;
    size_t count, capacity;
    bool begun;                      /* the heap knows of all values */
    struct clr_distinct_cursor next; /* while it is filled: where it is among them */
};

/* Sets up the heap for a collection, which from then on must be told of each change. */
void clr_mode_heap_init(struct clr_mode_heap *heap, struct clr_distinct *distinct,
                        struct clr_budget *budget);

/* Frees the heap's memory. To be called before the collection is cleared or freed. */
void clr_mode_heap_free(struct clr_mode_heap *heap);

/* A value has come, or, before it is taken out of the collection, is about to leave: change is 1 or
   -1. Returns CLR_OK, CLR_NOMEM or CLR_LIMIT. */
enum clr_code clr_mode_heap_change(struct clr_mode_heap *heap, const struct clr_value *value,
                                   int change);

/* Takes in at most so many values of the collection, which has not changed since the last call
   unless heap->begun: that is true when the heap has all. Returns CLR_OK, CLR_NOMEM or CLR_LIMIT.
 */
enum clr_code clr_mode_heap_fill(struct clr_mode_heap *heap, size_t most);

/* Stores the mode, as clr_mode_find() does; kind CLR_KIND_NONE if there is no value. heap->begun.
 */
void clr_mode_heap_find(struct clr_mode_heap *heap, struct clr_value *mode);

#endif

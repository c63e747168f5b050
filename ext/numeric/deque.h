/*
 * A monotonic deque: the extreme of a sliding window. It keeps the values that may still become
 * the window's extreme, the present one in front; each value is pushed once and dropped once, so
 * that a row costs O(1) on average whatever the frame's length.
 *
 * Source: the ascending minima algorithm (Harter 2001), known as the sliding window minimum.
 */
#ifndef CLR_NUMERIC_DEQUE_H
#define CLR_NUMERIC_DEQUE_H

#include "base/status.h"
#include "numeric/value.h"

#include <stddef.h>
#include <stdint.h>

struct clr_deque_entry;

struct clr_deque {
    int sign;               /* 1: the greatest value, -1: the least */
    size_t first, count;    /* the entries in use, in a ring of capacity entries */
    size_t capacity;        /* 0 or a power of two */
    uint64_t arrived, left; /* values pushed, and values that have left the window, so far */
    struct clr_deque_entry *ring;
};

/* Sets up an empty deque without memory. */
void clr_deque_init(struct clr_deque *deque, int sign);

/* Empties the deque, for the same or the other extreme; keeps a small amount of memory to reuse. */
void clr_deque_clear(struct clr_deque *deque, int sign);

/* Frees the deque's memory; only clr_deque_init() may follow. */
void clr_deque_free(struct clr_deque *deque);

/* A value enters the window at its end; TEXT and BLOB are copied. Returns CLR_OK or CLR_NOMEM. */
enum clr_code clr_deque_push(struct clr_deque *deque, const struct clr_value *value);

/* The oldest value in the window leaves it. */
void clr_deque_shift(struct clr_deque *deque);

/* Drops all entries but the front. Values may still be pushed, but none may leave any more. */
void clr_deque_keep_front(struct clr_deque *deque);

/* Returns the window's extreme, or NULL for an empty window; valid until the next call. */
const struct clr_value *clr_deque_front(const struct clr_deque *deque);

#endif

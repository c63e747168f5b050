/*
 * A monotonic deque: the extreme of a sliding window. It keeps the values that may still become
 * the window's extreme, the present one in front; each value is pushed once and dropped once, so
 * that a row costs O(1) on average whatever the frame's length.
 *
 * Of values in random order there are about ln n; of values that get ever worse all are kept, 16
 * bytes each and those of TEXT and BLOB. They count towards a budget. When it is used up, the deque
 * goes on with the front alone: it knows the extreme of all values still, but none may leave any
 * more.
 *
 * Source: the ascending minima algorithm (Harter 2001), known as the sliding window minimum.
 */
#ifndef CLR_NUMERIC_DEQUE_H
#define CLR_NUMERIC_DEQUE_H

#include "base/memory.h"
#include "base/status.h"
#include "numeric/values/value.h"

#include <stddef.h>
#include <stdint.h>

/* What a deque has room for without memory of its own. */
enum { CLR_DEQUE_FIRST = 16 };

/* A number is in bits; of TEXT and BLOB that is the address of their bytes (deque.c). */
struct clr_deque_entry {
    int64_t bits;
    uint64_t number_and_kind; /* how many values had arrived before this one, by 8, and its kind */
};

struct clr_deque_bytes;

struct clr_deque {
    int sign;                     /* 1: the greatest value, -1: the least */
    enum clr_code lost;           /* why the deque has the front alone, or CLR_OK */
    size_t first, count;          /* the entries in use, in a ring of capacity entries */
    size_t capacity;              /* a power of two */
    uint64_t arrived, left;       /* values pushed, and values that have left, so far */
    struct clr_deque_entry *ring; /* few, or memory of its own */
    struct clr_value front;       /* what clr_deque_front() returned */
    struct clr_budget *budget;    /* the caller's */
    struct clr_budget last;       /* of the front alone: without a limit */
    struct clr_deque_entry few[CLR_DEQUE_FIRST];
};

/* Sets up an empty deque without memory, which will take it from the budget. It must not move. */
void clr_deque_init(struct clr_deque *deque, int sign, struct clr_budget *budget);

/* Frees the deque's memory; only clr_deque_init() may follow. */
void clr_deque_free(struct clr_deque *deque);

/* A value enters the window at its end; TEXT and BLOB are copied. Returns CLR_OK, or CLR_NOMEM if
   there is no memory for the extreme itself. */
enum clr_code clr_deque_push(struct clr_deque *deque, const struct clr_value *value);

/* As many numbers enter, the first one first: of kind CLR_KIND_INTEGER int64_t, of CLR_KIND_REAL
   doubles, no NaN. That is quicker than one by one. */
void clr_deque_push_numbers(struct clr_deque *deque, enum clr_kind kind, const void *numbers,
                            size_t count);

/* The oldest value in the window leaves it. Returns CLR_OK; or CLR_LIMIT, if the budget has not
   allowed to keep what this takes, or CLR_NOMEM: then nothing is known of the window. */
enum clr_code clr_deque_shift(struct clr_deque *deque);

/* Returns the window's extreme, or NULL for an empty window; valid until the next call. */
const struct clr_value *clr_deque_front(struct clr_deque *deque);

#endif

/*
 * The passes of a selection (selection.c): each goes over all portions, and finds out one thing
 * about the keys of their numbers. All return CLR_OK or CLR_STOPPED.
 */
#ifndef CLR_NUMERIC_SELECTION_PASSES_H
#define CLR_NUMERIC_SELECTION_PASSES_H

#include "base/status.h"
#include "numeric/order/keys.h"
#include "numeric/order/portions.h"
#include "numeric/order/radix_sort.h"

/* Into how many equal parts a range of keys is cut. */
enum { CLR_KEY_PART_BITS = 11, CLR_KEY_PARTS = 1 << CLR_KEY_PART_BITS };

/* How the numbers of a list become keys; or that they are keys. */
enum clr_key_order { CLR_ORDER_INTEGERS, CLR_ORDER_REALS, CLR_ORDER_MIXED, CLR_ORDER_KEYS };

/* The range of keys in which the ranks sought are; it has more than one key. */
struct clr_key_range {
    uint64_t low, high;   /* both included */
    uint64_t count;       /* of the numbers in the range */
    uint64_t rank;        /* among them */
    bool has_next;        /* whether the next rank exists and is sought as well */
    uint64_t found, next; /* the answer, once there is one: the keys of the two ranks */
};

/* What a pass finds out about a portion. */
struct clr_finding {
    uint64_t greatest, least, below;
    uint64_t counts[CLR_KEY_PARTS];
};

enum { CLR_MOST_WINDOWS = 4 };

_Static_assert((int)CLR_KEY_PARTS >= (int)CLR_KEY_TAILS, "tails are counted in the same place");

/* A range of keys that is gathered. */
struct clr_window {
    uint64_t low, high;     /* both included */
    uint64_t *keys;         /* where they go */
    size_t room;            /* for so many */
    atomic_size_t gathered; /* how many there are; beyond the room not all of them */
    uint64_t below;         /* how many keys are below low, if there was room */
};

struct clr_selection {
    const struct clr_portions *portions;
    enum clr_key_order order;
    struct clr_key_range range;
    int shift;                        /* of the pass that counts parts */
    uint64_t first_end, second_start; /* of the pass for neighbours */
    uint64_t key;                     /* of the pass that tells tails apart */
    struct clr_window *windows;       /* of the pass that gathers */
    int window_count;                 /* CLR_MOST_WINDOWS at the most */
    struct clr_finding *findings;     /* one for each portion */
};

/* Stores the keys of some of a run's numbers, 512 at most. */
void clr_selection_copy_keys(const struct clr_run *run, size_t first, size_t count,
                             enum clr_key_order order, uint64_t *keys);

/* Sets the range to the least and the greatest key; found and next to the least. */
enum clr_code clr_selection_find_range(struct clr_selection *selection);

/* Counts the keys of each part of the range: part (key >> shift) - (low >> shift). Stores the
   counts, which are the selection's. */
enum clr_code clr_selection_count_parts(struct clr_selection *selection, const uint64_t **counts);

/* Sets found to the greatest key up to first_end, and next to the least from second_start on. */
enum clr_code clr_selection_find_neighbours(struct clr_selection *selection);

/* Gathers the keys of the windows, as far as there is room, and counts those below each. */
enum clr_code clr_selection_gather(struct clr_selection *selection, struct clr_window *windows,
                                   int count);

/* Counts the tails of the numbers whose floor key is selection->key, and the numbers below it. */
enum clr_code clr_selection_count_tails(struct clr_selection *selection, const uint64_t **tails,
                                        uint64_t *below);

#endif

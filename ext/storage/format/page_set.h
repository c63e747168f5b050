/*
 * Sets of pages: a bit for each, by number, in blocks that are made when a page of theirs is added.
 * A set takes memory by the pages that are in it. By the number that a file says it has pages it
 * takes a pointer a block only, and as long as none is made that is memory which nobody touches.
 */
#ifndef CLR_STORAGE_PAGE_SET_H
#define CLR_STORAGE_PAGE_SET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLR_PAGE_SET_WORD = 32 /* pages of a word */, CLR_PAGE_SET_BLOCK = 4096 /* of a block */ };

struct clr_page_set {
    uint32_t last; /* no greater page is in it */
    size_t block_count;
    _Atomic(atomic_uint *) blocks[]; /* NULL: it has none of these pages */
};

/* Returns an empty set that can have pages up to that one, to be freed with clr_page_set_free(), or
   NULL without memory. */
struct clr_page_set *clr_page_set_new(uint32_t last);

/* NULL is fine. */
void clr_page_set_free(struct clr_page_set *set);

/* Returns a copy, or NULL without memory. */
struct clr_page_set *clr_page_set_copy(const struct clr_page_set *set);

/* Returns how many bytes the set takes. */
size_t clr_page_set_size(const struct clr_page_set *set);

/*
 * Adds pages of one word, which has the pages from CLR_PAGE_SET_WORD * word on: a bit for each; the
 * set can have them. Stores the bits of those that were in it before. Returns false without memory;
 * the set is as it was then. Any thread may call it at any time.
 */
bool clr_page_set_add_word(struct clr_page_set *set, uint32_t word, unsigned bits,
                           unsigned *before);

/* The same of one page. */
bool clr_page_set_add(struct clr_page_set *set, uint32_t page);

/* Takes the pages of another set out. No other thread may use the set now; so it is with the next
   one, and its other set. */
void clr_page_set_remove(struct clr_page_set *set, const struct clr_page_set *other);

/* Adds the pages of another set that this one can have, and frees the other; NULL is fine. */
void clr_page_set_take(struct clr_page_set *set, struct clr_page_set *other);

/* Returns the least page of the set that is greater than that one, or 0 if there is none. */
uint32_t clr_page_set_next(const struct clr_page_set *set, uint32_t page);

/* Whether a page of the set is in the other one, or is none that the other one can have. */
bool clr_page_set_meets(const struct clr_page_set *set, const struct clr_page_set *other);

/* Whether a page is in the set; any thread may ask. */
static inline bool clr_page_set_has(const struct clr_page_set *set, uint32_t page)
{
    const atomic_uint *block = NULL;

    if (page <= set->last)
        block = atomic_load_explicit(&set->blocks[page / CLR_PAGE_SET_BLOCK], memory_order_acquire);
    return block != NULL &&
           (atomic_load_explicit(&block[page % CLR_PAGE_SET_BLOCK / CLR_PAGE_SET_WORD],
                                 memory_order_relaxed) >>
                page % CLR_PAGE_SET_WORD &
            1) != 0;
}

#endif

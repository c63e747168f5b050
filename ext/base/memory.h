/*
 * The library's memory: malloc and free, with a point where tests make an allocation fail.
 * Floors below ext/sqlite do not use SQLite's allocator, since several copies of SQLite can share
 * this library in one process and memory outlives the call that took it.
 */
#ifndef CLR_BASE_MEMORY_H
#define CLR_BASE_MEMORY_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Returns size bytes, uninitialised, or NULL. The caller frees them with clr_memory_free(). */
void *clr_memory_alloc(size_t size);

/* The same, all bytes zero: of a large block without touching them. */
void *clr_memory_alloc_zero(size_t size);

/* As realloc(): on NULL the old block is untouched and still the caller's. */
void *clr_memory_realloc(void *block, size_t size);

/*
 * Returns an array with room for `count` elements of `size` bytes each: the one that is given, NULL
 * or of *room elements, or a larger one in its place, whose room is then twice as much or more.
 * NULL without memory: then the array is untouched.
 */
void *clr_memory_make_room(void *array, size_t *room, size_t count, size_t size);

/* Frees a block of the functions above; NULL is fine. */
void clr_memory_free(void *block);

/*
 * For tests: the allocation after the next `after` ones fails, once. A negative number turns this
 * off. Returns whether the previous request has failed an allocation since it was made.
 */
int clr_memory_fail_after(long after);

/*
 * Memory with a limit: what one connection's running aggregates may keep of their values. Used by
 * the connection's thread alone.
 */

struct clr_budget {
    uint64_t limit, used; /* bytes */
};

/*
 * Stores a new, uninitialised block of size bytes, which counts towards the budget until
 * clr_budget_free() gets it back with the same size. Returns CLR_OK; CLR_LIMIT if the budget does
 * not allow it; CLR_NOMEM.
 */
enum clr_code clr_budget_alloc(struct clr_budget *budget, size_t size, void **block);

/* The same, all bytes zero. */
enum clr_code clr_budget_alloc_zero(struct clr_budget *budget, size_t size, void **block);

/* NULL is fine, whatever the size. */
void clr_budget_free(struct clr_budget *budget, void *block, size_t size);

/* Takes so many bytes out of the budget, of a block that somebody else has now, who will free it
   with clr_memory_free(). */
void clr_budget_hand_over(struct clr_budget *budget, size_t size);

/* Returns the limit in bytes that a setting means: itself, or a quarter of the machine's memory if
   it is 0. */
uint64_t clr_budget_limit(int64_t setting);

/* Takes an item out of a list that has it: first, an lvalue, and the items' members `next` lead to
   the items, one after the other. */
#define CLR_UNLINK(first, item)                                                                    \
    do {                                                                                           \
        __typeof__(item) *link_ = &(first);                                                        \
                                                                                                   \
        while (*link_ != (item))                                                                   \
            link_ = &(*link_)->next;                                                               \
        *link_ = (item)->next;                                                                     \
    } while (0)

#endif

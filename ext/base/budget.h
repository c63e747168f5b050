/*
 * Memory with a limit: what one connection's running aggregates may keep of their values. Used by
 * the connection's thread alone.
 */
#ifndef CLR_BASE_BUDGET_H
#define CLR_BASE_BUDGET_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

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

#endif

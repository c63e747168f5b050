#include "base/memory.h"

#include "base/system.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static atomic_long fail_countdown = -1;
static atomic_int fail_happened;

/* The countdown is far from every hot path: allocations are per chunk or per query. */
static int must_fail(void)
{
    if (atomic_load_explicit(&fail_countdown, memory_order_relaxed) < 0)
        return 0;
    if (atomic_fetch_sub(&fail_countdown, 1) != 0)
        return 0;
    atomic_store(&fail_happened, 1);
    return 1;
}

/* The kernel of Linux copies a file's pages by an instruction that takes four times as long on some
   processors where they go into the middle of a cache line. malloc() has its blocks begin there. */
enum { ALIGNED_BYTES = 4096 };

void *clr_memory_alloc(size_t size)
{
    if (must_fail())
        return NULL;
    return size < ALIGNED_BYTES ? malloc(size) : clr_system_alloc_lines(size);
}

void *clr_memory_alloc_zero(size_t size)
{
    return must_fail() ? NULL : calloc(1, size);
}

void *clr_memory_realloc(void *block, size_t size)
{
    return must_fail() ? NULL : realloc(block, size);
}

void *clr_memory_make_room(void *array, size_t *room, size_t count, size_t size)
{
    enum { FIRST_ROOM = 64 };
    size_t more = *room == 0 ? FIRST_ROOM : *room;

    if (count <= *room)
        return array;
    while (more < count)
        more *= 2;
    array = clr_memory_realloc(array, more * size);
    if (array != NULL)
        *room = more;
    return array;
}

void clr_memory_free(void *block)
{
    free(block);
}

int clr_memory_fail_after(long after)
{
    int happened = atomic_exchange(&fail_happened, 0);
    atomic_store(&fail_countdown, after);
    return happened;
}

/* What a machine that does not tell its memory is taken to have. */
enum { ASSUMED_MEMORY_MIB = 2048 };

static bool allows(const struct clr_budget *budget, size_t size)
{
    return size <= budget->limit && budget->used <= budget->limit - size;
}

static enum clr_code take(struct clr_budget *budget, size_t size, const void *block)
{
    if (block == NULL)
        return CLR_NOMEM;
    budget->used += size;
    return CLR_OK;
}

enum clr_code clr_budget_alloc(struct clr_budget *budget, size_t size, void **block)
{
    if (!allows(budget, size))
        return CLR_LIMIT;
    *block = clr_memory_alloc(size);
    return take(budget, size, *block);
}

enum clr_code clr_budget_alloc_zero(struct clr_budget *budget, size_t size, void **block)
{
    if (!allows(budget, size))
        return CLR_LIMIT;
    *block = clr_memory_alloc_zero(size);
    return take(budget, size, *block);
}

void clr_budget_free(struct clr_budget *budget, void *block, size_t size)
{
    if (block == NULL)
        return;
    budget->used -= size;
    clr_memory_free(block);
}

void clr_budget_hand_over(struct clr_budget *budget, size_t size)
{
    budget->used -= size;
}

uint64_t clr_budget_limit(int64_t setting)
{
    const uint64_t memory = setting > 0 ? 0 : clr_system_memory();

    if (setting > 0)
        return (uint64_t)setting;
    return memory == 0 ? (uint64_t)ASSUMED_MEMORY_MIB << 18 : memory / 4;
}

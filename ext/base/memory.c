#include "base/memory.h"

#include <stdatomic.h>
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

void *clr_memory_alloc(size_t size)
{
    return must_fail() ? NULL : malloc(size);
}

void *clr_memory_alloc_zero(size_t size)
{
    return must_fail() ? NULL : calloc(1, size);
}

void *clr_memory_realloc(void *block, size_t size)
{
    return must_fail() ? NULL : realloc(block, size);
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

#include "numeric/order/kept.h"

#include "base/memory.h"

#include <string.h>

/* Blocks double from the one to the other: little is wasted, and many values take few blocks. */
enum { SMALL_BLOCK = 256, LARGE_BLOCK = 65536 };

static void start(struct clr_run *run, enum clr_kind kind, const void *values)
{
    *run = (struct clr_run){.kind = kind, .values = values};
}

void clr_kept_init(struct clr_kept *kept, struct clr_budget *budget)
{
    kept->budget = budget;
    kept->blocks = NULL;
    kept->reals = kept->integers = NULL;
    start(&kept->first_reals, CLR_KIND_REAL, kept->first_real);
    start(&kept->first_integers, CLR_KIND_INTEGER, kept->first_integer);
    kept->first_reals.next = &kept->first_integers;
}

struct clr_kept_block *clr_kept_take_blocks(struct clr_kept *kept)
{
    struct clr_kept_block *newest = kept->blocks, *block;

    for (block = newest; block != NULL; block = block->next)
        clr_budget_hand_over(kept->budget, block->size);
    kept->blocks = NULL;
    kept->first_integers.next = NULL;
    return newest;
}

void clr_kept_clear(struct clr_kept *kept)
{
    struct clr_kept_block *block = clr_kept_take_blocks(kept), *next;

    for (; block != NULL; block = next) {
        next = block->next;
        clr_memory_free(block);
    }
    clr_kept_init(kept, kept->budget);
}

/* The feed knows how full the runs are that it fills. */
static void settle(struct clr_kept *kept, const struct clr_feed *feed)
{
    if (kept->reals != NULL)
        kept->reals->count = (size_t)(feed->real - (const double *)kept->reals->values);
    if (kept->integers != NULL)
        kept->integers->count = (size_t)(feed->integer - (const int64_t *)kept->integers->values);
}

static enum clr_code add_block(struct clr_kept *kept, enum clr_kind kind, size_t capacity)
{
    size_t size = sizeof(struct clr_kept_block) + capacity * sizeof(int64_t);
    struct clr_kept_block *block;
    void *memory;
    enum clr_code code = clr_budget_alloc(kept->budget, size, &memory);

    if (code != CLR_OK)
        return code;
    block = memory;
    block->size = size;
    block->next = kept->blocks;
    start(&block->run, kind, block->values);
    /* The first two runs stay the first: they may be empty, but are always there. */
    block->run.next = kept->first_integers.next;
    kept->first_integers.next = &block->run;
    kept->blocks = block;
    return CLR_OK;
}

enum clr_code clr_kept_make_room(struct clr_kept *kept, struct clr_feed *feed, enum clr_kind kind)
{
    struct clr_run **filled = kind == CLR_KIND_REAL ? &kept->reals : &kept->integers;
    size_t capacity = CLR_KEPT_FIRST;
    enum clr_code code;

    settle(kept, feed);
    if (*filled == NULL) {
        *filled = kind == CLR_KIND_REAL ? &kept->first_reals : &kept->first_integers;
    } else {
        capacity = 2 * (*filled)->count;
        capacity = capacity < SMALL_BLOCK ? SMALL_BLOCK : capacity;
        capacity = capacity > LARGE_BLOCK ? LARGE_BLOCK : capacity;
        code = add_block(kept, kind, capacity);
        if (code != CLR_OK)
            return code;
        *filled = &kept->blocks->run;
    }
    if (kind == CLR_KIND_REAL) {
        feed->real = (double *)(uintptr_t)(*filled)->values;
        feed->real_end = feed->real + capacity;
    } else {
        feed->integer = (int64_t *)(uintptr_t)(*filled)->values;
        feed->integer_end = feed->integer + capacity;
    }
    return CLR_OK;
}

const struct clr_run *clr_kept_runs(struct clr_kept *kept, const struct clr_feed *feed)
{
    settle(kept, feed);
    return &kept->first_reals;
}

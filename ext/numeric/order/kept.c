#include "numeric/order/kept.h"

/* Blocks double up to that: little is wasted, and many values take few blocks. */
enum { LARGE_BLOCK = 65536 };

void clr_kept_init(struct clr_kept *kept, struct clr_budget *budget)
{
    *kept = (struct clr_kept){.budget = budget};
}

struct clr_kept_block *clr_kept_take_blocks(struct clr_kept *kept)
{
    struct clr_kept_block *newest = kept->blocks, *block;

    for (block = newest; block != NULL; block = block->next)
        clr_budget_hand_over(kept->budget, block->size);
    kept->blocks = kept->reals = kept->integers = NULL;
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
        kept->reals->run.count = (size_t)(feed->real - (const double *)(void *)kept->reals->values);
    if (kept->integers != NULL)
        kept->integers->run.count = (size_t)(feed->integer - kept->integers->values);
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
    block->run = (struct clr_run){.next = kept->blocks == NULL ? NULL : &kept->blocks->run,
                                  .kind = kind,
                                  .values = block->values};
    kept->blocks = block;
    return CLR_OK;
}

enum clr_code clr_kept_make_room(struct clr_kept *kept, struct clr_feed *feed, enum clr_kind kind)
{
    struct clr_kept_block **filled = kind == CLR_KIND_REAL ? &kept->reals : &kept->integers;
    size_t capacity = CLR_KEPT_FIRST;
    enum clr_code code;

    settle(kept, feed);
    if (*filled != NULL)
        capacity = 2 * (*filled)->run.count;
    capacity = capacity > LARGE_BLOCK ? LARGE_BLOCK : capacity;
    code = add_block(kept, kind, capacity);
    if (code != CLR_OK)
        return code;
    *filled = kept->blocks;
    if (kind == CLR_KIND_REAL) {
        feed->real = (double *)(void *)(*filled)->values;
        feed->real_end = feed->real + capacity;
    } else {
        feed->integer = (*filled)->values;
        feed->integer_end = feed->integer + capacity;
    }
    return CLR_OK;
}

const struct clr_run *clr_kept_runs(struct clr_kept *kept, const struct clr_feed *feed)
{
    settle(kept, feed);
    return kept->blocks == NULL ? NULL : &kept->blocks->run;
}

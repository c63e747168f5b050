#include "numeric/order/ordered.h"

#include <string.h>

/* Places in a full block, and blocks that the first list of them has room for. */
enum { BLOCK_CAPACITY = 256, FIRST_BLOCKS = 16 };

struct clr_ordered_block {
    size_t count;
    clr_u128 place[BLOCK_CAPACITY];
};

void clr_ordered_init(struct clr_ordered *ordered, struct clr_budget *budget)
{
    *ordered = (struct clr_ordered){.budget = budget};
}

void clr_ordered_clear(struct clr_ordered *ordered)
{
    size_t i;

    for (i = 0; i < ordered->block_count; i++)
        clr_budget_free(ordered->budget, ordered->blocks[i], sizeof *ordered->blocks[i]);
    clr_budget_free(ordered->budget, ordered->blocks,
                    ordered->block_capacity * sizeof *ordered->blocks);
    clr_ordered_init(ordered, ordered->budget);
}

/* Returns the first block whose last place is not less, or block_count. */
static size_t find_block(const struct clr_ordered *ordered, clr_u128 place)
{
    size_t low = 0, high = ordered->block_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct clr_ordered_block *block = ordered->blocks[middle];
        if (block->place[block->count - 1] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the first position in the block whose place is not less, or its count. */
static size_t find_position(const struct clr_ordered_block *block, clr_u128 place)
{
    size_t low = 0, high = block->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (block->place[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum clr_code grow_list(struct clr_ordered *ordered)
{
    size_t capacity = ordered->block_capacity != 0 ? 2 * ordered->block_capacity : FIRST_BLOCKS;
    void *blocks;
    enum clr_code code =
        clr_budget_alloc(ordered->budget, capacity * sizeof *ordered->blocks, &blocks);

    if (code != CLR_OK)
        return code;
    if (ordered->block_count != 0)
        memcpy(blocks, ordered->blocks, ordered->block_count * sizeof *ordered->blocks);
    clr_budget_free(ordered->budget, ordered->blocks,
                    ordered->block_capacity * sizeof *ordered->blocks);
    ordered->blocks = blocks;
    ordered->block_capacity = capacity;
    return CLR_OK;
}

/* Puts a new, empty block at an index of the list. */
static enum clr_code insert_block(struct clr_ordered *ordered, size_t index)
{
    struct clr_ordered_block **blocks;
    enum clr_code code = CLR_OK;
    void *block;

    if (ordered->block_count == ordered->block_capacity)
        code = grow_list(ordered);
    if (code == CLR_OK)
        code = clr_budget_alloc(ordered->budget, sizeof(struct clr_ordered_block), &block);
    if (code != CLR_OK)
        return code;
    blocks = &ordered->blocks[index];
    memmove(blocks + 1, blocks,
            (ordered->block_count - index) * sizeof(struct clr_ordered_block *));
    *blocks = block;
    (*blocks)->count = 0;
    ordered->block_count++;
    return CLR_OK;
}

/* Makes the upper half of a full block a block of its own; the upper tenth of the last one, since
   values often come in their order. */
static enum clr_code split(struct clr_ordered *ordered, size_t index)
{
    size_t kept = index + 1 == ordered->block_count ? BLOCK_CAPACITY - BLOCK_CAPACITY / 10
                                                    : BLOCK_CAPACITY / 2;
    struct clr_ordered_block *lower, *upper;
    enum clr_code code = insert_block(ordered, index + 1);

    if (code != CLR_OK)
        return code;
    lower = ordered->blocks[index];
    upper = ordered->blocks[index + 1];
    upper->count = lower->count - kept;
    memcpy(upper->place, &lower->place[kept], upper->count * sizeof upper->place[0]);
    lower->count = kept;
    if (ordered->near_block > index)
        ordered->near_block++;
    return CLR_OK;
}

enum clr_code clr_ordered_insert(struct clr_ordered *ordered, clr_u128 place)
{
    struct clr_ordered_block *block;
    enum clr_code code = CLR_OK;
    size_t index, position;

    if (ordered->block_count == 0)
        code = insert_block(ordered, 0);
    if (code != CLR_OK)
        return code;
    index = ordered->count == 0 ? 0 : find_block(ordered, place);
    if (index == ordered->block_count)
        index--;
    if (ordered->blocks[index]->count == BLOCK_CAPACITY) {
        code = split(ordered, index);
        if (code != CLR_OK)
            return code;
        block = ordered->blocks[index];
        if (block->place[block->count - 1] < place)
            index++;
    }
    block = ordered->blocks[index];
    position = find_position(block, place);
    memmove(&block->place[position + 1], &block->place[position],
            (block->count - position) * sizeof place);
    block->place[position] = place;
    block->count++;
    ordered->count++;
    if (index < ordered->near_block)
        ordered->near_start++;
    return CLR_OK;
}

static void remove_block(struct clr_ordered *ordered, size_t index)
{
    struct clr_ordered_block **blocks = &ordered->blocks[index];

    clr_budget_free(ordered->budget, *blocks, sizeof **blocks);
    ordered->block_count--;
    memmove(blocks, blocks + 1,
            (ordered->block_count - index) * sizeof(struct clr_ordered_block *));
    ordered->near_block = 0;
    ordered->near_start = 0;
}

/* Removes a block that has become empty, or few of whose places go to its neighbour. */
static void merge(struct clr_ordered *ordered, size_t index)
{
    struct clr_ordered_block *block = ordered->blocks[index], *next;

    if (block->count == 0) {
        remove_block(ordered, index);
    } else if (index + 1 < ordered->block_count &&
               block->count + ordered->blocks[index + 1]->count <= BLOCK_CAPACITY / 2) {
        next = ordered->blocks[index + 1];
        memcpy(&block->place[block->count], next->place, next->count * sizeof next->place[0]);
        block->count += next->count;
        remove_block(ordered, index + 1);
    }
}

void clr_ordered_remove(struct clr_ordered *ordered, clr_u128 place)
{
    size_t index = find_block(ordered, place), position;
    struct clr_ordered_block *block;

    if (index == ordered->block_count)
        return;
    block = ordered->blocks[index];
    position = find_position(block, place);
    if (block->place[position] != place)
        return;
    block->count--;
    memmove(&block->place[position], &block->place[position + 1],
            (block->count - position) * sizeof place);
    ordered->count--;
    if (index < ordered->near_block)
        ordered->near_start--;
    if (block->count < BLOCK_CAPACITY / 4)
        merge(ordered, index);
}

clr_u128 clr_ordered_at(struct clr_ordered *ordered, uint64_t rank)
{
    struct clr_ordered_block **blocks = ordered->blocks;

    while (rank < ordered->near_start)
        ordered->near_start -= blocks[--ordered->near_block]->count;
    while (rank - ordered->near_start >= blocks[ordered->near_block]->count)
        ordered->near_start += blocks[ordered->near_block++]->count;
    return blocks[ordered->near_block]->place[rank - ordered->near_start];
}

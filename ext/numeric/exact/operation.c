#include "numeric/exact/operation.h"

#include "base/memory.h"

const struct clr_term *clr_operation_terms(enum clr_operation operation, int *count)
{
    static const struct clr_term single[] = {
        {CLR_SUM, 0, 0}, {CLR_DOT, 0, 1}, {CLR_EXTREMES, 0, 0}};
    static const struct clr_term squares[] = {{CLR_SUM, 0, 0}, {CLR_DOT, 0, 0}};
    static const struct clr_term pairs[CLR_MOST_TERMS] = {
        {CLR_SUM, 1, 1}, {CLR_DOT, 1, 1}, {CLR_SUM, 0, 0}, {CLR_DOT, 0, 0}, {CLR_DOT, 0, 1}};

    *count = clr_operation_more(operation) + 1;
    if (operation == CLR_SQUARES)
        return squares;
    return operation == CLR_PAIRS ? pairs : &single[operation];
}

/* Arrays start at a multiple of a cache line from the block's start, for wide loads. */
enum { ALIGNMENT = 64 };

struct clr_chunk *clr_chunk_new(enum clr_operation operation, size_t capacity)
{
    size_t header = (sizeof(struct clr_chunk) + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    size_t array = capacity * clr_operation_width(operation) * sizeof(double);
    struct clr_chunk *chunk;

    array = (array + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    chunk = clr_memory_alloc(header + 2 * array);
    if (chunk == NULL)
        return NULL;
    chunk->operation = operation;
    chunk->capacity = capacity;
    chunk->count[CLR_REAL] = chunk->count[CLR_INTEGER] = 0;
    chunk->real = (double *)(void *)((char *)chunk + header);
    chunk->integer = (int64_t *)(void *)((char *)chunk + header + array);
    return chunk;
}

#include "numeric/scan/row_truths.h"

#include "base/memory.h"

/* The bytes of all that there are. */
static atomic_int_least64_t taken;

static int64_t size_of(size_t blocks)
{
    return (int64_t)(sizeof(struct clr_row_truths) + blocks * CLR_TRUTH_WORDS * sizeof(uint64_t));
}

struct clr_row_truths *clr_row_truths_new(const struct clr_column *column, int64_t most)
{
    const size_t blocks = column->rows / CLR_ZONE_ROWS;
    const int64_t size = size_of(blocks);
    struct clr_row_truths *truths = NULL;

    if (atomic_fetch_add(&taken, size) + size <= most)
        truths = clr_memory_alloc((size_t)size);
    if (truths == NULL) {
        atomic_fetch_sub(&taken, size);
        return NULL;
    }
    truths->version = column->version;
    truths->blocks = truths->room = blocks;
    return truths;
}

void clr_row_truths_free(struct clr_row_truths *truths)
{
    if (truths != NULL)
        atomic_fetch_sub(&taken, size_of(truths->room));
    clr_memory_free(truths);
}

bool clr_row_truths_follow(struct clr_row_truths *truths, const struct clr_column *column)
{
    enum { MISSING_PART = 8 };
    const size_t blocks = column->rows / CLR_ZONE_ROWS, same = column->same_rows / CLR_ZONE_ROWS;

    if (truths != NULL && truths->version == column->previous) {
        truths->version = column->version;
        truths->blocks = truths->blocks < same ? truths->blocks : same;
    }
    return clr_row_truths_are_of(truths, column) &&
           truths->blocks >= blocks - blocks / MISSING_PART;
}

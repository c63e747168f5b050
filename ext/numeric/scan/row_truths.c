#include "numeric/scan/row_truths.h"

#include "base/memory.h"
#include "numeric/scan/loops.h"

/* The bytes of all that there are. */
static atomic_int_least64_t taken;

enum { WORDS = CLR_ZONE_ROWS / 64 };

static int64_t size_of(size_t blocks)
{
    return (int64_t)(sizeof(struct clr_row_truths) + blocks * WORDS * sizeof(uint64_t));
}

bool clr_row_truths_are_wanted(const struct clr_lookup *lookup, const struct clr_column *column)
{
    enum { MISSING_PART = 8 };
    const size_t blocks = column->rows / CLR_ZONE_ROWS;
    struct clr_lookup_results *results = lookup->results;
    struct clr_row_truths *rows = results->rows;

    if (lookup->are_beside || column->code_bytes == 1 || blocks == 0)
        return false;
    if (rows != NULL && rows->version == column->previous) {
        rows->version = column->version;
        if (rows->blocks > column->same_rows / CLR_ZONE_ROWS)
            rows->blocks = column->same_rows / CLR_ZONE_ROWS;
    }
    if (rows != NULL && rows->version == column->version &&
        rows->blocks >= blocks - blocks / MISSING_PART)
        return false;
    if (results->missed == column->version)
        return true;
    results->missed = column->version;
    return false;
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

void clr_row_truths_find(const struct clr_lookup *lookup, const struct clr_column *column,
                         size_t first, size_t last, struct clr_row_truths *truths)
{
    const struct clr_loops *loops = clr_loops_choose(0);
    const size_t size = (size_t)CLR_ZONE_ROWS * column->code_bytes;

    for (; first < last; first++)
        loops->select_true((const char *)column->codes + first * size, column->code_bytes,
                           lookup->truths, truths->bits + first * WORDS);
}

void clr_row_truths_set(const struct clr_lookup *lookup, struct clr_row_truths *truths)
{
    clr_row_truths_free(lookup->results->rows);
    lookup->results->rows = truths;
}

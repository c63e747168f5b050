#include "numeric/scan/row_truths.h"

#include "base/lock.h"
#include "base/memory.h"

CLR_LOCK(shared_lock)

/* The bytes of all that there are. */
static atomic_int_least64_t taken;

static int64_t size_of(size_t blocks)
{
    return (int64_t)(sizeof(struct clr_truth_bits) + blocks * CLR_TRUTH_WORDS * sizeof(uint64_t));
}

bool clr_row_truths_make(const struct clr_column *column, int64_t most,
                         struct clr_row_truths *truths)
{
    const size_t blocks = column->rows / CLR_ZONE_ROWS;
    const int64_t size = size_of(blocks);
    struct clr_truth_bits *bits = NULL;

    if (atomic_fetch_add(&taken, size) + size <= most)
        bits = clr_memory_alloc((size_t)size);
    if (bits == NULL) {
        atomic_fetch_sub(&taken, size);
        return false;
    }
    atomic_init(&bits->references, 1);
    bits->blocks = blocks;
    *truths = (struct clr_row_truths){column->version, blocks, bits};
    return true;
}

static void release(struct clr_truth_bits *bits)
{
    if (bits == NULL || atomic_fetch_sub(&bits->references, 1) > 1)
        return;
    atomic_fetch_sub(&taken, size_of(bits->blocks));
    clr_memory_free(bits);
}

void clr_row_truths_release(struct clr_row_truths *truths)
{
    release(truths->bits);
    *truths = (struct clr_row_truths){.bits = NULL};
}

bool clr_row_truths_follow(struct clr_row_truths *truths, const struct clr_column *column)
{
    enum { MISSING_PART = 8 };
    const size_t blocks = column->rows / CLR_ZONE_ROWS, same = column->same_rows / CLR_ZONE_ROWS;

    if (truths->bits != NULL && truths->version == column->previous) {
        truths->version = column->version;
        truths->blocks = truths->blocks < same ? truths->blocks : same;
    }
    return clr_row_truths_are_of(truths, column) &&
           truths->blocks >= blocks - blocks / MISSING_PART;
}

/* Replaces truths by others; of both the caller has references. The bits are not freed under the
   lock. */
static void replace(struct clr_row_truths *truths, const struct clr_row_truths *others)
{
    struct clr_truth_bits *before;

    take_shared_lock();
    before = truths->bits;
    *truths = *others;
    if (truths->bits != NULL)
        atomic_fetch_add(&truths->bits->references, 1);
    give_shared_lock();
    release(before);
}

void clr_row_truths_take(struct clr_shared_truths *shared, struct clr_row_truths *truths)
{
    replace(truths, &shared->latest);
}

void clr_row_truths_give(struct clr_shared_truths *shared, const struct clr_row_truths *truths)
{
    replace(&shared->latest, truths);
}

bool clr_row_truths_miss(struct clr_shared_truths *shared, const struct clr_column *column)
{
    bool is_missed;

    take_shared_lock();
    is_missed = shared->missed == column->version;
    shared->missed = column->version;
    give_shared_lock();
    return is_missed;
}

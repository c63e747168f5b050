#include "numeric/values/column.h"

#include "base/memory.h"

#include <string.h>
#include <sys/mman.h>

static const size_t tag_bytes = 1, value_bytes = 8;

struct clr_column *clr_column_new(size_t capacity)
{
    struct clr_column *column;
    size_t size;
    char *area;

    if (capacity == 0)
        capacity = 1;
    if (capacity > SIZE_MAX / (value_bytes + tag_bytes))
        return NULL;
    size = capacity * (value_bytes + tag_bytes);
    column = clr_memory_alloc(sizeof *column);
    if (column == NULL)
        return NULL;
    area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                0);
    if (area == MAP_FAILED) {
        clr_memory_free(column);
        return NULL;
    }
#if defined(MADV_HUGEPAGE)
    /* Large pages take a five-hundredth of the page faults. Where they can't be had, no matter. */
    madvise(area, size, MADV_HUGEPAGE);
#endif
    memset(column, 0, sizeof *column);
    atomic_init(&column->references, 1);
    column->capacity = capacity;
    column->values = (int64_t *)(void *)area;
    column->tags = (uint8_t *)area + capacity * value_bytes;
    return column;
}

struct clr_column *clr_column_new_away(uint8_t kind, size_t rows, bool any_bytes)
{
    struct clr_column *column = clr_memory_alloc(sizeof *column);

    if (column == NULL)
        return NULL;
    memset(column, 0, sizeof *column);
    atomic_init(&column->references, 1);
    column->kind = kind;
    column->rows = rows;
    column->is_away = true;
    column->any_bytes = any_bytes;
    return column;
}

void clr_column_populate(struct clr_column *column, size_t block)
{
#if defined(MADV_POPULATE_WRITE)
    size_t first = block * CLR_COLUMN_BLOCK, rows = CLR_COLUMN_BLOCK;

    if (first + rows <= column->capacity)
        madvise(column->values + first, rows * value_bytes, MADV_POPULATE_WRITE);
#else
    (void)column;
    (void)block;
#endif
}

struct clr_column *clr_column_retain(struct clr_column *column)
{
    atomic_fetch_add(&column->references, 1);
    return column;
}

void clr_column_release(struct clr_column *column)
{
    if (column == NULL || atomic_fetch_sub(&column->references, 1) > 1)
        return;
    clr_bytes_free(&column->bytes);
    if (!column->is_away)
        munmap(column->values, column->capacity * (value_bytes + tag_bytes));
    clr_memory_free(column);
}

bool clr_column_has_bytes(const struct clr_column *column)
{
    if (column->with_bytes || column->rows == 0 || column->kind != CLR_TAG_MIXED)
        return column->with_bytes || column->rows == 0 || column->kind != CLR_TAG_BYTES;
    if (column->is_away)
        return !column->any_bytes;
    return memchr(column->tags, CLR_TAG_BYTES, column->rows) == NULL;
}

size_t clr_column_size(const struct clr_column *column)
{
    if (column->is_away)
        return 0;
    return column->rows * (value_bytes + (column->kind == CLR_TAG_MIXED ? tag_bytes : 0)) +
           column->bytes.size;
}

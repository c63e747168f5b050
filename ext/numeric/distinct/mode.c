#include "numeric/distinct/mode.h"

#include "numeric/distinct/distinct_result.h"

#include <stddef.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

bool clr_mode_find(const struct clr_distinct *distinct, struct clr_value *mode)
{
    struct clr_distinct_cursor cursor = {0};
    struct clr_distinct_result result = {.count = 0};

    while (clr_distinct_next(distinct, &cursor))
        clr_distinct_consider(&result, cursor.count, &cursor.value);
    *mode = result.mode;
    return result.count > 0;
}

void clr_mode_heap_init(struct clr_mode_heap *heap, struct clr_distinct *distinct,
                        struct clr_budget *budget)
{
    *heap = (struct clr_mode_heap){.distinct = distinct, .budget = budget};
}

/* The entry of the collection to which a value's bytes belong. */
static struct clr_byte_entry *held_entry(const struct clr_value *value)
{
    return (struct clr_byte_entry *)(void *)((char *)(uintptr_t)value->bytes -
                                             offsetof(struct clr_byte_entry, bytes));
}

static void release(struct clr_mode_heap *heap, const struct clr_value *value)
{
    if (value->kind >= CLR_KIND_TEXT)
        clr_byte_table_release(&heap->distinct->bytes, held_entry(value));
}

static void drop_all(struct clr_mode_heap *heap)
{
    while (heap->count > 0)
        release(heap, &heap->entries[--heap->count].value);
}

void clr_mode_heap_free(struct clr_mode_heap *heap)
{
    drop_all(heap);
    clr_budget_free(heap->budget, heap->entries, heap->capacity * sizeof *heap->entries);
    clr_mode_heap_init(heap, heap->distinct, heap->budget);
}

/* Whether a value is there more often than another one, or as often and is less. */
static bool entry_is_before(const struct clr_mode_entry *a, const struct clr_mode_entry *b)
{
    if (a->count != b->count)
        return a->count > b->count;
    return clr_value_compare(&a->value, &b->value, 1) < 0;
}

static void sift_up(struct clr_mode_heap *heap, size_t i)
{
    struct clr_mode_entry entry = heap->entries[i];

    while (i > 0 && entry_is_before(&entry, &heap->entries[(i - 1) / 2])) {
        heap->entries[i] = heap->entries[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap->entries[i] = entry;
}

static void sift_down(struct clr_mode_heap *heap)
{
    struct clr_mode_entry entry = heap->entries[0];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < heap->count) {
        if (child + 1 < heap->count &&
            entry_is_before(&heap->entries[child + 1], &heap->entries[child]))
            child++;
        if (!entry_is_before(&heap->entries[child], &entry))
            break;
        heap->entries[i] = heap->entries[child];
        i = child;
    }
    heap->entries[i] = entry;
}

static enum clr_code make_room(struct clr_mode_heap *heap)
{
    size_t capacity = heap->capacity != 0 ? 2 * heap->capacity : FIRST_CAPACITY;
    void *entries;
    enum clr_code code;

    if (heap->count < heap->capacity)
        return CLR_OK;
    code = clr_budget_alloc(heap->budget, capacity * sizeof *heap->entries, &entries);
    if (code != CLR_OK)
        return code;
    if (heap->count != 0)
        memcpy(entries, heap->entries, heap->count * sizeof *heap->entries);
    clr_budget_free(heap->budget, heap->entries, heap->capacity * sizeof *heap->entries);
    heap->entries = entries;
    heap->capacity = capacity;
    return CLR_OK;
}

/* value: its bytes are those of an entry of the collection. */
static enum clr_code push(struct clr_mode_heap *heap, const struct clr_value *value, uint64_t count)
{
    enum clr_code code = make_room(heap);

    if (code != CLR_OK)
        return code;
    if (value->kind >= CLR_KIND_TEXT)
        clr_byte_table_hold(held_entry(value));
    heap->entries[heap->count].count = count;
    heap->entries[heap->count].value = *value;
    sift_up(heap, heap->count++);
    return CLR_OK;
}

/* Forgets all: it is to be filled anew. */
static void restart(struct clr_mode_heap *heap)
{
    drop_all(heap);
    heap->begun = false;
    heap->next = (struct clr_distinct_cursor){0};
}

enum clr_code clr_mode_heap_fill(struct clr_mode_heap *heap, size_t most)
{
    enum clr_code code = CLR_OK;

    for (; !heap->begun && most > 0 && code == CLR_OK; most--) {
        if (clr_distinct_next(heap->distinct, &heap->next))
            code = push(heap, &heap->next.value, heap->next.count);
        else
            heap->begun = true;
    }
    return code;
}

enum clr_code clr_mode_heap_change(struct clr_mode_heap *heap, const struct clr_value *value,
                                   int change)
{
    struct clr_value own = *value;
    uint64_t count;

    if (!heap->begun)
        return CLR_OK;
    if (value->kind >= CLR_KIND_TEXT) {
        const struct clr_byte_entry *entry = clr_byte_table_find(&heap->distinct->bytes, value);
        if (entry == NULL)
            return CLR_OK;
        own.bytes = entry->bytes;
    }
    count = clr_distinct_find(heap->distinct, value);
    if (change < 0)
        count--;
    if (count == 0)
        return CLR_OK;
    if (heap->count > 2 * clr_distinct_size(heap->distinct) + FIRST_CAPACITY) {
        restart(heap);
        return CLR_OK;
    }
    return push(heap, &own, count);
}

void clr_mode_heap_find(struct clr_mode_heap *heap, struct clr_value *mode)
{
    mode->kind = CLR_KIND_NONE;
    while (heap->count > 0 &&
           clr_distinct_find(heap->distinct, &heap->entries[0].value) != heap->entries[0].count) {
        release(heap, &heap->entries[0].value);
        heap->entries[0] = heap->entries[--heap->count];
        if (heap->count > 0)
            sift_down(heap);
    }
    if (heap->count > 0) {
        *mode = heap->entries[0].value;
        clr_distinct_type(heap->distinct, mode);
    }
}

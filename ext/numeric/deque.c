#include "numeric/deque.h"

#include "base/memory.h"

#include <string.h>

/* An entry's buffer outlives the entry, so that a window over TEXT seldom allocates. */
struct clr_deque_entry {
    struct clr_value value;
    uint64_t number; /* how many values had arrived before this one */
    void *buffer;
    size_t buffer_size;
};

/* What a cleared deque may keep. */
enum { FIRST_CAPACITY = 16, KEPT_CAPACITY = 1024, KEPT_BUFFER = 1024 };

void clr_deque_init(struct clr_deque *deque, int sign)
{
    *deque = (struct clr_deque){.sign = sign};
}

void clr_deque_free(struct clr_deque *deque)
{
    size_t i;

    for (i = 0; i < deque->capacity; i++)
        clr_memory_free(deque->ring[i].buffer);
    clr_memory_free(deque->ring);
}

static void drop_large_buffer(struct clr_deque_entry *entry)
{
    if (entry->buffer_size > KEPT_BUFFER) {
        clr_memory_free(entry->buffer);
        entry->buffer = NULL;
        entry->buffer_size = 0;
    }
}

static struct clr_deque_entry *entry_at(const struct clr_deque *deque, size_t i)
{
    return &deque->ring[(deque->first + i) & (deque->capacity - 1)];
}

void clr_deque_clear(struct clr_deque *deque, int sign)
{
    if (deque->capacity > KEPT_CAPACITY) {
        clr_deque_free(deque);
        clr_deque_init(deque, sign);
        return;
    }
    while (deque->count > 0)
        drop_large_buffer(entry_at(deque, --deque->count));
    deque->sign = sign;
    deque->first = 0;
    deque->arrived = deque->left = 0;
}

static enum clr_code grow(struct clr_deque *deque)
{
    size_t i, capacity = deque->capacity != 0 ? 2 * deque->capacity : FIRST_CAPACITY;
    struct clr_deque_entry *ring = clr_memory_alloc(capacity * sizeof *ring);

    if (ring == NULL)
        return CLR_NOMEM;
    memset(ring, 0, capacity * sizeof *ring);
    for (i = 0; i < deque->capacity; i++)
        ring[i] = *entry_at(deque, i);
    clr_memory_free(deque->ring);
    deque->ring = ring;
    deque->capacity = capacity;
    deque->first = 0;
    return CLR_OK;
}

static enum clr_code copy_bytes(struct clr_deque_entry *entry, const struct clr_value *value)
{
    size_t size = value->as.size;

    if (size > entry->buffer_size) {
        void *buffer = clr_memory_alloc(size);
        if (buffer == NULL)
            return CLR_NOMEM;
        clr_memory_free(entry->buffer);
        entry->buffer = buffer;
        entry->buffer_size = size;
    }
    if (size != 0)
        memcpy(entry->buffer, value->bytes, size);
    /* An empty value may have no buffer, but has an address: SQLite takes TEXT without one for
       NULL. */
    entry->value.bytes = size != 0 ? entry->buffer : "";
    return CLR_OK;
}

enum clr_code clr_deque_push(struct clr_deque *deque, const struct clr_value *value)
{
    struct clr_deque_entry *entry;
    int sign = deque->sign;

    /* What is no better than the newcomer leaves before it, and so will never be the extreme. */
    while (deque->count > 0 &&
           clr_value_compare(&entry_at(deque, deque->count - 1)->value, value, sign) * sign <= 0)
        drop_large_buffer(entry_at(deque, --deque->count));
    if (deque->count == deque->capacity && grow(deque) != CLR_OK)
        return CLR_NOMEM;
    entry = entry_at(deque, deque->count);
    entry->value = *value;
    if ((value->kind == CLR_KIND_TEXT || value->kind == CLR_KIND_BLOB) &&
        copy_bytes(entry, value) != CLR_OK)
        return CLR_NOMEM;
    entry->number = deque->arrived++;
    deque->count++;
    return CLR_OK;
}

void clr_deque_shift(struct clr_deque *deque)
{
    if (deque->count > 0 && entry_at(deque, 0)->number == deque->left) {
        drop_large_buffer(entry_at(deque, 0));
        deque->first = (deque->first + 1) & (deque->capacity - 1);
        deque->count--;
    }
    deque->left++;
}

void clr_deque_keep_front(struct clr_deque *deque)
{
    while (deque->count > 1)
        drop_large_buffer(entry_at(deque, --deque->count));
}

const struct clr_value *clr_deque_front(const struct clr_deque *deque)
{
    return deque->count > 0 ? &entry_at(deque, 0)->value : NULL;
}

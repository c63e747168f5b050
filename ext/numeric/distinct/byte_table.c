#include "numeric/distinct/byte_table.h"

#include "numeric/values/bytes.h"

#include <string.h>

/* KEPT_CAPACITY: what a cleared table may keep. */
enum { FIRST_CAPACITY = 64, KEPT_CAPACITY = 1024 };

void clr_byte_table_init(struct clr_byte_table *table, struct clr_budget *budget, uint64_t seed)
{
    *table = (struct clr_byte_table){.budget = budget, .seed = seed};
}

static void free_entry(struct clr_byte_table *table, struct clr_byte_entry *entry)
{
    if (entry != NULL)
        clr_budget_free(table->budget, entry, sizeof *entry + entry->size);
}

static void free_entries(struct clr_byte_table *table)
{
    size_t i;

    for (i = 0; i < table->capacity && table->used != 0; i++) {
        table->used -= table->slots[i] != NULL;
        free_entry(table, table->slots[i]);
        table->slots[i] = NULL;
    }
}

void clr_byte_table_free(struct clr_byte_table *table)
{
    free_entries(table);
    clr_budget_free(table->budget, table->slots, table->capacity * sizeof *table->slots);
    clr_byte_table_init(table, table->budget, table->seed);
}

void clr_byte_table_clear(struct clr_byte_table *table)
{
    if (table->capacity > KEPT_CAPACITY)
        clr_byte_table_free(table);
    else
        free_entries(table);
}

static bool is_value(const struct clr_byte_entry *entry, const struct clr_value *value)
{
    const struct clr_value own = {
        .kind = entry->kind, .as.size = entry->size, .bytes = entry->bytes};

    return clr_bytes_equal(&own, value);
}

/* Returns the value's slot, or the empty one where it would be; there are slots. */
static size_t find(const struct clr_byte_table *table, const struct clr_value *value, uint64_t hash)
{
    size_t slot = hash & (table->capacity - 1);
    const struct clr_byte_entry *entry;

    while ((entry = table->slots[slot]) != NULL && !(entry->hash == hash && is_value(entry, value)))
        slot = (slot + 1) & (table->capacity - 1);
    return slot;
}

static enum clr_code grow(struct clr_byte_table *table)
{
    size_t capacity = table->capacity != 0 ? 2 * table->capacity : FIRST_CAPACITY, i;
    struct clr_byte_entry **slots;
    void *block;
    enum clr_code code = clr_budget_alloc_zero(table->budget, capacity * sizeof *slots, &block);

    if (code != CLR_OK)
        return code;
    slots = block;
    for (i = 0; i < table->capacity; i++) {
        size_t slot;
        if (table->slots[i] == NULL)
            continue;
        slot = table->slots[i]->hash & (capacity - 1);
        while (slots[slot] != NULL)
            slot = (slot + 1) & (capacity - 1);
        slots[slot] = table->slots[i];
    }
    clr_budget_free(table->budget, table->slots, table->capacity * sizeof *table->slots);
    table->slots = slots;
    table->capacity = capacity;
    return CLR_OK;
}

enum clr_code clr_byte_table_add(struct clr_byte_table *table, const struct clr_value *value)
{
    const size_t size = value->as.size;
    uint64_t hash = clr_bytes_hash(value, table->seed);
    struct clr_byte_entry *entry;
    enum clr_code code = CLR_OK;
    void *block;
    size_t slot;

    if (table->used >= table->capacity / 8 * 5)
        code = grow(table);
    if (code != CLR_OK)
        return code;
    slot = find(table, value, hash);
    if (table->slots[slot] != NULL) {
        table->slots[slot]->count++;
        return CLR_OK;
    }
    code = clr_budget_alloc(table->budget, sizeof *entry + size, &block);
    if (code != CLR_OK)
        return code;
    entry = block;
    entry->hash = hash;
    entry->count = 1;
    entry->holders = 0;
    entry->size = size;
    entry->kind = value->kind;
    if (size != 0)
        memcpy(entry->bytes, value->bytes, size);
    table->slots[slot] = entry;
    table->used++;
    return CLR_OK;
}

/* Empties a slot; those that follow it move up, so that none is cut off from its home. */
static void empty_slot(struct clr_byte_table *table, size_t slot)
{
    size_t mask = table->capacity - 1, next = slot;

    for (;;) {
        next = (next + 1) & mask;
        if (table->slots[next] == NULL)
            break;
        /* It may move up to the hole if its home is not after the hole. */
        if (((next - table->slots[next]->hash) & mask) >= ((next - slot) & mask)) {
            table->slots[slot] = table->slots[next];
            slot = next;
        }
    }
    table->slots[slot] = NULL;
    table->used--;
}

void clr_byte_table_remove(struct clr_byte_table *table, const struct clr_value *value)
{
    struct clr_byte_entry *entry;
    size_t slot;

    if (table->used == 0)
        return;
    slot = find(table, value, clr_bytes_hash(value, table->seed));
    entry = table->slots[slot];
    if (entry == NULL || --entry->count != 0)
        return;
    empty_slot(table, slot);
    if (entry->holders == 0)
        free_entry(table, entry);
}

struct clr_byte_entry *clr_byte_table_find(const struct clr_byte_table *table,
                                           const struct clr_value *value)
{
    if (table->used == 0)
        return NULL;
    return table->slots[find(table, value, clr_bytes_hash(value, table->seed))];
}

void clr_byte_table_hold(struct clr_byte_entry *entry)
{
    entry->holders++;
}

void clr_byte_table_release(struct clr_byte_table *table, struct clr_byte_entry *entry)
{
    if (--entry->holders == 0 && entry->count == 0)
        free_entry(table, entry);
}

const struct clr_byte_entry *clr_byte_table_next(const struct clr_byte_table *table,
                                                 size_t *position)
{
    while (*position < table->capacity) {
        const struct clr_byte_entry *entry = table->slots[(*position)++];
        if (entry != NULL)
            return entry;
    }
    return NULL;
}

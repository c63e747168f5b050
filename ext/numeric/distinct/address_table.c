#include "numeric/distinct/address_table.h"

#include "numeric/values/bytes.h"

enum { FIRST_CAPACITY = 256 };

void clr_address_table_init(struct clr_address_table *table, struct clr_budget *budget)
{
    *table = (struct clr_address_table){.budget = budget};
}

void clr_address_table_clear(struct clr_address_table *table)
{
    if (table->capacity > 0)
        memset(table->slots, 0, table->capacity * sizeof *table->slots);
    table->used = 0;
}

void clr_address_table_free(struct clr_address_table *table)
{
    clr_budget_free(table->budget, table->slots, table->capacity * sizeof *table->slots);
    clr_address_table_init(table, table->budget);
}

/* Gives the table so many slots, and keeps what it has. */
static enum clr_code grow(struct clr_address_table *table, size_t capacity)
{
    const struct clr_address_table old = *table;
    size_t i, slot;
    void *block;
    enum clr_code code;

    code = clr_budget_alloc_zero(table->budget, capacity * sizeof *table->slots, &block);
    if (code != CLR_OK)
        return code;
    table->slots = block;
    table->capacity = capacity;
    for (i = 0; i < old.capacity; i++) {
        if (old.slots[i].address == 0)
            continue;
        slot = old.slots[i].hash & (capacity - 1);
        while (table->slots[slot].address != 0)
            slot = (slot + 1) & (capacity - 1);
        table->slots[slot] = old.slots[i];
    }
    clr_budget_free(table->budget, old.slots, old.capacity * sizeof *old.slots);
    return CLR_OK;
}

static bool are_equal(int64_t a, int64_t b)
{
    const struct clr_value first = clr_bytes_value(a), second = clr_bytes_value(b);

    return a == b || clr_bytes_equal(&first, &second);
}

enum clr_code clr_address_table_add(struct clr_address_table *table, uint64_t hash, int64_t address,
                                    uint64_t count)
{
    enum clr_code code = CLR_OK;
    struct clr_address_slot *slot;
    size_t i;

    if (table->used >= table->capacity / 2)
        code = grow(table, table->capacity == 0 ? FIRST_CAPACITY : 2 * table->capacity);
    if (code != CLR_OK)
        return code;
    for (i = hash & (table->capacity - 1);; i = (i + 1) & (table->capacity - 1)) {
        slot = &table->slots[i];
        if (slot->address == 0)
            break;
        if (slot->hash == hash && are_equal(slot->address, address)) {
            slot->count += count;
            return CLR_OK;
        }
    }
    *slot = (struct clr_address_slot){hash, address, count};
    table->used++;
    return CLR_OK;
}

#include "numeric/grouping/table.h"

enum { FIRST_CAPACITY = 4096, MOST_NUMBERS = 1 << 30 };

enum clr_scan_outcome clr_group_table_init(struct clr_group_table *table,
                                           struct clr_group_memory *memory, size_t width)
{
    *table = (struct clr_group_table){.memory = memory, .width = width};
    return clr_group_table_make_room(table, FIRST_CAPACITY / 4);
}

void clr_group_table_free(struct clr_group_table *table)
{
    if (table->memory == NULL)
        return;
    clr_room_free(&table->slots, table->memory);
    clr_room_free(&table->keys, table->memory);
}

static enum clr_scan_outcome grow_slots(struct clr_group_table *table, size_t capacity)
{
    const struct clr_group_slot *old = table->slots.start;
    const size_t old_capacity = table->capacity;
    struct clr_group_slot *slots;
    struct clr_room larger;
    enum clr_scan_outcome outcome = clr_room_make(&larger, table->memory, capacity * sizeof *slots);
    size_t i, place;

    if (outcome != CLR_SCAN_DONE)
        return outcome;
    slots = larger.start;
    table->capacity = capacity;
    for (i = 0; i < old_capacity; i++) {
        if (old[i].number == 0)
            continue;
        place = clr_group_table_home(table, old[i].hash);
        while (slots[place].number != 0)
            place = (place + 1) & (capacity - 1);
        slots[place] = old[i];
    }
    clr_room_free(&table->slots, table->memory);
    table->slots = larger;
    return CLR_SCAN_DONE;
}

enum clr_scan_outcome clr_group_table_make_room(struct clr_group_table *table, size_t more)
{
    const size_t count = table->count + more, key_size = table->width * sizeof(uint64_t);
    size_t capacity = table->capacity == 0 ? FIRST_CAPACITY : table->capacity;
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;

    if (count > MOST_NUMBERS)
        return CLR_SCAN_LIMIT;
    while (count > capacity / 2)
        capacity *= 2;
    if (capacity != table->capacity)
        outcome = grow_slots(table, capacity);
    if (outcome == CLR_SCAN_DONE && count > table->key_capacity) {
        size_t keys = table->key_capacity + table->key_capacity / 2;
        keys = keys < count ? count : keys;
        outcome =
            clr_room_grow(&table->keys, table->memory, table->count * key_size, keys * key_size);
        if (outcome == CLR_SCAN_DONE)
            table->key_capacity = keys;
    }
    return outcome;
}

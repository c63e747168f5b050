#include "numeric/grouping/table.h"

enum { FIRST_CAPACITY = 4096, SOME_KEYS = 1024, MOST_NUMBERS = 1 << 30 };

enum clr_scan_outcome clr_group_table_init(struct clr_group_table *table,
                                           struct clr_group_memory *memory, size_t most,
                                           size_t width)
{
    *table = (struct clr_group_table){.memory = memory, .width = width, .most = most};
    return clr_room_reserve(&table->keys, most * width * sizeof(uint64_t));
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
    table->shift = __builtin_clzll(capacity) + 1;
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

void clr_group_table_expect(struct clr_group_table *table, size_t count)
{
    size_t capacity = FIRST_CAPACITY;

    while (count > capacity / 8 * 5)
        capacity *= 2;
    if (count <= MOST_NUMBERS && capacity > table->capacity)
        grow_slots(table, capacity);
}

void clr_group_table_append(struct clr_group_table *table)
{
    table->appends = true;
    table->capacity = 0;
    clr_room_free(&table->slots, table->memory);
}

enum clr_scan_outcome clr_group_table_make_room(struct clr_group_table *table, size_t more)
{
    const size_t wanted = table->count + more;
    const size_t count = wanted < table->most ? wanted : table->most;
    size_t capacity = table->capacity == 0 ? FIRST_CAPACITY : table->capacity;
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;

    if (count > MOST_NUMBERS)
        return CLR_SCAN_LIMIT;
    while (count > capacity / 8 * 5)
        capacity *= 2;
    if (capacity != table->capacity && !table->appends)
        outcome = grow_slots(table, capacity);
    if (outcome == CLR_SCAN_DONE && count > table->key_capacity) {
        size_t keys = count + count / 8 + SOME_KEYS;
        keys = keys < table->most ? keys : table->most;
        outcome =
            clr_room_take(&table->keys, table->memory, keys * table->width * sizeof(uint64_t));
        if (outcome == CLR_SCAN_DONE)
            table->key_capacity = keys;
    }
    return outcome;
}

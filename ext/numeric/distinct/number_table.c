#include "numeric/distinct/number_table.h"

#include <stddef.h>
#include <string.h>

/* BATCH: keys whose slots are fetched together. */
enum { FIRST_CAPACITY = 64, BATCH = 64 };

/* Odd multipliers: 2^64 over the golden ratio; of Steele, Lea, Flood, "Fast splittable pseudorandom
   number generators" (2014). Their inverses modulo 2^64 undo them. */
#define FIRST UINT64_C(0x9e3779b97f4a7c15)
#define SECOND UINT64_C(0xbf58476d1ce4e5b9)
#define FIRST_INVERSE UINT64_C(0xf1de83e19937733d)
#define SECOND_INVERSE UINT64_C(0x96de1b173f119089)

static inline uint64_t mix(uint64_t key, uint64_t seed)
{
    key = (key ^ seed) * FIRST;
    key = (key ^ key >> 32) * SECOND;
    return key ^ key >> 32;
}

static inline uint64_t unmix(uint64_t mixed, uint64_t seed)
{
    mixed = (mixed ^ mixed >> 32) * SECOND_INVERSE;
    mixed = (mixed ^ mixed >> 32) * FIRST_INVERSE;
    return mixed ^ seed;
}

/* Five eighths full at the most: a search then looks at 4 slots on average. */
static size_t most_keys(size_t capacity)
{
    return capacity / 8 * 5;
}

static size_t words(size_t capacity, bool counted)
{
    return capacity << counted;
}

/* The slot where the search for a mixed key begins; capacity is not 0. */
static inline size_t home(uint64_t mixed, size_t capacity)
{
    return mixed >> (__builtin_clzll(capacity) + 1);
}

void clr_number_table_init(struct clr_number_table *table, struct clr_budget *budget, uint64_t seed)
{
    *table = (struct clr_number_table){.budget = budget, .seed = seed, .counted = true};
}

static void free_slots(struct clr_number_table *table)
{
    clr_budget_free(table->budget, table->slots,
                    words(table->capacity, table->counted) * sizeof *table->slots);
    table->slots = NULL;
    table->capacity = 0;
}

void clr_number_table_free(struct clr_number_table *table)
{
    free_slots(table);
    clr_number_table_init(table, table->budget, table->seed);
}

/* Returns the slot of a mixed key, or the empty one where it would be; counted is a constant where
   this is inlined. */
static inline size_t find(const uint64_t *slots, size_t capacity, bool counted, uint64_t mixed)
{
    size_t slot = home(mixed, capacity);

    while (slots[slot << counted] != 0 && slots[slot << counted] != mixed)
        slot = (slot + 1) & (capacity - 1);
    return slot;
}

/* Moves all keys to new slots, in the order of the old ones. */
static enum clr_code move(struct clr_number_table *table, size_t capacity, bool counted)
{
    size_t size = words(capacity, counted) * sizeof *table->slots, i;
    void *block;
    enum clr_code code = clr_budget_alloc_zero(table->budget, size, &block);
    uint64_t *slots;

    if (code != CLR_OK)
        return code;
    slots = block;
    for (i = 0; i < table->capacity; i++) {
        const uint64_t *old = &table->slots[i << table->counted];
        size_t slot;
        if (*old == 0)
            continue;
        slot = find(slots, capacity, counted, *old);
        slots[slot << counted] = *old;
        if (counted)
            slots[(slot << 1) + 1] = old[1];
    }
    free_slots(table);
    table->slots = slots;
    table->capacity = capacity;
    table->counted = counted;
    return CLR_OK;
}

/* Makes room for so many keys in all. */
static enum clr_code grow(struct clr_number_table *table, size_t keys)
{
    size_t capacity = table->capacity != 0 ? 2 * table->capacity : FIRST_CAPACITY;

    while (keys > most_keys(capacity))
        capacity *= 2;
    return move(table, capacity, table->counted);
}

enum clr_code clr_number_table_reserve(struct clr_number_table *table, size_t keys)
{
    return keys > most_keys(table->capacity) ? grow(table, keys) : CLR_OK;
}

enum clr_code clr_number_table_forget_counts(struct clr_number_table *table)
{
    if (!table->counted)
        return CLR_OK;
    return move(table, table->capacity != 0 ? table->capacity : FIRST_CAPACITY, false);
}

/* Adds mixed keys, for which there is room. */
static inline void add_mixed(struct clr_number_table *table, bool counted, const uint64_t *mixed,
                             size_t count)
{
    uint64_t *slots = table->slots;
    size_t i, used = table->used;

    for (i = 0; i < count; i++) {
        size_t slot = find(slots, table->capacity, counted, mixed[i]);
        if (mixed[i] == 0) {
            table->zero_count++;
            continue;
        }
        used += slots[slot << counted] == 0;
        slots[slot << counted] = mixed[i];
        if (counted)
            slots[(slot << 1) + 1]++;
    }
    table->used = used;
}

enum clr_code clr_number_table_add(struct clr_number_table *table, const uint64_t *keys,
                                   size_t count)
{
    uint64_t mixed[BATCH];
    size_t i, n;

    for (; count > 0; count -= n, keys += n) {
        n = count < BATCH ? count : BATCH;
        if (table->used + n > most_keys(table->capacity)) {
            enum clr_code code = grow(table, table->used + n);
            if (code != CLR_OK)
                return code;
        }
        for (i = 0; i < n; i++) {
            mixed[i] = mix(keys[i], table->seed);
            __builtin_prefetch(&table->slots[home(mixed[i], table->capacity) << table->counted], 1);
        }
        if (table->counted)
            add_mixed(table, true, mixed, n);
        else
            add_mixed(table, false, mixed, n);
    }
    return CLR_OK;
}

enum clr_code clr_number_table_merge(struct clr_number_table *table,
                                     const struct clr_number_table *other)
{
    enum clr_code code = clr_number_table_reserve(table, table->used + other->used);
    size_t i;

    if (code != CLR_OK)
        return code;
    table->zero_count += other->zero_count;
    for (i = 0; i < other->capacity; i++) {
        const uint64_t *from = &other->slots[2 * i];
        uint64_t *to;
        if (from[0] == 0)
            continue;
        to = &table->slots[2 * find(table->slots, table->capacity, true, from[0])];
        table->used += to[0] == 0;
        to[0] = from[0];
        to[1] += from[1];
    }
    return CLR_OK;
}

/* Empties a slot; those that follow it move up, so that none is cut off from its home. */
static void empty_slot(struct clr_number_table *table, size_t slot)
{
    uint64_t *slots = table->slots;
    size_t mask = table->capacity - 1, next = slot;

    for (;;) {
        next = (next + 1) & mask;
        if (slots[2 * next] == 0)
            break;
        /* It may move up to the hole if its home is not after the hole. */
        if (((next - home(slots[2 * next], table->capacity)) & mask) >= ((next - slot) & mask)) {
            slots[2 * slot] = slots[2 * next];
            slots[2 * slot + 1] = slots[2 * next + 1];
            slot = next;
        }
    }
    slots[2 * slot] = slots[2 * slot + 1] = 0;
    table->used--;
}

void clr_number_table_remove(struct clr_number_table *table, uint64_t key)
{
    uint64_t mixed = mix(key, table->seed);
    size_t slot;

    if (mixed == 0) {
        table->zero_count -= table->zero_count != 0;
        return;
    }
    if (table->capacity == 0)
        return;
    slot = find(table->slots, table->capacity, true, mixed);
    if (table->slots[2 * slot] != 0 && --table->slots[2 * slot + 1] == 0)
        empty_slot(table, slot);
}

uint64_t clr_number_table_find(const struct clr_number_table *table, uint64_t key)
{
    uint64_t mixed = mix(key, table->seed);

    if (mixed == 0)
        return table->zero_count;
    if (table->capacity == 0)
        return 0;
    return table->slots[2 * find(table->slots, table->capacity, true, mixed) + 1];
}

bool clr_number_table_next(const struct clr_number_table *table, size_t *position, uint64_t *key,
                           uint64_t *count)
{
    const size_t width = table->counted ? 2 : 1;
    size_t slot;

    if (*position == 0) {
        *position = 1;
        if (table->zero_count != 0) {
            *key = unmix(0, table->seed);
            *count = table->counted ? table->zero_count : 1;
            return true;
        }
    }
    for (slot = *position - 1; slot < table->capacity; slot++) {
        if (table->slots[width * slot] != 0) {
            *key = unmix(table->slots[width * slot], table->seed);
            *count = table->counted ? table->slots[2 * slot + 1] : 1;
            *position = slot + 2;
            return true;
        }
    }
    return false;
}

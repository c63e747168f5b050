#include "numeric/distinct/distinct.h"

#include "numeric/values/bytes.h"

#include <stddef.h>
#include <string.h>

/* ---- Numbers. */

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

/* Takes a key out once; one that is not there changes nothing. The table is counted. */
static void number_table_remove(struct clr_number_table *table, uint64_t key)
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

/* Returns how often a key is there. The table is counted. */
static uint64_t number_table_find(const struct clr_number_table *table, uint64_t key)
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

/* ---- TEXT and BLOBs. */

/* Sets up an empty table without memory. */
static void byte_table_init(struct clr_byte_table *table, struct clr_budget *budget, uint64_t seed)
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

/* Frees the table's memory; it is empty then. */
static void byte_table_free(struct clr_byte_table *table)
{
    free_entries(table);
    clr_budget_free(table->budget, table->slots, table->capacity * sizeof *table->slots);
    byte_table_init(table, table->budget, table->seed);
}

static bool is_value(const struct clr_byte_entry *entry, const struct clr_value *value)
{
    const struct clr_value own = {
        .kind = entry->kind, .as.size = entry->size, .bytes = entry->bytes};

    return clr_bytes_equal(&own, value);
}

/* Returns the value's slot, or the empty one where it would be; there are slots. */
static size_t find_value(const struct clr_byte_table *table, const struct clr_value *value,
                         uint64_t hash)
{
    size_t slot = hash & (table->capacity - 1);
    const struct clr_byte_entry *entry;

    while ((entry = table->slots[slot]) != NULL && !(entry->hash == hash && is_value(entry, value)))
        slot = (slot + 1) & (table->capacity - 1);
    return slot;
}

static enum clr_code grow_values(struct clr_byte_table *table)
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

/* Adds a TEXT or BLOB once more, and copies its bytes if it is new. Returns CLR_OK, or CLR_NOMEM or
   CLR_LIMIT and has not added it. */
static enum clr_code byte_table_add(struct clr_byte_table *table, const struct clr_value *value)
{
    const size_t size = value->as.size;
    uint64_t hash = clr_bytes_hash(value, table->seed);
    struct clr_byte_entry *entry;
    enum clr_code code = CLR_OK;
    void *block;
    size_t slot;

    if (table->used >= table->capacity / 8 * 5)
        code = grow_values(table);
    if (code != CLR_OK)
        return code;
    slot = find_value(table, value, hash);
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
static void empty_value_slot(struct clr_byte_table *table, size_t slot)
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

/* Takes a value out once; one that is not there changes nothing. */
static void byte_table_remove(struct clr_byte_table *table, const struct clr_value *value)
{
    struct clr_byte_entry *entry;
    size_t slot;

    if (table->used == 0)
        return;
    slot = find_value(table, value, clr_bytes_hash(value, table->seed));
    entry = table->slots[slot];
    if (entry == NULL || --entry->count != 0)
        return;
    empty_value_slot(table, slot);
    if (entry->holders == 0)
        free_entry(table, entry);
}

/* Returns the entry of a value that is there, else NULL. */
static struct clr_byte_entry *byte_table_find(const struct clr_byte_table *table,
                                              const struct clr_value *value)
{
    if (table->used == 0)
        return NULL;
    return table->slots[find_value(table, value, clr_bytes_hash(value, table->seed))];
}

/* Keep an entry at its place when it leaves the table, and no longer. What is still held when the
   table is cleared or freed is the holder's to release before that. */
static void byte_table_hold(struct clr_byte_entry *entry)
{
    entry->holders++;
}

static void byte_table_release(struct clr_byte_table *table, struct clr_byte_entry *entry)
{
    if (--entry->holders == 0 && entry->count == 0)
        free_entry(table, entry);
}

/*
 * Goes through the values, in no particular order: *position starts at 0. Returns the next one, or
 * NULL at the end.
 */
static const struct clr_byte_entry *byte_table_next(const struct clr_byte_table *table,
                                                    size_t *position)
{
    while (*position < table->capacity) {
        const struct clr_byte_entry *entry = table->slots[(*position)++];
        if (entry != NULL)
            return entry;
    }
    return NULL;
}

/* ---- Values of all kinds. */

/* Numbers that are sorted into the two tables at a time. */
enum { SORTED = 256 };

void clr_distinct_init(struct clr_distinct *distinct, struct clr_budget *budget, bool typed,
                       uint64_t seed)
{
    clr_number_table_init(&distinct->whole, budget, seed);
    clr_number_table_init(&distinct->fractional, budget, seed);
    clr_number_table_init(&distinct->whole_real, budget, seed);
    byte_table_init(&distinct->bytes, budget, seed);
    distinct->typed = typed;
}

void clr_distinct_free(struct clr_distinct *distinct)
{
    clr_number_table_free(&distinct->whole);
    clr_number_table_free(&distinct->fractional);
    clr_number_table_free(&distinct->whole_real);
    byte_table_free(&distinct->bytes);
}

enum clr_code clr_distinct_add_numbers(struct clr_distinct *distinct, enum clr_kind kind,
                                       const void *numbers, size_t count)
{
    const clr_stored_real *reals = numbers;
    uint64_t whole[SORTED], fractional[SORTED];
    enum clr_code code = CLR_OK;
    size_t wholes, n;

    if (kind == CLR_KIND_INTEGER)
        return clr_number_table_add(&distinct->whole, numbers, count);
    for (; count > 0 && code == CLR_OK; count -= n, reals += n) {
        n = count < SORTED ? count : SORTED;
        wholes = clr_distinct_keys(reals, n, whole, fractional);
        code = clr_number_table_add(&distinct->whole, whole, wholes);
        if (code == CLR_OK)
            code = clr_number_table_add(&distinct->fractional, fractional, n - wholes);
        if (code == CLR_OK && distinct->typed)
            code = clr_number_table_add(&distinct->whole_real, whole, wholes);
    }
    return code;
}

enum clr_code clr_distinct_add_bytes(struct clr_distinct *distinct, const struct clr_value *value)
{
    return byte_table_add(&distinct->bytes, value);
}

void clr_distinct_remove(struct clr_distinct *distinct, const struct clr_value *value)
{
    uint64_t key = (uint64_t)value->as.integer;
    bool real = value->kind == CLR_KIND_REAL;

    if (value->kind >= CLR_KIND_TEXT) {
        byte_table_remove(&distinct->bytes, value);
    } else if (real && !clr_distinct_key(value->as.real, &key)) {
        number_table_remove(&distinct->fractional, key);
    } else {
        number_table_remove(&distinct->whole, key);
        if (real && distinct->typed)
            number_table_remove(&distinct->whole_real, key);
    }
}

uint64_t clr_distinct_size(const struct clr_distinct *distinct)
{
    return clr_number_table_size(&distinct->whole) + clr_number_table_size(&distinct->fractional) +
           distinct->bytes.used;
}

uint64_t clr_distinct_find(const struct clr_distinct *distinct, const struct clr_value *value)
{
    const struct clr_byte_entry *entry;
    uint64_t key;

    if (value->kind >= CLR_KIND_TEXT) {
        entry = byte_table_find(&distinct->bytes, value);
        return entry != NULL ? entry->count : 0;
    }
    if (value->kind == CLR_KIND_INTEGER)
        return number_table_find(&distinct->whole, (uint64_t)value->as.integer);
    if (clr_distinct_key(value->as.real, &key))
        return number_table_find(&distinct->whole, key);
    return number_table_find(&distinct->fractional, key);
}

/* Of a value in the table of whole numbers. */
static struct clr_value whole_value(const struct clr_distinct *distinct, int64_t integer,
                                    uint64_t count)
{
    struct clr_value value = {.kind = CLR_KIND_INTEGER, .as.integer = integer};

    if (number_table_find(&distinct->whole_real, (uint64_t)integer) == count) {
        value.kind = CLR_KIND_REAL;
        value.as.real = (double)integer;
    }
    return value;
}

bool clr_distinct_next(const struct clr_distinct *distinct, struct clr_distinct_cursor *cursor)
{
    const struct clr_byte_entry *entry;
    uint64_t key;

    if (cursor->table == 0) {
        if (clr_number_table_next(&distinct->whole, &cursor->position, &key, &cursor->count)) {
            cursor->value = whole_value(distinct, (int64_t)key, cursor->count);
            return true;
        }
        cursor->table = 1;
        cursor->position = 0;
    }
    if (cursor->table == 1) {
        if (clr_number_table_next(&distinct->fractional, &cursor->position, &key, &cursor->count)) {
            cursor->value = clr_number_value((struct clr_scalar){CLR_TAG_REAL, (int64_t)key});
            return true;
        }
        cursor->table = 2;
        cursor->position = 0;
    }
    entry = byte_table_next(&distinct->bytes, &cursor->position);
    if (entry == NULL)
        return false;
    cursor->value = (struct clr_value){.kind = entry->kind, .bytes = entry->bytes};
    cursor->value.as.size = entry->size;
    cursor->count = entry->count;
    return true;
}

/* Gives a number the type that the collection has for it, as clr_distinct_next() says. */
static void give_type(const struct clr_distinct *distinct, struct clr_value *value)
{
    uint64_t key;

    if (value->kind == CLR_KIND_REAL && clr_distinct_key(value->as.real, &key)) {
        value->kind = CLR_KIND_INTEGER;
        value->as.integer = (int64_t)key;
    }
    if (value->kind == CLR_KIND_INTEGER)
        *value = whole_value(distinct, value->as.integer, clr_distinct_find(distinct, value));
}

enum { FIRST_HEAP = 64 };

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
        byte_table_release(&heap->distinct->bytes, held_entry(value));
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
    size_t capacity = heap->capacity != 0 ? 2 * heap->capacity : FIRST_HEAP;
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
        byte_table_hold(held_entry(value));
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
        const struct clr_byte_entry *entry = byte_table_find(&heap->distinct->bytes, value);
        if (entry == NULL)
            return CLR_OK;
        own.bytes = entry->bytes;
    }
    count = clr_distinct_find(heap->distinct, value);
    if (change < 0)
        count--;
    if (count == 0)
        return CLR_OK;
    if (heap->count > 2 * clr_distinct_size(heap->distinct) + FIRST_HEAP) {
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
        give_type(heap->distinct, mode);
    }
}

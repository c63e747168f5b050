#include "preload/pointers.h"

#include "base/lock.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* An open-addressing table. Readers may be in any that there was: so the ones that are too small
   are kept, and all together take less than the last one. */
struct clr_pointer_table {
    struct clr_pointer_table *smaller;
    size_t used; /* slots that are not free */
    unsigned bits;
    struct slot {
        _Atomic(const void *) key;
        _Atomic(void *) value;
    } slots[];
};

/* Room for 256 statements, which is more than most programs keep. */
enum { FIRST_BITS = 9 };

/* Of all that change a map. */
CLR_LOCK(lock)

/* A key was here: a search goes on. */
static const char gone;

static size_t first_slot(const struct clr_pointer_table *table, const void *key)
{
    return (size_t)(((uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u) >> (64 - table->bits));
}

static size_t next_slot(const struct clr_pointer_table *table, size_t slot)
{
    return (slot + 1) & (((size_t)1 << table->bits) - 1);
}

static struct slot *find(struct clr_pointer_table *table, const void *key)
{
    size_t slot = first_slot(table, key);
    const void *found;

    while ((found = atomic_load_explicit(&table->slots[slot].key, memory_order_acquire)) != NULL) {
        if (found == key)
            return &table->slots[slot];
        slot = next_slot(table, slot);
    }
    return NULL;
}

void *clr_pointers_get(struct clr_pointers *map, const void *key)
{
    struct clr_pointer_table *table = atomic_load_explicit(&map->table, memory_order_acquire);
    struct slot *slot = table == NULL ? NULL : find(table, key);

    return slot == NULL ? NULL : atomic_load_explicit(&slot->value, memory_order_relaxed);
}

/* Puts in a key that is not there. */
static void insert(struct clr_pointer_table *table, const void *key, void *value)
{
    size_t slot = first_slot(table, key);
    const void *found;

    while ((found = atomic_load_explicit(&table->slots[slot].key, memory_order_relaxed)) != NULL &&
           found != &gone)
        slot = next_slot(table, slot);
    table->used += found == NULL;
    atomic_store_explicit(&table->slots[slot].value, value, memory_order_relaxed);
    atomic_store_explicit(&table->slots[slot].key, key, memory_order_release);
}

/* Makes a table that is twice as large, unless the map's has room for one more key. */
static struct clr_pointer_table *make_room(struct clr_pointers *map)
{
    struct clr_pointer_table *old = atomic_load(&map->table), *table;
    const unsigned bits = old == NULL ? FIRST_BITS : old->bits + 1;
    const void *key;
    size_t i;

    if (old != NULL && old->used < ((size_t)1 << old->bits) / 2)
        return old;
    table = calloc(1, sizeof *table + ((size_t)1 << bits) * sizeof table->slots[0]);
    if (table == NULL)
        return NULL;
    table->bits = bits;
    table->smaller = old;
    for (i = 0; old != NULL && i < (size_t)1 << old->bits; i++) {
        key = atomic_load(&old->slots[i].key);
        if (key != NULL && key != &gone)
            insert(table, key, atomic_load(&old->slots[i].value));
    }
    atomic_store_explicit(&map->table, table, memory_order_release);
    return table;
}

bool clr_pointers_put(struct clr_pointers *map, const void *key, void *value)
{
    struct clr_pointer_table *table;
    struct slot *slot;

    take_lock();
    table = make_room(map);
    slot = table == NULL ? NULL : find(table, key);
    if (slot != NULL)
        atomic_store_explicit(&slot->value, value, memory_order_release);
    else if (table != NULL)
        insert(table, key, value);
    give_lock();
    return table != NULL;
}

/* Frees a slot that no search has to go on from, and those before it. */
static void free_slots(struct clr_pointer_table *table, size_t slot)
{
    const size_t most = ((size_t)1 << table->bits) - 1;

    if (atomic_load(&table->slots[next_slot(table, slot)].key) != NULL)
        return;
    while (atomic_load(&table->slots[slot].key) == &gone) {
        atomic_store_explicit(&table->slots[slot].key, NULL, memory_order_release);
        table->used--;
        slot = (slot + most) & most;
    }
}

void *clr_pointers_take(struct clr_pointers *map, const void *key)
{
    struct clr_pointer_table *table;
    struct slot *slot;
    void *value = NULL;

    take_lock();
    table = atomic_load(&map->table);
    slot = table == NULL ? NULL : find(table, key);
    if (slot != NULL) {
        value = atomic_load(&slot->value);
        atomic_store_explicit(&slot->key, &gone, memory_order_release);
        free_slots(table, (size_t)(slot - table->slots));
    }
    give_lock();
    return value;
}

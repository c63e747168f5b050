#include "storage/format/wal_map.h"

#include "base/memory.h"

#include <string.h>

enum { FIRST_CAPACITY = 64 };

/* Returns the slot that has the page, or is free for it. */
static struct clr_wal_slot *look_up(const struct clr_wal_map *map, uint32_t page)
{
    size_t i = clr_wal_map_slot(map, page);

    while (map->slots[i].page != 0 && map->slots[i].page != page)
        i = (i + 1) & (map->capacity - 1);
    return &map->slots[i];
}

/* Doubles the capacity. */
static bool grow(struct clr_wal_map *map)
{
    struct clr_wal_map larger = *map;
    size_t i;

    larger.capacity = map->capacity == 0 ? FIRST_CAPACITY : 2 * map->capacity;
    larger.slots = clr_memory_alloc_zero(larger.capacity * sizeof *larger.slots);
    if (larger.slots == NULL)
        return false;
    for (i = 0; i < map->capacity; i++) {
        if (map->slots[i].page != 0)
            *look_up(&larger, map->slots[i].page) = map->slots[i];
    }
    clr_memory_free(map->slots);
    *map = larger;
    return true;
}

bool clr_wal_map_add(struct clr_wal_map *map, uint32_t page, uint32_t frame)
{
    struct clr_wal_slot *slot;

    if (2 * (map->used + 1) > map->capacity && !grow(map))
        return false;
    slot = look_up(map, page);
    map->used += slot->page == 0;
    *slot = (struct clr_wal_slot){.page = page, .frame = frame};
    return true;
}

void clr_wal_map_clear(struct clr_wal_map *map)
{
    struct clr_wal_slot *slots = map->slots;
    size_t capacity = map->capacity;

    if (map->used > 0)
        memset(slots, 0, capacity * sizeof *slots);
    *map = (struct clr_wal_map){.seed = map->seed, .slots = slots, .capacity = capacity};
}

void clr_wal_map_free(struct clr_wal_map *map)
{
    clr_memory_free(map->slots);
    *map = (struct clr_wal_map){.seed = map->seed};
}

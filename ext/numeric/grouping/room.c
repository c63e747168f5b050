#include "numeric/grouping/room.h"

#include "base/memory.h"

/* From this size on, in bytes, memory comes from the system, in large pages where it has them. What
   is less is sooner set to zero where it was used before than new pages are. */
enum { LARGE = 4 << 20, LINE = 64 };

enum { FIRST_CAPACITY = 64 };

bool clr_group_memory_take(struct clr_group_memory *memory, size_t bytes)
{
    if (bytes > INT64_MAX)
        return false;
    if (atomic_fetch_sub_explicit(&memory->left, (int64_t)bytes, memory_order_relaxed) >=
        (int64_t)bytes)
        return true;
    clr_group_memory_return(memory, bytes);
    return false;
}

void clr_group_memory_return(struct clr_group_memory *memory, size_t bytes)
{
    atomic_fetch_add_explicit(&memory->left, (int64_t)bytes, memory_order_relaxed);
}

enum clr_scan_outcome clr_room_reserve(struct clr_room *room, size_t bytes)
{
    *room = (struct clr_room){NULL, 0, NULL, NULL};
    if (bytes >= LARGE) {
        room->column = clr_column_new(bytes / sizeof *room->column->values + 1);
        if (room->column != NULL)
            room->start = room->column->values;
    } else {
        room->block = clr_memory_alloc_zero(bytes + LINE);
        if (room->block != NULL)
            room->start = (char *)room->block + (LINE - (uintptr_t)room->block % LINE);
    }
    return room->start != NULL ? CLR_SCAN_DONE : CLR_SCAN_FAILED;
}

enum clr_scan_outcome clr_room_make(struct clr_room *room, struct clr_group_memory *memory,
                                    size_t bytes)
{
    *room = (struct clr_room){NULL, 0, NULL, NULL};
    if (!clr_group_memory_take(memory, bytes))
        return CLR_SCAN_LIMIT;
    if (clr_room_reserve(room, bytes) != CLR_SCAN_DONE) {
        clr_group_memory_return(memory, bytes);
        return CLR_SCAN_FAILED;
    }
    room->taken = bytes;
    return CLR_SCAN_DONE;
}

enum clr_scan_outcome clr_room_adopt(struct clr_room *room, struct clr_group_memory *memory,
                                     size_t bytes, void *block)
{
    *room = (struct clr_room){NULL, 0, NULL, NULL};
    if (!clr_group_memory_take(memory, bytes))
        return CLR_SCAN_LIMIT;
    *room = (struct clr_room){block, bytes, NULL, block};
    return CLR_SCAN_DONE;
}

/* Most rooms of groups are never made, and there are hundreds. */
void clr_room_free(struct clr_room *room, struct clr_group_memory *memory)
{
    if (room->start == NULL && room->taken == 0)
        return;
    if (memory != NULL)
        clr_group_memory_return(memory, room->taken);
    clr_column_release(room->column);
    clr_memory_free(room->block);
    *room = (struct clr_room){NULL, 0, NULL, NULL};
}

/* ---- Lists. */

void clr_group_list_free(struct clr_group_list *list, struct clr_group_memory *memory)
{
    clr_room_free(&list->numbers, memory);
    clr_room_free(&list->x, memory);
    clr_room_free(&list->y, memory);
    list->count = 0;
    list->begun = false;
}

enum clr_scan_outcome clr_group_spills_add(struct clr_group_spills *spills,
                                           struct clr_group_memory *memory,
                                           const struct clr_group_spill *spill)
{
    if (spills->count == spills->capacity) {
        const size_t more = spills->capacity == 0 ? FIRST_CAPACITY : spills->capacity;
        struct clr_group_spill *larger;

        if (!clr_group_memory_take(memory, more * sizeof *larger))
            return CLR_SCAN_LIMIT;
        larger = clr_memory_realloc(spills->spills, (spills->capacity + more) * sizeof *larger);
        if (larger == NULL) {
            clr_group_memory_return(memory, more * sizeof *larger);
            return CLR_SCAN_FAILED;
        }
        spills->spills = larger;
        spills->capacity += more;
    }
    spills->spills[spills->count++] = *spill;
    return CLR_SCAN_DONE;
}

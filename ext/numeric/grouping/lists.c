#include "numeric/grouping/lists.h"

#include "base/memory.h"

#include <string.h>

enum { FIRST_CAPACITY = 64 };

enum clr_scan_outcome clr_group_list_make_room(struct clr_group_list *list,
                                               struct clr_group_memory *memory, size_t more,
                                               size_t most, bool pairs)
{
    const size_t bytes = more * (sizeof(uint32_t) + (pairs ? 2 : 1) * sizeof(int64_t));
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;

    if (!list->begun) {
        list->begun = true;
        outcome = clr_room_reserve(&list->numbers, most * sizeof(uint32_t));
        if (outcome == CLR_SCAN_DONE)
            outcome = clr_room_reserve(&list->x, most * sizeof(int64_t));
        if (outcome == CLR_SCAN_DONE && pairs)
            outcome = clr_room_reserve(&list->y, most * sizeof(int64_t));
    }
    if (outcome == CLR_SCAN_DONE && !clr_group_memory_take(memory, bytes))
        outcome = CLR_SCAN_LIMIT;
    if (outcome == CLR_SCAN_DONE)
        list->x.taken += bytes;
    return outcome;
}

void clr_group_list_add_block(struct clr_group_list *list, const uint32_t *numbers,
                              const int64_t *x, const int64_t *y)
{
    memcpy((uint32_t *)list->numbers.start + list->count, numbers, CLR_BLOCK * sizeof *numbers);
    memcpy((int64_t *)list->x.start + list->count, x, CLR_BLOCK * sizeof *x);
    if (y != NULL)
        memcpy((int64_t *)list->y.start + list->count, y, CLR_BLOCK * sizeof *y);
    list->count += CLR_BLOCK;
}

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

void clr_group_spills_free(struct clr_group_spills *spills, struct clr_group_memory *memory)
{
    clr_group_memory_return(memory, spills->capacity * sizeof *spills->spills);
    clr_memory_free(spills->spills);
    *spills = (struct clr_group_spills){NULL, 0, 0};
}

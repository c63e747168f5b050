/* The values of a list, of one group: in the order of rows or of themselves, each or the first of
   equal ones. */
#include "numeric/groups/group_scan.h"

#include "numeric/order/keys.h"

#include <string.h>

/* Fewer items than these are sorted by insertion: most are in order already, as the rows are. */
enum { FEW_ITEMS = 64 };

/* Sorts items, which are numbers of values, by these: see clr_group_sort(). */
static enum clr_scan_outcome sort_by(const int64_t *values, struct clr_group_item *items,
                                     size_t count, const atomic_bool *stop)
{
    struct clr_group_item item;
    size_t i, j;

    for (i = 0; i < count; i++)
        items[i].key = clr_integer_to_key(values[items[i].number]);
    for (i = 1; i < count && items[i - 1].key <= items[i].key; i++)
        ;
    if (i >= count)
        return CLR_SCAN_DONE;
    if (count >= FEW_ITEMS)
        return clr_group_sort(items, items + count, count, stop);
    for (i = 1; i < count; i++) {
        item = items[i];
        for (j = i; j > 0 && items[j - 1].key > item.key; j--)
            items[j] = items[j - 1];
        items[j] = item;
    }
    return CLR_SCAN_DONE;
}

/* Leaves the first by y of items that are equal. Returns how many are left. */
static size_t leave_first(struct clr_group_item *items, size_t count, const int64_t *y)
{
    size_t left = 0, i;

    for (i = 0; i < count; i++) {
        if (left > 0 && items[i].key == items[left - 1].key) {
            if (y[items[i].number] < y[items[left - 1].number])
                items[left - 1] = items[i];
        } else {
            items[left++] = items[i];
        }
    }
    return left;
}

/*
 * Makes items of the first values by y among equal ones, in the order of the values, where these
 * are that close together that a place for each is cheaper than to sort. Returns how many there
 * are, or 0 if they are not.
 */
static size_t find_first(struct clr_group_item *items, size_t count, const int64_t *x,
                         const int64_t *y)
{
    uint32_t *first = (uint32_t *)(items + count), place;
    int64_t least = x[0], greatest = x[0];
    size_t left = 0, i;

    for (i = 1; i < count; i++) {
        least = x[i] < least ? x[i] : least;
        greatest = x[i] > greatest ? x[i] : greatest;
    }
    if ((uint64_t)greatest - (uint64_t)least >= count)
        return 0;
    memset(first, 0xff, count * sizeof *first);
    for (i = 0; i < count; i++) {
        place = (uint32_t)(x[i] - least);
        if (first[place] == UINT32_MAX || y[i] < y[first[place]])
            first[place] = (uint32_t)i;
    }
    for (i = 0; i < count; i++) {
        if (first[i] != UINT32_MAX)
            items[left++].number = first[i];
    }
    return left;
}

/* Makes items of the values that a list has, of *count values, in its order or the reverse of it.
   Stores how many there are. */
static enum clr_scan_outcome order_items(const struct clr_question *question,
                                         struct clr_group_item *items, const int64_t *x,
                                         const int64_t *y, size_t *count, const atomic_bool *stop)
{
    const size_t all = *count;
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    size_t i;

    *count = question->is_distinct ? find_first(items, all, x, y) : 0;
    if (*count == 0) {
        for (i = 0; i < all; i++)
            items[i].number = (uint32_t)i;
        *count = all;
        if (question->is_distinct)
            outcome = sort_by(x, items, all, stop);
        if (question->is_distinct && outcome == CLR_SCAN_DONE)
            *count = leave_first(items, all, y);
    }
    return outcome != CLR_SCAN_DONE
               ? outcome
               : sort_by(question->order == CLR_BY_ROW ? y : x, items, *count, stop);
}

enum clr_scan_outcome clr_group_list(const struct clr_question *question, const int64_t *x,
                                     const int64_t *y, size_t *count, int64_t *numbers,
                                     struct clr_group_memory *memory, const atomic_bool *stop)
{
    struct clr_group_item *items;
    enum clr_scan_outcome outcome;
    struct clr_room room;
    size_t i;

    outcome = clr_room_make(&room, memory, 2 * *count * sizeof *items);
    if (outcome != CLR_SCAN_DONE)
        return outcome;
    items = room.start;
    outcome = order_items(question, items, x, y, count, stop);
    for (i = 0; i < *count; i++)
        numbers[i] = x[items[question->order == CLR_DESCENDING ? *count - 1 - i : i].number];
    clr_room_free(&room, memory);
    return outcome;
}

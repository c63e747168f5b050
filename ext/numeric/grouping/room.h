/* Memory for groups: zeros that cost nothing until they are touched, under one limit that all
   threads of a grouping share; and lists of values in it, with the numbers of their groups, in the
   order of the rows. */
#ifndef CLR_NUMERIC_GROUP_ROOM_H
#define CLR_NUMERIC_GROUP_ROOM_H

#include "numeric/scan/loops.h"
#include "numeric/scan/scan.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Bytes that may still be taken. */
struct clr_group_memory {
    atomic_int_fast64_t left;
};

/* Takes bytes out of the limit. Returns false, and takes nothing, if so many are not left. */
bool clr_group_memory_take(struct clr_group_memory *memory, size_t bytes);
void clr_group_memory_return(struct clr_group_memory *memory, size_t bytes);

/* A piece of memory that begins at a cache line. All zeros: there is none. */
struct clr_room {
    void *start;
    size_t taken;              /* bytes that count towards the limit */
    struct clr_column *column; /* what it lies in: one of these */
    void *block;
};

/* Makes a room of so many bytes, which are zero and count. Returns CLR_SCAN_DONE, CLR_SCAN_LIMIT or
   CLR_SCAN_FAILED without memory. */
enum clr_scan_outcome clr_room_make(struct clr_room *room, struct clr_group_memory *memory,
                                    size_t bytes);

/* The same, but whoever writes to it takes what is needed out of the limit, and adds it to taken.
 */
enum clr_scan_outcome clr_room_reserve(struct clr_room *room, size_t bytes);

/* Makes a room of a block of so many bytes, which is the room's from here on and counts. Returns
   CLR_SCAN_DONE; or CLR_SCAN_LIMIT, with an empty room. */
enum clr_scan_outcome clr_room_adopt(struct clr_room *room, struct clr_group_memory *memory,
                                     size_t bytes, void *block);

/* Frees the memory; there is none then, which is fine here too. What it took is given back to
   memory, if that is not NULL. */
void clr_room_free(struct clr_room *room, struct clr_group_memory *memory);

/* ---- Values that lie together by group in the end, and those, few, that a record does not hold.
 */

/* What a list has: values, or pairs, of one type. */
enum clr_group_list_kind { CLR_LIST_INTEGERS, CLR_LIST_REALS, CLR_LISTS };

struct clr_group_list {
    struct clr_room numbers, x, y; /* uint32_t; int64_t, bits; likewise, of pairs alone */
    size_t count;
    bool begun;
};

void clr_group_list_free(struct clr_group_list *list, struct clr_group_memory *memory);

/* A value of a tally, or a product if y has a tag, to be added to the exact sum of a group. */
struct clr_group_spill {
    uint32_t number;
    uint16_t tally;
    uint8_t x_tag, y_tag;
    int64_t x, y;
};

struct clr_group_spills {
    struct clr_group_spill *spills;
    size_t count, capacity;
};

enum clr_scan_outcome clr_group_spills_add(struct clr_group_spills *spills,
                                           struct clr_group_memory *memory,
                                           const struct clr_group_spill *spill);

#endif

/*
 * Which frame of a write-ahead log has a page's newest content: an open-addressing hash table with
 * linear probing (Knuth, TAOCP 3, 6.4), by page. Its size follows from the frames that were read,
 * and from no number that a file gives. Whoever writes the log chooses the pages: so that they
 * cannot be chosen to share a slot, the hash has a seed.
 */
#ifndef CLR_STORAGE_WAL_MAP_H
#define CLR_STORAGE_WAL_MAP_H

#include "numeric/values/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLR_WAL_SALTS = 8 /* bytes */ };

struct clr_wal_slot {
    uint32_t page; /* 0: the slot is free */
    uint32_t frame;
};

/* Zeros: of no log. */
struct clr_wal_map {
    uint64_t seed; /* any number that who writes the log does not know; stays */
    /* What it is of: the first `last` frames of the log with these salts and this page size; the
       last one said that the database then had so many pages. */
    unsigned char salts[CLR_WAL_SALTS];
    uint32_t page_size, last, page_count;
    struct clr_wal_slot *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t used;
};

/* Returns the first slot that may have a page. */
static inline size_t clr_wal_map_slot(const struct clr_wal_map *map, uint32_t page)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    const uint64_t hash = clr_bytes_fold(page ^ map->seed, factor);

    return (size_t)clr_bytes_fold(hash ^ factor, map->seed | 1) & (map->capacity - 1);
}

/* Returns the number of the frame, from 1, that has a page's newest content; 0: none has it. */
static inline uint32_t clr_wal_map_find(const struct clr_wal_map *map, uint32_t page)
{
    size_t i;

    if (map->used == 0)
        return 0;
    /* No more than half of the slots are used. */
    for (i = clr_wal_map_slot(map, page); map->slots[i].page != 0;
         i = (i + 1) & (map->capacity - 1))
        if (map->slots[i].page == page)
            return map->slots[i].frame;
    return 0;
}

/* Says that a page, which is not 0, is in a frame that is newer than all before. Returns false
   without memory; the map is as it was then. */
bool clr_wal_map_add(struct clr_wal_map *map, uint32_t page, uint32_t frame);

/* Makes it a map of no log, and keeps its memory. */
void clr_wal_map_clear(struct clr_wal_map *map);

/* Frees its memory; it is a map of no log then. */
void clr_wal_map_free(struct clr_wal_map *map);

#endif

/* The write-ahead log: which frame holds a page. File format, section 4. */
#ifndef CLR_STORAGE_WAL_H
#define CLR_STORAGE_WAL_H

#include "base/status.h"
#include "engine/worker/team.h"
#include "numeric/values/bytes.h"
#include "storage/format/page_set.h"
#include "storage/format/source.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Which frame of a write-ahead log has a page's newest content: an open-addressing hash table with
 * linear probing (Knuth, TAOCP 3, 6.4), by page. Its size follows from the frames that were read,
 * and from no number that a file gives. Whoever writes the log chooses the pages: so that they
 * cannot be chosen to share a slot, the hash has a seed.
 */
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
    uint32_t *pages; /* of frames 1 to last */
    size_t room;     /* for so many */
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

/* Makes it a map of no log, and keeps its memory. */
void clr_wal_map_clear(struct clr_wal_map *map);

/* Frees its memory; it is a map of no log then. */
void clr_wal_map_free(struct clr_wal_map *map);

/*
 * Makes the map one of the first `last` frames of the log: reads the headers of those alone that it
 * has not, if it is of fewer frames of the same log, and of all else. source needs its read
 * function, page_size and page_count; salts are the two words of the snapshot's wal-index header,
 * in the byte order in which the log's file has them. The log's magic, page size and salts, and
 * each frame's salts, are compared: a mismatch is CLR_INVALID, a failing read CLR_IO with the
 * result code in error, no memory CLR_NOMEM, a stop by the watch, which may be NULL, CLR_STOPPED;
 * the map is of no log then. The last frame has to be the commit that made the database page_count
 * pages long. With last 0 the log is not read. Pages beyond page_count can be in the map, as the
 * database may have shrunk.
 */
enum clr_code clr_wal_map_read(struct clr_wal_map *map, const struct clr_source *source,
                               const unsigned char salts[CLR_WAL_SALTS], uint32_t last,
                               const struct clr_watch *watch, struct clr_status *status);

/*
 * Finds the pages that frames first to last of the log name: by the source's map of these salts, if
 * that has as many frames, and else with source, salts, watch and checks as above, but the last
 * frame's size is not looked at. Stores a set that can have source's
 * page_count pages in *changes, to be freed with clr_page_set_free().
 */
enum clr_code clr_wal_changes(const struct clr_source *source,
                              const unsigned char salts[CLR_WAL_SALTS], uint32_t first,
                              uint32_t last, const struct clr_watch *watch,
                              struct clr_page_set **changes, struct clr_status *status);

#endif

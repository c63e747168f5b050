#include "storage/snapshot/wal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "storage/format/varint.h"

#include <string.h>

/* ---- The map. */

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

/* Says that a page, which is not 0, is in the frame after those that the map has. Returns false
   without memory; the map is as it was then. */
static bool add_frame(struct clr_wal_map *map, uint32_t page)
{
    struct clr_wal_slot *slot;
    uint32_t *pages =
        clr_memory_make_room(map->pages, &map->room, (size_t)map->last + 1, sizeof *pages);

    if (pages != NULL)
        map->pages = pages;
    if (pages == NULL || (2 * (map->used + 1) > map->capacity && !grow(map)))
        return false;
    slot = look_up(map, page);
    map->used += slot->page == 0;
    map->pages[map->last++] = page;
    *slot = (struct clr_wal_slot){.page = page, .frame = map->last};
    return true;
}

void clr_wal_map_clear(struct clr_wal_map *map)
{
    const struct clr_wal_map before = *map;

    if (map->used > 0)
        memset(map->slots, 0, map->capacity * sizeof *map->slots);
    *map = (struct clr_wal_map){.seed = before.seed,
                                .slots = before.slots,
                                .capacity = before.capacity,
                                .pages = before.pages,
                                .room = before.room};
}

void clr_wal_map_free(struct clr_wal_map *map)
{
    clr_memory_free(map->slots);
    clr_memory_free(map->pages);
    *map = (struct clr_wal_map){.seed = map->seed};
}

/* ---- The log. */

enum { HEADER_SIZE = 32, FRAME_HEADER_SIZE = 24 };

static enum clr_code read_log(const struct clr_source *source, void *buffer, size_t size,
                              int64_t offset, struct clr_status *status)
{
    int code = source->read(source->context, CLR_FILE_WAL, buffer, size, offset);

    if (code == 0)
        return CLR_OK;
    return clr_status_set(status, CLR_IO, code, "reading the write-ahead log: result code %d",
                          code);
}

/* Section 4.1: the log's header. The magic's last bit tells the byte order of checksums. */
static enum clr_code check_header(const struct clr_source *source,
                                  const unsigned char salts[CLR_WAL_SALTS],
                                  struct clr_status *status)
{
    unsigned char header[HEADER_SIZE];
    enum clr_code code = read_log(source, header, sizeof header, 0, status);

    if (code != CLR_OK)
        return code;
    if ((clr_get_u32(header) & ~UINT32_C(1)) != UINT32_C(0x377f0682))
        return clr_status_set(status, CLR_INVALID, 0, "the write-ahead log has another magic");
    if (clr_get_u32(header + 8) != source->page_size)
        return clr_status_set(status, CLR_INVALID, 0, "the write-ahead log has another page size");
    if (memcmp(header + 16, salts, CLR_WAL_SALTS) != 0)
        return clr_status_set(status, CLR_INVALID, 0, "the write-ahead log has begun anew");
    return CLR_OK;
}

/* What the frames of a log are read with. */
struct frames {
    const struct clr_source *source;
    const unsigned char *salts;
    const struct clr_watch *watch;
    int64_t asked_at;
    struct clr_status *status;
};

/* Section 4.1: a frame's page, and the database's size if it is the last of a commit. */
static enum clr_code read_frame(struct frames *frames, uint32_t frame, uint32_t *page,
                                uint32_t *size)
{
    const struct clr_source *source = frames->source;
    unsigned char header[FRAME_HEADER_SIZE];
    int64_t offset =
        HEADER_SIZE + (int64_t)(frame - 1) * (FRAME_HEADER_SIZE + (int64_t)source->page_size);
    enum clr_code code;

    if (clr_watch_wants_stop(frames->watch, &frames->asked_at))
        return clr_status_set(frames->status, CLR_STOPPED, 0, "stopped in the write-ahead log");
    code = read_log(source, header, sizeof header, offset, frames->status);
    if (code != CLR_OK)
        return code;
    *page = clr_get_u32(header);
    *size = clr_get_u32(header + 4);
    if (*page == 0 || memcmp(header + 8, frames->salts, CLR_WAL_SALTS) != 0)
        return clr_status_set(frames->status, CLR_INVALID, 0,
                              "frame %u of the write-ahead log is of another log", (unsigned)frame);
    return CLR_OK;
}

static enum clr_code no_memory(struct clr_status *status)
{
    return clr_status_set(status, CLR_NOMEM, 0, "no memory for the write-ahead log's pages");
}

/* Section 4.4: a later frame is newer. */
static enum clr_code add_frames(struct clr_wal_map *map, struct frames *frames, uint32_t last)
{
    uint32_t page, size;

    while (map->last < last) {
        enum clr_code code = read_frame(frames, map->last + 1, &page, &size);

        if (code != CLR_OK)
            return code;
        if (!add_frame(map, page))
            return no_memory(frames->status);
        map->page_count = size;
    }
    /* A snapshot ends with a commit, whose frame has the database's size. */
    if (map->page_count != frames->source->page_count)
        return clr_status_set(frames->status, CLR_INVALID, 0,
                              "frame %u of the write-ahead log is not the snapshot's last",
                              (unsigned)last);
    return CLR_OK;
}

enum clr_code clr_wal_map_read(struct clr_wal_map *map, const struct clr_source *source,
                               const unsigned char salts[CLR_WAL_SALTS], uint32_t last,
                               const struct clr_watch *watch, struct clr_status *status)
{
    struct frames frames = {source, salts, watch, clr_clock_ns(), status};
    enum clr_code code;

    if (last == 0 || map->last > last || map->page_size != source->page_size ||
        memcmp(map->salts, salts, CLR_WAL_SALTS) != 0) {
        clr_wal_map_clear(map);
        map->page_size = source->page_size;
        memcpy(map->salts, salts, CLR_WAL_SALTS);
    }
    if (last == 0)
        return CLR_OK;
    code = check_header(source, salts, status);
    if (code == CLR_OK)
        code = add_frames(map, &frames, last);
    if (code != CLR_OK)
        clr_wal_map_clear(map);
    return code;
}

enum clr_code clr_wal_changes(const struct clr_source *source,
                              const unsigned char salts[CLR_WAL_SALTS], uint32_t first,
                              uint32_t last, const struct clr_watch *watch,
                              struct clr_page_set **changes, struct clr_status *status)
{
    const struct clr_wal_map *map = source->log;
    const bool is_mapped =
        map != NULL && map->last >= last && memcmp(map->salts, salts, CLR_WAL_SALTS) == 0;
    struct frames frames = {source, salts, watch, clr_clock_ns(), status};
    struct clr_page_set *set = clr_page_set_new(source->page_count);
    uint32_t frame, page, size;
    enum clr_code code = set == NULL ? no_memory(status) : check_header(source, salts, status);

    *changes = NULL;
    for (frame = first; frame <= last && code == CLR_OK; frame++) {
        if (is_mapped)
            page = map->pages[frame - 1];
        else
            code = read_frame(&frames, frame, &page, &size);
        if (code == CLR_OK && page <= source->page_count && !clr_page_set_add(set, page))
            code = no_memory(status);
    }
    if (code == CLR_OK)
        *changes = set;
    else
        clr_page_set_free(set);
    return code;
}

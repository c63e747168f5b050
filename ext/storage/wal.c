#include "storage/wal.h"

#include "base/memory.h"
#include "storage/varint.h"

#include <string.h>

enum { HEADER_SIZE = 32, FRAME_HEADER_SIZE = 24, SALTS_SIZE = 8 };

static enum clr_code read_log(const struct clr_source *source, void *buffer, size_t size,
                              int64_t offset, struct clr_status *status)
{
    int code = source->read(source->context, CLR_FILE_WAL, buffer, size, offset);

    if (code == 0)
        return CLR_OK;
    return clr_status_set(status, CLR_DEVICE, code, "reading the write-ahead log: result code %d",
                          code);
}

/* Section 4.1: the log's header. The magic's last bit tells the byte order of checksums. */
static enum clr_code check_header(const struct clr_source *source, const unsigned char salts[8],
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
    if (memcmp(header + 16, salts, SALTS_SIZE) != 0)
        return clr_status_set(status, CLR_INVALID, 0, "the write-ahead log has begun anew");
    return CLR_OK;
}

/* Section 4.1: a frame's page, and the database's size if it is the last of a commit. */
static enum clr_code read_frame(const struct clr_source *source, const unsigned char salts[8],
                                uint32_t frame, uint32_t *page, uint32_t *size,
                                struct clr_status *status)
{
    unsigned char header[FRAME_HEADER_SIZE];
    int64_t offset =
        HEADER_SIZE + (int64_t)(frame - 1) * (FRAME_HEADER_SIZE + (int64_t)source->page_size);
    enum clr_code code = read_log(source, header, sizeof header, offset, status);

    if (code != CLR_OK)
        return code;
    *page = clr_get_u32(header);
    *size = clr_get_u32(header + 4);
    if (*page == 0 || memcmp(header + 8, salts, SALTS_SIZE) != 0)
        return clr_status_set(status, CLR_INVALID, 0,
                              "frame %u of the write-ahead log is of another log", (unsigned)frame);
    return CLR_OK;
}

/* Section 4.4: a later frame is newer. */
static enum clr_code map_frames(const struct clr_source *source, const unsigned char salts[8],
                                uint32_t last, uint32_t *map, struct clr_status *status)
{
    uint32_t frame, page, size;

    for (frame = 1; frame <= last; frame++) {
        enum clr_code code = read_frame(source, salts, frame, &page, &size, status);

        if (code != CLR_OK)
            return code;
        /* A snapshot ends with a commit, whose frame has the database's size. */
        if (frame == last && size != source->page_count)
            return clr_status_set(status, CLR_INVALID, 0,
                                  "frame %u of the write-ahead log is not the snapshot's last",
                                  (unsigned)frame);
        /* A page beyond the end: the database has shrunk since. */
        if (page <= source->page_count)
            map[page - 1] = frame;
    }
    return CLR_OK;
}

enum clr_code clr_wal_map(const struct clr_source *source, const unsigned char salts[8],
                          uint32_t last, uint32_t **frames, struct clr_status *status)
{
    size_t size = (source->page_count + (size_t)1) * sizeof **frames;
    uint32_t *map = clr_memory_alloc(size);
    enum clr_code code = CLR_OK;

    *frames = NULL;
    if (map == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for the write-ahead log's pages");
    memset(map, 0, size);
    if (last > 0)
        code = check_header(source, salts, status);
    if (code == CLR_OK)
        code = map_frames(source, salts, last, map, status);
    if (code == CLR_OK)
        *frames = map;
    else
        clr_memory_free(map);
    return code;
}

enum clr_code clr_wal_changes(const struct clr_source *source, const unsigned char salts[8],
                              uint32_t first, uint32_t last, uint32_t **changes,
                              struct clr_status *status)
{
    size_t words = clr_page_set_words(source->page_count);
    uint32_t *set = clr_memory_alloc(words * sizeof *set), frame, page, size;
    enum clr_code code;

    *changes = NULL;
    if (set == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for the write-ahead log's pages");
    memset(set, 0, words * sizeof *set);
    set[words - 1] = ~UINT32_C(0) << source->page_count % CLR_PAGE_SET_WORD << 1;
    code = check_header(source, salts, status);
    for (frame = first; frame <= last && code == CLR_OK; frame++) {
        code = read_frame(source, salts, frame, &page, &size, status);
        if (code == CLR_OK && page <= source->page_count)
            clr_page_set_add(set, page);
    }
    if (code == CLR_OK)
        *changes = set;
    else
        clr_memory_free(set);
    return code;
}

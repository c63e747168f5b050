/*
 * Pages: reading them, meeting each of them once, and the headers of b-tree pages. File format,
 * sections 1.3 and 1.6. Buffers of pages have CLR_PAGE_SLACK readable bytes after them, so that a
 * number at a page's end can be read before it is known to fit.
 */
#ifndef CLR_STORAGE_PAGE_H
#define CLR_STORAGE_PAGE_H

#include "engine/worker/team.h"
#include "storage/format/page_set.h"
#include "storage/format/source.h"
#include "storage/format/varint.h"
#include "storage/snapshot/wal.h"

#include <stdatomic.h>

enum { CLR_PAGE_SLACK = 32 };
enum {
    CLR_PAGE_INDEX_INTERIOR = 2,
    CLR_PAGE_TABLE_INTERIOR = 5,
    CLR_PAGE_INDEX_LEAF = 10,
    CLR_PAGE_TABLE_LEAF = 13
};

/* What one thread needs to read pages, and what it has to say when that fails. */
struct clr_pages {
    const struct clr_source *source;
    struct clr_page_set *visited;     /* shared by all threads */
    const struct clr_page_set *inner; /* an index's interior pages, once they are known */
    const atomic_bool *stop;          /* NULL: nobody sets it */
    const struct clr_watch *watch;    /* to be asked by this thread, or NULL */
    int64_t asked_at;
    int64_t bytes_read;
    uint32_t page; /* that was not as it must be, or could not be read */
    int code;      /* of the read that failed; 0: no memory. CLR_LOAD_MANY_VALUES: the field's
                      position */
};

/*
 * Says that count pages are about to be used, one after the other. CLR_LOAD_MALFORMED if there is
 * no such page, if it is the one that locks need (section 1.4), or if the load has met it before;
 * CLR_LOAD_FAILED without memory.
 * Any thread may call it at any time.
 */
enum clr_load_outcome clr_pages_visit(struct clr_pages *pages, const uint32_t *numbers,
                                      size_t count);

/* Returns the page that holds the bytes which SQLite locks, and never data. Section 1.4. */
static inline uint32_t clr_lock_page(const struct clr_source *source)
{
    return 0x40000000 / source->page_size + 1;
}

/* Whether the newest content of a page is in the database file, and not in the log. */
static inline bool clr_page_in_database(const struct clr_source *source, uint32_t number)
{
    return source->log == NULL || clr_wal_map_find(source->log, number) == 0;
}

/*
 * Reads count pages from number on; if there are several, all are in the database file. Looks for a
 * wish to stop before.
 */
enum clr_load_outcome clr_pages_read(struct clr_pages *pages, uint32_t number, uint32_t count,
                                     unsigned char *buffer);

/*
 * The same, but copies nothing where the source has the pages in memory: stores where the first one
 * is, there or in the buffer. The next ones follow it.
 */
enum clr_load_outcome clr_pages_fetch(struct clr_pages *pages, uint32_t number, uint32_t count,
                                      unsigned char *buffer, const unsigned char **where);

/* A b-tree page whose header is sound. */
struct clr_page {
    const unsigned char *data;     /* the page's first byte: offsets count from there */
    const unsigned char *pointers; /* two bytes for each cell */
    uint32_t cells;
    uint32_t first, last; /* the least and the greatest offset that a cell can have */
    uint32_t right;       /* the rightmost child of an interior page */
    uint32_t child; /* bytes of a cell before its payload's size: of an index's interior page */
};

/*
 * Checks the header of a b-tree page, whose flags are to be those given. CLR_LOAD_MALFORMED if they
 * are others, also where there is no cell at all, unless may_be_empty.
 */
enum clr_load_outcome clr_page_open(struct clr_pages *pages, uint32_t number,
                                    const unsigned char *data, int flags, bool may_be_empty,
                                    struct clr_page *page);

/* Returns how many bytes a payload has at most that lies in its page alone. Section 1.6, "Cell
   Payload Overflow Pages": X. */
static inline uint32_t clr_page_most_local(const struct clr_source *source)
{
    const uint32_t usable = source->usable_size;

    return source->is_index ? (usable - 12) * 64 / 255 - 23 : usable - 35;
}

/* Returns the most cells that a b-tree page can have. */
static inline uint32_t clr_page_most_cells(const struct clr_source *source)
{
    return (source->page_size - 8) / 6;
}

/* Returns the flags in the header of a b-tree page. */
static inline int clr_page_flags(uint32_t number, const unsigned char *data)
{
    return data[number == 1 ? 100 : 0]; /* page 1 begins with the file's header */
}

/* Returns the offset of a cell, or 0 if its pointer is bad. */
static inline uint32_t clr_page_cell(const struct clr_page *page, uint32_t i)
{
    uint32_t offset = clr_get_u16(page->pointers + 2 * (size_t)i);

    return offset >= page->first && offset <= page->last ? offset : 0;
}

/* Returns the payload of the cell at an offset that has been checked, and stores its rowid. Section
   1.6, "Table B-Tree Leaf Cell". */
static inline const unsigned char *clr_page_open_cell(const struct clr_page *page, uint32_t offset,
                                                      int64_t *rowid)
{
    uint64_t size, number;
    const unsigned char *payload =
        clr_get_varint(clr_get_varint(page->data + offset, &size), &number);

    *rowid = (int64_t)number;
    return payload;
}

/* Returns the payload of a leaf's cell of an index, which has no rowid: "Index B-Tree Leaf Cell".
 */
static inline const unsigned char *clr_page_open_index_cell(const struct clr_page *page,
                                                            uint32_t offset)
{
    uint64_t size;

    return clr_get_varint(page->data + offset, &size);
}

/* Says that there was no memory. */
static inline enum clr_load_outcome clr_pages_no_memory(struct clr_pages *pages)
{
    pages->code = 0;
    return CLR_LOAD_FAILED;
}

/* Names a page as the one that is malformed. */
static inline enum clr_load_outcome clr_page_malformed(struct clr_pages *pages, uint32_t number)
{
    pages->page = number;
    return CLR_LOAD_MALFORMED;
}

#endif

/*
 * Where pages come from: the file of a database, and its write-ahead log, as of one snapshot that
 * the caller holds by a read transaction. SQLite's handles stay behind the function. And how a load
 * or a stream of them ends.
 */
#ifndef CLR_STORAGE_SOURCE_H
#define CLR_STORAGE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clr_wal_map;

enum clr_file { CLR_FILE_DATABASE, CLR_FILE_WAL };

struct clr_source {
    void *context;
    /*
     * Reads size bytes at a byte offset into buffer. Returns 0, or SQLite's result code, also for a
     * file that ends before (SQLITE_IOERR_SHORT_READ).
     */
    int (*read)(void *context, enum clr_file file, void *buffer, size_t size, int64_t offset);
    bool parallel;        /* several threads may read at the same time */
    size_t least_leaves;  /* a b-tree with fewer leaf pages is read by one all the same */
    uint32_t page_size;   /* bytes: a power of two from 512 to 65536 */
    uint32_t usable_size; /* page_size less the bytes reserved at each page's end: 480 and up */
    uint32_t page_count;  /* pages of the database in this snapshot */
    /* The longest TEXT or BLOB that may be there, in bytes, SQLITE_LIMIT_LENGTH: one that is longer
       ends a load with CLR_LOAD_UNSURE. 0: any may. All that a page has room for may. */
    uint32_t longest;
    /* The b-tree that is read is to be an index's, as that of a WITHOUT ROWID table, else a
       table's. Section 1.6: interior pages of indexes have rows as well. */
    bool is_index;
    /* Which frames of the write-ahead log have pages' newest content: the other pages are in the
       database file. NULL if all pages are. */
    const struct clr_wal_map *log;
    /* Where the database file's first pages, so many, and CLR_PAGE_SLACK bytes after them are in
       memory, or NULL. Nobody writes to those that are not in the log as long as there is the
       snapshot. */
    const unsigned char *mapped;
    uint32_t mapped_pages;
};

enum clr_load_outcome {
    CLR_LOAD_DONE,
    CLR_LOAD_STOPPED,     /* as watch asked */
    CLR_LOAD_MALFORMED,   /* a page is not as it must be: its number is in the report */
    CLR_LOAD_UNSUPPORTED, /* not a rowid table, or a row that only SQLite can read */
    CLR_LOAD_TOO_LARGE,   /* more rows, or bytes of TEXT and BLOBs, than there may be */
    CLR_LOAD_MANY_VALUES, /* too many for codes, or others than times, of the report's field */
    CLR_LOAD_UNSURE,      /* as CLR_SCAN_UNSURE: there is a value that only SQLite can treat */
    CLR_LOAD_FAILED       /* no memory, or a read failed: status, with SQLite's code in error */
};

struct clr_load_report {
    int64_t bytes_read;
    uint32_t page; /* of CLR_LOAD_MALFORMED */
    int field;     /* of CLR_LOAD_MANY_VALUES: its number among those that were to be loaded */
};

#endif

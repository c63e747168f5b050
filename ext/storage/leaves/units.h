/*
 * The leaf pages of a table, divided into units of work: a unit is a run of leaves that one thread
 * reads and decodes. What becomes of its rows is the business of loads and streams.
 */
#ifndef CLR_STORAGE_UNITS_H
#define CLR_STORAGE_UNITS_H

#include "base/status.h"
#include "engine/worker/team.h"
#include "storage/leaves/decode.h"
#include "storage/snapshot/tree.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Leaf pages that one thread reads, as many at a time as there is room for, and decodes. */
struct clr_leaf_reader {
    struct clr_decoder decoder;
    struct clr_leaf *leaves; /* those that were read last; described when they are decoded */
    size_t count;            /* of them */
    struct clr_page *pages;  /* of these */
    size_t room;             /* pages in the buffer */
    unsigned char *buffer;
    const unsigned char **where;
};

/*
 * Begins to read `most` leaves at a time at most, by way of pages, for fields that are those of
 * clr_record_fields(); both stay with the caller. Returns CLR_LOAD_DONE or CLR_LOAD_FAILED. Free in
 * any case.
 */
enum clr_load_outcome clr_leaf_reader_init(struct clr_leaf_reader *reader, struct clr_pages *pages,
                                           const struct clr_field *fields, int field_count,
                                           size_t most);
void clr_leaf_reader_free(struct clr_leaf_reader *reader);

/*
 * Reads the pages of those numbers, and stores how many rows they have. Only if a leaf is the
 * table's only one it may be empty. The buffer has room for more pages than `most`: it serves to
 * read over holes, pages not asked for between two that are.
 */
enum clr_load_outcome clr_leaf_reader_read(struct clr_leaf_reader *reader, const uint32_t *numbers,
                                           size_t count, bool is_only, size_t *rows);

/* Decodes the leaves that have been read last, after the rows that the decoder has. */
enum clr_load_outcome clr_leaf_reader_decode(struct clr_leaf_reader *reader);

struct clr_unit {
    size_t first, count; /* its leaves, of those of the units */
    /* Rowids, where there are rows that have any: stored by whoever has met them. */
    int64_t least, greatest;
    /* Of loads: where its rows go in the columns, and its leaves in the layout. */
    size_t row, rows, place;
    int thread; /* that has decoded it */
};

/* What the threads share. */
struct clr_units {
    const struct clr_source *source;
    const struct clr_layout *layout; /* whose leaves are divided, in its order, or NULL */
    int threads;                     /* how many the units are worth */
    /* In the order of keys, unless there is a layout; of an index all pages, as all have rows. */
    struct clr_page_list leaves;
    size_t most_leaves; /* of a unit */
    struct clr_unit *units;
    size_t count;
    struct clr_field *fields; /* as clr_record_fields() has them */
    int field_count;
    const struct clr_watch *watch; /* if the calling thread does the work, else NULL */
    struct clr_page_set *visited;  /* NULL once others have taken it over */
    atomic_size_t next;            /* so many have been taken */
    atomic_int_least64_t bytes_read;
    atomic_bool failed;
    /* Written by whoever sets failed, and read when all threads have returned. */
    enum clr_load_outcome outcome;
    uint32_t page;
    int code;
};

/*
 * Finds the leaves of the table whose root page is root, as clr_tree_leaves() does, and divides
 * them into units of at most most_leaves leaves, within which rowids ascend. There is one unit at
 * least. layout may be NULL; if it is known, units follow it,
 * with rows and places: CLR_LOAD_MALFORMED if the table's leaves are others. watch may be NULL.
 * Whatever the outcome, clr_units_report() and clr_units_free() have to follow.
 */
enum clr_load_outcome clr_units_find(struct clr_units *units, const struct clr_source *source,
                                     uint32_t root, const struct clr_field *fields, int count,
                                     size_t most_leaves, const struct clr_layout *layout,
                                     const struct clr_watch *watch);

/*
 * Runs work(argument, thread, reader) in the calling thread, or for each of units->threads threads,
 * from 0, in one of its own, with a reader that is the thread's. All of it is to take units until
 * there are no more. Unless the units follow a layout, rowids have to ascend from unit to unit.
 * Returns the outcome of them all.
 */
typedef enum clr_load_outcome clr_units_work(void *argument, int thread,
                                             struct clr_leaf_reader *reader);
enum clr_load_outcome clr_units_run(struct clr_units *units, clr_units_work *work, void *argument,
                                    const struct clr_watch *watch);

/* Stores the number of a unit that no thread has taken yet. Returns false if there is none, or if
   a thread has failed. */
bool clr_units_take(struct clr_units *units, size_t *i);

/* Reads the pages of unit i and stores how many rows they have. */
enum clr_load_outcome clr_unit_read(const struct clr_units *units, size_t i,
                                    struct clr_leaf_reader *reader, size_t *rows);

/* Decodes unit i, which the reader has read last, after the rows that its decoder has. */
enum clr_load_outcome clr_unit_decode(const struct clr_units *units, size_t i,
                                      struct clr_leaf_reader *reader);

/* Says what went wrong outside of pages, and returns the outcome. code 0: no memory. */
enum clr_load_outcome clr_units_fail(struct clr_units *units, enum clr_load_outcome outcome,
                                     uint32_t page, int code);

/* Returns pages for a thread that reads some of the units' table. */
struct clr_pages clr_units_pages(const struct clr_units *units);

/* Takes what such pages have to tell about an outcome, and returns that. */
enum clr_load_outcome clr_units_note(struct clr_units *units, enum clr_load_outcome outcome,
                                     const struct clr_pages *pages);

/* Fills in the report of an outcome, and the status of CLR_LOAD_FAILED. */
void clr_units_report(const struct clr_units *units, enum clr_load_outcome outcome,
                      struct clr_load_report *report, struct clr_status *status);

void clr_units_free(struct clr_units *units);

#endif

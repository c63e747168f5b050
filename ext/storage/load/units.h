/*
 * The leaf pages of a table, divided into units of work: a unit is a run of leaves that one thread
 * reads and decodes. What becomes of its rows is the business of loads and streams.
 */
#ifndef CLR_STORAGE_UNITS_H
#define CLR_STORAGE_UNITS_H

#include "base/status.h"
#include "engine/worker/team.h"
#include "storage/format/field.h"
#include "storage/load/decode.h"
#include "storage/snapshot/tree.h"

#include <stdatomic.h>
#include <stddef.h>

/* What was met in a unit. */
struct clr_unit {
    int64_t first, last; /* rowids, where there are rows */
};

/* What the threads share. */
struct clr_units {
    const struct clr_source *source;
    int threads; /* how many the units are worth; may be lowered before they run */
    struct clr_page_list leaves;
    size_t unit_leaves; /* in each unit but the last */
    size_t count;
    struct clr_unit *units;
    struct clr_want *wants; /* ascending by index, with the field's number as position */
    int want_count;
    struct clr_leaf *met; /* the leaves, if notes are to be taken (see leaves.h), or NULL */
    uint32_t *walked;     /* with these: the set of pages that led there */
    const struct clr_watch *watch; /* if the calling thread does the work, else NULL */
    atomic_uint *visited;
    atomic_size_t next;
    atomic_int_least64_t bytes_read;
    atomic_bool failed;
    /* Written by whoever sets failed, and read when all threads have returned. */
    enum clr_load_outcome outcome;
    uint32_t page;
    int code;
};

/* A thread's own. */
struct clr_unit_reader {
    struct clr_units *units;
    struct clr_pages pages;
    struct clr_decoder decoder;
    unsigned char *buffer;
    size_t room; /* pages in the buffer */
    const unsigned char **where;
    struct clr_page *leaves; /* of the unit that was read */
};

/*
 * Finds the leaves of the table whose root page is root, and divides them into units of at most
 * most_leaves leaves; how depends on the table and most_leaves alone. There is one unit at least.
 * watch may be NULL. Whatever the outcome, clr_units_report() and clr_units_free() have to follow.
 */
enum clr_load_outcome clr_units_find(struct clr_units *units, const struct clr_source *source,
                                     uint32_t root, const struct clr_field *fields, int count,
                                     size_t most_leaves, const struct clr_watch *watch);

/*
 * Runs work(argument, thread, stop) in the calling thread, or for each of units->threads threads,
 * from 0, in one of its own. All of it is to make a reader and to take units until there are no
 * more. Rowids have to ascend from unit to unit. Returns the outcome of them all.
 */
enum clr_load_outcome clr_units_run(struct clr_units *units,
                                    void (*work)(void *argument, int thread,
                                                 const atomic_bool *stop),
                                    void *argument, const struct clr_watch *watch);

/* Begins a thread's work. End it in any case; the outcome of what failed is to be given there. */
enum clr_load_outcome clr_unit_reader_init(struct clr_unit_reader *reader, struct clr_units *units,
                                           const atomic_bool *stop);
void clr_unit_reader_end(struct clr_unit_reader *reader, enum clr_load_outcome outcome);

/* Stores the number of a unit that no thread has taken yet. Returns false if there is none, or if
   a thread has failed. */
bool clr_units_take(struct clr_units *units, size_t *i);

/* Reads the pages of unit i and stores how many rows they have. */
enum clr_load_outcome clr_unit_read(struct clr_unit_reader *reader, size_t i, size_t *rows);

/* The same, into a buffer of the caller's, with room for reader->room pages and CLR_PAGE_SLACK
   bytes after them: *used of these are filled. */
enum clr_load_outcome clr_unit_read_to(struct clr_unit_reader *reader, size_t i,
                                       unsigned char *buffer, size_t *used, size_t *rows);

/* Returns how many leaves unit i has. */
size_t clr_unit_leaves(const struct clr_units *units, size_t i);

/* Decodes the unit that has been read last, into the targets of the reader's decoder; the caller
   has set these, one for each of the units' wants. */
enum clr_load_outcome clr_unit_decode(struct clr_unit_reader *reader, size_t i);

/* Whether any unit has been taken, or has failed. */
static inline bool clr_units_have_run(struct clr_units *units)
{
    return atomic_load(&units->next) > 0 || atomic_load(&units->failed);
}

/* Says what went wrong outside of units, and returns the outcome. code 0: no memory. */
enum clr_load_outcome clr_units_fail(struct clr_units *units, enum clr_load_outcome outcome,
                                     uint32_t page, int code);

/* Fills in the report of an outcome, and the status of CLR_LOAD_FAILED. */
void clr_units_report(const struct clr_units *units, enum clr_load_outcome outcome,
                      struct clr_load_report *report, struct clr_status *status);

void clr_units_free(struct clr_units *units);

#endif

/*
 * The rows of a table in segments, which are scanned as its pages pass: each thread reads and
 * decodes pages of its own, has the rows that it has scanned, and forgets them.
 */
#ifndef CLR_STORAGE_SEGMENTS_H
#define CLR_STORAGE_SEGMENTS_H

#include "numeric/scan/scan.h"
#include "storage/leaves/units.h"

/* The rows that a thread has decoded since its last scan. */
struct clr_segment {
    struct clr_column *columns[CLR_MOST_COLUMNS];
    size_t next, end; /* of a thread that has units of its own */
};

/* Scans a segment's rows, in its thread: a scan which is the one of the segments but for columns
   and rows. */
typedef enum clr_scan_outcome clr_segment_scan(void *context, int thread,
                                               const struct clr_scan *portion,
                                               const atomic_bool *stop);

struct clr_segments {
    struct clr_units units;
    const struct clr_scan *scan;
    size_t capacity;              /* rows of a segment; a unit has no more */
    struct clr_segment *segments; /* of each thread, */
    int team;                     /* so many */
    clr_segment_scan *run;
    void *context;
    bool in_order; /* a thread's rows follow those of the threads before */
    atomic_size_t rows;
};

/*
 * Begins, for the table whose root page is root: fields has the field of each of the scan's
 * columns, none of them with bytes; of those with codes the scan's columns have the dictionaries,
 * which are complete, and its other columns and its rows are not looked at. The decoded columns
 * take at most memory bytes at a time, or those of one page in one thread if that is more. There is
 * a segment for each of units.threads, whose number may be lowered before they run. Whatever the
 * outcome, clr_segments_free() has to follow.
 */
enum clr_load_outcome clr_segments_begin(struct clr_segments *segments,
                                         const struct clr_source *source, uint32_t root,
                                         const struct clr_field *fields,
                                         const struct clr_scan *scan, size_t memory,
                                         const struct clr_watch *watch);
void clr_segments_free(struct clr_segments *segments);

/*
 * Decodes some rows from all over the table, in the calling thread, and makes *sample the scan of
 * these: their columns are those of the first segment, until the segments run. Returns
 * CLR_LOAD_DONE, with rows unless there are none, or as clr_segments_run() does.
 */
enum clr_load_outcome clr_segments_sample(struct clr_segments *segments,
                                          const struct clr_watch *watch, struct clr_scan *sample);

/* Returns how many rows the leaves that are read have at most. */
size_t clr_segments_most_rows(const struct clr_segments *segments);

/* Has all rows scanned by segments->run. CLR_LOAD_TOO_LARGE: a dictionary lacks a value, or the
   scan's outcome was CLR_SCAN_LIMIT. CLR_LOAD_UNSURE: it was that,
   or CLR_SCAN_NOT_NOW. */
enum clr_load_outcome clr_segments_run(struct clr_segments *segments,
                                       const struct clr_watch *watch);

#endif

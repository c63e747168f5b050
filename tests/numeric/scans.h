/* Columns and scans made at random. */
#ifndef CLR_TESTS_SCANS_H
#define CLR_TESTS_SCANS_H

#include "numeric/scan/scan.h"

/* What scans made by scans_make() have, and the most that any may have. */
enum {
    SCANS_INSTRUCTIONS = 24,
    SCANS_CONSTANTS = 4,
    SCANS_COLUMNS = 6,
    SCANS_TALLIES = 4,
    SCANS_MOST = 32,
    SCANS_MOST_INSTRUCTIONS = 100
};

/* A scan and the arrays that it points to. */
struct scans_made {
    struct clr_scan scan;
    struct clr_instruction instructions[SCANS_MOST_INSTRUCTIONS];
    struct clr_scalar constants[SCANS_MOST];
    struct clr_column *columns[SCANS_MOST];
    struct clr_tally tallies[SCANS_MOST];
    struct clr_lookup lookups[SCANS_MOST];
};

/* Mostly small numbers, so that filters are true now and then; sometimes the ends of the range. */
struct clr_scalar scans_value(uint8_t tag);

/* A column of that kind whose values are not set yet. */
struct clr_column *scans_new(uint8_t kind, size_t rows);

/* A column of that kind; a mixed one has BYTES in one row of `rare`, or nowhere if that is 0. */
struct clr_column *scans_column(uint8_t kind, size_t rows, uint64_t rare);

/* Has a column of numbers be one of others that is narrow, in so many bytes for each: of a frame
   with both ends, and 0 where there are NULLs. */
void scans_narrow(struct clr_column **column, uint8_t bytes);

/* One column of each kind, of which the last one has nothing but BYTES. */
void scans_columns(struct clr_column *columns[SCANS_COLUMNS], size_t rows);

/* A column of codes below count, in code_bytes bytes each; they may ascend with the rows. */
struct clr_column *scans_codes(uint8_t code_bytes, uint32_t count, size_t rows, bool ascend);

/* A lookup of count entries: of one type, or of several; of bytes, or of any values. */
struct clr_lookup scans_lookup(uint8_t kind, bool is_short, uint32_t count);

/* Begins a scan made by hand over all rows of the columns, which stay the caller's, with an
   instruction for each. */
void scans_begin(struct scans_made *made, struct clr_column *const *columns, int count);

/* Adds an instruction, and returns its number. */
int scans_add(struct scans_made *made, enum clr_opcode opcode, int a, int b);

/* Adds a constant, and returns the number of its instruction. */
int scans_constant(struct scans_made *made, uint8_t tag, int64_t bits);

/* Adds a tally, of what the filter lets pass. */
void scans_tally(struct scans_made *made, unsigned operations, int x, int y);

/* Expressions over the columns but the last, and tallies of all sorts. */
void scans_make(struct scans_made *made, struct clr_column *const *columns);

/* Frees a scan's columns. */
void scans_release(struct scans_made *made);

/* The column of NULLs becomes one of codes, and its values those that a lookup has for them. */
void scans_look_up(struct scans_made *made, struct clr_column *codes,
                   const struct clr_lookup *lookup);

#endif

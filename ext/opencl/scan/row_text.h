/*
 * The part of a program's text that evaluates the expressions of a row, and a key for it: programs
 * with the same key have the same text. Needs no OpenCL.
 */
#ifndef CLR_OPENCL_ROW_TEXT_H
#define CLR_OPENCL_ROW_TEXT_H

#include "numeric/scan/scan.h"
#include "opencl/reduction/scan_plan.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    CLR_ROW_TEXT_SIZE = 100000,
    /* Room for the steps of any bundle. */
    CLR_ROW_KEY_WORDS = CLR_MOST_BUNDLE * (10 + 4 * CLR_MOST_SCAN_INSTRUCTIONS)
};

/* What the kernel's first arguments are: for each column its values, or codes, and then its tags,
   and of a narrow one the least integer of its frame, and of decimals the power and its reciprocal,
   as far as its kind has them; likewise for each lookup; then the bits of each constant. */
struct clr_row_arguments {
    int column_count, columns[CLR_MOST_COLUMNS];
    uint8_t kinds[CLR_MOST_COLUMNS]; /* of those columns */
    int lookup_count, lookups[CLR_MOST_LOOKUPS];
    uint8_t lookup_kinds[CLR_MOST_LOOKUPS];
    bool lookups_short[CLR_MOST_LOOKUPS]; /* a value is a byte */
    int constant_count, constants[CLR_MOST_SCAN_INSTRUCTIONS];
};

struct clr_row_key {
    struct clr_row_arguments arguments; /* no part of the key */
    size_t length;
    int16_t words[CLR_ROW_KEY_WORDS];
};

struct clr_row_text {
    bool complete; /* false: there was not enough room for the text */
    /* Parts, each ended by a NUL, which length counts. */
    size_t length;
    char text[CLR_ROW_TEXT_SIZE];
};

/* ---- Keys. */

/* Begins without words and arguments. */
void clr_row_key_begin(struct clr_row_key *key);

void clr_row_key_add(struct clr_row_key *key, int word);

/*
 * Adds the scan's instructions that are used, in at most 4 words each, and one more, and the
 * arguments that they need. kinds: of its columns on a device. Stores the number of the register of
 * each, 0 for the first, in names, by the number of the instruction.
 */
void clr_row_key_add_instructions(struct clr_row_key *key, const struct clr_scan *scan,
                                  const uint8_t *kinds, const bool *used, int *names);

/* ---- Text. */

void clr_row_text_begin(struct clr_row_text *text);

/* Adds to the part that is being written, as printf(). */
void clr_row_text_add(struct clr_row_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Ends that part. */
void clr_row_text_end(struct clr_row_text *text);

/* Defines ROW_FORMALS, the kernel's first arguments as it takes them, each followed by a comma, and
   ROW_ARGUMENTS, as they are passed on; and FOR_EACH_COLUMN(X), which is X(type, array) for each
   array of a column. */
void clr_row_text_add_arguments(struct clr_row_text *text,
                                const struct clr_row_arguments *arguments);

/* Defines ROW_BODY, which declares and computes the registers r0, r1, ... of a row, where AT(array)
   is what that has of it, from the words that clr_row_key_add_instructions() added. Returns the
   word after them. */
const int16_t *clr_row_text_add_body(struct clr_row_text *text, const int16_t *word);

#endif

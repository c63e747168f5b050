/*
 * A tally's way from blocks to its state: the values of the rows that count are gathered, by type,
 * into arrays that are reduced when they are full.
 */
#ifndef CLR_NUMERIC_INTAKE_H
#define CLR_NUMERIC_INTAKE_H

#include "numeric/block.h"
#include "numeric/chunk.h"
#include "numeric/scan.h"

#include <stdbool.h>

struct clr_intake {
    const struct clr_tally *tally;
    struct clr_state *state;
    struct clr_chunk *values,
        *pairs; /* of CLR_SUM and CLR_EXTREMES; of CLR_DOT; NULL: not needed */
};

/* The state is the caller's, and is not cleared. Returns false without memory; then, too,
   clr_intake_free() is due. */
bool clr_intake_init(struct clr_intake *intake, const struct clr_tally *tally,
                     struct clr_state *state);
void clr_intake_free(struct clr_intake *intake);

/* Takes away the selected rows for which the register is not true. Returns false if that is not
   sure for all of them. */
bool clr_intake_filter(const struct clr_block *block, const struct clr_register *filter,
                       uint64_t *selected);

/* Adds the rows of the block that are selected. Returns false if the tally's values are unsure. */
bool clr_intake_take(struct clr_intake *intake, const struct clr_block *block,
                     const uint64_t *selected);

/* Brings the state up to date. */
void clr_intake_flush(struct clr_intake *intake);

#endif

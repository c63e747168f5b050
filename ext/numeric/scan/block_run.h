/* Runs the instructions of a scan over a block of its rows. */
#ifndef CLR_NUMERIC_BLOCK_RUN_H
#define CLR_NUMERIC_BLOCK_RUN_H

#include "numeric/scan/block.h"

/* Runs those instructions of a stage that have not run yet for the rows. */
void clr_block_run(struct clr_block *block, enum clr_stage stage);

#endif

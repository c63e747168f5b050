/*
 * Order statistics without sorting: the value of a given rank among runs of numbers, which may be
 * INTEGERs and REALs mixed, compared exactly.
 *
 * Method: one pass over the numbers gathers those near where a sample says that the ranks are, of a
 * few ranks at a time. Where one is not there, or too many are, radix selection from the most
 * significant digit (Knuth, TAOCP 3, 5.2.5) goes on: a pass over the runs counts how many keys fall
 * into each of 2,048 equal parts of the range that is left, until few enough are left. The runs
 * stay as they are.
 */
#ifndef CLR_NUMERIC_SELECTION_H
#define CLR_NUMERIC_SELECTION_H

#include "base/status.h"
#include "numeric/order/portions.h"
#include "numeric/values/value.h"

#include <stdint.h>

/*
 * Finds the number of the given rank, 0 for the least, and stores it in found[0]; the one of the
 * next rank, if there is one, else the same, in found[1]. rank is less than clr_runs_count(runs).
 * Where there are numbers of both types, an INTEGER that a double holds may be found as REAL.
 * Returns CLR_OK or CLR_NOMEM (it takes 1/4 of the numbers' memory at the most).
 */
enum clr_code clr_select(const struct clr_run *runs, uint64_t rank, struct clr_value found[2]);

/*
 * The same among the numbers of all portions, for several ranks, 1 and up, which share passes: what
 * belongs to ranks[i] is found[i]. Returns CLR_STOPPED, too.
 */
enum clr_code clr_portions_select(const struct clr_portions *portions, const uint64_t *ranks,
                                  int count, struct clr_value (*found)[2]);

#endif

/*
 * Ranks of a lookup's results: each by its place among the different ones. What finds the least,
 * the greatest or the most frequent of numbers finds it of values by that.
 */
#ifndef CLR_SQLITE_RANKS_H
#define CLR_SQLITE_RANKS_H

#include "numeric/dictionary/dictionary.h"
#include "numeric/scan/lookup.h"

/*
 * Replaces the results of count entries, which are numbers of distinct values, by ranks, and gives
 * the results the values, whose bytes the dictionary has no more. NULL and UNSURE stay as they are.
 * Numbers that are equal and yet two, 1 and 1.0 or 0.0 and -0.0, become UNSURE. Returns CLR_OK or
 * CLR_NOMEM.
 */
enum clr_code clr_results_rank(struct clr_lookup_results *results, uint32_t count,
                               struct clr_dictionary *distinct);

#endif

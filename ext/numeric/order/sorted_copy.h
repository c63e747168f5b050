/*
 * A column's numbers in order, made once, so that their order statistics are looked up. Of values
 * that are kept in 1 or 2 bytes it is known how often each is there; those of 4 bytes stay 4 bytes,
 * and all others take 8.
 *
 * Source: Knuth, TAOCP 3, 5.2 (counting) and 5.2.5 (radix sort from the least significant digit).
 */
#ifndef CLR_NUMERIC_SORTED_COPY_H
#define CLR_NUMERIC_SORTED_COPY_H

#include "base/status.h"
#include "numeric/distinct/distinct_counting.h"
#include "numeric/order/portions.h"
#include "numeric/values/column.h"

#include <stddef.h>
#include <stdint.h>

struct clr_sorted_copy;

/* Returns the bytes that making the copy in so many portions takes at the most, with the copy; 0:
   the column can't have one, as it has codes, or nothing but NULLs, TEXT and BLOBs. */
size_t clr_sorted_copy_cost(const struct clr_column *column, int portions);

/*
 * Stores the sorted copy of a column's numbers, with one reference, for clr_sorted_copy_release().
 * Of the portions how many they are matters, and what runs them: each has a part of the rows.
 * Returns CLR_OK; CLR_INVALID: the column has values of several types, or TEXT or BLOBs, or no
 * values; CLR_STOPPED; or CLR_NOMEM.
 */
enum clr_code clr_sorted_copy_make(const struct clr_column *column,
                                   const struct clr_portions *portions,
                                   struct clr_sorted_copy **copy);

/* Any thread may take and drop references; the last one frees. NULL is fine for both. */
struct clr_sorted_copy *clr_sorted_copy_retain(struct clr_sorted_copy *copy);
void clr_sorted_copy_release(struct clr_sorted_copy *copy);

/* Returns the bytes that it takes; NULL: 0. */
size_t clr_sorted_copy_size(const struct clr_sorted_copy *copy);

/* Returns how many numbers there are: 1 and up. */
uint64_t clr_sorted_copy_count(const struct clr_sorted_copy *copy);

/* Returns the number of a rank, 0 for the least, which is below the count. -0.0 comes before
   0.0. */
struct clr_value clr_sorted_copy_at(const struct clr_sorted_copy *copy, uint64_t rank);

/* Returns how many different numbers there are, and the most frequent one. */
const struct clr_distinct_result *clr_sorted_copy_distinct(const struct clr_sorted_copy *copy);

#endif

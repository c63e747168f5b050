/* Order statistics, modes and distinct counts that are looked up in sorted copies of columns. */
#ifndef CLR_ENGINE_SORTED_ANSWERS_H
#define CLR_ENGINE_SORTED_ANSWERS_H

#include "engine/worker/team.h"
#include "numeric/scan/scan.h"

/*
 * Returns the column whose sorted copy, if there is one, answers a question of the scan: all of its
 * numbers are asked about their order. Else -1.
 */
int clr_question_column(const struct clr_scan *scan, const struct clr_question *question);

struct clr_sorted_copy;

/* Computes the tallies and answers the questions of a scan as clr_host_scan() does, without a look
   at columns where the sorted copies do. sorted: that of each column of the scan, or NULL. */
enum clr_scan_outcome clr_sorted_scan(struct clr_scan *scan, struct clr_sorted_copy *const *sorted,
                                      const struct clr_watch *watch);

/* Returns the bytes that clr_host_sort() takes now for a column, with the copy; 0: it can't have
   one. */
size_t clr_host_sort_cost(const struct clr_column *column);

/* Returns the sorted copy of a column as clr_sorted_copy_make() makes it, by threads that leave the
   processors to others, or NULL. The watch is not NULL. */
struct clr_sorted_copy *clr_host_sort(const struct clr_column *column,
                                      const struct clr_watch *watch);

#endif

/*
 * The parts of the programs that have several files, by program: main() calls them in turn. Each
 * starts its random numbers anew.
 */
#ifndef CLR_TESTS_NUMERIC_PARTS_H
#define CLR_TESTS_NUMERIC_PARTS_H

/* bins/bins-t */
void bin_bounds_tests(void);

/* exact/sum-t */
void expansion_tests(void);
void moments_filter_tests(void);

/* filter/filter-t */
void row_ranges_tests(void);

/* grouping/group_loops-t */
void window_tests(void);

/* order/selection-t */
void deque_tests(void);
void ordered_tests(void);
void portions_tests(void);
void sorted_copy_tests(void);

/* scan/evaluate-t */
void lookup_results_tests(void);
void loops_tests(void);
void shared_sums_tests(void);

/* states/state-t */
void state_bins_tests(void);
void state_format_tests(void);
void state_refusals_tests(void);

/* values/value-t */
void bytes_tests(void);
void decimals_tests(void);
void int192_tests(void);
void narrow_tests(void);
void reals_tests(void);
void timestamp_tests(void);

#endif

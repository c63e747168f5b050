/*
 * The parts of the programs that have several files, by program: main() calls them in turn. Each
 * starts its random numbers anew.
 */
#ifndef CLR_TESTS_NUMERIC_PARTS_H
#define CLR_TESTS_NUMERIC_PARTS_H

#include <stdint.h>

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

/* Numbers to be put in order, and what they are like; those near limits lie where doubles are 1 to
 * 1,024 apart. */
enum order_family {
    ORDER_ANY,
    ORDER_FEW,
    ORDER_ALIKE,
    ORDER_SPREAD,
    ORDER_GREATEST,
    ORDER_NEAR_LIMITS,
    ORDER_CLUSTERS,
    ORDER_FAMILIES
};
int64_t order_integer(enum order_family family);
double order_real(enum order_family family);

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

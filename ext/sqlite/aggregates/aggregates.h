/*
 * The aggregates and their contract. The numbers are cited in the code and in the tests.
 *
 *  1. NULL is skipped; gpu_dot skips a row in which either is NULL. Nothing left: NULL, and 0.0
 *     from gpu_total.
 *  2. Integers alone: gpu_sum and gpu_dot give the exact INTEGER; the error "integer overflow"
 *     exactly when that total does not fit in 64 bits, whatever the order of the rows. (SQLite's
 *     sum() also fails when only a running total leaves the range.)
 *  3. Any REAL among them: the exact mathematical value of all inputs, rounded once to the nearest
 *     double, ties to even: the same bits in any order of rows, on any device, for any size of
 *     chunk or work-group. +-Inf only if the exact value overflows, or an input is infinite. Inf
 *     with -Inf: NULL; 0*Inf in a dot the same. A zero result is +0.0.
 *  4. gpu_avg is the exact sum divided by the count, rounded once; gpu_total is the exact sum as
 *     REAL, and never overflows an integer.
 *  5. TEXT in sums is read as SQLite's sum() reads it, by sqlite3_value_numeric_type(): TEXT that
 *     is an INTEGER literal of 64 bits, spaces around it aside, counts as that INTEGER. Other TEXT
 *     and every BLOB is a REAL: a number, a numeric prefix, or 0.0.
 *  6. gpu_min and gpu_max order values as SQLite does: numbers, TEXT, BLOB; INTEGER against REAL
 *     exactly; TEXT by the BINARY collation. The result keeps its type. Equal values of two types:
 *     INTEGER. Of equal zeros, -0.0 is the least and +0.0 the greatest.
 *  7. In a window, leaving rows are subtracted exactly, and leave no trace.
 *  8. Wrong number of arguments: SQLite's own error. Out of memory: SQLITE_NOMEM. An interrupted
 *     statement stops promptly, frees all, and launches nothing.
 *  9. Results do not depend on settings. Every device failure is survived by reducing on the host;
 *     it shows in the statistics, not as an error. Nor do results depend on the caller's
 *     floating-point environment (base/float_environment.h).
 * 10. Moments are the exact values of their definitions (numeric/exact/moments.h), rounded once.
 *     Names, order of arguments, NULLs and results are those of PostgreSQL's aggregates of float8,
 *     but NULL for its NaN and an infinity for its overflow error. Clauses 1, 5, 7 and 9 hold.
 * 11. F_state() gives the state of any rows, also of none, as a BLOB
 *     (numeric/states/state_format.h); equal rows give equal bytes. F_merge() of states gives what
 *     F gives over all their rows, to the bit, and F_state_merge() their state. NULL is skipped;
 *     anything else that is no state of F is an error that names the function.
 * 12. gpu_median and gpu_percentile... have the definitions of SQLite's percentile functions,
 *     errors where these have any, and compute ranks as these do; order and interpolation are
 * exact, rounded once. Of zeros -0.0 comes first, whatever the order of the rows; an interpolated
 * zero is +0.0.
 * 13. Values are different for gpu_count_distinct and gpu_mode as SQLite's = has it, BINARY. The
 *     mode is the least, by clause 6, of the most frequent values; a zero is +0.0. No rows: a count
 *     of 0.
 * 14. gpu_histogram's bins are those of numeric/bins/bins.h, and its result is JSON by its subtype.
 *     Its arguments but the first are the same on every row, and checked on every row; those of
 *     states that are merged are the same as well.
 * 15. What keeps its values (12 and 13, and 14 its counters) does so within the setting
 *     values_memory, above which it is an error that names the function and the setting. gpu_min
 *     and gpu_max keep what a window may need within a quarter of it; beyond that it is an error
 *     only if a row leaves.
 */
#ifndef CLR_SQLITE_AGGREGATES_H
#define CLR_SQLITE_AGGREGATES_H

#include "numeric/states/aggregate_table.h"
#include "sqlite/session/connection.h"

/* Registers the aggregates, which are window functions too. Returns SQLite's result code. */
int clr_aggregates_register(struct clr_connection *connection);

/* Whether an aggregate is one of those that the setting override puts in the place of SQLite's. */
static inline bool clr_aggregate_overrides(const struct clr_aggregate *aggregate)
{
    return aggregate->builtin != NULL && aggregate->needs == CLR_NEEDS_SUMS;
}

/*
 * Registers an aggregate by the name of SQLite's own, in whose place it is from then on: SQLite has
 * no way back. It is registered for UTF-16, which makes no difference but that SQLite allows it
 * while statements run. Returns SQLite's result code.
 */
int clr_aggregate_override(struct clr_connection *connection,
                           const struct clr_aggregate *aggregate);

#endif

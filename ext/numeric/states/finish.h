/*
 * What a function makes of its exact sums: its value, or its state as a BLOB. The same for sums
 * that were fed row by row and for those of a scan.
 */
#ifndef CLR_NUMERIC_FINISH_H
#define CLR_NUMERIC_FINISH_H

#include "base/status.h"
#include "numeric/exact/chunk.h"
#include "numeric/states/state.h"
#include "numeric/states/state_format.h"
#include "numeric/values/value.h"

/* The functions of CLR_SUM and CLR_DOT; those of CLR_SQUARES and CLR_PAIRS are an enum
   clr_statistic. */
enum clr_total { CLR_TOTAL_SUM, CLR_TOTAL_TOTAL, CLR_TOTAL_AVG };

/* The sums of an operation's terms, in their order; those that a function does not need may be
   NULL. The first operand is the first argument in SQL: for pairs y. */
struct clr_sums {
    int64_t count, non_integers; /* as in struct clr_state */
    struct clr_sum *sums[CLR_MOST_TERMS];
};

/* Points sums at those of a state. */
void clr_sums_of_state(struct clr_sums *sums, struct clr_state *state);

/* Returns the mask (bits 1 << term) of the terms that the function needs. */
unsigned clr_finish_needs(enum clr_operation operation, int function);

/*
 * Stores the function's value; kind CLR_KIND_NONE is NULL, and so is a REAL that is NaN. function
 * is an enum clr_total or clr_statistic, as the operation says. Returns CLR_OK, or CLR_INVALID for
 * an integer sum that does not fit in 64 bits. May propagate carries in the sums, but keeps their
 * values.
 */
enum clr_code clr_finish(const struct clr_sums *sums, enum clr_operation operation, int function,
                         struct clr_value *result);

/* Describes the sums, all of them, for clr_state_encode() or clr_state_decode(), which changes the
   counts in parts alone. */
void clr_finish_parts(const struct clr_sums *sums, enum clr_operation operation,
                      struct clr_state_parts *parts);

#endif

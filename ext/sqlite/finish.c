#include "sqlite/finish.h"

#include <string.h>

/* Below this, every partial sum of integers is exact in a double, whatever the order. */
#define EXACT_IN_DOUBLE ((clr_i128)1 << 53)

/*
 * SQLite's own sum, total and avg add REALs with rounding errors, and integers exactly as long as
 * they stay small: then all agree.
 */
static bool sums_agree(const struct clr_state *state)
{
    clr_i128 least = state->integers.least, greatest = state->integers.greatest;

    if (state->count == 0)
        return true;
    if (state->non_integers != 0 || !state->integers.seen)
        return false;
    if (-least > greatest)
        greatest = -least;
    return greatest * state->count <= EXACT_IN_DOUBLE;
}

/* SQLite's min and max keep the first of equal values, in the order of the rows: 1 or 1.0, 0.0 or
   -0.0. */
static bool extremes_agree(const struct clr_state *state, const struct clr_value *value)
{
    return !(state->integers.seen && state->reals.seen) &&
           !(value->kind == CLR_KIND_REAL && value->as.real == 0.0);
}

static int bind_sum(struct clr_state *state, sqlite3_stmt *answer, int parameter)
{
    int64_t integer;

    if (state->count == 0)
        return SQLITE_OK;
    if (state->non_integers != 0)
        return sqlite3_bind_double(answer, parameter, clr_sum_round(&state->sum, 1));
    if (!clr_int192_to_int64(&state->sum.integer, &integer))
        return SQLITE_MISMATCH;
    return sqlite3_bind_int64(answer, parameter, integer);
}

static int bind_extreme(const struct clr_call *call, const struct clr_state *state,
                        sqlite3_stmt *answer, int parameter)
{
    struct clr_value value;

    clr_state_extreme(state, call->function == CLR_F_MIN ? -1 : 1, &value);
    if (call->builtin && !extremes_agree(state, &value))
        return SQLITE_MISMATCH;
    if (value.kind == CLR_KIND_INTEGER)
        return sqlite3_bind_int64(answer, parameter, value.as.integer);
    if (value.kind == CLR_KIND_REAL)
        return sqlite3_bind_double(answer, parameter, value.as.real);
    return SQLITE_OK;
}

int clr_finish_call(const struct clr_call *call, struct clr_state *state, sqlite3_stmt *answer,
                    int parameter)
{
    double total;

    if (call->builtin &&
        (call->function == CLR_F_SUM || call->function == CLR_F_TOTAL ||
         call->function == CLR_F_AVG) &&
        !sums_agree(state))
        return SQLITE_MISMATCH;
    switch (call->function) {
    case CLR_F_COUNT:
        return sqlite3_bind_int64(answer, parameter, state->count);
    case CLR_F_TOTAL:
        total = state->count == 0 ? 0.0 : clr_sum_round(&state->sum, 1);
        return sqlite3_bind_double(answer, parameter, total);
    case CLR_F_AVG:
        if (state->count == 0)
            return SQLITE_OK;
        return sqlite3_bind_double(answer, parameter,
                                   clr_sum_round(&state->sum, (uint64_t)state->count));
    case CLR_F_MIN:
    case CLR_F_MAX:
        return bind_extreme(call, state, answer, parameter);
    default:
        return bind_sum(state, answer, parameter);
    }
}

/* The contract whose numbers are cited here is in aggregates.h. */
#include "numeric/states/state_bins.h"
#include "sqlite/aggregates/function.h"
#include "sqlite/aggregates/histogram.h"
#include "sqlite/aggregates/histogram_private.h"
#include "sqlite/aggregates/merge.h"
#include "sqlite/session/sql_value.h"

/* Reads a state; returns false, with an error, if the argument is none. */
static bool read_state(sqlite3_context *sql, sqlite3_value *argument, struct clr_stored_bins *state)
{
    enum clr_state_fault fault = CLR_STATE_NOT_A_STATE;

    if (sqlite3_value_type(argument) == SQLITE_BLOB)
        fault = clr_state_decode_bins(sqlite3_value_blob(argument),
                                      (size_t)sqlite3_value_bytes(argument), state);
    return clr_merge_argument(sql, argument, fault);
}

/* Sets the error that a bound of a state is another one than in those before. */
static void refuse_bound(sqlite3_context *sql, const char *what, const struct clr_value *bound)
{
    const char *name = clr_function_of(sql)->name;

    if (bound->kind == CLR_KIND_INTEGER)
        clr_set_error(sql, "%s: %s must be the same in all states, not %lld", name, what,
                      (long long)bound->as.integer);
    else
        clr_set_error(sql, "%s: %s must be the same in all states, not %!.17g", name, what,
                      bound->as.real);
}

/* Returns whether the state's bins are the histogram's; else the error is set. In states INTEGER
   and REAL are never equal. */
static bool has_bins(sqlite3_context *sql, const struct clr_bins *bins,
                     const struct clr_stored_bins *state)
{
    if (clr_value_compare(&state->low, &bins->low, 0) != 0)
        refuse_bound(sql, "low", &state->low);
    else if (clr_value_compare(&state->high, &bins->high, 0) != 0)
        refuse_bound(sql, "high", &state->high);
    else if (state->bins != bins->count)
        clr_set_error(sql, "%s: bins must be the same in all states, not %lld",
                      clr_function_of(sql)->name, (long long)state->bins);
    else
        return true;
    return false;
}

/* Returns whether the state can be added to the context's; else the error is set. */
static bool make_ready(sqlite3_context *sql, struct clr_histogram_context *context,
                       sqlite3_value *argument, const struct clr_stored_bins *state)
{
    if (context == NULL) {
        sqlite3_result_error_nomem(sql);
        return false;
    }
    if (context->histogram == NULL)
        return clr_histogram_begin(sql, context, &state->low, &state->high, state->bins);
    if (!has_bins(sql, &context->histogram->bins, state))
        return false;
    return (uint64_t)state->count <= (uint64_t)CLR_STATE_MOST_ROWS - context->histogram->total ||
           clr_merge_argument(sql, argument, CLR_STATE_TOO_MANY_ROWS);
}

void clr_histogram_merge_step(sqlite3_context *sql, int count, sqlite3_value **values)
{
    struct clr_histogram_context *context;
    struct clr_stored_bins state;

    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL || !read_state(sql, values[0], &state) ||
        state.count == 0)
        return;
    context = sqlite3_aggregate_context(sql, sizeof *context);
    if (make_ready(sql, context, values[0], &state)) {
        clr_stored_bins_add(&state, 1, context->histogram->counter);
        context->histogram->total += (uint64_t)state.count;
    }
}

void clr_histogram_merge_inverse(sqlite3_context *sql, int count, sqlite3_value **values)
{
    struct clr_histogram_context *context = sqlite3_aggregate_context(sql, sizeof *context);
    struct clr_stored_bins state;

    (void)count;
    if (context == NULL || context->histogram == NULL ||
        sqlite3_value_type(values[0]) == SQLITE_NULL || !read_state(sql, values[0], &state))
        return;
    clr_stored_bins_add(&state, -1, context->histogram->counter); /* clause 7 */
    context->histogram->total -= (uint64_t)state.count;
}

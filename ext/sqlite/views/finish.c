#include "sqlite/views/finish.h"

#include "base/float_environment.h"
#include "numeric/states/finish.h"
#include "sqlite/aggregates/counters.h"

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

static int bind_value(const struct clr_value *value, sqlite3_stmt *answer, int parameter)
{
    switch (value->kind) {
    case CLR_KIND_INTEGER:
        return sqlite3_bind_int64(answer, parameter, value->as.integer);
    case CLR_KIND_REAL:
        return sqlite3_bind_double(answer, parameter, value->as.real);
    case CLR_KIND_TEXT:
        return sqlite3_bind_text64(answer, parameter, value->as.size > 0 ? value->bytes : "",
                                   value->as.size, SQLITE_TRANSIENT, SQLITE_UTF8);
    case CLR_KIND_BLOB:
        return value->as.size == 0 ? sqlite3_bind_zeroblob(answer, parameter, 0)
                                   : sqlite3_bind_blob64(answer, parameter, value->bytes,
                                                         value->as.size, SQLITE_TRANSIENT);
    default:
        return SQLITE_OK;
    }
}

static int bind_sums(const struct clr_call *call, const struct clr_sums *sums, sqlite3_stmt *answer,
                     int parameter)
{
    unsigned char bytes[CLR_STATE_LIMIT];
    struct clr_state_parts parts;
    struct clr_value value;
    int function = CLR_TOTAL_SUM;

    if (call->state) {
        clr_finish_parts(sums, call->operation, &parts);
        return sqlite3_bind_blob64(answer, parameter, bytes, clr_state_encode(&parts, bytes),
                                   SQLITE_TRANSIENT);
    }
    if (call->function == CLR_F_MOMENTS)
        function = (int)call->statistic;
    else if (call->function == CLR_F_TOTAL)
        function = CLR_TOTAL_TOTAL;
    else if (call->function == CLR_F_AVG)
        function = CLR_TOTAL_AVG;
    if (clr_finish(sums, call->operation, function, &value) != CLR_OK)
        return SQLITE_MISMATCH;
    return bind_value(&value, answer, parameter);
}

static int bind_extreme_state(enum clr_state_kind kind, const struct clr_value *value,
                              sqlite3_stmt *answer, int parameter)
{
    const size_t size = clr_state_extreme_size(value);
    unsigned char *bytes = sqlite3_malloc64(size);

    if (bytes == NULL)
        return SQLITE_NOMEM;
    clr_state_encode_extreme(kind, value, bytes);
    return sqlite3_bind_blob64(answer, parameter, bytes, size, sqlite3_free);
}

static int bind_extreme(const struct clr_call *call, const struct clr_state *state,
                        sqlite3_stmt *answer, int parameter)
{
    struct clr_value value;

    clr_state_extreme(state, call->function == CLR_F_MIN ? -1 : 1, &value);
    if (call->builtin && !extremes_agree(state, &value))
        return SQLITE_MISMATCH;
    if (call->state)
        return bind_extreme_state(call->function == CLR_F_MIN ? CLR_STATE_MIN : CLR_STATE_MAX,
                                  &value, answer, parameter);
    return bind_value(&value, answer, parameter);
}

/* Always a state: of a histogram's value the answer makes JSON, with its subtype, which no
   parameter can have. */
static int bind_bins(const struct clr_bins *bins, const uint64_t *counts, sqlite3_stmt *answer,
                     int parameter)
{
    size_t size;
    unsigned char *bytes = clr_counters_to_state(bins, counts, &size);

    return bytes == NULL ? SQLITE_NOMEM
                         : sqlite3_bind_blob64(answer, parameter, bytes, size, sqlite3_free);
}

/* The states that were merged; a state of no rows, too, can be one. */
static int bind_merged(const struct clr_call *call, const struct clr_merged *merged,
                       sqlite3_stmt *answer, int parameter)
{
    static const struct clr_bins no_bins;
    static const uint64_t nothing[2];

    switch (merged->kind) {
    case CLR_STATE_MIN:
    case CLR_STATE_MAX:
        return call->state ? bind_extreme_state(merged->kind, &merged->extreme, answer, parameter)
                           : bind_value(&merged->extreme, answer, parameter);
    case CLR_STATE_BINS:
        if (merged->counters == NULL)
            return bind_bins(&no_bins, nothing, answer, parameter);
        return bind_bins(&merged->bins, merged->counters, answer, parameter);
    default:
        return bind_sums(call, &merged->sums, answer, parameter);
    }
}

static int bind_call(struct clr_query *query, const struct clr_call *call, sqlite3_stmt *answer,
                     int parameter)
{
    struct clr_tally *tallies = query->tallies;
    struct clr_state *state = &tallies[call->tally].state;
    struct clr_sums sums = {.count = state->count, .non_integers = state->non_integers};
    const struct clr_question *question = &query->questions[call->question];
    int i;

    if (call->merge)
        return bind_merged(call, tallies[call->tally].merged, answer, parameter);
    if (call->function == CLR_F_COUNT)
        return sqlite3_bind_int64(answer, parameter, state->count);
    if (call->function == CLR_F_MIN || call->function == CLR_F_MAX)
        return bind_extreme(call, state, answer, parameter);
    if (call->function == CLR_F_ORDER)
        return question->kind == CLR_ASK_BINS
                   ? bind_bins(&question->bins, question->counts, answer, parameter)
                   : bind_value(&question->answer, answer, parameter);
    if (call->builtin && !sums_agree(state))
        return SQLITE_MISMATCH;
    for (i = 0; i < CLR_MOST_TERMS; i++)
        sums.sums[i] = call->terms[i] < 0 ? NULL : &tallies[call->terms[i]].state.sum;
    return bind_sums(call, &sums, answer, parameter);
}

int clr_finish_call(struct clr_query *query, const struct clr_call *call, sqlite3_stmt *answer,
                    int parameter)
{
    const struct clr_float_environment before = clr_float_environment_begin();
    int rc = bind_call(query, call, answer, parameter);

    clr_float_environment_end(&before);
    return rc;
}

/*
 * gpu_histogram. The contract whose numbers are cited here is in aggregates.h. What is counted goes
 * straight to the counters: below low, in each bin, above high.
 */
#include "base/memory.h"
#include "numeric/states/state_format.h"
#include "sqlite/aggregates/function.h"
#include "sqlite/session/connection.h"
#include "sqlite/session/sql_value.h"

#include <string.h>

/* Counters that need no memory of their own. */
enum { FEW_COUNTERS = 66 };

struct histogram {
    struct clr_spare spare;
    struct clr_bins bins;
    uint64_t total;    /* how many are counted */
    uint64_t *counter; /* bins.count + 2: few, or memory of its own */
    uint64_t few[FEW_COUNTERS];
};

struct histogram_context {
    struct histogram *histogram; /* NULL before the first row, or state of rows */
};

static size_t counters_size(const struct histogram *histogram)
{
    return ((size_t)histogram->bins.count + 2) * sizeof *histogram->counter;
}

static void free_histogram(struct clr_spare *spare)
{
    clr_memory_free(spare);
}

static const struct clr_spares_kind spares_kind = CLR_SPARES_KIND(free_histogram);

/* Sets up the context's counters, all zero, for bins that are valid. */
static enum clr_code begin(sqlite3_context *sql, struct histogram_context *context,
                           const struct clr_value *low, const struct clr_value *high, int64_t bins)
{
    struct clr_connection *connection = clr_function_connection(sql);
    struct histogram *histogram = clr_spares_take(connection, &spares_kind);
    enum clr_code code = CLR_OK;
    void *memory;

    if (histogram == NULL)
        histogram = clr_memory_alloc(sizeof *histogram);
    if (histogram == NULL)
        return CLR_NOMEM;
    clr_bins_init(&histogram->bins, low, high, bins);
    memory = histogram->few;
    if (bins + 2 > FEW_COUNTERS)
        code = clr_budget_alloc(&connection->values, counters_size(histogram), &memory);
    if (code != CLR_OK) {
        /* What is shown after an error, too, finds no counters rather than too few. */
        clr_memory_free(histogram);
        return code != CLR_LIMIT ? code
                                 : clr_function_refuse_memory(sql, "a counter for each bin",
                                                              connection->values.limit);
    }
    memset(memory, 0, counters_size(histogram));
    histogram->counter = memory;
    histogram->total = 0;
    context->histogram = histogram;
    return CLR_OK;
}

static void end(struct clr_connection *connection, void *pointer)
{
    struct histogram_context *context = pointer;
    struct histogram *histogram = context->histogram;

    if (histogram == NULL)
        return;
    if (histogram->counter != histogram->few)
        clr_budget_free(&connection->values, histogram->counter, counters_size(histogram));
    clr_spares_give(connection, &spares_kind, &histogram->spare);
    context->histogram = NULL;
}

/* ---- Arguments. */

static bool is_finite(sqlite3_value *value)
{
    int type = sqlite3_value_type(value);

    return type == SQLITE_INTEGER ||
           (type == SQLITE_FLOAT && isfinite(sqlite3_value_double(value)));
}

/* Whether an argument is the number it was in the first row; INTEGER and REAL may be equal. */
static inline bool is_same(sqlite3_value *argument, const struct clr_value *first)
{
    int type = sqlite3_value_type(argument);
    struct clr_value value;

    if (type == SQLITE_INTEGER && first->kind == CLR_KIND_INTEGER)
        return sqlite3_value_int64(argument) == first->as.integer;
    if (type == SQLITE_FLOAT && first->kind == CLR_KIND_REAL)
        return sqlite3_value_double(argument) == first->as.real;
    return (type == SQLITE_INTEGER || type == SQLITE_FLOAT) && clr_value_read(argument, &value) &&
           clr_value_compare(&value, first, 0) == 0;
}

/* Sets up the counters for the arguments of the first row. */
static enum clr_code begin_checked(sqlite3_context *sql, struct histogram_context *context,
                                   sqlite3_value **values)
{
    struct clr_value low, high;
    sqlite3_int64 bins = sqlite3_value_int64(values[3]);

    if (!is_finite(values[1]))
        return clr_function_refuse_argument(sql, "low must be a finite number", values[1]);
    if (!is_finite(values[2]))
        return clr_function_refuse_argument(sql, "high must be a finite number", values[2]);
    if (sqlite3_value_type(values[3]) != SQLITE_INTEGER || bins < 1 || bins > CLR_BINS_LIMIT)
        return clr_function_refuse_argument(sql, "bins must be an INTEGER from 1 to 1000000",
                                            values[3]);
    if (clr_value_read(values[1], &low) && clr_value_read(values[2], &high) &&
        (clr_value_compare(&low, &high, 0) >= 0 || is_same(values[2], &low)))
        return clr_function_refuse_argument(sql, "high must be greater than low", values[2]);
    return begin(sql, context, &low, &high, bins);
}

/* Checks the arguments, which have to be those of the first row, or valid if this is it. */
static enum clr_code check(sqlite3_context *sql, struct histogram_context *context,
                           sqlite3_value **values)
{
    const struct clr_bins *bins;

    if (context->histogram == NULL)
        return begin_checked(sql, context, values);
    bins = &context->histogram->bins;
    if (!is_same(values[1], &bins->low))
        return clr_function_refuse_argument(sql, "low must be the same on every row", values[1]);
    if (!is_same(values[2], &bins->high))
        return clr_function_refuse_argument(sql, "high must be the same on every row", values[2]);
    if (sqlite3_value_type(values[3]) != SQLITE_INTEGER ||
        sqlite3_value_int64(values[3]) != bins->count)
        return clr_function_refuse_argument(sql, "bins must be the same on every row", values[3]);
    return CLR_OK;
}

/* ---- Counting. */

/* Adds change to the counter of an argument, which is a number. */
static void count_value(struct histogram *histogram, sqlite3_value *argument, uint64_t change)
{
    struct clr_value value;

    if (!clr_value_read(argument, &value))
        return;
    histogram->counter[clr_bins_find(&histogram->bins, &value) + 1] += change;
    histogram->total += change;
}

static enum clr_code take(sqlite3_context *sql, void *pointer, sqlite3_value **values)
{
    struct histogram_context *context = pointer;
    const int type = sqlite3_value_type(values[0]);
    enum clr_code code = check(sql, context, values);

    if (code != CLR_OK || type == SQLITE_NULL) /* clause 1 */
        return code;
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
        return clr_function_refuse_argument(sql, "x must be a number", values[0]);
    clr_function_connection(sql)->stats.values_fed++;
    count_value(context->histogram, values[0], 1);
    return CLR_OK;
}

/* The arguments are checked on every row. */
static void step(sqlite3_context *sql, int count, sqlite3_value **values)
{
    (void)count;
    clr_function_take_by(sql, sqlite3_aggregate_context(sql, sizeof(struct histogram_context)),
                         values, take);
}

static enum clr_code leave(sqlite3_context *sql, void *pointer, sqlite3_value **values)
{
    struct histogram_context *context = pointer;

    (void)sql;
    if (context->histogram != NULL && sqlite3_value_type(values[0]) != SQLITE_NULL)
        count_value(context->histogram, values[0], (uint64_t)-1);
    return CLR_OK;
}

/* ---- States. */

/* Checks that the state's bins are the histogram's. In states INTEGER and REAL are never equal. */
static enum clr_code check_state(sqlite3_context *sql, const struct clr_bins *bins,
                                 const struct clr_stored_bins *state)
{
    const struct clr_value count = {CLR_KIND_INTEGER, {.integer = state->bins}, NULL};

    if (clr_value_compare(&state->low, &bins->low, 0) != 0)
        return clr_function_refuse(sql, "low must be the same in all states", &state->low);
    if (clr_value_compare(&state->high, &bins->high, 0) != 0)
        return clr_function_refuse(sql, "high must be the same in all states", &state->high);
    if (state->bins != bins->count)
        return clr_function_refuse(sql, "bins must be the same in all states", &count);
    return CLR_OK;
}

static enum clr_code merge(sqlite3_context *sql, void *pointer, const struct clr_value *value,
                           int weight, enum clr_state_fault *fault)
{
    struct histogram_context *context = pointer;
    struct clr_stored_bins state;
    enum clr_code code;

    *fault = clr_state_decode_bins(value->bytes, value->as.size, &state);
    if (*fault != CLR_STATE_SOUND || state.count == 0)
        return CLR_OK;
    code = context->histogram == NULL ? begin(sql, context, &state.low, &state.high, state.bins)
                                      : check_state(sql, &context->histogram->bins, &state);
    if (code != CLR_OK)
        return code;
    if (weight > 0 &&
        (uint64_t)state.count > (uint64_t)CLR_STATE_MOST_ROWS - context->histogram->total) {
        *fault = CLR_STATE_TOO_MANY_ROWS;
        return CLR_OK;
    }
    clr_stored_bins_add(&state, weight, context->histogram->counter); /* clause 7 */
    context->histogram->total += (uint64_t)(weight * state.count);
    return CLR_OK;
}

/* ---- Results. */

static void show(const struct clr_function *function, void *pointer, bool last,
                 struct clr_output *output)
{
    const struct histogram_context *context = pointer;
    const struct histogram *histogram = context != NULL ? context->histogram : NULL;

    (void)last;
    if (histogram == NULL || histogram->total == 0) /* clause 1; or all have left */
        clr_finish_bins(function->form, NULL, NULL, output);
    else
        clr_finish_bins(function->form, &histogram->bins, histogram->counter, output);
}

const struct clr_callbacks clr_histogram_callbacks = {
    .size = sizeof(struct histogram_context),
    .steps = {NULL, step},
    .leave = leave,
    .merge = merge,
    .show = show,
    .end = end,
};

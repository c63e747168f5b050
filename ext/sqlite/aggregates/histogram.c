/* gpu_histogram. Values go straight to the counters (numeric/bins/bins.h). */
#include "base/memory.h"
#include "numeric/states/state_format.h"
#include "sqlite/aggregates/function.h"
#include "sqlite/session/connection.h"
#include "sqlite/session/sql_value.h"

#include <string.h>

/* Counters that need no memory of their own. */
enum { FEW_COUNTERS = 66 };

struct histogram {
    struct clr_bins bins;
    uint64_t total;    /* of the counters */
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

/* Sets up the context's counters, all zero. */
static enum clr_code begin(sqlite3_context *sql, struct histogram_context *context,
                           const struct clr_bins *bins)
{
    struct clr_connection *connection = clr_function_connection(sql);
    struct histogram *histogram = clr_memory_alloc(sizeof *histogram);
    enum clr_code code = CLR_OK;
    void *memory;

    if (histogram == NULL)
        return CLR_NOMEM;
    histogram->bins = *bins;
    memory = histogram->few;
    if (bins->count + 2 > FEW_COUNTERS)
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
    clr_memory_free(histogram);
    context->histogram = NULL;
}

/* ---- Arguments. */

enum { ARGUMENTS = 3 }; /* beside x: low, high and bins */

/* Whether an argument is, in the same type, the number it was in the first row: of nearly all rows.
 */
static inline bool is_same_at_once(sqlite3_value *argument, const struct clr_value *first)
{
    const int type = sqlite3_value_type(argument);

    if (type == SQLITE_INTEGER)
        return first->kind == CLR_KIND_INTEGER &&
               sqlite3_value_int64(argument) == first->as.integer;
    return type == SQLITE_FLOAT && first->kind == CLR_KIND_REAL &&
           sqlite3_value_double(argument) == first->as.real;
}

/* Whether the arguments of a row need no closer look. */
static bool are_same_at_once(const struct clr_bins *bins, sqlite3_value **values)
{
    return is_same_at_once(values[1], &bins->low) && is_same_at_once(values[2], &bins->high) &&
           sqlite3_value_type(values[3]) == SQLITE_INTEGER &&
           sqlite3_value_int64(values[3]) == bins->count;
}

/* Whether two arguments are one number; INTEGER and REAL may be equal. */
static bool is_same(const struct clr_value *argument, const struct clr_value *first)
{
    return (argument->kind == CLR_KIND_INTEGER || argument->kind == CLR_KIND_REAL) &&
           clr_value_compare(argument, first, 0) == 0;
}

/* Checks that the arguments are the histogram's. */
static enum clr_code check_same(sqlite3_context *sql, const struct clr_bins *bins,
                                const struct clr_value arguments[ARGUMENTS], const char *where)
{
    static const char *const names[ARGUMENTS] = {"low", "high", "bins"};
    char must[64];
    int i = 0;

    i += is_same(&arguments[0], &bins->low);
    i += i == 1 && is_same(&arguments[1], &bins->high);
    if (i == 2 && arguments[2].kind == CLR_KIND_INTEGER && arguments[2].as.integer == bins->count)
        return CLR_OK;
    sqlite3_snprintf(sizeof must, must, "%s must be the same %s", names[i], where);
    return clr_function_refuse(sql, must, &arguments[i]);
}

/* Checks the arguments of a row or a state, which have to be those before; or, if this is the first
   one, valid, and sets up the counters for them. */
static enum clr_code check(sqlite3_context *sql, struct histogram_context *context,
                           const struct clr_value arguments[ARGUMENTS], const char *where)
{
    struct clr_bins bins;
    const char *must;
    int wrong;

    if (context->histogram != NULL)
        return check_same(sql, &context->histogram->bins, arguments, where);
    must = clr_bins_prepare(&bins, arguments, &wrong);
    return must == NULL ? begin(sql, context, &bins)
                        : clr_function_refuse(sql, must, &arguments[wrong]);
}

/* ---- Counting. */

/* Adds change to the counters of an argument, which is a number. */
static void count_value(struct histogram *histogram, sqlite3_value *argument, uint64_t change)
{
    struct clr_value value;

    if (!clr_value_read(argument, &value))
        return;
    clr_bins_add(&histogram->bins, value.kind, &value.as, 1, change, histogram->counter);
    histogram->total += change;
}

/* Checks the arguments of a row that are not the same at once. */
static __attribute__((noinline)) enum clr_code
check_row(sqlite3_context *sql, struct histogram_context *context, sqlite3_value **values)
{
    struct clr_value arguments[ARGUMENTS] = {{.kind = CLR_KIND_NONE}};
    int i;

    for (i = 0; i < ARGUMENTS; i++)
        if (sqlite3_value_type(values[i + 1]) != SQLITE_NULL &&
            !clr_value_read(values[i + 1], &arguments[i]))
            return CLR_NOMEM;
    return check(sql, context, arguments, "on every row");
}

static enum clr_code take(sqlite3_context *sql, void *pointer, sqlite3_value **values)
{
    struct histogram_context *context = pointer;
    const int type = sqlite3_value_type(values[0]);
    enum clr_code code = CLR_OK;

    if (context->histogram == NULL || !are_same_at_once(&context->histogram->bins, values))
        code = check_row(sql, context, values);
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

static enum clr_code merge(sqlite3_context *sql, void *pointer, const struct clr_value *value,
                           int weight, enum clr_state_fault *fault)
{
    struct histogram_context *context = pointer;
    struct clr_stored_bins state;
    enum clr_code code;

    *fault = clr_state_decode_bins(value->bytes, value->as.size, &state);
    if (*fault != CLR_STATE_SOUND || state.count == 0)
        return CLR_OK;
    code = check(sql, context,
                 (const struct clr_value[ARGUMENTS]){
                     state.low, state.high, {CLR_KIND_INTEGER, {state.bins}, NULL}},
                 "in all states");
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

static void show(const struct clr_aggregate_function *function, void *pointer, bool last,
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

const struct clr_aggregate_callbacks clr_histogram_callbacks = {
    .size = sizeof(struct histogram_context),
    .steps = {step, step},
    .leave = leave,
    .merge = merge,
    .show = show,
    .end = end,
};

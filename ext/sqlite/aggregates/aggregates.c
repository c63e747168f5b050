#include "sqlite/aggregates/aggregates.h"

#include "base/float_environment.h"
#include "base/memory.h"
#include "numeric/exact/moments.h"
#include "numeric/states/finish.h"
#include "sqlite/aggregates/distinct_values.h"
#include "sqlite/aggregates/extremes.h"
#include "sqlite/aggregates/function.h"
#include "sqlite/aggregates/histogram.h"
#include "sqlite/aggregates/percentiles.h"
#include "sqlite/aggregates/sums.h"

#include <stdio.h>

static const struct clr_callbacks single = {true, clr_single_step, clr_sums_final, clr_sums_value,
                                            clr_sums_inverse};
static const struct clr_callbacks pair = {true, clr_pair_step, clr_sums_final, clr_sums_value,
                                          clr_sums_inverse};
static const struct clr_callbacks states = {false, clr_sums_merge_step, clr_sums_final,
                                            clr_sums_value, clr_sums_merge_inverse};
static const struct clr_callbacks extreme = {true, clr_extreme_step, clr_extreme_final,
                                             clr_extreme_value, clr_extreme_inverse};
static const struct clr_callbacks extreme_states = {
    false, clr_extreme_merge_step, clr_extreme_final, clr_extreme_value, clr_extreme_merge_inverse};

static const struct clr_callbacks median = {true, clr_median_step, clr_percentile_final,
                                            clr_percentile_value, clr_percentile_inverse};
static const struct clr_callbacks percentile = {true, clr_percentile_step, clr_percentile_final,
                                                clr_percentile_value, clr_percentile_inverse};
static const struct clr_callbacks distinct = {true, clr_distinct_step, clr_distinct_final,
                                              clr_distinct_value, clr_distinct_inverse};
static const struct clr_callbacks histogram = {true, clr_histogram_step, clr_histogram_final,
                                               clr_histogram_value, clr_histogram_inverse};
static const struct clr_callbacks histogram_states = {false, clr_histogram_merge_step,
                                                      clr_histogram_final, clr_histogram_value,
                                                      clr_histogram_merge_inverse};

/* The table of all aggregates: a new one is a new row. Those that keep values reduce nothing. */
static const struct clr_aggregate aggregates[] = {
    {"gpu_sum", 1, &single, &states, CLR_SUM, CLR_TOTAL_SUM},
    {"gpu_total", 1, &single, &states, CLR_SUM, CLR_TOTAL_TOTAL},
    {"gpu_avg", 1, &single, &states, CLR_SUM, CLR_TOTAL_AVG},
    {"gpu_dot", 2, &pair, &states, CLR_DOT, CLR_TOTAL_SUM},
    {"gpu_min", 1, &extreme, &extreme_states, CLR_EXTREMES, -1},
    {"gpu_max", 1, &extreme, &extreme_states, CLR_EXTREMES, 1},
    {"gpu_var_pop", 1, &single, &states, CLR_SQUARES, CLR_VAR_POP},
    {"gpu_var_samp", 1, &single, &states, CLR_SQUARES, CLR_VAR_SAMP},
    {"gpu_stddev_pop", 1, &single, &states, CLR_SQUARES, CLR_STDDEV_POP},
    {"gpu_stddev_samp", 1, &single, &states, CLR_SQUARES, CLR_STDDEV_SAMP},
    {"gpu_norm", 1, &single, &states, CLR_SQUARES, CLR_NORM},
    {"gpu_covar_pop", 2, &pair, &states, CLR_PAIRS, CLR_COVAR_POP},
    {"gpu_covar_samp", 2, &pair, &states, CLR_PAIRS, CLR_COVAR_SAMP},
    {"gpu_corr", 2, &pair, &states, CLR_PAIRS, CLR_CORR},
    {"gpu_regr_slope", 2, &pair, &states, CLR_PAIRS, CLR_REGR_SLOPE},
    {"gpu_regr_intercept", 2, &pair, &states, CLR_PAIRS, CLR_REGR_INTERCEPT},
    {"gpu_regr_r2", 2, &pair, &states, CLR_PAIRS, CLR_REGR_R2},
    {"gpu_regr_count", 2, &pair, &states, CLR_PAIRS, CLR_REGR_COUNT},
    {"gpu_regr_avgx", 2, &pair, &states, CLR_PAIRS, CLR_REGR_AVGX},
    {"gpu_regr_avgy", 2, &pair, &states, CLR_PAIRS, CLR_REGR_AVGY},
    {"gpu_regr_sxx", 2, &pair, &states, CLR_PAIRS, CLR_REGR_SXX},
    {"gpu_regr_syy", 2, &pair, &states, CLR_PAIRS, CLR_REGR_SYY},
    {"gpu_regr_sxy", 2, &pair, &states, CLR_PAIRS, CLR_REGR_SXY},
    {"gpu_median", 1, &median, NULL, CLR_OPERATIONS, CLR_PERCENTILE_CONT},
    {"gpu_percentile", 2, &percentile, NULL, CLR_OPERATIONS, CLR_PERCENTILE_OF_100},
    {"gpu_percentile_cont", 2, &percentile, NULL, CLR_OPERATIONS, CLR_PERCENTILE_CONT},
    {"gpu_percentile_disc", 2, &percentile, NULL, CLR_OPERATIONS, CLR_PERCENTILE_DISC},
    {"gpu_count_distinct", 1, &distinct, NULL, CLR_OPERATIONS, CLR_DISTINCT_COUNT},
    {"gpu_mode", 1, &distinct, NULL, CLR_OPERATIONS, CLR_DISTINCT_MODE},
    {"gpu_histogram", 4, &histogram, &histogram_states, CLR_OPERATIONS, 0},
};

static const char *const suffixes[CLR_FORMS] = {
    [CLR_FORM_VALUE] = "",
    [CLR_FORM_STATE] = "_state",
    [CLR_FORM_MERGE] = "_merge",
    [CLR_FORM_STATE_MERGE] = "_state_merge",
};

/* ---- The callbacks in the default floating-point environment. */

static void step(sqlite3_context *context, int count, sqlite3_value **values)
{
    const struct clr_float_environment before = clr_float_environment_begin();

    clr_function_of(context)->callbacks->step(context, count, values);
    clr_float_environment_end(&before);
}

static void inverse(sqlite3_context *context, int count, sqlite3_value **values)
{
    const struct clr_float_environment before = clr_float_environment_begin();

    clr_function_of(context)->callbacks->inverse(context, count, values);
    clr_float_environment_end(&before);
}

static void value(sqlite3_context *context)
{
    const struct clr_float_environment before = clr_float_environment_begin();

    clr_function_of(context)->callbacks->value(context);
    clr_float_environment_end(&before);
}

static void final(sqlite3_context *context)
{
    const struct clr_float_environment before = clr_float_environment_begin();

    clr_function_of(context)->callbacks->final(context);
    clr_float_environment_end(&before);
}

/* ---- Registration. */

static void free_function(void *pointer)
{
    struct clr_function *function = pointer;

    clr_connection_replace(function->connection);
    clr_memory_free(function);
}

static int register_form(struct clr_connection *connection, const struct clr_aggregate *aggregate,
                         enum clr_form form)
{
    const bool merges = form == CLR_FORM_MERGE || form == CLR_FORM_STATE_MERGE;
    const bool is_json =
        aggregate->values == &histogram && (form == CLR_FORM_VALUE || form == CLR_FORM_MERGE);
    const int flags =
        SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS | (is_json ? CLR_RESULT_SUBTYPE : 0);
    struct clr_function *function = clr_memory_alloc(sizeof *function);

    if (function == NULL)
        return SQLITE_NOMEM;
    function->connection = clr_connection_retain(connection);
    function->aggregate = aggregate;
    function->callbacks = merges ? aggregate->merges : aggregate->values;
    function->form = form;
    snprintf(function->name, sizeof function->name, "%s%s", aggregate->name, suffixes[form]);
    /* On failure SQLite itself calls the destructor. */
    return sqlite3_create_window_function(
        connection->db, function->name, merges ? 1 : aggregate->arguments, flags, function,
        function->callbacks->takes_rows ? function->callbacks->step : step, final, value, inverse,
        free_function);
}

int clr_aggregates_register(struct clr_connection *connection)
{
    int rc = SQLITE_OK, form;
    size_t i;

    for (i = 0; i < sizeof aggregates / sizeof aggregates[0]; i++) {
        int forms = aggregates[i].merges != NULL ? CLR_FORMS : 1;
        for (form = 0; form < forms && rc == SQLITE_OK; form++)
            rc = register_form(connection, &aggregates[i], (enum clr_form)form);
    }
    return rc;
}

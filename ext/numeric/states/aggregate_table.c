#include "numeric/states/aggregate_table.h"

#include "numeric/exact/moments.h"

const struct clr_aggregate clr_aggregates[] = {
    {"gpu_sum", "sum", 1, CLR_NEEDS_SUMS, CLR_SUM, CLR_STATE_SUM, CLR_TOTAL_SUM},
    {"gpu_total", "total", 1, CLR_NEEDS_SUMS, CLR_SUM, CLR_STATE_SUM, CLR_TOTAL_TOTAL},
    {"gpu_avg", "avg", 1, CLR_NEEDS_SUMS, CLR_SUM, CLR_STATE_SUM, CLR_TOTAL_AVG},
    {"gpu_dot", NULL, 2, CLR_NEEDS_SUMS, CLR_DOT, CLR_STATE_DOT, CLR_TOTAL_SUM},
    {"gpu_min", "min", 1, CLR_NEEDS_EXTREME, CLR_EXTREMES, CLR_STATE_MIN, -1},
    {"gpu_max", "max", 1, CLR_NEEDS_EXTREME, CLR_EXTREMES, CLR_STATE_MAX, 1},
    {"gpu_var_pop", NULL, 1, CLR_NEEDS_SUMS, CLR_SQUARES, CLR_STATE_SQUARES, CLR_VAR_POP},
    {"gpu_var_samp", NULL, 1, CLR_NEEDS_SUMS, CLR_SQUARES, CLR_STATE_SQUARES, CLR_VAR_SAMP},
    {"gpu_stddev_pop", NULL, 1, CLR_NEEDS_SUMS, CLR_SQUARES, CLR_STATE_SQUARES, CLR_STDDEV_POP},
    {"gpu_stddev_samp", NULL, 1, CLR_NEEDS_SUMS, CLR_SQUARES, CLR_STATE_SQUARES, CLR_STDDEV_SAMP},
    {"gpu_norm", NULL, 1, CLR_NEEDS_SUMS, CLR_SQUARES, CLR_STATE_SQUARES, CLR_NORM},
    {"gpu_covar_pop", NULL, 2, CLR_NEEDS_SUMS, CLR_PAIRS, CLR_STATE_PAIRS, CLR_COVAR_POP},
    {"gpu_covar_samp", NULL, 2, CLR_NEEDS_SUMS, CLR_PAIRS, CLR_STATE_PAIRS, CLR_COVAR_SAMP},
    {"gpu_corr", NULL, 2, CLR_NEEDS_SUMS, CLR_PAIRS, CLR_STATE_PAIRS, CLR_CORR},
    {"gpu_regr_slope", NULL, 2, CLR_NEEDS_SUMS, CLR_PAIRS, CLR_STATE_PAIRS, CLR_REGR_SLOPE},
    {"gpu_regr_intercept", NULL, 2, CLR_NEEDS_SUMS, CLR_PAIRS, CLR_STATE_PAIRS, CLR_REGR_INTERCEPT},
    {"gpu_regr_r2", NULL, 2, CLR_NEEDS_SUMS, CLR_PAIRS, CLR_STATE_PAIRS, CLR_REGR_R2},
    {"gpu_regr_count", NULL, 2, CLR_NEEDS_SUMS, CLR_PAIRS, CLR_STATE_PAIRS, CLR_REGR_COUNT},
    {"gpu_regr_avgx", NULL, 2, CLR_NEEDS_SUMS, CLR_PAIRS, CLR_STATE_PAIRS, CLR_REGR_AVGX},
    {"gpu_regr_avgy", NULL, 2, CLR_NEEDS_SUMS, CLR_PAIRS, CLR_STATE_PAIRS, CLR_REGR_AVGY},
    {"gpu_regr_sxx", NULL, 2, CLR_NEEDS_SUMS, CLR_PAIRS, CLR_STATE_PAIRS, CLR_REGR_SXX},
    {"gpu_regr_syy", NULL, 2, CLR_NEEDS_SUMS, CLR_PAIRS, CLR_STATE_PAIRS, CLR_REGR_SYY},
    {"gpu_regr_sxy", NULL, 2, CLR_NEEDS_SUMS, CLR_PAIRS, CLR_STATE_PAIRS, CLR_REGR_SXY},
    {"gpu_median", NULL, 1, CLR_NEEDS_ORDER, 0, 0, CLR_MEDIAN},
    {"gpu_percentile", NULL, 2, CLR_NEEDS_ORDER, 0, 0, CLR_PERCENTILE},
    {"gpu_percentile_cont", NULL, 2, CLR_NEEDS_ORDER, 0, 0, CLR_PERCENTILE_CONT},
    {"gpu_percentile_disc", NULL, 2, CLR_NEEDS_ORDER, 0, 0, CLR_PERCENTILE_DISC},
    {"gpu_mode", NULL, 1, CLR_NEEDS_FREQUENCIES, 0, 0, CLR_MODE},
    {"gpu_count_distinct", NULL, 1, CLR_NEEDS_FREQUENCIES, 0, 0, CLR_COUNT_DISTINCT},
    {"gpu_histogram", NULL, 4, CLR_NEEDS_BINS, 0, CLR_STATE_BINS, CLR_COUNT_BINS},
    {NULL, NULL, 0, 0, 0, 0, 0},
};

const char *clr_form_suffix(enum clr_form form)
{
    static const char *const suffixes[CLR_FORMS] = {"", "_state", "_merge", "_state_merge"};

    return suffixes[form];
}

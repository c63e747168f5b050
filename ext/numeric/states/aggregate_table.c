#include "numeric/states/aggregate_table.h"

#include "base/memory.h"
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
    {"gpu_histogram", NULL, 4, CLR_NEEDS_BINS, 0, CLR_STATE_BINS, 0},
    {NULL, NULL, 0, 0, 0, 0, 0},
};

const char *clr_form_suffix(enum clr_form form)
{
    static const char *const suffixes[CLR_FORMS] = {"", "_state", "_merge", "_state_merge"};

    return suffixes[form];
}

/* ---- What an aggregate gives. */

/* Characters of a count and its comma, at most. */
enum { COUNT_SIZE = 21 };

static void finish_total(enum clr_total total, const struct clr_sums *sums,
                         struct clr_output *output)
{
    struct clr_value *value = &output->value;
    struct clr_sum *sum = sums->sums[0];

    if (sums->count == 0 && total != CLR_TOTAL_TOTAL)
        return;
    value->kind = CLR_KIND_REAL;
    if (total == CLR_TOTAL_AVG) {
        value->as.real = clr_sum_round(sum, (uint64_t)sums->count);
    } else if (total == CLR_TOTAL_TOTAL || sums->non_integers != 0) {
        value->as.real = sums->count == 0 ? 0.0 : clr_sum_round(sum, 1);
    } else {
        value->kind = CLR_KIND_INTEGER;
        if (!clr_int192_to_int64(&sum->integer, &value->as.integer)) {
            output->code = CLR_INVALID;
            output->error = "integer overflow";
        }
    }
}

/* Makes the output bytes of that size, and returns where they go; NULL, with its code, without
   memory. */
static void *make_bytes(struct clr_output *output, enum clr_kind kind, size_t size)
{
    void *bytes = output->small;

    if (size > sizeof output->small)
        bytes = output->memory = clr_memory_alloc(size);
    if (bytes == NULL) {
        output->code = CLR_NOMEM;
        return NULL;
    }
    output->value = (struct clr_value){.kind = kind, .as.size = size, .bytes = bytes};
    return bytes;
}

void clr_finish_sums(const struct clr_aggregate *aggregate, enum clr_form form,
                     const struct clr_sums *sums, struct clr_output *output)
{
    if (form & CLR_FORM_STATE) {
        make_bytes(output, CLR_KIND_BLOB, sizeof output->small);
        output->value.as.size = clr_state_encode(aggregate->state, sums, output->small);
    } else if (aggregate->operation < CLR_OPERATIONS) {
        finish_total((enum clr_total)aggregate->finish, sums, output);
    } else {
        clr_moments_finish(sums, (enum clr_statistic)aggregate->finish, &output->value);
    }
}

void clr_finish_extreme(const struct clr_aggregate *aggregate, enum clr_form form,
                        const struct clr_value *extreme, struct clr_output *output)
{
    unsigned char *bytes;

    if (form & CLR_FORM_STATE) {
        bytes = make_bytes(output, CLR_KIND_BLOB,
                           clr_state_encode_extreme(aggregate->state, extreme, NULL));
        if (bytes != NULL)
            clr_state_encode_extreme(aggregate->state, extreme, bytes);
    } else {
        output->value = *extreme;
    }
}

/* Appends a count in decimal digits; returns the end. */
static char *append_count(char *end, uint64_t count)
{
    char digits[COUNT_SIZE];
    size_t n = 0;

    do {
        digits[n++] = (char)('0' + count % 10);
        count /= 10;
    } while (count != 0);
    while (n > 0)
        *end++ = digits[--n];
    return end;
}

static void write_json(const uint64_t *counters, size_t count, struct clr_output *output)
{
    char *text = make_bytes(output, CLR_KIND_TEXT, count * COUNT_SIZE + 2), *end = text;
    size_t i;

    if (text == NULL)
        return;
    for (i = 0; i < count; i++) {
        *end++ = i == 0 ? '[' : ',';
        end = append_count(end, counters[i]);
    }
    *end++ = ']';
    output->value.as.size = (size_t)(end - text);
    output->is_json = true;
}

/* Whether a histogram has counted a value. */
static bool has_values(const struct clr_bins *bins, const uint64_t *counters)
{
    int64_t i = bins->count + 1;

    while (i >= 0 && counters[i] == 0)
        i--;
    return i >= 0;
}

void clr_finish_bins(enum clr_form form, const struct clr_bins *bins, const uint64_t *counters,
                     struct clr_output *output)
{
    unsigned char *bytes;

    if (!(form & CLR_FORM_STATE)) {
        if (bins == NULL || !has_values(bins, counters))
            return;
        write_json(counters, (size_t)bins->count + 2, output);
        return;
    }
    bytes = make_bytes(output, CLR_KIND_BLOB, clr_state_encode_bins(bins, counters, NULL));
    if (bytes != NULL)
        clr_state_encode_bins(bins, counters, bytes);
}

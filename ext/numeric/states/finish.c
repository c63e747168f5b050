#include "numeric/states/finish.h"

#include "numeric/exact/moments.h"

/* Of CLR_PAIRS: which term has which sum. The first operand is y. */
enum { TERM_Y, TERM_X, TERM_YY, TERM_XX, TERM_XY };

void clr_sums_of_state(struct clr_sums *sums, struct clr_state *state)
{
    int i;

    *sums = (struct clr_sums){state->count, state->non_integers, {&state->sum}};
    for (i = 0; i < state->more_count; i++)
        sums->sums[i + 1] = &state->more[i];
}

unsigned clr_finish_needs(enum clr_operation operation, int function)
{
    unsigned needs;

    if (operation < CLR_OPERATIONS)
        return 1;
    needs = clr_statistic_needs((enum clr_statistic)function);
    if (operation == CLR_SQUARES)
        return (needs & CLR_MOMENT_X ? 1u : 0) | (needs & CLR_MOMENT_XX ? 2u : 0);
    return (needs & CLR_MOMENT_Y ? 1u << TERM_Y : 0) | (needs & CLR_MOMENT_X ? 1u << TERM_X : 0) |
           (needs & CLR_MOMENT_YY ? 1u << TERM_YY : 0) |
           (needs & CLR_MOMENT_XX ? 1u << TERM_XX : 0) |
           (needs & CLR_MOMENT_XY ? 1u << TERM_XY : 0);
}

static enum clr_code finish_total(const struct clr_sums *sums, int function,
                                  struct clr_value *result)
{
    struct clr_sum *sum = sums->sums[0];

    result->kind = CLR_KIND_REAL;
    if (sums->count == 0) {
        result->kind = function == CLR_TOTAL_TOTAL ? CLR_KIND_REAL : CLR_KIND_NONE;
        result->as.real = 0.0;
    } else if (function == CLR_TOTAL_AVG) {
        result->as.real = clr_sum_round(sum, (uint64_t)sums->count);
    } else if (function == CLR_TOTAL_TOTAL || sums->non_integers != 0) {
        result->as.real = clr_sum_round(sum, 1);
    } else {
        result->kind = CLR_KIND_INTEGER;
        if (!clr_int192_to_int64(&sum->integer, &result->as.integer))
            return CLR_INVALID;
    }
    return CLR_OK;
}

enum clr_code clr_finish(const struct clr_sums *sums, enum clr_operation operation, int function,
                         struct clr_value *result)
{
    struct clr_moments moments = {.count = sums->count};

    result->bytes = NULL;
    if (operation < CLR_OPERATIONS)
        return finish_total(sums, function, result);
    if (operation == CLR_SQUARES) {
        moments.x = sums->sums[0];
        moments.xx = sums->sums[1];
    } else {
        moments.x = sums->sums[TERM_X];
        moments.y = sums->sums[TERM_Y];
        moments.xx = sums->sums[TERM_XX];
        moments.yy = sums->sums[TERM_YY];
        moments.xy = sums->sums[TERM_XY];
    }
    clr_moments_finish(&moments, (enum clr_statistic)function, result);
    return CLR_OK;
}

void clr_finish_parts(const struct clr_sums *sums, enum clr_operation operation,
                      struct clr_state_parts *parts)
{
    static const enum clr_state_kind kinds[] = {
        [CLR_SUM] = CLR_STATE_SUM,
        [CLR_DOT] = CLR_STATE_DOT,
        [CLR_SQUARES] = CLR_STATE_SQUARES,
        [CLR_PAIRS] = CLR_STATE_PAIRS,
    };
    static const int order[] = {TERM_X, TERM_Y, TERM_XX, TERM_YY, TERM_XY};
    int i;

    parts->kind = kinds[operation];
    parts->count = sums->count;
    parts->non_integers = sums->non_integers;
    for (i = 0; i < CLR_MOST_TERMS; i++)
        parts->sums[i] = sums->sums[operation == CLR_PAIRS ? order[i] : i];
}

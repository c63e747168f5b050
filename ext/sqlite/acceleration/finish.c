#include "sqlite/acceleration/finish.h"

#include "base/float_environment.h"
#include "base/memory.h"
#include "sqlite/session/sql_value.h"

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

/* Makes the output of sums. Returns whether SQLite's own result, if it is one, would be the same.
 */
static bool finish_sums(struct clr_query_run *run, const struct clr_call *call,
                        struct clr_output *output)
{
    struct clr_tally *tallies = run->tallies;
    const struct clr_state *state = &tallies[call->tally].state;
    struct clr_sums sums = {.count = state->count, .non_integers = state->non_integers};
    int i;

    for (i = 0; i < CLR_MOST_TERMS; i++)
        sums.sums[i] = call->terms[i] < 0 ? NULL : &tallies[call->terms[i]].state.sum;
    clr_finish_sums(call->aggregate, call->form, &sums, output);
    return !call->builtin || call->is_exact || sums_agree(state);
}

/* Puts the value in the place of its rank, if the tally is of a lookup that has ranks. */
static void resolve_rank(const struct clr_query_run *run, int tally, struct clr_value *value)
{
    const struct clr_instruction *x = &run->query->instructions[run->tallies[tally].x];

    if (value->kind == CLR_KIND_INTEGER && x->opcode == CLR_OP_LOOKUP &&
        run->lookups[x->b].ranked != NULL)
        *value = run->lookups[x->b].ranked[value->as.integer];
}

static bool finish_extreme(const struct clr_query_run *run, const struct clr_call *call,
                           const struct clr_state *state, struct clr_output *output)
{
    struct clr_value value;

    clr_state_extreme(state, call->aggregate->finish, &value);
    resolve_rank(run, call->tally, &value);
    clr_finish_extreme(call->aggregate, call->form, &value, output);
    return !call->builtin || extremes_agree(state, &value);
}

/* As finish_sums(), for any call. */
static bool finish(struct clr_query_run *run, const struct clr_call *call,
                   struct clr_output *output)
{
    const struct clr_tally *tally = &run->tallies[call->tally];
    const struct clr_question *question = &run->questions[call->question];
    /* A parameter has no subtype: of a histogram's state the statement makes JSON. */
    const enum clr_form form = call->aggregate->needs == CLR_NEEDS_BINS && !run->query->is_grouped
                                   ? CLR_FORM_STATE
                                   : call->form;

    switch (call->aggregate->needs) {
    case CLR_NEEDS_COUNT:
        output->value = (struct clr_value){CLR_KIND_INTEGER, {.integer = tally->state.count}, NULL};
        return true;
    case CLR_NEEDS_SUMS:
        return finish_sums(run, call, output);
    case CLR_NEEDS_EXTREME:
        return finish_extreme(run, call, &tally->state, output);
    case CLR_NEEDS_BINS:
        clr_finish_bins(form, &question->bins, question->counts, output);
        return true;
    default:
        output->value = question->answer;
        if (call->aggregate->needs == CLR_NEEDS_FREQUENCIES && call->aggregate->finish == CLR_MODE)
            resolve_rank(run, call->tally, &output->value);
        return true;
    }
}

bool clr_finish_output(struct clr_query_run *run, const struct clr_call *call,
                       struct clr_output *output)
{
    clr_output_init(output);
    if (finish(run, call, output) && output->code != CLR_INVALID)
        return true;
    clr_memory_free(output->memory);
    return false;
}

void clr_finish_refuse(const struct clr_call *call, struct clr_reason *reason)
{
    const char *name = clr_call_name(call);

    clr_reason_set_name(reason,
                        !call->builtin || call->is_exact              ? CLR_WHY_RESULT_ERROR
                        : call->aggregate->needs == CLR_NEEDS_EXTREME ? CLR_WHY_FIRST_OF_EQUALS
                                                                      : CLR_WHY_ROUNDING,
                        name, strlen(name));
}

int clr_finish_call(struct clr_query_run *run, const struct clr_call *call, sqlite3_stmt *answer,
                    int parameter)
{
    const struct clr_float_environment before = clr_float_environment_begin();
    struct clr_output output;
    int rc = SQLITE_MISMATCH;

    if (clr_finish_output(run, call, &output))
        rc = clr_output_bind(answer, parameter, &output);
    clr_float_environment_end(&before);
    return rc;
}

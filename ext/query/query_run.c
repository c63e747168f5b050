#include "query/query_run.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

static double real_of(const struct clr_value *value)
{
    return value->kind == CLR_KIND_INTEGER ? (double)value->as.integer : value->as.real;
}

/* Stores the fraction. Returns whether it is a valid one. */
static bool ask_position(int percentile, const struct clr_value *argument,
                         struct clr_question *question)
{
    question->kind = percentile == CLR_PERCENTILE_DISC ? CLR_ASK_AT : CLR_ASK_BETWEEN;
    if (percentile == CLR_MEDIAN) {
        question->fraction = 0.5;
        return true;
    }
    if (argument->kind == CLR_KIND_NONE)
        return false;
    question->fraction = real_of(argument) / (percentile == CLR_PERCENTILE ? 100.0 : 1.0);
    return question->fraction >= 0.0 && question->fraction <= 1.0;
}

static enum clr_code ask_bins(const struct clr_value arguments[CLR_MOST_ARGUMENTS],
                              struct clr_question *question)
{
    int wrong;

    question->kind = CLR_ASK_BINS;
    if (clr_bins_prepare(&question->bins, arguments, &wrong) != NULL)
        return CLR_INVALID;
    question->counts =
        clr_memory_alloc(((size_t)question->bins.count + 2) * sizeof *question->counts);
    return question->counts == NULL ? CLR_NOMEM : CLR_OK;
}

static enum clr_code ask(const struct clr_query_run *run, const struct clr_asked *asked,
                         struct clr_question *question)
{
    struct clr_value arguments[CLR_MOST_ARGUMENTS];
    int i;

    for (i = 0; i < CLR_MOST_ARGUMENTS && asked->arguments[i] >= 0; i++)
        arguments[i] = clr_number_value(run->constants[asked->arguments[i]]);
    *question = (struct clr_question){.tally = asked->tally};
    switch (asked->aggregate->needs) {
    case CLR_NEEDS_FREQUENCIES:
        question->kind = asked->aggregate->finish == CLR_MODE ? CLR_ASK_MODE : CLR_ASK_DISTINCT;
        return CLR_OK;
    case CLR_NEEDS_BINS:
        return ask_bins(arguments, question);
    default:
        return ask_position(asked->aggregate->finish, &arguments[0], question) ? CLR_OK
                                                                               : CLR_INVALID;
    }
}

/* Whether a scan can have that value of a parameter. */
static bool is_fine(const struct clr_scalar *value, bool is_bounded)
{
    const struct clr_value number = clr_number_value(*value);

    return value->tag != CLR_TAG_BYTES && !clr_scalar_is_past_integers(value) &&
           !(is_bounded && number.kind != CLR_KIND_NONE &&
             !(fabs(real_of(&number)) <= (double)CLR_MOST_OF_A_PARAMETER));
}

/* Sets the constants. A parameter that is too large is refused: see lower_compared(). */
static enum clr_code take_constants(struct clr_query_run *run, const struct clr_scalar *values,
                                    struct clr_reason *reason)
{
    const struct clr_query *query = run->query;
    int i;

    for (i = 0; i < query->constant_count; i++) {
        struct clr_scalar *constant = &run->constants[i];
        const int number = query->parameters[i];

        *constant = number == 0 ? query->constants[i] : values[i];
        if (number != 0 && !is_fine(constant, query->is_bounded[i])) {
            if (number > query->parameter_count)
                clr_reason_set(reason, CLR_WHY_OPERAND_VALUE);
            else
                clr_reason_set_numbers(reason, CLR_WHY_PARAMETER_VALUE, number, 0);
            return CLR_INVALID;
        }
    }
    return CLR_OK;
}

static void begin_tallies(struct clr_query_run *run)
{
    const struct clr_query *query = run->query;
    int i;

    for (i = 0; i < query->tally_count; i++) {
        const struct clr_tally_plan *plan = &query->tallies[i];

        run->tallies[i] = (struct clr_tally){
            .operations = plan->operations, .x = plan->x, .y = plan->y, .filter = plan->filter};
    }
}

enum clr_code clr_query_run_begin(const struct clr_query *query, const struct clr_scalar *values,
                                  struct clr_query_run **result, struct clr_reason *reason)
{
    struct clr_query_run *run = clr_memory_alloc(sizeof *run);
    enum clr_code code;

    *result = NULL;
    if (run == NULL)
        return CLR_NOMEM;
    run->query = query;
    run->question_count = 0;
    run->lookups = NULL;
    run->columns = NULL;
    begin_tallies(run);
    code = take_constants(run, values, reason);
    while (code == CLR_OK && run->question_count < query->question_count) {
        code = ask(run, &query->asked[run->question_count], &run->questions[run->question_count]);
        run->question_count++;
        if (code == CLR_INVALID)
            clr_reason_set(reason, CLR_WHY_ARGUMENTS);
    }
    if (code == CLR_OK)
        *result = run;
    else
        clr_query_run_free(run);
    return code;
}

struct clr_scan clr_query_run_scan(struct clr_query_run *run)
{
    const struct clr_query *query = run->query;

    return (struct clr_scan){
        .instruction_count = query->instruction_count,
        .constant_count = query->constant_count,
        .column_count = query->column_count,
        .tally_count = query->tally_count,
        .filter = query->filter,
        .instructions = query->instructions,
        .constants = run->constants,
        .tallies = run->tallies,
        .question_count = query->question_count,
        .questions = run->questions,
        .lookup_count = query->lookup_count,
        .grouping = query->is_grouped || query->has_rows ? &query->grouping : NULL,
    };
}

void clr_query_run_free(struct clr_query_run *run)
{
    int i;

    if (run == NULL)
        return;
    for (i = 0; i < run->question_count; i++)
        clr_memory_free(run->questions[i].counts);
    clr_memory_free(run);
}

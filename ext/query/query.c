/* From a SELECT's text to its tree, and from a query to its runs. */
#include "query/query.h"

#include "base/memory.h"
#include "query/syntax/syntax.h"

#include <math.h>
#include <string.h>

/* ---- What kind of query a SELECT is. */

static unsigned items_have(const struct clr_syntax *syntax)
{
    const struct clr_node *item;
    unsigned has = 0;

    for (item = syntax->select.items.first; item != NULL; item = item->next)
        has |= item->has;
    return has;
}

/* Whether the SELECT has a row for each group: for keys, or for the values that DISTINCT leaves. */
static bool is_grouped(const struct clr_syntax *syntax)
{
    return syntax->select.keys.first != NULL ||
           (syntax->select.distinct && (items_have(syntax) & CLR_HAS_AGGREGATE) == 0);
}

/* Whether there are aggregates, and all are calls of min(), or all of max(): columns beside one
   are those of the first row that has the extreme. */
static bool finds_extreme(const struct clr_syntax *syntax)
{
    const struct clr_node *first = syntax->aggregates.first, *call = first;

    while (call != NULL && call->builtin && !call->is_distinct && call->filter == NULL &&
           call->aggregate->needs == CLR_NEEDS_EXTREME && call->aggregate == first->aggregate)
        call = call->listed;
    return first != NULL && call == NULL && (items_have(syntax) & CLR_HAS_SURE_AGGREGATE) != 0;
}

/* Whether the SELECT has rows of the table as they are: those that WHERE lets pass, or the first
   ones in an order. */
static bool has_rows(const struct clr_syntax *syntax)
{
    const struct clr_select_tree *select = &syntax->select;

    if (is_grouped(syntax))
        return false;
    if (syntax->aggregates.first != NULL)
        return finds_extreme(syntax) && (items_have(syntax) & CLR_HAS_COLUMN) != 0;
    return select->where != NULL || (select->terms.first != NULL && select->limit != NULL);
}

/* Whether a scan may find the rows for a part of WHERE: SQLite needs all rows that it lets pass. */
static bool may_find_rows(const struct clr_syntax *syntax)
{
    const struct clr_select_tree *select = &syntax->select;
    const bool ends_early = select->limit != NULL && select->terms.first == NULL &&
                            syntax->aggregates.first == NULL && select->keys.first == NULL;

    return select->where != NULL && (select->where->has & CLR_HAS_SUBQUERY) == 0 && !ends_early;
}

/* Refuses an expression with a column of the table outside of aggregates; if a function has the
   column, as one that is none of the aggregates that there are; and without any aggregate, as one
   of rows. */
static void refuse_column(struct clr_syntax *syntax, const struct clr_node *node)
{
    while (node->kind != CLR_N_FUNCTION && node->first != NULL) {
        for (node = node->first; !(node->has & CLR_HAS_COLUMN); node = node->next)
            ;
    }
    if (node->kind == CLR_N_FUNCTION)
        clr_refuse_token(syntax, CLR_WHY_FUNCTION, &node->names[0]);
    else if (syntax->aggregates.first != NULL)
        clr_refuse(syntax, CLR_WHY_BARE_COLUMN);
    else
        clr_refuse(syntax, clr_select_has_inner(&syntax->select) ? CLR_WHY_ROWS_OF_SUBQUERY
                                                                 : CLR_WHY_NO_AGGREGATE);
}

/* Refuses what has no meaning here in a SELECT of one row: columns outside of aggregates, in the
   select list and in ORDER BY. */
static void check_row(struct clr_syntax *syntax)
{
    const struct clr_node *node;

    for (node = syntax->select.items.first; node != NULL; node = node->next) {
        if (node->has & CLR_HAS_COLUMN)
            refuse_column(syntax, node->first);
    }
    for (node = syntax->select.terms.first; node != NULL; node = node->next) {
        /* SQLite evaluates no subquery there. The name of an item goes before that of a column. */
        if (node->has & CLR_HAS_SUBQUERY ||
            (node->has & CLR_HAS_COLUMN && clr_syntax_find_item(syntax, node->first) == NULL))
            clr_refuse(syntax, CLR_WHY_ORDER_BY);
    }
    /* Without an aggregate SQLite makes a row for every row of the table. */
    if (!(items_have(syntax) & CLR_HAS_SURE_AGGREGATE))
        clr_refuse(syntax, CLR_WHY_NO_AGGREGATE);
}

/* Finds out what a query is by its tree. */
static enum clr_code look(struct clr_query *query)
{
    struct clr_syntax *syntax = query->syntax;

    query->is_grouped = is_grouped(syntax);
    query->has_rows = has_rows(syntax);
    query->has_subqueries = syntax->subqueries.first != NULL;
    query->may_find_rows = may_find_rows(syntax);
    query->may_find_extremes = syntax->select.keys.first != NULL && finds_extreme(syntax);
    if (!query->is_grouped && !query->has_rows)
        check_row(syntax);
    return syntax->code;
}

enum clr_code clr_query_parse(const char *sql, struct clr_query **result, struct clr_reason *reason)
{
    struct clr_query *query = clr_memory_alloc(sizeof *query);
    enum clr_code code;

    *result = NULL;
    if (query == NULL)
        return CLR_NOMEM;
    memset(query, 0, sizeof *query);
    query->filter = query->first.key = -1;
    code = clr_syntax_parse(sql, &query->syntax, reason);
    if (code == CLR_OK)
        code = look(query);
    if (code != CLR_OK)
        clr_query_free(query);
    else
        *result = query;
    return code;
}

bool clr_query_calls(const struct clr_query *query, const char *function)
{
    const struct clr_node *node;

    for (node = query->syntax->nodes; node != NULL; node = node->allocated) {
        if (node->function != NULL && strcmp(node->function, function) == 0 &&
            (query->results != NULL || (node->has & CLR_HAS_AGGREGATE) == 0))
            return true;
    }
    return false;
}

void clr_lookup_plan_free(struct clr_lookup_plan *plan)
{
    clr_memory_free(plan->text);
    clr_memory_free(plan->joins);
    plan->text = plan->joins = NULL;
}

void clr_query_free(struct clr_query *query)
{
    int i;

    if (query == NULL)
        return;
    for (i = 0; i < query->lookup_count; i++)
        clr_lookup_plan_free(&query->lookups[i]);
    for (i = 0; i < query->operand_count; i++)
        clr_memory_free(query->operands[i]);
    for (i = 0; i < query->column_count; i++)
        clr_memory_free(query->columns[i].derived);
    for (i = 0; i < query->dimension_count; i++)
        clr_memory_free(query->dimensions[i].key);
    clr_query_free(query->results);
    if (query->eager != NULL) {
        clr_memory_free(query->eager->order);
        clr_memory_free(query->eager->whole);
    }
    clr_memory_free(query->eager);
    clr_syntax_free(query->syntax);
    clr_memory_free(query->probes);
    clr_memory_free(query->answer);
    clr_memory_free(query->subqueries);
    clr_memory_free(query->asked_of_keys);
    clr_memory_free(query->different);
    clr_memory_free(query->counted);
    clr_memory_free(query);
}

/* ---- A run. */

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
    case CLR_NEEDS_VALUES:
        question->kind = CLR_ASK_VALUES;
        question->order = asked->order;
        question->is_distinct = asked->is_distinct;
        return CLR_OK;
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
        .grouping = clr_query_has_groups(query) ? &query->grouping : NULL,
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

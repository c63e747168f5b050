#include "query/query.h"

#include "base/memory.h"
#include "numeric/states/finish.h"
#include "query/content.h"
#include "query/grouping.h"
#include "query/lookup.h"
#include "query/lower.h"
#include "query/result_row.h"
#include "query/subqueries.h"
#include "query/syntax/grammar.h"

#include <string.h>

/* Refuses more of something than a query has room for. */
static enum clr_code refuse_more(struct clr_binder *binder, const char *what)
{
    clr_bind_refuse_name(binder, CLR_WHY_TOO_MANY, what, strlen(what));
    return CLR_INVALID;
}

/* ---- Parameters. */

/* "?12" has number 12; another form, or a number that no statement can have, has number 0. */
static int written_number(const struct clr_token *token)
{
    int number = 0;
    size_t i;

    for (i = 1; i < token->length && number < 1000000; i++)
        number = 10 * number + (token->text[i] - '0');
    return i == token->length ? number : 0;
}

/* As SQLite does, in the order of the text; a "?" gets the number after the largest one so far. */
static enum clr_code number_parameters(struct clr_binder *binder)
{
    const struct clr_environment *environment = binder->environment;
    struct clr_node *node;
    int largest = 0;
    char *name;

    for (node = binder->query->syntax->parameters.first; node != NULL; node = node->listed) {
        const struct clr_token *token = &node->names[0];
        if (token->text[0] == '?' && token->length == 1) {
            node->number = largest + 1;
        } else if (token->text[0] == '?') {
            node->number = written_number(token);
        } else {
            name = clr_memory_alloc(token->length + 1);
            if (name == NULL)
                return clr_bind_no_memory(binder), CLR_NOMEM;
            memcpy(name, token->text, token->length);
            name[token->length] = '\0';
            node->number = environment->parameter(environment->context, name);
            clr_memory_free(name);
        }
        if (node->number <= 0 || node->number > environment->parameter_count) {
            clr_bind_refuse_name(binder, CLR_WHY_PARAMETER, token->text, token->length);
            return CLR_INVALID;
        }
        if (node->number > largest)
            largest = node->number;
    }
    return CLR_OK;
}

/* ---- Calls and tallies. */

/* Returns the tally that merges states of a kind, or else has operations; see below. */
static int find_kind(struct clr_query *query, enum clr_state_kind merge, unsigned operations, int x,
                     int y, int filter)
{
    struct clr_tally_plan *tally = query->tallies;
    int i;

    for (i = 0; i < query->tally_count; i++, tally++)
        if (tally->x == x && tally->y == y && tally->filter == filter && tally->merge == merge &&
            (tally->operations == 0) == (operations == 0))
            break;
    if (i == CLR_MOST_TALLIES)
        return -1;
    if (i == query->tally_count) {
        query->tally_count++;
        tally->operations = 0;
        tally->merge = merge;
        tally->x = x;
        tally->y = y;
        tally->filter = filter;
    }
    tally->operations |= operations;
    return i;
}

/*
 * Returns the tally of the arguments and filter, or -1. One without operations counts values that
 * others are unsure of, so they are never the same.
 */
static int find_tally(struct clr_query *query, unsigned operations, int x, int y, int filter)
{
    return find_kind(query, 0, operations, x, y, filter);
}

/* Returns an instruction that is true where both are; filter may be -1. Returns -1 once it has
 * failed.
 */
static int narrow(struct clr_binder *binder, int filter, int present)
{
    const int condition = clr_emit(binder, CLR_OP_NOT_NULL, present, 0, 0);

    return condition < 0 || filter < 0 ? condition
                                       : clr_emit(binder, CLR_OP_AND, filter, condition, 0);
}

/* Whether an instruction can be UNSURE. */
static bool may_be_unsure(const struct clr_binder *binder, int number)
{
    const enum clr_opcode opcode = binder->query->instructions[number].opcode;

    return opcode != CLR_OP_COLUMN && opcode != CLR_OP_CONSTANT;
}

/* The tally of one term of sums: of pairs only rows count in which neither operand is NULL; but
   SQLite evaluates both, so that an operand is to be noticed that is UNSURE beside a NULL. also:
   what the tally is to find besides. */
static int find_term(struct clr_binder *binder, const struct clr_term *term, unsigned also,
                     const int operands[2], int filter)
{
    const int missing = term->first == term->second ? operands[!term->first] : -1;
    const int y = term->operation == CLR_DOT ? operands[term->second] : -1;

    if (missing >= 0 && may_be_unsure(binder, operands[term->first])) {
        filter = narrow(binder, filter, operands[term->first]);
        if (filter < 0)
            return -1;
    }
    if (missing >= 0) {
        filter = narrow(binder, filter, missing);
        if (filter < 0)
            return -1;
    }
    return find_tally(binder->query, 1u << term->operation | also, operands[term->first], y,
                      filter);
}

/* A function of sums or extremes: a tally for each term that it needs, or only one that counts. */
static enum clr_code bind_terms(struct clr_binder *binder, struct clr_call *call,
                                const int operands[2], int filter)
{
    const struct clr_aggregate *aggregate = call->aggregate;
    const unsigned all = (1u << CLR_MOST_TERMS) - 1;
    const unsigned needs = call->form & CLR_FORM_STATE ? all : clr_finish_needs(aggregate);
    /* SQLite's own sums also need to know if they give what ours would. */
    const unsigned also = call->builtin && !call->is_exact ? 1u << CLR_EXTREMES : 0;
    int count, i;
    const struct clr_term *terms = clr_operation_terms(aggregate->operation, &count);

    for (i = 0; i < count; i++) {
        if (!(needs & 1u << i))
            continue;
        call->terms[i] = find_term(binder, &terms[i], also, operands, filter);
        if (call->terms[i] < 0)
            return binder->code != CLR_OK ? binder->code
                                          : refuse_more(binder, "different aggregates");
        call->tally = call->terms[i];
    }
    if (call->tally < 0)
        call->tally = find_tally(binder->query, 0, operands[0], operands[1], filter);
    return call->tally < 0 ? refuse_more(binder, "different aggregates") : CLR_OK;
}

/* Returns the constant that an argument is, or -1 once it has failed. */
static int bind_argument(struct clr_binder *binder, const char *function, struct clr_node *argument)
{
    const int value = clr_lower(binder, argument);
    const struct clr_instruction *instruction = &binder->query->instructions[value < 0 ? 0 : value];

    if (value < 0)
        return -1;
    return instruction->opcode == CLR_OP_CONSTANT
               ? instruction->a
               : clr_bind_refuse_name(binder, CLR_WHY_NO_CONSTANT, function, strlen(function));
}

/* Whether a function of all values together takes TEXT and BLOBs with their bytes: of a column, as
   SQLite's functions compare them, in UTF-8. By groups their ranks will do. */
static bool takes_bytes(const struct clr_binder *binder, const struct clr_node *node)
{
    return node->aggregate->needs == CLR_NEEDS_FREQUENCIES && node->first->kind == CLR_N_COLUMN &&
           binder->environment->is_utf8 && !binder->query->is_grouped;
}

/* A function of all values together: x and filter are bound, what is beside x is constant. */
static enum clr_code bind_order(struct clr_binder *binder, struct clr_call *call,
                                const struct clr_node *node, int x, int filter)
{
    struct clr_query *query = binder->query;
    struct clr_asked asked = {.aggregate = node->aggregate, .arguments = {-1, -1, -1}};
    unsigned operations = CLR_KEEP | (takes_bytes(binder, node) ? CLR_BYTES : 0);
    struct clr_node *argument;
    int i = 0;

    for (argument = node->first->next; argument != NULL; argument = argument->next, i++) {
        asked.arguments[i] = bind_argument(binder, node->aggregate->name, argument);
        if (asked.arguments[i] < 0)
            return binder->code;
    }
    /* The extremes tell whether there are values that a percentile is not for. */
    if (node->aggregate->needs == CLR_NEEDS_ORDER)
        operations |= 1u << CLR_EXTREMES;
    asked.tally = call->tally = find_tally(query, operations, x, -1, filter);
    if (call->tally < 0)
        return refuse_more(binder, "different aggregates");
    for (i = 0; i < query->question_count; i++)
        if (memcmp(&query->asked[i], &asked, sizeof asked) == 0)
            break;
    query->asked[i] = asked;
    query->question_count += i == query->question_count;
    call->question = i;
    return CLR_OK;
}

/* The argument of a function that takes the bytes of a column's values; -1 once it has failed. */
static int bind_bytes(struct clr_binder *binder, const struct clr_node *node)
{
    const struct clr_token *name = &binder->query->syntax->tokens[node->begin];

    return node->first->kind == CLR_N_COLUMN
               ? clr_emit_column_with_bytes(binder, node->first)
               : clr_bind_refuse_name(binder, CLR_WHY_NO_COLUMN, name->text, name->length);
}

/* Whether a function compares values that may be TEXT or BLOBs, and no more than that: then their
   ranks will do. SQLite's own compare by the collating sequence, and in the database's encoding. */
static bool takes_ranks(const struct clr_binder *binder, const struct clr_node *node)
{
    const struct clr_node *x = node->first;

    if ((node->builtin && !(clr_content_compares_binary(x) && binder->environment->is_utf8)) ||
        node->form & CLR_FORM_MERGE || x->reads < 0 || !(x->is_foreign || x->seems_text))
        return false;
    return node->aggregate->needs == CLR_NEEDS_EXTREME ||
           (node->aggregate->needs == CLR_NEEDS_FREQUENCIES && !takes_bytes(binder, node));
}

/* The first argument of a call; -1 once it has failed. */
static int bind_first(struct clr_binder *binder, const struct clr_node *node)
{
    if (takes_ranks(binder, node))
        return clr_lookup_emit_ranks(binder, node->first);
    if (node->form & CLR_FORM_MERGE || takes_bytes(binder, node))
        return bind_bytes(binder, node);
    return node->aggregate->needs == CLR_NEEDS_COUNT ? clr_lower_presence(binder, node->first)
                                                     : clr_lower(binder, node->first);
}

static enum clr_code bind_call(struct clr_binder *binder, const struct clr_node *node)
{
    struct clr_query *query = binder->query;
    struct clr_call *call = &query->calls[query->call_count];
    const struct clr_aggregate *aggregate = node->aggregate;
    int x = -1, y = -1, filter = -1, i;

    if (query->call_count == CLR_MOST_CALLS)
        return refuse_more(binder, "aggregates");
    if (node->is_distinct && !clr_content_compares_binary(node->first)) {
        clr_bind_refuse(binder, CLR_WHY_COLLATION);
        return CLR_INVALID;
    }
    if (node->first != NULL) {
        x = bind_first(binder, node);
        if (x < 0)
            return binder->code;
    }
    if (node->first != NULL && node->first->next != NULL && !clr_aggregate_asks(aggregate)) {
        y = clr_lower(binder, node->first->next);
        if (y < 0)
            return binder->code;
    }
    if (node->filter != NULL) {
        filter = clr_lower(binder, node->filter);
        if (filter < 0)
            return binder->code;
    }
    call->aggregate = aggregate;
    call->form = node->form;
    call->builtin = node->builtin;
    call->is_exact = binder->environment->is_exact && aggregate->needs == CLR_NEEDS_SUMS;
    call->tally = -1;
    for (i = 0; i < CLR_MOST_TERMS; i++)
        call->terms[i] = -1;
    query->call_count++;
    if (node->form & CLR_FORM_MERGE)
        call->tally = find_kind(query, aggregate->state, CLR_MERGE, x, -1, filter);
    else if (clr_aggregate_asks(aggregate))
        return bind_order(binder, call, node, x, filter);
    else if (aggregate->needs != CLR_NEEDS_COUNT)
        return bind_terms(binder, call, (const int[2]){x, y}, filter);
    else
        call->tally = find_tally(query, 0, x, y, filter);
    return call->tally < 0 ? refuse_more(binder, "different aggregates") : CLR_OK;
}

/* ---- ORDER BY, which SQLite leaves out where there is one row. */

/* Whether an aggregate is in ORDER BY: it is behind the select list's. */
static bool is_ordering(const struct clr_syntax *syntax, const struct clr_node *node)
{
    return syntax->terms.first != NULL && node->begin >= syntax->terms.first->first->outer_begin;
}

/* Whether the last call gives what another one does. */
static bool is_repeated(const struct clr_query *query)
{
    const struct clr_call *last = &query->calls[query->call_count - 1], *call;

    for (call = query->calls; call < last; call++) {
        if (call->aggregate == last->aggregate && call->form == last->form &&
            call->builtin == last->builtin && call->tally == last->tally &&
            call->question == last->question &&
            memcmp(call->terms, last->terms, sizeof call->terms) == 0)
            return true;
    }
    return false;
}

/* An aggregate of ORDER BY: SQLite computes it, and it may fail, so that it has to be in the select
   list as well. */
static enum clr_code bind_ordering(struct clr_binder *binder, const struct clr_node *node)
{
    struct clr_query *query = binder->query;
    const enum clr_code code = bind_call(binder, node);

    if (code != CLR_OK)
        return code;
    if (!is_repeated(query)) {
        clr_bind_refuse(binder, CLR_WHY_ORDER_BY);
        return CLR_INVALID;
    }
    query->call_count--;
    return CLR_OK;
}

/* Refuses functions that may be aggregates, of which there are more than a view computes. Returns
   false once it has failed. */
static bool check_functions(struct clr_binder *binder, const struct clr_node *node)
{
    const struct clr_node *child;

    if (node->kind == CLR_N_AGGREGATE)
        return true;
    for (child = node->first; child != NULL; child = child->next) {
        if (!check_functions(binder, child))
            return false;
    }
    return node->kind != CLR_N_FUNCTION || clr_content_check_function(binder, node);
}

/* ---- What there is to bind. */

/* To SQLite TRUE and FALSE are columns first. */
static enum clr_code check_truths(struct clr_binder *binder)
{
    const struct clr_environment *environment = binder->environment;
    const struct clr_node *node;

    for (node = binder->query->syntax->truths.first; node != NULL; node = node->listed) {
        const bool is_true = node->names[0].kind == CLR_T_TRUE;

        if (environment->column(environment->context, is_true ? "true" : "false").number >= 0) {
            clr_bind_refuse(binder, is_true ? CLR_WHY_TRUE : CLR_WHY_FALSE);
            return CLR_INVALID;
        }
    }
    return CLR_OK;
}

/* Finds out what is in all expressions. */
static enum clr_code find_contents(struct clr_binder *binder)
{
    const struct clr_syntax *syntax = binder->query->syntax;
    const bool is_row = !binder->query->is_grouped && !binder->query->has_rows;
    struct clr_node *node, *argument;

    if (syntax->inner_where != NULL && !clr_content_find(binder, syntax->inner_where))
        return binder->code;
    if (syntax->where != NULL && !clr_content_find(binder, syntax->where))
        return binder->code;
    for (node = syntax->items.first; node != NULL && is_row; node = node->next) {
        if (!clr_content_find(binder, node->first))
            return binder->code;
    }
    for (node = syntax->terms.first; node != NULL && is_row; node = node->next) {
        if (!check_functions(binder, node->first))
            return binder->code;
    }
    for (node = syntax->limit; node != NULL && !binder->query->has_rows; node = node->next) {
        if (!clr_content_find(binder, node))
            return binder->code;
    }
    for (node = syntax->aggregates.first; node != NULL; node = node->listed) {
        for (argument = node->first; argument != NULL; argument = argument->next) {
            if (!clr_content_find(binder, argument))
                return binder->code;
        }
        if (node->filter != NULL && !clr_content_find(binder, node->filter))
            return binder->code;
    }
    if (!is_row && !clr_grouping_find(binder))
        return binder->code;
    return CLR_OK;
}

/* The conditions of the query and of its subquery. Returns false once it has failed. */
static bool bind_filter(struct clr_binder *binder)
{
    const struct clr_syntax *syntax = binder->query->syntax;
    int *filter = &binder->query->filter, inner;

    if (syntax->where != NULL)
        *filter = clr_lower(binder, syntax->where);
    if (binder->code != CLR_OK || syntax->inner_where == NULL)
        return binder->code == CLR_OK;
    inner = clr_lower(binder, syntax->inner_where);
    if (inner >= 0)
        *filter = *filter < 0 ? inner : clr_emit(binder, CLR_OP_AND, inner, *filter, 0);
    return binder->code == CLR_OK;
}

/* LIMIT without ORDER BY ends SQLite's own search at the first rows that are found. */
static enum clr_code bind_rows(struct clr_binder *binder, const char **rowid)
{
    const struct clr_syntax *syntax = binder->query->syntax;

    if (syntax->limit != NULL && syntax->terms.first == NULL)
        clr_bind_refuse(binder, CLR_WHY_LIMIT_OF_ROWS);
    else
        clr_grouping_bind_rowid(binder, rowid);
    return binder->code;
}

enum clr_code clr_query_bind(struct clr_query *query, const struct clr_environment *environment,
                             struct clr_reason *reason)
{
    struct clr_binder binder = {query, environment, CLR_OK, reason};
    const struct clr_syntax *syntax = query->syntax;
    const struct clr_node *node;
    const char *rowid = NULL;
    enum clr_code code = number_parameters(&binder);

    if (code == CLR_OK)
        code = check_truths(&binder);
    if (code == CLR_OK)
        code = find_contents(&binder);
    if (code == CLR_OK && !query->has_rows && !clr_subqueries_find(&binder))
        code = binder.code;
    if (code == CLR_OK && !bind_filter(&binder))
        code = binder.code;
    if (code == CLR_OK && query->is_grouped && !clr_grouping_bind(&binder))
        code = binder.code;
    node = syntax->aggregates.first;
    for (; code == CLR_OK && node != NULL && (query->is_grouped || !is_ordering(syntax, node));
         node = node->listed)
        code = bind_call(&binder, node);
    for (; code == CLR_OK && node != NULL; node = node->listed)
        code = bind_ordering(&binder, node);
    if (code == CLR_OK && query->has_rows)
        code = bind_rows(&binder, &rowid);
    if (code != CLR_OK)
        return code;
    return clr_result_row_write(query, environment, rowid);
}

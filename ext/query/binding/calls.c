#include "query/binding/calls.h"

#include "numeric/states/finish.h"
#include "query/binding/content.h"
#include "query/binding/lookup.h"
#include "query/binding/lower.h"

#include <string.h>

/* There is no room for one more tally. */
static enum clr_code refuse_tally(struct clr_binder *binder)
{
    clr_bind_refuse_more(binder, "different aggregates");
    return CLR_INVALID;
}

/*
 * Returns the tally of the arguments and filter, or -1. One without operations counts values that
 * others are unsure of, so they are never the same.
 */
static int find_tally(struct clr_query *query, unsigned operations, int x, int y, int filter)
{
    struct clr_tally_plan *tally = query->tallies;
    int i;

    for (i = 0; i < query->tally_count; i++, tally++)
        if (tally->x == x && tally->y == y && tally->filter == filter &&
            (tally->operations == 0) == (operations == 0))
            break;
    if (i == CLR_MOST_TALLIES)
        return -1;
    if (i == query->tally_count) {
        query->tally_count++;
        tally->operations = 0;
        tally->x = x;
        tally->y = y;
        tally->filter = filter;
    }
    tally->operations |= operations;
    return i;
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

/* Returns the operations that a call needs besides those of its terms. */
static unsigned find_further(const struct clr_query *query, const struct clr_call *call)
{
    const struct clr_aggregate *aggregate = call->aggregate;

    /* Of a group's extremes only that is kept which is asked for. */
    if (aggregate->needs == CLR_NEEDS_EXTREME) {
        if (!query->is_grouped)
            return 0;
        return aggregate->finish < 0 ? CLR_LEAST : CLR_GREATEST;
    }
    /* SQLite's own sums also need to know if they give what ours would. */
    if (!call->builtin || call->is_exact)
        return 0;
    return query->is_grouped ? CLR_BOUNDS : 1u << CLR_EXTREMES;
}

/* A function of sums or extremes: a tally for each term that it needs, or only one that counts. */
static enum clr_code bind_terms(struct clr_binder *binder, struct clr_call *call,
                                const int operands[2], int filter)
{
    const struct clr_aggregate *aggregate = call->aggregate;
    const unsigned all = (1u << CLR_MOST_TERMS) - 1;
    const unsigned needs = call->form & CLR_FORM_STATE ? all : clr_finish_needs(aggregate);
    const unsigned also = find_further(binder->query, call);
    int count, i;
    const struct clr_term *terms = clr_operation_terms(aggregate->operation, &count);

    for (i = 0; i < count; i++) {
        if (!(needs & 1u << i))
            continue;
        call->terms[i] = find_term(binder, &terms[i], also, operands, filter);
        if (call->terms[i] < 0)
            return binder->code != CLR_OK ? binder->code : refuse_tally(binder);
        call->tally = call->terms[i];
    }
    if (call->tally < 0)
        call->tally = find_tally(binder->query, 0, operands[0], operands[1], filter);
    return call->tally < 0 ? refuse_tally(binder) : CLR_OK;
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
    /* The extremes tell whether there are values that a percentile is not for; by groups the values
       themselves do. */
    if (node->aggregate->needs == CLR_NEEDS_ORDER && !query->is_grouped)
        operations |= 1u << CLR_EXTREMES;
    asked.tally = call->tally = find_tally(query, operations, x, -1, filter);
    if (call->tally < 0)
        return refuse_tally(binder);
    for (i = 0; i < query->question_count; i++)
        if (memcmp(&query->asked[i], &asked, sizeof asked) == 0)
            break;
    query->asked[i] = asked;
    query->question_count += i == query->question_count;
    call->question = i;
    return CLR_OK;
}

/* Whether a function compares values that may be TEXT or BLOBs, and no more than that: then their
   ranks will do. SQLite's own compare by the collating sequence, and in the database's encoding. */
static bool takes_ranks(const struct clr_binder *binder, const struct clr_node *node)
{
    const struct clr_node *x = node->first;

    if ((node->builtin && !(clr_content_compares_binary(x) && binder->environment->is_utf8)) ||
        x->reads < 0 || !(x->is_foreign || x->seems_text))
        return false;
    return node->aggregate->needs == CLR_NEEDS_EXTREME ||
           (node->aggregate->needs == CLR_NEEDS_FREQUENCIES && !takes_bytes(binder, node));
}

/* The first argument of a call; -1 once it has failed. */
static int bind_first(struct clr_binder *binder, const struct clr_node *node)
{
    if (takes_ranks(binder, node))
        return clr_lookup_emit_ranks(binder, node->first);
    if (takes_bytes(binder, node))
        return clr_emit_column_with_bytes(binder, node->first);
    return node->aggregate->needs == CLR_NEEDS_COUNT ? clr_lower_presence(binder, node->first)
                                                     : clr_lower(binder, node->first);
}

enum clr_code clr_call_bind(struct clr_binder *binder, const struct clr_node *node)
{
    struct clr_query *query = binder->query;
    struct clr_call *call = &query->calls[query->call_count];
    const struct clr_aggregate *aggregate = node->aggregate;
    int x = -1, y = -1, filter = -1, i;

    if (query->call_count == CLR_MOST_CALLS)
        return clr_bind_refuse_more(binder, "aggregates"), CLR_INVALID;
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
    if (clr_aggregate_asks(aggregate))
        return bind_order(binder, call, node, x, filter);
    if (aggregate->needs != CLR_NEEDS_COUNT)
        return bind_terms(binder, call, (const int[2]){x, y}, filter);
    call->tally = find_tally(query, 0, x, y, filter);
    return call->tally < 0 ? refuse_tally(binder) : CLR_OK;
}

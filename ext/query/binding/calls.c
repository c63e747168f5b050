#include "query/binding/lower.h"

#include "numeric/exact/moments.h"
#include "numeric/states/aggregate_table.h"
#include "query/binding/derived.h"
#include "query/binding/emit.h"
#include "query/names/times.h"
#include "query/syntax/grammar.h"

#include <string.h>

/* Whether nothing has failed. */
static bool is_fine(const struct clr_binder *binder)
{
    return binder->syntax->code == CLR_OK;
}

/* ---- Tallies. */

/*
 * Returns the tally of the arguments and filter, or -1 once it has failed. One without operations
 * counts values that others are unsure of, so they are never the same.
 */
static int find_tally(struct clr_binder *binder, unsigned operations, int x, int y, int filter)
{
    struct clr_query *query = binder->query;
    struct clr_tally_plan *tally = query->tallies;
    int i;

    if (!is_fine(binder))
        return -1;
    for (i = 0; i < query->tally_count; i++, tally++)
        if (tally->x == x && tally->y == y && tally->filter == filter &&
            (tally->operations == 0) == (operations == 0))
            break;
    if (i == CLR_MOST_TALLIES)
        return clr_refuse_name(binder->syntax, CLR_WHY_TOO_MANY, "different aggregates");
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

    return filter < 0 ? condition : clr_emit(binder, CLR_OP_AND, filter, condition, 0);
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

    if (missing >= 0 && may_be_unsure(binder, operands[term->first]))
        filter = narrow(binder, filter, operands[term->first]);
    if (missing >= 0)
        filter = narrow(binder, filter, missing);
    return find_tally(binder, 1u << term->operation | also, operands[term->first], y, filter);
}

/* Returns the operations that a call needs besides those of its terms. */
static unsigned find_further(const struct clr_query *query, const struct clr_call *call)
{
    const struct clr_aggregate *aggregate = call->aggregate;

    /* Of a group's extremes only that is kept which is asked for. */
    if (aggregate->needs == CLR_NEEDS_EXTREME) {
        if (!clr_query_has_groups(query))
            return 0;
        return aggregate->finish < 0 ? CLR_LEAST : CLR_GREATEST;
    }
    /* SQLite's own sums also need to know if they give what ours would. */
    if (!call->builtin || call->is_exact)
        return 0;
    return clr_query_has_groups(query) ? CLR_BOUNDS : 1u << CLR_EXTREMES;
}

/* Returns the mask (bits 1 << term) of the operation's terms whose sums the call's value needs. */
static unsigned find_needs(const struct clr_call *call)
{
    if (call->form & CLR_FORM_STATE)
        return (1u << CLR_MOST_TERMS) - 1;
    return call->aggregate->operation < CLR_OPERATIONS
               ? 1
               : clr_statistic_needs((enum clr_statistic)call->aggregate->finish);
}

/* A function of sums or extremes: a tally for each term that it needs, or only one that counts.
   Returns false once it has failed, as all below. */
static bool bind_terms(struct clr_binder *binder, struct clr_call *call, const int operands[2],
                       int filter)
{
    const unsigned needs = find_needs(call);
    const unsigned also = find_further(binder->query, call);
    int count, i;
    const struct clr_term *terms = clr_operation_terms(call->aggregate->operation, &count);

    for (i = 0; i < count; i++) {
        if (!(needs & 1u << i))
            continue;
        call->tally = call->terms[i] = find_term(binder, &terms[i], also, operands, filter);
    }
    if (call->tally < 0)
        call->tally = find_tally(binder, 0, operands[0], operands[1], filter);
    return is_fine(binder);
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
               : clr_refuse_name(binder->syntax, CLR_WHY_NO_CONSTANT, function);
}

/* Whether a function of all values together takes TEXT and BLOBs with their bytes: of a column, as
   SQLite's functions compare them, in UTF-8. By groups their ranks will do. */
static bool takes_bytes(const struct clr_binder *binder, const struct clr_node *node)
{
    return node->aggregate->needs == CLR_NEEDS_FREQUENCIES && clr_node_is_scanned(node->first) &&
           !clr_times_has_counts(node->first) && binder->environment->is_utf8 &&
           !clr_query_has_groups(binder->query);
}

/* Notes the question that a call asks; equal ones are one. */
static bool add_question(struct clr_binder *binder, struct clr_call *call,
                         const struct clr_asked *asked)
{
    struct clr_query *query = binder->query;
    int i;

    for (i = 0; i < query->question_count; i++)
        if (query->asked[i].aggregate == asked->aggregate &&
            query->asked[i].tally == asked->tally && query->asked[i].order == asked->order &&
            query->asked[i].is_distinct == asked->is_distinct &&
            memcmp(query->asked[i].arguments, asked->arguments, sizeof asked->arguments) == 0)
            break;
    query->asked[i] = *asked;
    query->question_count += i == query->question_count;
    call->question = i;
    return true;
}

/* A function of all values together: x and filter are bound, what is beside x is constant. */
static bool bind_order(struct clr_binder *binder, struct clr_call *call,
                       const struct clr_node *node, int x, int filter)
{
    struct clr_query *query = binder->query;
    struct clr_asked asked = {.aggregate = node->aggregate, .arguments = {-1, -1, -1}};
    unsigned operations = CLR_KEEP | (takes_bytes(binder, node) ? CLR_BYTES : 0);
    struct clr_node *argument;
    int i = 0;

    for (argument = node->first->next; argument != NULL; argument = argument->next)
        asked.arguments[i++] = bind_argument(binder, node->aggregate->name, argument);
    /* The extremes tell whether there are values that a percentile is not for; by groups the values
       themselves do. */
    if (node->aggregate->needs == CLR_NEEDS_ORDER && !clr_query_has_groups(query))
        operations |= 1u << CLR_EXTREMES;
    asked.tally = call->tally = find_tally(binder, operations, x, -1, filter);
    if (call->tally < 0)
        return false;
    return add_question(binder, call, &asked);
}

/* Stores the order in which a list has its values, of x and what stands behind it in the call, and
   the text between them. Returns false if it is none that a list has here. */
static bool find_listing(const struct clr_node *node, struct clr_asked *asked,
                         const char **separator)
{
    const struct clr_node *x = node->first, *rest = x->next;

    if (rest != NULL && rest->kind == CLR_N_LITERAL && rest->names[0].kind == CLR_T_STRING) {
        *separator = rest->names[0].name;
        rest = rest->next;
    }
    if (rest != NULL && rest->kind == CLR_N_TERM && rest->next == NULL &&
        clr_content_is_same(rest->first, x)) {
        asked->order = rest->descending ? CLR_DESCENDING : CLR_ASCENDING;
        rest = NULL;
    }
    return rest == NULL && clr_content_compares_binary(x);
}

/* A list of values, in the order of the rows but where it has one of its own: x and filter are
   bound. JSON has NULLs, too: all rows are counted. */
static bool bind_list(struct clr_binder *binder, struct clr_call *call, const struct clr_node *node,
                      int x, int filter)
{
    struct clr_asked asked = {.aggregate = node->aggregate,
                              .arguments = {-1, -1, -1},
                              .order = CLR_BY_ROW,
                              .is_distinct = node->is_distinct};
    /* A list of all rows is hardly quicker made here. */
    const bool is_listed = (binder->query->is_grouped || node->is_distinct) &&
                           binder->environment->is_utf8 &&
                           find_listing(node, &asked, &call->separator);
    const int number = !is_listed
                           ? clr_refuse_name(binder->syntax, CLR_WHY_LIST, node->names[0].name)
                           : clr_emit_rowid(binder);

    if (number < 0)
        return false;
    binder->query->lists_rows = binder->query->lists_rows || asked.order == CLR_BY_ROW;
    if (node->aggregate->finish == CLR_LIST_OF_JSON)
        call->terms[0] = find_tally(binder, 0, -1, -1, filter);
    asked.tally = call->tally = find_tally(binder, CLR_KEEP, x, number, filter);
    return call->tally >= 0 && add_question(binder, call, &asked);
}

/* Whether a function compares values that may be TEXT or BLOBs, and no more than that: then their
   ranks will do. SQLite's own compare by the collating sequence, and in the database's encoding. */
static bool takes_ranks(const struct clr_binder *binder, const struct clr_node *node)
{
    const struct clr_node *x = node->first;

    if ((node->builtin && !(clr_content_compares_binary(x) && binder->environment->is_utf8)) ||
        x->reads == CLR_READS_NONE ||
        (x->reads == CLR_READS_SEVERAL &&
         !(binder->derives && clr_node_find(x, clr_node_is_dimension) == NULL)) ||
        !(x->is_foreign || x->column.seems_text) ||
        (binder->derives && node->aggregate->needs == CLR_NEEDS_EXTREME &&
         clr_derive_gives_numbers(x)))
        return false;
    return node->aggregate->needs == CLR_NEEDS_EXTREME ||
           node->aggregate->needs == CLR_NEEDS_VALUES ||
           (node->aggregate->needs == CLR_NEEDS_FREQUENCIES && !takes_bytes(binder, node));
}

/* Whether an expression may give TEXT that a column of the table has. */
static bool may_give_text(const struct clr_node *node)
{
    const struct clr_node *child = node->first;
    bool may = false;

    switch (node->kind) {
    case CLR_N_COLUMN:
        return clr_node_is_scanned(node) && node->is_foreign;
    case CLR_N_PLUS:
    case CLR_N_HINT:
    case CLR_N_NULLIF:
        return may_give_text(child);
    case CLR_N_FOLD:
        for (; child != NULL && !may; child = child->next)
            may = may_give_text(child);
        return may && (node->opcode == CLR_OP_COALESCE || node->opcode == CLR_OP_LEAST ||
                       node->opcode == CLR_OP_GREATEST);
    case CLR_N_CASE:
        child = NULL;
        while (!may && (child = clr_case_next(node, child)) != NULL)
            may = may_give_text(child);
        return may;
    default:
        return false;
    }
}

/* An argument of a call; -1 once it has failed. Sums read TEXT as numbers. */
static int bind_operand(struct clr_binder *binder, const struct clr_aggregate *aggregate,
                        struct clr_node *node)
{
    if (aggregate->needs == CLR_NEEDS_SUMS && may_give_text(node))
        node = clr_syntax_number(binder->syntax, node);
    return node == NULL ? -1 : clr_lower(binder, node);
}

/* The first argument of a call; -1 once it has failed. Any column will do where values are counted.
 */
static int bind_first(struct clr_binder *binder, const struct clr_node *node)
{
    if (takes_ranks(binder, node))
        return clr_lower_ranks(binder, node->first);
    if (takes_bytes(binder, node))
        return clr_emit_column(binder, node->first->reads, true);
    return node->aggregate->needs == CLR_NEEDS_COUNT && clr_node_is_scanned(node->first)
               ? clr_emit_any(binder, node->first)
               : bind_operand(binder, node->aggregate, node->first);
}

bool clr_call_bind(struct clr_binder *binder, struct clr_node *node)
{
    struct clr_query *query = binder->query;
    struct clr_call *call = &query->calls[query->call_count];
    const struct clr_aggregate *aggregate = node->aggregate;
    struct clr_node *second = node->first != NULL ? node->first->next : NULL;
    int x = -1, y = -1, filter = -1, i;

    if (query->call_count == CLR_MOST_CALLS)
        clr_refuse_name(binder->syntax, CLR_WHY_TOO_MANY, "aggregates");
    else if (node->is_distinct && !clr_content_compares_binary(node->first))
        clr_refuse(binder->syntax, CLR_WHY_COLLATION);
    if (node->first != NULL)
        x = bind_first(binder, node);
    if (second != NULL && !clr_aggregate_asks(aggregate))
        y = bind_operand(binder, aggregate, second);
    if (node->filter != NULL)
        filter = clr_lower(binder, node->filter);
    if (!is_fine(binder))
        return false;
    call->aggregate = aggregate;
    call->form = node->form;
    call->builtin = node->builtin;
    call->is_exact = binder->environment->is_exact && aggregate->needs == CLR_NEEDS_SUMS;
    call->tally = -1;
    call->separator = ",";
    for (i = 0; i < CLR_MOST_TERMS; i++)
        call->terms[i] = -1;
    node->number = query->call_count++;
    if (aggregate->needs == CLR_NEEDS_VALUES)
        return bind_list(binder, call, node, x, filter);
    if (clr_aggregate_asks(aggregate))
        return bind_order(binder, call, node, x, filter);
    if (aggregate->needs != CLR_NEEDS_COUNT)
        return bind_terms(binder, call, (const int[2]){x, y}, filter);
    call->tally = find_tally(binder, 0, x, y, filter);
    return call->tally >= 0;
}

#include "query/query.h"

#include "base/memory.h"
#include "numeric/states/finish.h"
#include "query/lower.h"

#include <stdio.h>
#include <string.h>

static enum clr_code refuse(struct clr_binder *binder, const char *reason)
{
    clr_bind_refuse(binder, reason);
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
        if (node->number <= 0 || node->number > environment->parameter_count)
            return refuse(binder, "a parameter that the statement does not have");
        if (node->number > largest)
            largest = node->number;
    }
    return CLR_OK;
}

/* ---- Calls and tallies. */

/* What a call of one term needs; SQLite's own functions also need to know if they give what we
   would. */
static unsigned operations_of(const struct clr_node *call)
{
    switch (call->function) {
    case CLR_F_COUNT:
        return 0;
    case CLR_F_MIN:
    case CLR_F_MAX:
        return 1u << CLR_EXTREMES;
    case CLR_F_DOT:
        return 1u << CLR_DOT;
    case CLR_F_ORDER:
        /* The extremes tell whether there are values that a percentile is not for. */
        return CLR_KEEP | (call->order <= CLR_ORDER_DISC ? 1u << CLR_EXTREMES : 0);
    default:
        return 1u << CLR_SUM | (call->builtin ? 1u << CLR_EXTREMES : 0);
    }
}

/* Returns the tally that merges states of a kind, or else has operations; see below. */
static int find_kind(struct clr_query *query, enum clr_state_kind merge, unsigned operations, int x,
                     int y, int filter)
{
    struct clr_tally *tally = query->tallies;
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

/* Returns an instruction that is true where both are; filter may be -1. Returns -1 with a status.
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

/* The tally of one term of moments: of pairs only rows count in which neither operand is NULL; but
   SQLite evaluates both, so that an operand is to be noticed that is UNSURE beside a NULL. */
static int find_term(struct clr_binder *binder, const struct clr_term *term, const int operands[2],
                     int filter)
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
    return find_tally(binder->query, 1u << term->operation, operands[term->first], y, filter);
}

/* A function of moments: a tally for each sum that it needs, or only one that counts. */
static enum clr_code bind_moments(struct clr_binder *binder, struct clr_call *call,
                                  const int operands[2], int filter)
{
    const unsigned all = (1u << CLR_MOST_TERMS) - 1;
    const unsigned needs =
        call->state ? all : clr_finish_needs(call->operation, (int)call->statistic);
    int count, i;
    const struct clr_term *terms = clr_operation_terms(call->operation, &count);

    call->tally = -1;
    for (i = 0; i < count; i++) {
        if (!(needs & 1u << i))
            continue;
        call->terms[i] = find_term(binder, &terms[i], operands, filter);
        if (call->terms[i] < 0)
            return binder->status->code != CLR_OK ? binder->status->code
                                                  : refuse(binder, "too many different aggregates");
        call->tally = call->terms[i];
    }
    if (call->tally < 0)
        call->tally = find_tally(binder->query, 0, operands[0], operands[1], filter);
    return call->tally < 0 ? refuse(binder, "too many different aggregates") : CLR_OK;
}

/* Returns the constant that an argument is, or -1 with a status. */
static int bind_argument(struct clr_binder *binder, const char *function, struct clr_node *argument)
{
    const int value = clr_lower(binder, argument);
    const struct clr_instruction *instruction = &binder->query->instructions[value < 0 ? 0 : value];

    if (value < 0)
        return -1;
    if (instruction->opcode != CLR_OP_CONSTANT) {
        clr_status_set(binder->status, CLR_INVALID, 0,
                       "an argument of %s() that is no literal or parameter", function);
        return -1;
    }
    return instruction->a;
}

/* Whether a function of all values together takes TEXT and BLOBs with their bytes: of a column, as
   SQLite's functions compare them, in UTF-8. */
static bool takes_bytes(const struct clr_binder *binder, const struct clr_node *node)
{
    return node->function == CLR_F_ORDER &&
           (node->order == CLR_ORDER_MODE || node->order == CLR_ORDER_DISTINCT) &&
           node->first->kind == CLR_N_COLUMN && binder->environment->is_utf8;
}

/* A function of all values together: x and filter are bound, what is beside x is constant. */
static enum clr_code bind_order(struct clr_binder *binder, struct clr_call *call,
                                const struct clr_node *node, int x, int filter)
{
    struct clr_query *query = binder->query;
    struct clr_asked asked = {.order = node->order, .arguments = {-1, -1, -1}};
    struct clr_node *argument;
    int i = 0;

    for (argument = node->first->next; argument != NULL; argument = argument->next, i++) {
        asked.arguments[i] = bind_argument(binder, node->name, argument);
        if (asked.arguments[i] < 0)
            return binder->status->code;
    }
    asked.tally = call->tally = find_tally(
        query, operations_of(node) | (takes_bytes(binder, node) ? CLR_BYTES : 0), x, -1, filter);
    if (call->tally < 0)
        return refuse(binder, "too many different aggregates");
    for (i = 0; i < query->question_count; i++)
        if (memcmp(&query->asked[i], &asked, sizeof asked) == 0)
            break;
    query->asked[i] = asked;
    query->question_count += i == query->question_count;
    call->question = i;
    return CLR_OK;
}

/* The operation whose sums a call is finished from; of the functions of two arguments there are
   merges of one. */
static enum clr_operation operation_of(const struct clr_node *node)
{
    if (node->function == CLR_F_MOMENTS)
        return node->statistic <= CLR_NORM ? CLR_SQUARES : CLR_PAIRS;
    if (node->function == CLR_F_MIN || node->function == CLR_F_MAX)
        return CLR_EXTREMES;
    return node->function == CLR_F_DOT ? CLR_DOT : CLR_SUM;
}

static enum clr_state_kind state_kind_of(const struct clr_node *node)
{
    switch (operation_of(node)) {
    case CLR_DOT:
        return CLR_STATE_DOT;
    case CLR_SQUARES:
        return CLR_STATE_SQUARES;
    case CLR_PAIRS:
        return CLR_STATE_PAIRS;
    case CLR_EXTREMES:
        return node->function == CLR_F_MIN ? CLR_STATE_MIN : CLR_STATE_MAX;
    default:
        return node->function == CLR_F_ORDER ? CLR_STATE_BINS : CLR_STATE_SUM;
    }
}

/* The argument of a function that takes the bytes of a column's values; -1 with a status. */
static int bind_bytes(struct clr_binder *binder, const struct clr_node *node)
{
    if (node->first->kind == CLR_N_COLUMN)
        return clr_emit_column_with_bytes(binder, node->first);
    clr_status_set(binder->status, CLR_INVALID, 0, "an argument of %s%s_merge() that is no column",
                   node->name, node->state ? "_state" : "");
    return -1;
}

/* The first argument of a call; -1 with a status. */
static int bind_first(struct clr_binder *binder, const struct clr_node *node)
{
    if (node->merge || takes_bytes(binder, node))
        return bind_bytes(binder, node);
    return node->function == CLR_F_COUNT ? clr_lower_presence(binder, node->first)
                                         : clr_lower(binder, node->first);
}

static enum clr_code bind_call(struct clr_binder *binder, const struct clr_node *node)
{
    struct clr_query *query = binder->query;
    struct clr_call *call = &query->calls[query->call_count];
    int x = -1, y = -1, filter = -1, i;

    if (query->call_count == CLR_MOST_CALLS)
        return refuse(binder, "too many aggregates");
    if (node->first != NULL) {
        x = bind_first(binder, node);
        if (x < 0)
            return binder->status->code;
    }
    if (node->first != NULL && node->first->next != NULL && node->function != CLR_F_ORDER) {
        y = clr_lower(binder, node->first->next);
        if (y < 0)
            return binder->status->code;
    }
    if (node->filter != NULL) {
        filter = clr_lower(binder, node->filter);
        if (filter < 0)
            return binder->status->code;
    }
    call->function = node->function;
    call->operation = operation_of(node);
    call->statistic = node->statistic;
    call->state = node->state;
    call->merge = node->merge;
    call->name = node->name;
    call->builtin = node->builtin;
    for (i = 0; i < CLR_MOST_TERMS; i++)
        call->terms[i] = -1;
    query->call_count++;
    if (node->merge) {
        call->tally = find_kind(query, state_kind_of(node), CLR_MERGE, x, -1, filter);
        return call->tally < 0 ? refuse(binder, "too many different aggregates") : CLR_OK;
    }
    if (node->function == CLR_F_MOMENTS)
        return bind_moments(binder, call, (const int[2]){x, y}, filter);
    if (node->function == CLR_F_ORDER)
        return bind_order(binder, call, node, x, filter);
    call->tally = call->terms[0] = find_tally(query, operations_of(node), x, y, filter);
    return call->tally < 0 ? refuse(binder, "too many different aggregates") : CLR_OK;
}

/* ---- The result row. */

/* Whether a call gives JSON: it is bound as a state, of which the answer makes JSON. */
static bool is_json(const struct clr_node *node)
{
    return node->kind == CLR_N_AGGREGATE && node->function == CLR_F_ORDER &&
           node->order == CLR_ORDER_HISTOGRAM && !node->state;
}

/*
 * Writes the select list into text, unless that is NULL, and returns its length. Tokens get spaces
 * between them: no two run together, and comments are gone.
 */
static size_t write_finish(const struct clr_query *query, int parameter_count, char *text)
{
    const struct clr_syntax *syntax = query->syntax;
    const struct clr_node *item;
    char number[48];
    size_t length = 6, i;
    int call = 0;

    if (text != NULL)
        memcpy(text, "SELECT", 6);
    for (item = syntax->items.first; item != NULL; item = item->next) {
        for (i = item->begin; i < item->end;) {
            const struct clr_token *token = &syntax->tokens[i];
            const struct clr_node *node = token->node;
            const char *part = token->text;
            size_t size = token->length;

            if (node != NULL) {
                int n = node->kind == CLR_N_AGGREGATE ? parameter_count + 1 + call++ : node->number;
                size = (size_t)snprintf(number, sizeof number,
                                        is_json(node) ? "gpu_histogram_merge(?%d)" : "?%d", n);
                part = number;
            }
            if (text != NULL) {
                text[length] = ' ';
                memcpy(text + length + 1, part, size);
            }
            length += 1 + size;
            i = node != NULL ? node->end : i + 1;
        }
        if (item->next != NULL) {
            if (text != NULL)
                text[length] = ',';
            length++;
        }
    }
    if (text != NULL)
        text[length] = '\0';
    return length;
}

enum clr_code clr_query_bind(struct clr_query *query, const struct clr_environment *environment,
                             struct clr_status *status)
{
    struct clr_binder binder = {query, environment, status};
    const struct clr_syntax *syntax = query->syntax;
    const struct clr_node *node;
    enum clr_code code = number_parameters(&binder);

    if (code == CLR_OK && syntax->where != NULL) {
        query->filter = clr_lower(&binder, syntax->where);
        if (query->filter < 0)
            code = status->code;
    }
    for (node = syntax->aggregates.first; code == CLR_OK && node != NULL; node = node->listed)
        code = bind_call(&binder, node);
    if (code != CLR_OK)
        return code;
    query->finish = clr_memory_alloc(write_finish(query, environment->parameter_count, NULL) + 1);
    if (query->finish == NULL)
        return clr_bind_no_memory(&binder), CLR_NOMEM;
    write_finish(query, environment->parameter_count, query->finish);
    return CLR_OK;
}

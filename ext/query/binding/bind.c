#include "query/query.h"

#include "base/memory.h"
#include "numeric/states/finish.h"
#include "query/binding/content.h"
#include "query/binding/emit.h"
#include "query/binding/grouping.h"
#include "query/binding/lookup.h"
#include "query/binding/lower.h"
#include "query/binding/subtypes.h"
#include "query/result_row.h"
#include "query/syntax/grammar.h"
#include "query/syntax/syntax.h"

#include <stdbool.h>
#include <string.h>

/* ---- Subqueries of expressions, which SQLite evaluates as it finishes the query. */

/* Whether a name could be one of the query around a subquery: a column, an item, or a column of
   the table of groups. */
static bool is_outer(struct clr_binder *binder, const char *name)
{
    const struct clr_environment *environment = binder->environment;
    const struct clr_syntax *syntax = binder->query->syntax;
    const struct clr_node *item;
    bool found = syntax->inner_begin != 0 || strchr(name, ':') != NULL ||
                 environment->column(environment->context, name).number >= 0;
    int i;

    for (i = 0; i < CLR_ROWID_NAMES; i++)
        found = found || clr_name_equal(name, clr_rowid_names[i]);
    for (item = syntax->items.first; item != NULL && !found; item = item->next) {
        char *other = item->names[0].kind == 0 ? NULL : clr_token_name(&item->names[0]);

        if (item->names[0].kind != 0 && other == NULL)
            clr_bind_no_memory(binder);
        found = other != NULL && clr_name_equal(name, other);
        clr_memory_free(other);
    }
    return found;
}

static bool check_quoted(struct clr_binder *binder, const struct clr_token *token)
{
    char *name = clr_token_name(token);

    if (name == NULL)
        clr_bind_no_memory(binder);
    else if (is_outer(binder, name) && binder->code == CLR_OK)
        clr_bind_refuse_name(binder, CLR_WHY_OUTER_NAME, token->text, token->length);
    clr_memory_free(name);
    return binder->code == CLR_OK;
}

static bool check_names(struct clr_binder *binder, const struct clr_node *node)
{
    const struct clr_token *tokens = binder->query->syntax->tokens;
    size_t i;

    for (i = node->begin + 1; i + 1 < node->end; i++) {
        if (*tokens[i].text == '"' && tokens[i - 1].kind != CLR_T_DOT &&
            tokens[i + 1].kind != CLR_T_DOT && !check_quoted(binder, &tokens[i]))
            return false;
    }
    return true;
}

/* Returns the key or the aggregate that an operand of IN is, whose value SQLite has in one place
   for the whole row; or NULL: it is computed for IN alone. *is_bare: a unary plus or a hint takes
   the affinity away that it has by itself. */
static const struct clr_node *find_shared(struct clr_binder *binder, const struct clr_node *node,
                                          bool *is_bare)
{
    struct clr_node *item = NULL;

    while (node->key == 0 && (node->kind == CLR_N_PLUS || node->kind == CLR_N_COLLATE ||
                              node->kind == CLR_N_HINT || node->is_item)) {
        if (node->is_item && !clr_syntax_find_item(binder->query->syntax, node, &item))
            clr_bind_no_memory(binder);
        if (node->is_item && item == NULL)
            break;
        *is_bare = *is_bare || node->kind == CLR_N_PLUS || node->kind == CLR_N_HINT;
        node = node->is_item ? item->first : node->first;
    }
    return node->key != 0 || node->kind == CLR_N_AGGREGATE || node->kind == CLR_N_COLUMN ? node
                                                                                         : NULL;
}

/* Returns the letters of the affinities of a subquery's column by which no value of the key or the
   aggregate changes, by SQLite's sqlite3CompareAffinity() and applyAffinity(). */
static const char *find_harmless(const struct clr_node *node, bool is_bare)
{
    while (node->kind == CLR_N_HINT) {
        is_bare = true;
        node = node->first;
    }
    /* A REAL that is whole becomes an INTEGER by its own affinity. */
    if ((node->kind == CLR_N_COLUMN && node->is_real) ||
        (node->kind == CLR_N_CAST &&
         (node->cast == CLR_CAST_TO_REAL || node->cast == CLR_CAST_TO_NUMERIC)))
        return "";
    if (clr_content_is_text(node))
        return "@AB";
    if (node->kind == CLR_N_COLUMN && node->is_numeric)
        return is_bare ? "@ACD" : "@ABCDE";
    if (node->kind == CLR_N_AGGREGATE && node->aggregate->needs == CLR_NEEDS_COUNT)
        return "@ACD";
    return "@A";
}

/*
 * Refuses subqueries in which a name may mean something of the query around them, though SQLite
 * prepares them by themselves: one in double quotes, which is TEXT where it is no name. Writes down
 * the query's lists: see struct clr_query. To be called once it is known what names mean; not for a
 * query that has rows. Returns false once it has failed.
 */
static bool subqueries_find(struct clr_binder *binder)
{
    struct clr_query *query = binder->query;
    struct clr_node *node;

    for (node = query->syntax->subqueries.first; node != NULL; node = node->listed) {
        const struct clr_node *shared = NULL;
        bool is_bare = false;

        if (!check_names(binder, node))
            return false;
        if (node->tested != NULL)
            shared = find_shared(binder, node->tested, &is_bare);
        if (shared == NULL)
            continue;
        if (query->list_count == CLR_MOST_LISTS)
            clr_bind_refuse_more(binder, "subqueries behind IN");
        else
            query->lists[query->list_count++] = find_harmless(shared, is_bare);
        node->number = query->list_count;
    }
    return binder->code == CLR_OK;
}

/* ---- Rows. */

/*
 * SELECTs of which a scan can compute a part of WHERE alone: it finds the rows for which that part
 * is true, and SQLite runs the SELECT over these.
 */

/* How much of everything a query has. */
struct size {
    int instructions, constants, columns, lookups;
};

static struct size size_of(const struct clr_query *query)
{
    return (struct size){query->instruction_count, query->constant_count, query->column_count,
                         query->lookup_count};
}

/* Takes away what was added since the query had that size. */
static void shrink(struct clr_query *query, const struct size *size)
{
    while (query->lookup_count > size->lookups)
        clr_memory_free(query->lookups[--query->lookup_count].text);
    query->instruction_count = size->instructions;
    query->constant_count = size->constants;
    query->column_count = size->columns;
}

/* Begins anew, with a query of rows. */
static void begin(struct clr_query *query)
{
    const struct size nothing = {0, 0, 0, 0};

    shrink(query, &nothing);
    memset(query->is_bounded, 0, sizeof query->is_bounded);
    memset(query->with_bytes, 0, sizeof query->with_bytes);
    memset(&query->grouping, 0, sizeof query->grouping);
    query->tally_count = query->call_count = query->question_count = 0;
    query->filter = -1;
    query->is_grouped = query->is_ordered = false;
    query->has_rows = true;
}

static bool is_and(const struct clr_node *node)
{
    return node->kind == CLR_N_FOLD && node->opcode == CLR_OP_AND;
}

/* Adds those terms to the filter that can be lowered. Returns false without memory. */
static bool add_terms(struct clr_binder *binder, struct clr_node *node)
{
    struct clr_query *query = binder->query;
    const struct size before = size_of(query);
    struct clr_node *child;
    int value;

    for (child = is_and(node) ? node->first : NULL; child != NULL; child = child->next) {
        if (!add_terms(binder, child))
            return false;
    }
    if (is_and(node))
        return true;
    value = clr_lower(binder, node);
    if (value >= 0 && query->filter >= 0)
        value = clr_emit(binder, CLR_OP_AND, query->filter, value, 0);
    if (value >= 0)
        query->filter = value;
    else if (binder->code == CLR_INVALID)
        shrink(query, &before);
    if (binder->code == CLR_INVALID)
        binder->code = CLR_OK;
    return binder->code == CLR_OK;
}

/*
 * Binds the query, which could not be bound as a whole, as one of rows: with the terms of WHERE
 * that can be. What is in its expressions must have been found out. Stores the rowid's name.
 * Returns CLR_OK, CLR_INVALID, with what could not be bound first as the reason, or CLR_NOMEM.
 */
static enum clr_code partial_bind(struct clr_binder *binder, const char **rowid)
{
    const struct clr_reason first = *binder->reason;

    begin(binder->query);
    binder->code = CLR_OK;
    if (!add_terms(binder, binder->query->syntax->where))
        return binder->code;
    if (binder->query->filter >= 0 && clr_grouping_bind_rowid(binder, rowid)) {
        clr_reason_set(binder->reason, CLR_WHY_NONE);
        return CLR_OK;
    }
    if (binder->code == CLR_NOMEM)
        return CLR_NOMEM;
    *binder->reason = first;
    return CLR_INVALID;
}

/* ---- The aggregates that a query calls, and the tallies that a scan makes for them. */

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

/* Adds the call of an aggregate to the binder's query, with the tallies that it needs. Returns
   CLR_OK; else the binder has the reason, and the code is CLR_INVALID or CLR_NOMEM. */
static enum clr_code call_bind(struct clr_binder *binder, const struct clr_node *node)
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
    const enum clr_code code = call_bind(binder, node);

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

/* Refuses items with names as the columns of the table of groups have: in HAVING and in expressions
   of ORDER BY a column goes before an item of its name. */
static enum clr_code check_item_names(struct clr_binder *binder)
{
    const struct clr_node *item;

    for (item = binder->query->syntax->items.first; item != NULL; item = item->next) {
        const struct clr_token *token = &item->names[0];
        char *name = token->kind == 0 ? NULL : clr_token_name(token);

        if (token->kind != 0 && name == NULL) {
            clr_bind_no_memory(binder);
            return CLR_NOMEM;
        }
        if (name != NULL && (clr_name_begins(name, strlen(name), CLR_GROUP_KEY_PREFIX) ||
                             clr_name_begins(name, strlen(name), CLR_GROUP_CALL_PREFIX)))
            clr_bind_refuse_name(binder, CLR_WHY_INNER_NAME, name, strlen(name));
        clr_memory_free(name);
        if (binder->code != CLR_OK)
            return binder->code;
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

/* All that a scan computes. */
static enum clr_code bind_whole(struct clr_binder *binder, const char **rowid)
{
    const struct clr_query *query = binder->query;
    const struct clr_syntax *syntax = query->syntax;
    const struct clr_node *node = syntax->aggregates.first;
    enum clr_code code = bind_filter(binder) ? CLR_OK : binder->code;

    if (code == CLR_OK && query->is_grouped && !clr_grouping_bind(binder))
        code = binder->code;
    for (; code == CLR_OK && node != NULL && (query->is_grouped || !is_ordering(syntax, node));
         node = node->listed)
        code = call_bind(binder, node);
    for (; code == CLR_OK && node != NULL; node = node->listed)
        code = bind_ordering(binder, node);
    if (code == CLR_OK && query->has_rows)
        code = bind_rows(binder, rowid);
    return code;
}

enum clr_code clr_query_bind(struct clr_query *query, const struct clr_environment *environment,
                             struct clr_reason *reason)
{
    struct clr_binder binder = {query, environment, CLR_OK, reason};
    const char *rowid = NULL;
    enum clr_code code = number_parameters(&binder);

    query->is_utf8 = environment->is_utf8;
    if (code == CLR_OK)
        code = check_truths(&binder);
    if (code == CLR_OK)
        code = check_item_names(&binder);
    if (code == CLR_OK)
        code = find_contents(&binder);
    if (code == CLR_OK && !query->has_rows && !subqueries_find(&binder))
        code = binder.code;
    if (code == CLR_OK && !clr_subtypes_check(&binder))
        code = binder.code;
    if (code != CLR_OK)
        return code;
    code = bind_whole(&binder, &rowid);
    if (code == CLR_INVALID && environment->takes_parts && clr_query_may_find_rows(query))
        code = partial_bind(&binder, &rowid);
    return code == CLR_OK ? clr_result_row_write(query, environment, rowid) : code;
}

enum clr_code clr_query_write(struct clr_query *query, const struct clr_environment *environment)
{
    clr_memory_free(query->answer);
    clr_memory_free(query->subqueries);
    clr_memory_free(query->different);
    clr_memory_free(query->counted);
    query->answer = query->subqueries = query->different = query->counted = NULL;
    return clr_result_row_write(query, environment, NULL);
}

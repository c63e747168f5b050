#include "query/query.h"

#include "base/memory.h"
#include "query/binding/calls.h"
#include "query/binding/content.h"
#include "query/binding/grouping.h"
#include "query/binding/lower.h"
#include "query/binding/partial.h"
#include "query/binding/subqueries.h"
#include "query/binding/subtypes.h"
#include "query/result_row.h"
#include "query/syntax/grammar.h"

#include <string.h>

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
    const enum clr_code code = clr_call_bind(binder, node);

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
        code = clr_call_bind(binder, node);
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
    if (code == CLR_OK && !query->has_rows && !clr_subqueries_find(&binder))
        code = binder.code;
    if (code == CLR_OK && !clr_subtypes_check(&binder))
        code = binder.code;
    if (code != CLR_OK)
        return code;
    code = bind_whole(&binder, &rowid);
    if (code == CLR_INVALID && environment->takes_parts && clr_query_may_find_rows(query))
        code = clr_partial_bind(&binder, &rowid);
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

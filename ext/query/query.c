#include "query/query.h"

#include "base/memory.h"
#include "query/syntax/syntax.h"

#include <string.h>

/* Stores a name, or NULL if there is none; returns false without memory. */
static bool take_name(const struct clr_token *token, char **name)
{
    if (token->kind == 0)
        return true;
    *name = clr_token_name(token);
    return *name != NULL;
}

static enum clr_code parse(struct clr_query *query)
{
    struct clr_syntax *syntax = query->syntax;
    unsigned has = 0;
    const struct clr_node *item;

    if (clr_grammar_parse(syntax) != CLR_OK)
        return syntax->code;
    if (syntax->inner_begin != 0)
        clr_syntax_flatten(syntax);
    query->is_grouped = clr_syntax_is_grouped(syntax);
    query->has_rows = clr_syntax_has_rows(syntax);
    for (item = syntax->items.first; item != NULL; item = item->next)
        has |= item->has;
    if (!query->is_grouped && !query->has_rows)
        clr_syntax_check_row(syntax);
    /* Without an aggregate SQLite makes a row for every row of the table. */
    if (!query->is_grouped && !query->has_rows && !(has & CLR_HAS_SURE_AGGREGATE))
        clr_syntax_refuse(syntax, CLR_WHY_NO_AGGREGATE);
    else if (!take_name(&syntax->schema, &query->schema) ||
             !take_name(&syntax->table, &query->table) || !take_name(&syntax->alias, &query->alias))
        clr_syntax_no_memory(syntax);
    return syntax->code;
}

enum clr_code clr_query_parse(const char *sql, struct clr_query **result, struct clr_reason *reason)
{
    struct clr_query *query = clr_memory_alloc(sizeof *query);
    struct clr_syntax *syntax = clr_memory_alloc(sizeof *syntax);
    size_t size = strlen(sql) + 1;
    enum clr_code code;

    *result = NULL;
    if (query != NULL)
        memset(query, 0, sizeof *query);
    if (syntax != NULL)
        memset(syntax, 0, sizeof *syntax);
    if (query == NULL || syntax == NULL) {
        clr_memory_free(query);
        clr_memory_free(syntax);
        return CLR_NOMEM;
    }
    query->syntax = syntax;
    query->filter = -1;
    syntax->reason = reason;
    syntax->sql = clr_memory_alloc(size);
    if (syntax->sql == NULL) {
        code = CLR_NOMEM;
    } else {
        memcpy(syntax->sql, sql, size);
        code = parse(query);
    }
    if (code != CLR_OK)
        clr_query_free(query);
    else
        *result = query;
    return code;
}

bool clr_query_computes(const struct clr_query *query)
{
    int i;

    for (i = 0; i < query->instruction_count; i++) {
        switch (query->instructions[i].opcode) {
        case CLR_OP_CONSTANT:
        case CLR_OP_COLUMN:
        case CLR_OP_IS_NULL:
        case CLR_OP_NOT_NULL:
            break;
        default:
            return true;
        }
    }
    for (i = 0; i < query->call_count; i++) {
        if (query->calls[i].builtin && !query->calls[i].is_exact &&
            query->calls[i].aggregate->needs != CLR_NEEDS_COUNT)
            return true;
    }
    return false;
}

bool clr_query_calls(const struct clr_query *query, const char *function)
{
    const struct clr_node *node;

    for (node = query->syntax->nodes; node != NULL; node = node->allocated) {
        if (node->function != NULL && (node->has & CLR_HAS_AGGREGATE) == 0 &&
            strcmp(node->function, function) == 0)
            return true;
    }
    return false;
}

bool clr_query_may_find_rows(const struct clr_query *query)
{
    const struct clr_syntax *syntax = query->syntax;
    const bool ends_early = syntax->limit != NULL && syntax->terms.first == NULL &&
                            syntax->aggregates.first == NULL && syntax->keys.first == NULL;

    return syntax->where != NULL && syntax->inner_begin == 0 && !ends_early;
}

bool clr_query_has_subqueries(const struct clr_query *query)
{
    return query->syntax->subqueries.first != NULL;
}

void clr_query_free(struct clr_query *query)
{
    struct clr_node *node;
    int i;

    if (query == NULL)
        return;
    for (i = 0; i < query->lookup_count; i++)
        clr_memory_free(query->lookups[i].text);
    while ((node = query->syntax->nodes) != NULL) {
        query->syntax->nodes = node->allocated;
        clr_memory_free(node);
    }
    clr_memory_free(query->syntax->tokens);
    clr_memory_free(query->syntax->sql);
    clr_memory_free(query->syntax);
    clr_memory_free(query->schema);
    clr_memory_free(query->table);
    clr_memory_free(query->alias);
    clr_memory_free(query->answer);
    clr_memory_free(query->probes);
    clr_memory_free(query->subqueries);
    clr_memory_free(query->different);
    clr_memory_free(query->counted);
    clr_memory_free(query);
}

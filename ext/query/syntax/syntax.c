#include "query/syntax/syntax.h"

#include "base/memory.h"
#include "query/syntax/grammar.h"

#include <string.h>

const char *const clr_rowid_names[CLR_ROWID_NAMES] = {"rowid", "_rowid_", "oid"};

void clr_syntax_refuse_name(struct clr_syntax *syntax, enum clr_reason_code why, const char *name,
                            size_t length)
{
    if (syntax->code != CLR_OK)
        return;
    syntax->code = CLR_INVALID;
    clr_reason_set_name(syntax->reason, why, name, length);
}

void clr_syntax_refuse(struct clr_syntax *syntax, enum clr_reason_code why)
{
    clr_syntax_refuse_name(syntax, why, "", 0);
}

void clr_syntax_no_memory(struct clr_syntax *syntax)
{
    if (syntax->code == CLR_OK)
        syntax->code = CLR_NOMEM;
}

/* Whether a token is in the FROM clause. */
static bool is_source(const struct clr_syntax *syntax, size_t index)
{
    while (index > 0 && syntax->tokens[index].kind != CLR_T_WHERE &&
           syntax->tokens[index].kind != CLR_T_GROUP && syntax->tokens[index].kind != CLR_T_ORDER &&
           syntax->tokens[index].kind != CLR_T_LIMIT &&
           (syntax->tokens[index].kind != CLR_T_FROM ||
            syntax->tokens[index - 1].kind == CLR_T_DISTINCT))
        index--;
    return syntax->tokens[index].kind == CLR_T_FROM;
}

/* Whether no FROM comes before that token, which the SELECT ends with, or its WHERE begins. */
static bool lacks_source(const struct clr_syntax *syntax, const struct clr_token *end)
{
    const size_t count = end->kind == 0 ? syntax->token_count : end->index;
    size_t i = 0;

    while (i < count && syntax->tokens[i].kind != CLR_T_FROM)
        i++;
    return i == count && count > 1;
}

/* Whether the subquery in FROM has begun and not ended. */
static bool is_in_source(const struct clr_syntax *syntax)
{
    return syntax->inner_begin != 0 && syntax->inner_end == 0;
}

/* Whether a token begins something by which a subquery's rows are not its table's. */
static bool is_clause(const struct clr_token *token)
{
    return token->kind == CLR_T_DISTINCT || token->kind == CLR_T_GROUP ||
           token->kind == CLR_T_HAVING || token->kind == CLR_T_ORDER || token->kind == CLR_T_LIMIT;
}

void clr_syntax_unexpected(struct clr_syntax *syntax, const struct clr_token *token)
{
    if (syntax->code != CLR_OK)
        return;
    if ((token->kind == 0 || token->kind == CLR_T_WHERE) && lacks_source(syntax, token))
        clr_syntax_refuse(syntax, CLR_WHY_NO_FROM);
    else if (token->kind == 0)
        clr_syntax_refuse(syntax, CLR_WHY_INCOMPLETE);
    else if (is_in_source(syntax) && is_clause(token))
        clr_syntax_refuse_name(syntax, CLR_WHY_IN_FROM, token->text, token->length);
    else if (token->kind == CLR_T_DISTINCT)
        clr_syntax_refuse(syntax, CLR_WHY_DISTINCT);
    else if (token->kind == CLR_T_ORDER)
        clr_syntax_refuse(syntax, CLR_WHY_ORDER_BY);
    else if (token->kind == CLR_T_HAVING)
        clr_syntax_refuse(syntax, CLR_WHY_HAVING);
    else if (token->index == 0)
        clr_syntax_refuse(syntax, CLR_WHY_NO_SELECT);
    else if (syntax->tokens[token->index - 1].kind == CLR_T_SEMI)
        clr_syntax_refuse(syntax, CLR_WHY_STATEMENTS);
    else if (token->kind == CLR_T_SELECT || token->kind == CLR_T_SUBQUERY)
        clr_syntax_refuse(syntax, CLR_WHY_SUBQUERY);
    else if (token->kind == CLR_T_COMMA && is_source(syntax, token->index))
        clr_syntax_refuse(syntax, CLR_WHY_JOIN);
    else
        clr_syntax_refuse_name(syntax, CLR_WHY_UNEXPECTED, token->text, token->length);
}

int clr_list_count(const struct clr_list *list)
{
    const struct clr_node *node;
    int count = 0;

    for (node = list->first; node != NULL; node = node->next)
        count++;
    return count;
}

void clr_list_append(struct clr_list *list, struct clr_node *node)
{
    if (node == NULL)
        return;
    if (list->first == NULL)
        list->first = node;
    else
        list->last->next = node;
    list->last = node;
}

void clr_list_enlist(struct clr_list *list, struct clr_node *node)
{
    if (list->first == NULL)
        list->first = node;
    else
        list->last->listed = node;
    list->last = node;
}

struct clr_node *clr_syntax_node(struct clr_syntax *syntax, enum clr_node_kind kind,
                                 struct clr_list children)
{
    struct clr_node *node, *child;
    int depth = 1;
    unsigned has = 0;

    if (syntax->code != CLR_OK)
        return NULL;
    for (child = children.first; child != NULL; child = child->next) {
        if (child->depth >= depth)
            depth = child->depth + 1;
        has |= child->has;
    }
    if (depth > CLR_DEEPEST) {
        clr_syntax_refuse(syntax, CLR_WHY_NESTING);
        return NULL;
    }
    node = clr_memory_alloc(sizeof *node);
    if (node == NULL) {
        clr_syntax_no_memory(syntax);
        return NULL;
    }
    memset(node, 0, sizeof *node);
    node->kind = kind;
    node->first = children.first;
    node->allocated = syntax->nodes;
    node->depth = depth;
    node->has = has;
    syntax->nodes = node;
    return node;
}

struct clr_node *clr_syntax_place(struct clr_syntax *syntax, size_t begin, struct clr_node *node)
{
    if (node == NULL || syntax->code != CLR_OK)
        return NULL;
    node->begin = node->outer_begin = begin;
    /* Lemon reduces when it has the token behind what it reduces. */
    node->end = node->outer_end = syntax->token_count - 1;
    return node;
}

struct clr_node *clr_syntax_enclose(struct clr_syntax *syntax, size_t begin, struct clr_node *node)
{
    if (node == NULL || syntax->code != CLR_OK)
        return NULL;
    node->outer_begin = begin;
    node->outer_end = syntax->token_count - 1;
    return node;
}

struct clr_node *clr_syntax_column(struct clr_syntax *syntax, int name_count,
                                   const struct clr_token *names)
{
    struct clr_node *node = clr_syntax_node(syntax, CLR_N_COLUMN, (struct clr_list){NULL, NULL});

    if (node != NULL) {
        memcpy(node->names, names, (size_t)name_count * sizeof *names);
        node->name_count = name_count;
        node->has = CLR_HAS_COLUMN;
        syntax->tokens[names[0].index].node = node;
    }
    return clr_syntax_place(syntax, names[0].index, node);
}

struct clr_node *clr_syntax_value(struct clr_syntax *syntax, enum clr_node_kind kind,
                                  const struct clr_token *token)
{
    struct clr_node *node = clr_syntax_node(syntax, kind, (struct clr_list){NULL, NULL});

    if (node == NULL)
        return NULL;
    node->names[0] = *token;
    if (kind == CLR_N_PARAMETER) {
        clr_list_enlist(&syntax->parameters, node);
        syntax->tokens[token->index].node = node;
    } else if (token->kind == CLR_T_TRUE || token->kind == CLR_T_FALSE) {
        clr_list_enlist(&syntax->truths, node);
    }
    return clr_syntax_place(syntax, token->index, node);
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
        clr_syntax_refuse_name(syntax, CLR_WHY_FUNCTION, node->names[0].text,
                               node->names[0].length);
    else if (syntax->aggregates.first != NULL)
        clr_syntax_refuse(syntax, CLR_WHY_BARE_COLUMN);
    else
        clr_syntax_refuse(syntax, syntax->where != NULL || syntax->inner_where != NULL
                                      ? CLR_WHY_ROWS_OF_SUBQUERY
                                      : CLR_WHY_NO_AGGREGATE);
}

/* Whether an aggregate has a COLLATE in its arguments. */
static bool has_collated_aggregate(const struct clr_node *node)
{
    const struct clr_node *child;

    if (node->kind == CLR_N_AGGREGATE)
        return (node->has & CLR_HAS_COLLATE) != 0;
    for (child = node->first; child != NULL; child = child->next) {
        if (has_collated_aggregate(child))
            return true;
    }
    return false;
}

void clr_syntax_item(struct clr_syntax *syntax, size_t begin, struct clr_node *expression,
                     size_t end, const struct clr_token *name)
{
    struct clr_node *node =
        clr_syntax_node(syntax, CLR_N_ITEM, (struct clr_list){expression, expression});

    if (node == NULL)
        return;
    /* A comparison takes the sequence that is named within the arguments of a function, and so of
       an aggregate: of its value, which is a parameter in the result row, it is gone. */
    if (expression->has & CLR_HAS_COLLATE && expression->has & CLR_HAS_AGGREGATE &&
        expression->kind != CLR_N_AGGREGATE && has_collated_aggregate(expression)) {
        clr_syntax_refuse(syntax, CLR_WHY_COLLATED_AGGREGATE);
        return;
    }
    node->names[0] = *name;
    node->begin = begin;
    node->end = end;
    clr_list_append(&syntax->items, node);
}

void clr_syntax_star(struct clr_syntax *syntax, size_t begin)
{
    const struct clr_token none = {.kind = 0};
    struct clr_node *node = clr_syntax_node(syntax, CLR_N_STAR, (struct clr_list){NULL, NULL});

    if (node == NULL)
        return;
    node->has = CLR_HAS_COLUMN;
    clr_syntax_place(syntax, begin, node);
    clr_syntax_item(syntax, node->begin, node, node->end, &none);
}

void clr_syntax_where(struct clr_syntax *syntax, struct clr_node *expression)
{
    if (syntax->code != CLR_OK)
        return;
    if (expression->has & CLR_HAS_AGGREGATE)
        clr_syntax_refuse(syntax, CLR_WHY_AGGREGATE_IN_WHERE);
    if (expression->has & CLR_HAS_SUBQUERY)
        clr_syntax_refuse(syntax, CLR_WHY_SUBQUERY);
    syntax->where = expression;
}

bool clr_syntax_find_item(const struct clr_syntax *syntax, const struct clr_node *node,
                          struct clr_node **found)
{
    struct clr_node *item;
    char *name, *other;

    *found = NULL;
    while (node->kind == CLR_N_COLLATE)
        node = node->first;
    if (node->name_end != 0 ? node->name_end - node->name_begin != 1
                            : node->kind != CLR_N_COLUMN || node->name_count != 1)
        return true;
    name = clr_token_name(&syntax->tokens[node->name_end != 0 ? node->name_begin : node->begin]);
    if (name == NULL)
        return false;
    for (item = syntax->items.first; item != NULL && *found == NULL; item = item->next) {
        if (item->names[0].kind == 0)
            continue;
        other = clr_token_name(&item->names[0]);
        if (other == NULL)
            break;
        if (clr_name_equal(name, other))
            *found = item;
        clr_memory_free(other);
    }
    clr_memory_free(name);
    return item == NULL || *found != NULL;
}

void clr_syntax_key(struct clr_syntax *syntax, struct clr_node *expression)
{
    clr_list_append(&syntax->keys,
                    clr_syntax_node(syntax, CLR_N_TERM, (struct clr_list){expression, expression}));
}

void clr_syntax_order(struct clr_syntax *syntax, struct clr_node *expression, bool descending)
{
    struct clr_node *node =
        clr_syntax_node(syntax, CLR_N_TERM, (struct clr_list){expression, expression});

    if (node == NULL)
        return;
    node->descending = descending;
    clr_list_append(&syntax->terms, node);
}

void clr_syntax_order_end(struct clr_syntax *syntax, const struct clr_token *order)
{
    syntax->order_begin = order->index;
    /* As in clr_syntax_place(). */
    syntax->order_end = syntax->token_count - 1;
}

bool clr_syntax_is_grouped(const struct clr_syntax *syntax)
{
    const struct clr_node *item;
    unsigned has = 0;

    for (item = syntax->items.first; item != NULL; item = item->next)
        has |= item->has;
    return syntax->keys.first != NULL || (syntax->distinct && (has & CLR_HAS_AGGREGATE) == 0);
}

bool clr_syntax_has_rows(const struct clr_syntax *syntax)
{
    return !clr_syntax_is_grouped(syntax) && syntax->where != NULL && syntax->inner_begin == 0 &&
           syntax->aggregates.first == NULL;
}

void clr_syntax_check_row(struct clr_syntax *syntax)
{
    const struct clr_node *node;
    struct clr_node *item;

    for (node = syntax->items.first; node != NULL; node = node->next) {
        if (node->has & CLR_HAS_COLUMN)
            refuse_column(syntax, node->first);
    }
    for (node = syntax->terms.first; node != NULL; node = node->next) {
        /* SQLite does not evaluate it. */
        if (node->has & CLR_HAS_SUBQUERY)
            clr_syntax_refuse(syntax, CLR_WHY_ORDER_BY);
        /* The name of an item goes before that of a column. */
        if ((node->has & CLR_HAS_COLUMN) == 0)
            continue;
        if (!clr_syntax_find_item(syntax, node->first, &item))
            clr_syntax_no_memory(syntax);
        else if (item == NULL)
            clr_syntax_refuse(syntax, CLR_WHY_ORDER_BY);
    }
}

void clr_syntax_limit(struct clr_syntax *syntax, const struct clr_token *limit,
                      struct clr_node *first, struct clr_node *second)
{
    if (syntax->code != CLR_OK)
        return;
    first->next = second;
    if (((first->has | (second != NULL ? second->has : 0)) &
         (CLR_HAS_COLUMN | CLR_HAS_AGGREGATE | CLR_HAS_SUBQUERY)) != 0)
        clr_syntax_refuse(syntax, CLR_WHY_LIMIT);
    syntax->limit = first;
    syntax->limit_begin = limit->index;
    /* As in clr_syntax_place(). */
    syntax->limit_end = syntax->token_count - 1;
}

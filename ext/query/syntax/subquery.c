/* Subqueries: one in FROM that projects and filters rows of one table, so that the query around it
   is one of that table; and those in expressions, which are SQLite's to evaluate. */
#include "base/memory.h"
#include "query/syntax/grammar.h"
#include "query/syntax/syntax.h"

#include <string.h>

bool clr_syntax_opens_subquery(const struct clr_syntax *syntax, const char *at)
{
    static const char *const words[] = {"SELECT", "WITH", "VALUES"};
    const struct clr_token *last;
    struct clr_token token;
    struct clr_reason reason;
    size_t i;

    if (syntax->token_count < 2)
        return false;
    last = &syntax->tokens[syntax->token_count - 1];
    if (last->kind != CLR_T_LP ||
        (last[-1].kind == CLR_T_FROM &&
         (syntax->token_count < 3 || last[-2].kind != CLR_T_DISTINCT)) ||
        clr_lexer_next_raw(&at, &token, &reason) != CLR_OK)
        return false;
    for (i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (token.length == strlen(words[i]) && clr_name_begins(token.text, token.length, words[i]))
            return true;
    }
    return false;
}

void clr_syntax_inner_parameter(struct clr_syntax *syntax, const struct clr_token *token)
{
    struct clr_node *node = clr_syntax_value(syntax, CLR_N_PARAMETER, token);

    /* The token behind it has not been read. */
    if (node != NULL)
        node->end = node->outer_end = token->index + 1;
}

struct clr_node *clr_syntax_subquery(struct clr_syntax *syntax, size_t begin)
{
    struct clr_node *node = clr_syntax_node(syntax, CLR_N_SUBQUERY, (struct clr_list){NULL, NULL});

    if (node != NULL) {
        node->has = CLR_HAS_SUBQUERY;
        clr_list_enlist(&syntax->subqueries, node);
    }
    return clr_syntax_place(syntax, begin, node);
}

struct clr_node *clr_syntax_exists(struct clr_syntax *syntax, const struct clr_token *exists,
                                   struct clr_node *subquery)
{
    const struct clr_list child = {subquery, subquery};

    return clr_syntax_place(syntax, exists->index, clr_syntax_node(syntax, CLR_N_OPERATOR, child));
}

void clr_syntax_open(struct clr_syntax *syntax)
{
    if (syntax->inner_begin != 0)
        clr_syntax_refuse(syntax, CLR_WHY_SUBQUERY);
    /* As in clr_syntax_place(): the parser has read the token behind the parenthesis. */
    syntax->inner_begin = syntax->token_count - 1;
    syntax->inner_items = syntax->items;
    syntax->items = (struct clr_list){NULL, NULL};
}

void clr_syntax_close(struct clr_syntax *syntax, const struct clr_token *end,
                      const struct clr_token *name)
{
    const struct clr_list inner = syntax->items;
    const struct clr_node *item;

    syntax->items = syntax->inner_items;
    syntax->inner_items = inner;
    syntax->inner_where = syntax->where;
    syntax->where = NULL;
    syntax->inner_name = *name;
    syntax->inner_end = end->index;
    for (item = inner.first; item != NULL && syntax->code == CLR_OK; item = item->next) {
        /* A parameter has its number only later. */
        if (item->has & (CLR_HAS_AGGREGATE | CLR_HAS_COLLATE | CLR_HAS_SUBQUERY) ||
            item->first->kind == CLR_N_PARAMETER)
            clr_syntax_refuse(syntax, CLR_WHY_SUBQUERY);
    }
}

/* Whether a token, which may be of kind 0, is that name. */
static bool is_named(struct clr_syntax *syntax, const struct clr_token *token, const char *name)
{
    char *other;
    bool same;

    if (token->kind == 0)
        return false;
    other = clr_token_name(token);
    same = other != NULL && clr_name_equal(other, name);
    if (other == NULL)
        clr_syntax_no_memory(syntax);
    clr_memory_free(other);
    return same;
}

/* Returns the first of the subquery's items that has the name, or else is all columns; or NULL.
 *is_behind: all columns come before it. */
static const struct clr_node *find_inner(struct clr_syntax *syntax, const char *name,
                                         bool *is_behind)
{
    const struct clr_node *item, *x, *star = NULL;

    for (item = syntax->inner_items.first; item != NULL; item = item->next) {
        x = item->first;
        if (x->kind == CLR_N_STAR) {
            star = item;
        } else if (item->names[0].kind != 0
                       ? is_named(syntax, &item->names[0], name)
                       : x->kind == CLR_N_COLUMN &&
                             is_named(syntax, &x->names[x->name_count - 1], name)) {
            *is_behind = star != NULL;
            return item;
        }
    }
    return star;
}

static bool is_rowid(const char *name)
{
    int i;

    for (i = 0; i < CLR_ROWID_NAMES; i++) {
        if (clr_name_equal(name, clr_rowid_names[i]))
            return true;
    }
    return false;
}

/* Makes the node of a name what the item is. */
static void substitute(struct clr_node *node, const struct clr_node *x)
{
    struct clr_node result = *x;

    result.next = node->next;
    result.allocated = node->allocated;
    result.listed = node->listed;
    result.name_begin = node->begin;
    result.name_end = node->end;
    *node = result;
}

static void flatten(struct clr_syntax *syntax, struct clr_node *node)
{
    const struct clr_token *last = &node->names[node->name_count - 1];
    char *name = clr_token_name(last);
    const struct clr_node *item = NULL;
    const bool is_meant =
        node->name_count == 1 || (node->name_count == 2 && syntax->inner_name.kind != 0);
    char *qualifier = NULL;
    bool is_behind = false;

    if (name == NULL) {
        clr_syntax_no_memory(syntax);
        return;
    }
    if (is_meant && node->name_count == 2) {
        qualifier = clr_token_name(&node->names[0]);
        if (qualifier == NULL)
            clr_syntax_no_memory(syntax);
        else if (is_named(syntax, &syntax->inner_name, qualifier))
            item = find_inner(syntax, name, &is_behind);
        clr_memory_free(qualifier);
    } else if (is_meant) {
        item = find_inner(syntax, name, &is_behind);
    }
    /* All columns are those of the table without its rowid. */
    node->is_hidden = item == NULL || (item->first->kind == CLR_N_STAR && is_rowid(name));
    if (item != NULL && item->first->kind == CLR_N_STAR) {
        node->names[0] = *last;
        node->name_count = 1;
    } else if (item != NULL) {
        substitute(node, item->first);
        node->is_behind = is_behind;
    }
    clr_memory_free(name);
}

void clr_syntax_flatten(struct clr_syntax *syntax)
{
    struct clr_node *node;

    for (node = syntax->nodes; node != NULL && syntax->code == CLR_OK; node = node->allocated) {
        const bool is_inner = node->begin >= syntax->inner_begin && node->begin < syntax->inner_end;

        if (node->kind == CLR_N_STAR && !is_inner)
            clr_syntax_refuse(syntax, CLR_WHY_SUBQUERY);
        else if (node->kind == CLR_N_COLUMN && !is_inner)
            flatten(syntax, node);
    }
}

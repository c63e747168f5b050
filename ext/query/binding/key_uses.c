#include "query/binding/key_uses.h"

#include "query/binding/content.h"
#include "query/syntax/grammar.h"

#include <string.h>

static bool refuse(struct clr_binder *binder, enum clr_reason_code why)
{
    clr_bind_refuse(binder, why);
    return false;
}

struct clr_node *clr_key_uses_first(const struct clr_syntax *syntax)
{
    return syntax->keys.first != NULL ? syntax->keys.first : syntax->items.first;
}

static bool is_same_token(const struct clr_token *a, const struct clr_token *b)
{
    size_t i;

    if (a->kind != b->kind || a->length != b->length)
        return false;
    if (a->kind == CLR_T_STRING || a->kind == CLR_T_BLOB || a->kind == CLR_T_NUMBER)
        return memcmp(a->text, b->text, a->length) == 0;
    for (i = 0; i < a->length; i++) {
        char x = a->text[i], y = b->text[i];
        x = x >= 'A' && x <= 'Z' ? (char)(x - 'A' + 'a') : x;
        y = y >= 'A' && y <= 'Z' ? (char)(y - 'A' + 'a') : y;
        if (x != y)
            return false;
    }
    return true;
}

static bool is_same(const struct clr_syntax *syntax, const struct clr_node *a,
                    const struct clr_node *b);

/* The same for columns, parameters, and columns of a subquery. */
static bool is_same_node(const struct clr_syntax *syntax, const struct clr_node *x,
                         const struct clr_node *y)
{
    if (x->kind != y->kind || x->kind == CLR_N_AGGREGATE || x->is_item || y->is_item)
        return false;
    if (x->kind == CLR_N_COLUMN)
        return x->reads == y->reads;
    return x->kind == CLR_N_PARAMETER ? x->number == y->number : is_same(syntax, x, y);
}

/* Whether two expressions are the same, as they are written, but for how they name columns and
   parameters. */
static bool is_same(const struct clr_syntax *syntax, const struct clr_node *a,
                    const struct clr_node *b)
{
    size_t i = a->begin, j = b->begin;

    if (a == b)
        return true;
    if (a->kind == CLR_N_COLUMN || b->kind == CLR_N_COLUMN)
        return a->kind == b->kind && a->reads == b->reads && !a->is_item && !b->is_item;
    if (i == a->end || j == b->end)
        return false;
    while (i < a->end && j < b->end) {
        const struct clr_node *x = syntax->tokens[i].node, *y = syntax->tokens[j].node;

        if (x == NULL && y == NULL) {
            if (!is_same_token(&syntax->tokens[i++], &syntax->tokens[j++]))
                return false;
            continue;
        }
        if (x == NULL || y == NULL || !is_same_node(syntax, x, y))
            return false;
        i = x->name_end != 0 ? x->name_end : x->end;
        j = y->name_end != 0 ? y->name_end : y->end;
    }
    return i == a->end && j == b->end;
}

/*
 * Takes note of a key, or the name of an item that is one, within an expression, if it is a column
 * with another collating sequence than BINARY. What stands for it names the sequence as COLLATE
 * does, which counts for all that is around it, while that of a column does not. Functions have no
 * use for it, and COLLATE goes before it: within them it is left out. Returns false once it has
 * failed.
 */
static bool take_sequence(struct clr_binder *binder, const struct clr_node *node,
                          struct clr_node *child)
{
    struct clr_node *item = NULL;

    if (child->is_item && !clr_syntax_find_item(binder->query->syntax, child, &item)) {
        clr_bind_no_memory(binder);
        return false;
    }
    if (item != NULL)
        return item->first->kind != CLR_N_COLUMN || item->first->is_binary ||
               refuse(binder, CLR_WHY_COLLATION);
    if (child->kind != CLR_N_COLUMN || child->is_binary)
        return true;
    child->collation[0] = '\0';
    return node->kind == CLR_N_FUNCTION || node->kind == CLR_N_COLLATE ||
           refuse(binder, CLR_WHY_COLLATION);
}

/* Finds the expressions that are keys. Returns false, once it has failed, if there is a column
   elsewhere. */
static bool find_key_uses(struct clr_binder *binder, struct clr_node *node)
{
    const struct clr_syntax *syntax = binder->query->syntax;
    const struct clr_node *term;
    struct clr_node *child;
    int key = 1;

    if (node->kind == CLR_N_AGGREGATE || node->is_item)
        return true;
    for (term = clr_key_uses_first(syntax); term != NULL; term = term->next) {
        if (term->is_constant)
            continue;
        if (is_same(syntax, term->first, node)) {
            node->key = key;
            return true;
        }
        key++;
    }
    if (node->kind == CLR_N_COLUMN)
        return refuse(binder, CLR_WHY_KEY_COLUMN);
    for (child = node->first; child != NULL; child = child->next) {
        if (!take_sequence(binder, node, child) || !find_key_uses(binder, child))
            return false;
    }
    return true;
}

/* Lets the first token of each such expression tell. Done when all are found and the keys are
   written down: both go by the tokens. */
static void mark_keys(struct clr_syntax *syntax, struct clr_node *node)
{
    struct clr_node *child;

    if (node->kind == CLR_N_AGGREGATE)
        return;
    if (node->key != 0) {
        syntax->tokens[node->name_end != 0 ? node->name_begin : node->begin].node = node;
        return;
    }
    for (child = node->first; child != NULL; child = child->next)
        mark_keys(syntax, child);
}

/* Does something with each expression outside of aggregates that is evaluated for a group. */
static bool each_outer(struct clr_binder *binder,
                       bool (*act)(struct clr_binder *binder, struct clr_node *node))
{
    const struct clr_syntax *syntax = binder->query->syntax;
    const struct clr_node *node;

    for (node = syntax->items.first; node != NULL; node = node->next) {
        if (!act(binder, node->first))
            return false;
    }
    if (syntax->having != NULL && !act(binder, syntax->having))
        return false;
    for (node = syntax->terms.first; node != NULL; node = node->next) {
        if (!act(binder, node->first))
            return false;
    }
    return true;
}

static bool mark(struct clr_binder *binder, struct clr_node *node)
{
    mark_keys(binder->query->syntax, node);
    return true;
}

bool clr_key_uses_find(struct clr_binder *binder)
{
    return each_outer(binder, find_key_uses);
}

void clr_key_uses_mark(struct clr_binder *binder)
{
    each_outer(binder, mark);
}

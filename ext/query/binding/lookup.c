#include "query/binding/lookup.h"

#include "base/memory.h"
#include "query/binding/content.h"
#include "query/held.h"
#include "query/syntax/grammar.h"

#include <stdio.h>
#include <string.h>

/* Text that is measured first, while `text` is NULL, and written then. */
struct text {
    char *text;
    size_t length;
};

/* Adds a token, with a space in front of all but the first: no two run together, and comments are
   gone. */
static void add(struct text *to, const char *token, size_t length)
{
    const size_t space = to->length > 0;

    if (to->text != NULL) {
        if (space != 0)
            to->text[to->length] = ' ';
        memcpy(to->text + to->length + space, token, length);
    }
    to->length += space + length;
}

static void add_expression(struct text *to, const struct clr_syntax *syntax,
                           const struct clr_node *expression);

/* Adds what is more than a token: a column, a parameter, or what a subquery's column is. */
static void add_node(struct text *to, const struct clr_syntax *syntax, const struct clr_node *node)
{
    char number[16];

    if (node->kind == CLR_N_COLUMN) {
        add(to, "\"" CLR_LOOKUP_COLUMN "\"", sizeof CLR_LOOKUP_COLUMN + 1);
    } else if (node->kind == CLR_N_PARAMETER) {
        add(to, number, (size_t)snprintf(number, sizeof number, "?%d", node->number));
    } else {
        add(to, "(", 1);
        add_expression(to, syntax, node);
        add(to, ")", 1);
    }
}

static void add_expression(struct text *to, const struct clr_syntax *syntax,
                           const struct clr_node *expression)
{
    size_t i = expression->begin;

    while (i < expression->end) {
        const struct clr_token *token = &syntax->tokens[i];
        const struct clr_node *node = token->node;

        if (node == NULL) {
            add(to, token->text, token->length);
            i++;
        } else {
            add_node(to, syntax, node);
            i = node->name_end != 0 ? node->name_end : node->end;
        }
    }
}

/* Parentheses change neither the affinity nor the collating sequence of what is in them. */
static void write(struct text *to, const struct clr_syntax *syntax, const struct clr_node *node,
                  const struct clr_node *equal)
{
    to->length = 0;
    if (equal == NULL) {
        add_expression(to, syntax, node);
    } else {
        add(to, "(", 1);
        add_expression(to, syntax, node);
        add(to, ") = (", 5);
        add_expression(to, syntax, equal);
        add(to, ")", 1);
    }
    if (to->text != NULL)
        to->text[to->length] = '\0';
}

/* ---- The lookup. */

/* Returns the number of the lookup of a column with codes, which takes the text; -1 once it has
   failed, without it. */
static int find_lookup(struct clr_binder *binder, const struct clr_lookup_plan *plan)
{
    struct clr_query *query = binder->query;
    int i;

    for (i = 0; i < query->lookup_count; i++) {
        const struct clr_lookup_plan *known = &query->lookups[i];
        if (known->column == plan->column && known->is_ranked == plan->is_ranked &&
            strcmp(known->text, plan->text) == 0) {
            clr_memory_free(plan->text);
            return i;
        }
    }
    if (i == CLR_MOST_LOOKUPS) {
        clr_memory_free(plan->text);
        return clr_bind_refuse_more(binder, "expressions with text or functions");
    }
    query->lookups[i] = *plan;
    return query->lookup_count++;
}

/* Returns a column that is read in the expression, or NULL. */
static const struct clr_node *find_column(const struct clr_node *node)
{
    const struct clr_node *child = node->first, *found = NULL;

    if (node->kind == CLR_N_COLUMN)
        return node;
    for (; child != NULL && found == NULL; child = child->next)
        found = find_column(child);
    return found;
}

/* Refuses lookups over a column with too many different values. Returns false once it has failed.
 */
static bool check_column(struct clr_binder *binder, int number, const struct clr_node *node)
{
    const struct clr_environment *environment = binder->environment;
    const struct clr_node *column;
    char *name;
    int i;

    for (i = 0; i < environment->varied_count && environment->varied[i] != number; i++)
        ;
    if (i == environment->varied_count)
        return true;
    column = find_column(node);
    name = clr_token_name(&column->names[column->name_count - 1]);
    if (name == NULL)
        clr_bind_no_memory(binder);
    else
        clr_bind_refuse_name(binder, CLR_WHY_MANY_VALUES, name, strlen(name));
    clr_memory_free(name);
    return false;
}

static int emit_lookup(struct clr_binder *binder, struct clr_node *node, struct clr_node *equal,
                       bool is_ranked)
{
    const int number =
        equal != NULL ? clr_content_together(node->reads, equal->reads) : node->reads;
    const struct clr_syntax *syntax = binder->query->syntax;
    struct clr_lookup_plan plan = {.is_ranked = is_ranked};
    struct text text = {NULL, 0};
    int lookup;

    if (!check_column(binder, number, node->reads >= 0 ? node : equal) ||
        !clr_held_check(binder, node, &plan.is_timed) ||
        (equal != NULL && !clr_held_check(binder, equal, &plan.is_timed)))
        return -1;
    plan.column = clr_place_column(binder, number, true);
    if (plan.column < 0)
        return -1;
    write(&text, syntax, node, equal);
    text.text = clr_memory_alloc(text.length + 1);
    if (text.text == NULL)
        return clr_bind_no_memory(binder);
    write(&text, syntax, node, equal);
    plan.text = text.text;
    lookup = find_lookup(binder, &plan);
    return lookup < 0 ? -1 : clr_emit(binder, CLR_OP_LOOKUP, plan.column, lookup, 0);
}

int clr_lookup_emit(struct clr_binder *binder, struct clr_node *node, struct clr_node *equal)
{
    return emit_lookup(binder, node, equal, false);
}

int clr_lookup_emit_ranks(struct clr_binder *binder, struct clr_node *node)
{
    return emit_lookup(binder, node, NULL, true);
}

#include "query/binding/lookup.h"

#include "base/memory.h"
#include "numeric/filter/bounds.h"
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

/* ---- What is known of it without its results. */

/* Whether SQLite reports no error for an expression. */
static bool is_sure(const struct clr_node *node)
{
    const struct clr_node *child;

    if (node->kind == CLR_N_FUNCTION || node->kind == CLR_N_OPERATOR ||
        node->kind == CLR_N_SUBQUERY || node->kind == CLR_N_AGGREGATE || node->function != NULL)
        return false;
    for (child = node->first; child != NULL; child = child->next) {
        if (!is_sure(child))
            return false;
    }
    return true;
}

/* Takes a comparison, if it is one of a column, in binary order, with a parameter or with TEXT that
   has no quotes in it. */
static void take_compared(const struct clr_node *column, enum clr_opcode opcode,
                          const struct clr_node *constant, struct clr_lookup_plan *plan)
{
    struct clr_compared compared = {.opcode = opcode};
    const struct clr_token *token = &constant->names[0];

    if (column->kind == CLR_N_LITERAL || column->kind == CLR_N_PARAMETER) {
        const struct clr_node *other = column;

        column = constant;
        constant = other;
        token = &constant->names[0];
        compared.opcode = clr_comparison_turn(opcode);
    }
    if (column->kind != CLR_N_COLUMN || !column->is_binary ||
        plan->compared_count == CLR_MOST_COMPARED)
        return;
    if (constant->kind == CLR_N_PARAMETER) {
        compared.parameter = constant->number;
    } else if (constant->kind == CLR_N_LITERAL && token->kind == CLR_T_STRING &&
               memchr(token->text + 1, '\'', token->length - 2) == NULL) {
        compared.text = token->text + 1;
        compared.size = token->length - 2;
    } else {
        return;
    }
    plan->is_text = column->is_text;
    plan->is_numeric = column->is_numeric;
    plan->compared[plan->compared_count++] = compared;
}

/* Takes what has to be true for an expression to be true, as far as it is comparisons. */
static void find_compared(const struct clr_node *node, struct clr_lookup_plan *plan)
{
    const struct clr_node *child = node->first;
    const bool compares = node->kind == CLR_N_FOLD && child->next->next == NULL;

    if (node->kind == CLR_N_FOLD && node->opcode == CLR_OP_AND) {
        for (; child != NULL; child = child->next)
            find_compared(child, plan);
    } else if (node->kind == CLR_N_BETWEEN) {
        take_compared(child, CLR_OP_GREATER_EQUAL, child->next, plan);
        take_compared(child, CLR_OP_LESS_EQUAL, child->next->next, plan);
    } else if (compares &&
               (node->opcode == CLR_OP_EQUAL || node->opcode == CLR_OP_IS ||
                (node->opcode >= CLR_OP_LESS && node->opcode <= CLR_OP_GREATER_EQUAL))) {
        take_compared(child, node->opcode, child->next, plan);
    }
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
    plan.is_sure = is_sure(node) && (equal == NULL || is_sure(equal));
    if (equal == NULL)
        find_compared(node, &plan);
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

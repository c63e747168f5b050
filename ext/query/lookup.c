#include "query/lookup.h"

#include "base/memory.h"
#include "query/content.h"
#include "query/held.h"

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
                           const struct clr_node *expression)
{
    char number[16];
    size_t i = expression->begin;

    while (i < expression->end) {
        const struct clr_token *token = &syntax->tokens[i];
        const struct clr_node *node = token->node;

        if (node == NULL) {
            add(to, token->text, token->length);
            i++;
        } else if (node->kind == CLR_N_COLUMN) {
            add(to, "\"" CLR_LOOKUP_COLUMN "\"", sizeof CLR_LOOKUP_COLUMN + 1);
            i = node->end;
        } else {
            const int length = snprintf(number, sizeof number, "?%d", node->number);
            add(to, number, (size_t)length);
            i = node->end;
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

/* Returns the number of the lookup of a column with codes, which takes the text; -1 once it has
   failed, without it. */
static int find_lookup(struct clr_binder *binder, int column, char *text, bool is_timed)
{
    struct clr_query *query = binder->query;
    int i;

    for (i = 0; i < query->lookup_count; i++) {
        if (query->lookups[i].column == column && strcmp(query->lookups[i].text, text) == 0) {
            clr_memory_free(text);
            return i;
        }
    }
    if (i == CLR_MOST_LOOKUPS) {
        clr_memory_free(text);
        return clr_bind_refuse_more(binder, "expressions with text or functions");
    }
    query->lookups[i] =
        (struct clr_lookup_plan){.column = column, .text = text, .is_timed = is_timed};
    return query->lookup_count++;
}

int clr_lookup_emit(struct clr_binder *binder, struct clr_node *node, struct clr_node *equal)
{
    const struct clr_syntax *syntax = binder->query->syntax;
    struct text text = {NULL, 0};
    bool is_timed = false;
    int column, lookup;

    if (!clr_held_check(binder, node, &is_timed) ||
        (equal != NULL && !clr_held_check(binder, equal, &is_timed)))
        return -1;
    column = clr_place_column(
        binder, equal != NULL ? clr_content_together(node->reads, equal->reads) : node->reads,
        true);
    if (column < 0)
        return -1;
    write(&text, syntax, node, equal);
    text.text = clr_memory_alloc(text.length + 1);
    if (text.text == NULL)
        return clr_bind_no_memory(binder);
    write(&text, syntax, node, equal);
    lookup = find_lookup(binder, column, text.text, is_timed);
    return lookup < 0 ? -1 : clr_emit(binder, CLR_OP_LOOKUP, column, lookup, 0);
}

#include "query/syntax/print.h"

#include "base/memory.h"
#include "query/syntax/grammar.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Text. */

/* Makes room for so many bytes more. Returns false without memory. */
static bool make_room(struct clr_text *text, size_t size)
{
    char *grown = text->has_failed
                      ? NULL
                      : clr_memory_make_room(text->text, &text->capacity, text->length + size, 1);

    text->has_failed = grown == NULL;
    if (grown != NULL)
        text->text = grown;
    return grown != NULL;
}

void clr_text_add(struct clr_text *text, const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (!make_room(text, (size_t)length + 1))
        return;
    va_start(arguments, format);
    vsnprintf(text->text + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

char *clr_text_end(struct clr_text *text)
{
    clr_text_add(text, "%s", "");
    if (!text->has_failed)
        return text->text;
    clr_memory_free(text->text);
    return NULL;
}

/* ---- Tokens, with a space in front of each but the first: no two run together. */

static void print_text(struct clr_printer *printer, const char *text, size_t length)
{
    clr_print_token(printer, &(struct clr_token){.text = text, .length = length});
}

void clr_print_word(struct clr_printer *printer, const char *word)
{
    print_text(printer, word, strlen(word));
}

/* A subquery is its text, but for the parameters. */
static void print_subquery(struct clr_printer *printer, const struct clr_token *subquery)
{
    const char *at = subquery->text, *end = at + subquery->length;
    const struct clr_node *node = printer->syntax->parameters.first;

    clr_print_word(printer, "");
    for (; node != NULL; node = node->listed) {
        const struct clr_token *token = &node->names[0];

        if (token->text < at || token->text >= end)
            continue;
        clr_text_add(&printer->text, "%.*s?%d", (int)(token->text - at), at, node->number);
        at = token->text + token->length;
    }
    clr_text_add(&printer->text, "%.*s", (int)(end - at), at);
}

/* ---- Nodes. */

/* The node and its siblings, with commas between them. */
static void print_siblings(struct clr_printer *printer, const struct clr_node *node)
{
    for (; node != NULL; node = node->next) {
        clr_print_node(printer, node);
        if (node->next != NULL)
            clr_print_word(printer, ",");
    }
}

/* Prints a form: its words, but for % the node's first name, for 1, 2 and 3 that child, and for &
   all children from that place on. If negated NOT is behind the first child. */
static void print_form(struct clr_printer *printer, const struct clr_node *node, const char *form,
                       bool negated)
{
    const struct clr_node *child = node->first;

    for (; *form != '\0'; form++) {
        if (*form == '%') {
            clr_print_token(printer, &node->names[0]);
        } else if (*form == '&') {
            print_siblings(printer, child);
        } else if (*form >= '1' && *form <= '3') {
            clr_print_node(printer, child);
            child = child->next;
            if (negated && *form == '1')
                clr_print_word(printer, "NOT");
        } else if (*form != ' ') {
            const size_t length = strcspn(form, " ");

            print_text(printer, form, length);
            form += length - 1;
        }
    }
}

static bool begins_with_not(const struct clr_node *node)
{
    return node->kind == CLR_N_UNARY && node->opcode == CLR_OP_NOT && !node->is_infix &&
           !node->is_enclosed;
}

/* How a node is printed whose text is a form. */
static const char *find_form(const struct clr_node *node)
{
    const bool is_named = node->names[0].kind != 0;

    if (node->function != NULL)
        return "% ( & )";
    switch (node->kind) {
    case CLR_N_PLUS:
        return "+ 1";
    case CLR_N_MINUS:
        return "- 1";
    case CLR_N_UNARY:
        /* "IS NULL" would not end where one of these may: "x ISNULL || y". */
        return node->opcode == CLR_OP_NOT       ? "NOT 1"
               : node->opcode == CLR_OP_BIT_NOT ? "~ 1"
               : node->opcode == CLR_OP_IS_NULL ? "1 ISNULL"
                                                : "1 NOTNULL";
    case CLR_N_BETWEEN:
        return "1 BETWEEN 2 AND 3";
    case CLR_N_IN:
        return "1 IN ( & )";
    case CLR_N_COLLATE:
        return "1 COLLATE %";
    case CLR_N_CAST:
        return "CAST ( 1 AS % )";
    case CLR_N_LITERAL:
        return node->negative ? "- %" : "%";
    case CLR_N_STAR:
        return is_named ? "% . *" : "*";
    case CLR_N_ITEM:
        return is_named ? "1 AS %" : "1";
    case CLR_N_FOLD:
        /* "x IS NOT DISTINCT FROM NOT y" is not "x IS NOT y". */
        return is_named                             ? "1 % 2"
               : node->opcode == CLR_OP_IS_NOT      ? "1 IS NOT 2"
               : begins_with_not(node->first->next) ? "1 IS ( 2 )"
                                                    : "1 IS 2";
    case CLR_N_OPERATOR:
        return is_named ? "1 % 2" : node->first->next != NULL ? "1 IN 2" : "EXISTS 1";
    default:
        return !node->is_infix                   ? "% ( & )"
               : node->first->next->next == NULL ? "1 % 2"
                                                 : "1 % 2 ESCAPE 3";
    }
}

static void print_column(struct clr_printer *printer, const struct clr_node *node)
{
    int i;

    for (i = 0; i < node->name_count; i++) {
        if (i > 0)
            clr_print_word(printer, ".");
        clr_print_token(printer, &node->names[i]);
    }
}

/* Prints the arguments of a call. Returns the first of the terms that stand behind them, or NULL.
 */
static const struct clr_node *print_arguments(struct clr_printer *printer,
                                              const struct clr_node *node)
{
    const struct clr_node *child = node->first;

    for (; child != NULL && child->kind != CLR_N_TERM; child = child->next) {
        if (child != node->first)
            clr_print_word(printer, ",");
        clr_print_node(printer, child);
    }
    return child;
}

/* Prints a call's terms: those of PARTITION BY, and then those of ORDER BY. */
static void print_terms(struct clr_printer *printer, const struct clr_node *node,
                        const struct clr_node *term)
{
    const char *words = "PARTITION BY";
    int i;

    for (i = 0; term != NULL; term = term->next, i++) {
        if (i == node->partition_count)
            words = "ORDER BY";
        clr_print_word(printer, words);
        clr_print_node(printer, term);
        words = ",";
    }
}

static void print_aggregate(struct clr_printer *printer, const struct clr_node *node)
{
    print_form(printer, node, node->is_distinct ? "% ( DISTINCT" : "% (", false);
    if (node->first == NULL)
        clr_print_word(printer, "*");
    print_terms(printer, node, print_arguments(printer, node));
    clr_print_word(printer, ")");
    if (node->filter == NULL)
        return;
    clr_print_word(printer, "FILTER ( WHERE");
    clr_print_node(printer, node->filter);
    clr_print_word(printer, ")");
}

static void print_window(struct clr_printer *printer, const struct clr_node *node)
{
    const struct clr_node *term;

    print_form(printer, node, node->names[2].kind != 0 ? "% ( *" : "% (", false);
    term = print_arguments(printer, node);
    clr_print_word(printer, ") OVER (");
    print_terms(printer, node, term);
    if (node->names[1].kind != 0)
        clr_print_token(printer, &node->names[1]);
    clr_print_word(printer, ")");
}

static void print_case(struct clr_printer *printer, const struct clr_node *node)
{
    const struct clr_node *child = node->first;

    clr_print_word(printer, "CASE");
    if (node->has_base) {
        clr_print_node(printer, child);
        child = child->next;
    }
    for (; child != NULL && child->next != NULL; child = child->next->next) {
        clr_print_prefix(printer, "WHEN", child);
        clr_print_prefix(printer, "THEN", child->next);
    }
    if (child != NULL)
        clr_print_prefix(printer, "ELSE", child);
    clr_print_word(printer, "END");
}

/* A term of GROUP BY or ORDER BY. */
static void print_term(struct clr_printer *printer, const struct clr_node *node)
{
    clr_print_node(printer, node->first);
    if (node->descending)
        clr_print_word(printer, "DESC");
    if (node->nulls != CLR_NULLS_ANYWHERE)
        clr_print_word(printer, node->nulls == CLR_NULLS_FIRST ? "NULLS FIRST" : "NULLS LAST");
}

static void print_plain(struct clr_printer *printer, const struct clr_node *node)
{
    if (node->kind == CLR_N_COLUMN) {
        print_column(printer, node);
    } else if (node->kind == CLR_N_PARAMETER) {
        clr_print_word(printer, "?");
        clr_text_add(&printer->text, "%d", node->number);
    } else if (node->kind == CLR_N_SUBQUERY) {
        print_subquery(printer, &node->names[0]);
    } else if (node->kind == CLR_N_AGGREGATE) {
        print_aggregate(printer, node);
    } else if (node->kind == CLR_N_WINDOW) {
        print_window(printer, node);
    } else if (node->kind == CLR_N_CASE && node->function == NULL) {
        print_case(printer, node);
    } else if (node->kind == CLR_N_TERM) {
        print_term(printer, node);
    } else if (node->kind == CLR_N_UNARY && node->is_infix) {
        print_form(printer, node->first, find_form(node->first), true);
    } else {
        print_form(printer, node, find_form(node), false);
    }
}

static bool is_replaced(struct clr_printer *printer, const struct clr_node *node)
{
    return printer->replace != NULL && printer->replace(printer, node);
}

void clr_print_inside(struct clr_printer *printer, const struct clr_node *node)
{
    if (!is_replaced(printer, node))
        print_plain(printer, node);
}

void clr_print_node(struct clr_printer *printer, const struct clr_node *node)
{
    if (is_replaced(printer, node))
        return;
    if (node->is_enclosed)
        clr_print_word(printer, "(");
    print_plain(printer, node);
    if (node->is_enclosed)
        clr_print_word(printer, ")");
}

/* ---- Clauses. */

void clr_print_clause(struct clr_printer *printer, const char *words, const struct clr_list *list)
{
    const struct clr_node *node = list->first;

    if (node == NULL)
        return;
    clr_print_prefix(printer, words, node);
    while ((node = node->next) != NULL) {
        clr_text_add(&printer->text, ",");
        clr_print_node(printer, node);
    }
}

void clr_print_limit(struct clr_printer *printer, const struct clr_select_tree *select)
{
    if (select->limit != NULL)
        clr_print_prefix(printer, "LIMIT", select->limit);
    if (select->offset != NULL)
        clr_print_prefix(printer, "OFFSET", select->offset);
}

void clr_print_scope_end(struct clr_printer *printer, const struct clr_node *column,
                         const char *from)
{
    const struct clr_from_table *source = &printer->syntax->select.sources[column->source - 1];

    clr_print_word(printer, "AS");
    clr_print_name(printer, column->column.name);
    clr_text_add(&printer->text, "%s) AS", from);
    clr_print_name(printer, clr_from_name(source)->name);
}

void clr_print_name(struct clr_printer *printer, const char *name)
{
    clr_print_word(printer, "\"");
    for (; *name != '\0'; name++)
        clr_text_add(&printer->text, *name == '"' ? "\"%c" : "%c", *name);
    clr_text_add(&printer->text, "\"");
}

/* Text that is written, and trees as text: a SELECT, or a part of it. */
#ifndef CLR_QUERY_PRINT_H
#define CLR_QUERY_PRINT_H

#include "query/syntax/syntax.h"

#include <stdbool.h>
#include <stddef.h>

/* Text that grows; zeros at first. Once there is no memory for more it stays empty. */
struct clr_text {
    char *text;
    size_t length, capacity;
    bool has_failed;
};

/* Adds what printf() would write. */
void clr_text_add(struct clr_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Ends the text. Returns it, to be freed with clr_memory_free(); NULL without memory. */
char *clr_text_end(struct clr_text *text);

/*
 * Prints trees as they were written, but for white space, comments, and parentheses that mean
 * nothing. Parameters are ?N with their numbers N, so they must have them.
 */
struct clr_printer {
    struct clr_text text;
    const struct clr_syntax *syntax;
    /* Prints a node otherwise, as text to which no operator next to it can do anything; returns
       false if it does not. NULL: it does so for no node. */
    bool (*replace)(struct clr_printer *printer, const struct clr_node *node);
    void *context; /* for that function */
};

/* Adds a word, or other text that is one token, with a space in front of it. */
void clr_print_word(struct clr_printer *printer, const char *word);

/* Adds a name in double quotes. */
void clr_print_name(struct clr_printer *printer, const char *name);

/* Adds a token as it was written. */
static inline void clr_print_token(struct clr_printer *printer, const struct clr_token *token)
{
    clr_text_add(&printer->text, printer->text.length > 0 ? " %.*s" : "%.*s", (int)token->length,
                 token->text);
}

/* Adds an expression, or what else a node is. */
void clr_print_node(struct clr_printer *printer, const struct clr_node *node);

/* The same without parentheses around it. */
void clr_print_inside(struct clr_printer *printer, const struct clr_node *node);

/* Adds a word, and an expression behind it. */
static inline void clr_print_prefix(struct clr_printer *printer, const char *word,
                                    const struct clr_node *node)
{
    clr_print_word(printer, word);
    clr_print_node(printer, node);
}

/* Adds the words that begin a clause and its nodes, with commas between them; nothing if there are
   no nodes. */
void clr_print_clause(struct clr_printer *printer, const char *words, const struct clr_list *list);

/* Adds LIMIT and OFFSET, if there are any. */
void clr_print_limit(struct clr_printer *printer, const struct clr_select_tree *select);

/* Ends a subquery in FROM that has begun with SELECT and a value, and stands for a table of which
   one column is needed: names the value as the column, and the subquery as the table, as the query
   does. from: the subquery's own FROM, empty if it has none. */
void clr_print_scope_end(struct clr_printer *printer, const struct clr_node *column,
                         const char *from);

#endif

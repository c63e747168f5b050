/* A SELECT's text as tokens: those of SQLite's tokenizer that the grammar has a use for. */
#ifndef CLR_QUERY_LEXER_H
#define CLR_QUERY_LEXER_H

#include "base/status.h"
#include "query/reason.h"

#include <stdbool.h>
#include <stddef.h>

struct clr_node;

struct clr_token {
    int kind;         /* as grammar.h has it; 0: the end of the text */
    const char *text; /* as written, within the text that was read */
    size_t length;
    size_t index;          /* which token of the statement it is, from 0 */
    struct clr_node *node; /* what begins here and is replaced in the result row, or NULL */
};

/*
 * Reads the token at *at, after white space and comments, and moves *at behind it; sets all but
 * the index. Returns CLR_OK, or CLR_INVALID with a reason that names what is not in the grammar.
 */
enum clr_code clr_lexer_next(const char **at, struct clr_token *token, struct clr_reason *reason);

/* The same for text that is not parsed: all words are names. */
enum clr_code clr_lexer_next_raw(const char **at, struct clr_token *token,
                                 struct clr_reason *reason);

/* Returns a name without its quotes, to be freed with clr_memory_free(), or NULL without memory. */
char *clr_token_name(const struct clr_token *token);

/* Whether text of so many bytes begins with a word in capitals, without regard to ASCII case. */
bool clr_name_begins(const char *text, size_t length, const char *word);

/* Equality of names, without regard to ASCII case. */
bool clr_name_equal(const char *a, const char *b);

#endif

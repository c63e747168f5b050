/* A SELECT's text as tokens: those of SQLite's tokenizer that the grammar has a use for. */
#ifndef CLR_QUERY_LEXER_H
#define CLR_QUERY_LEXER_H

#include "base/status.h"
#include "query/reason.h"

#include <stdbool.h>
#include <stddef.h>

struct clr_token {
    int kind;         /* as grammar.h has it; 0: the end of the text, or no token */
    const char *text; /* as written, within the text that was read */
    size_t length;
    char *name; /* as clr_token_unquote() gives it, of a tree's tokens; else NULL */
};

/*
 * Reads the token at *at, after white space and comments, and moves *at behind it.
 * Returns CLR_OK, or CLR_INVALID with a reason that names what is not in the grammar.
 */
enum clr_code clr_lexer_next(const char **at, struct clr_token *token, struct clr_reason *reason);

/* The same for text that is not parsed: all words are names. */
enum clr_code clr_lexer_next_raw(const char **at, struct clr_token *token,
                                 struct clr_reason *reason);

/* Reads a token of such text. Returns false at its end, or where it can't be read. */
bool clr_token_next(const char **at, struct clr_token *token);

/* Writes a token without its quotes, with a 0 behind it. There must be room for length + 1 bytes.
   Returns what is behind the 0. */
char *clr_token_unquote(const struct clr_token *token, char *name);

/* Whether two names, in quotes or not, are the same, without regard to ASCII case. */
bool clr_token_is_same_name(const struct clr_token *a, const struct clr_token *b);

/* Whether text of so many bytes begins with a word in capitals, without regard to ASCII case. */
bool clr_name_begins(const char *text, size_t length, const char *word);

/* Whether a token is a word in capitals, without regard to ASCII case. */
bool clr_token_is(const struct clr_token *token, const char *word);

/* Whether it is one of those words, of a list that NULL ends. */
bool clr_token_in(const struct clr_token *token, const char *const *words);
#define CLR_TOKEN_IN(token, ...) clr_token_in((token), (const char *const[]){__VA_ARGS__, NULL})

/* Whether a text is one of those, to the byte, of a list that NULL ends. */
bool clr_text_in(const char *text, const char *const *list);
#define CLR_TEXT_IN(text, ...) clr_text_in((text), (const char *const[]){__VA_ARGS__, NULL})

/* Whether two tokens are the same, in literals to the byte, else without regard to ASCII case. */
bool clr_token_equal(const struct clr_token *a, const struct clr_token *b);

/* Equality of names, without regard to ASCII case. */
bool clr_name_equal(const char *a, const char *b);

/*
 * Counts the places of a text of so many bytes that may ask for the time: 'now', CURRENT_..., calls
 * without arguments, as of date(), or with a format alone, and what may be 'now' in calls. SQLite
 * has one instant for all of a statement; parts that are run as statements of their own have not.
 */
int clr_instants_count(const char *text, size_t length);

#endif

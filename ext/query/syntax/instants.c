#include "query/syntax/instants.h"

#include "query/syntax/grammar.h"
#include "query/syntax/lexer.h"
#include "query/syntax/word.h"

#include <stdbool.h>

/* Whether a call of this name may ask for the time, by what it is given. */
static bool may_name_time(const struct clr_token *name)
{
    static const char *const names[] = {"DATE", "DATETIME", "JULIANDAY", "STRFTIME",
                                        "TIME", "TIMEDIFF", "UNIXEPOCH"};

    return clr_token_is_among(name, names, sizeof names / sizeof names[0]) ||
           (name->kind == CLR_T_ID && !clr_is_letter(*name->text));
}

/* Whether a token by itself may ask for the time; in_call: in what such a call is given. */
static bool may_be_time(const struct clr_token *token, bool in_call)
{
    static const char *const words[] = {"CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP",
                                        "'NOW'", "\"NOW\""};
    static const char *const given[] = {"'SUBSEC'", "\"SUBSEC\"", "'SUBSECOND'", "\"SUBSECOND\""};

    return clr_token_is_among(token, words, sizeof words / sizeof words[0]) ||
           (in_call && (token->kind == CLR_T_VARIABLE || token->kind == CLR_T_CONCAT ||
                        token->kind == CLR_T_BLOB ||
                        clr_token_is_among(token, given, sizeof given / sizeof given[0])));
}

int clr_instants_count(const char *text, size_t length)
{
    const char *at = text;
    struct clr_token token = {.kind = CLR_T_ID},
                     before[3] = {{.kind = 0}, {.kind = 0}, {.kind = 0}};
    struct clr_reason reason;
    int count = 0, depth = 0, call_depth = 0;

    while (token.kind != 0 && clr_lexer_next_raw(&at, &token, &reason) == CLR_OK &&
           token.text < text + length) {
        depth += token.kind == CLR_T_LP;
        if (token.kind == CLR_T_LP && call_depth == 0 && may_name_time(&before[0]))
            call_depth = depth;
        else if (token.kind == CLR_T_LP && call_depth > 0)
            count += before[0].kind == CLR_T_ID && !may_name_time(&before[0]);
        count += may_be_time(&token, call_depth > 0);
        if (token.kind == CLR_T_RP) {
            count += before[0].kind == CLR_T_LP && before[1].kind == CLR_T_ID;
            count += before[1].kind == CLR_T_LP && clr_token_is(&before[2], "STRFTIME");
            call_depth = depth-- == call_depth ? 0 : call_depth;
        }
        before[2] = before[1];
        before[1] = before[0];
        before[0] = token;
    }
    return count;
}

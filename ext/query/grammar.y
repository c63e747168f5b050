/*
 * The part of SQLite's SELECT that is understood. Rules and precedences have the form of those in
 * SQLite's parse.y, so that Lemon settles every conflict as it does there.
 */
%name clr_grammar
%token_prefix CLR_T_
%token_type {struct clr_token}
%extra_argument {struct clr_syntax *syntax}
%stack_size 1000

%include {
#include "base/memory.h"
#include "query/syntax.h"

/* Neither assertions nor traces in the parser's template. */
#ifndef NDEBUG
#define NDEBUG
#endif
/* Nor are its unused names, and its small integers, what the warnings are there for. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wconversion"
/* The first error is the last token. */
#define YYNOERRORRECOVERY 1
/* The parser lives on the stack of clr_grammar_parse(). */
#define clr_grammar_ENGINEALWAYSONSTACK 1

void clr_grammarInit(void *parser);
void clr_grammarFinalize(void *parser);
void clr_grammar(void *parser, int kind, struct clr_token token, struct clr_syntax *syntax);
int clr_grammarFallback(int kind);
}

%stack_overflow { clr_syntax_refuse(syntax, CLR_WHY_NESTING); }
%syntax_error { clr_syntax_unexpected(syntax, &TOKEN); }
%parse_accept { syntax->complete = true; }

%left OR.
%left AND.
%right NOT.
%left IS BETWEEN IN ISNULL NOTNULL NE EQ.
%left GT LE LT GE.
%left PLUS MINUS.
%left STAR SLASH REM.
%right SIGN.

statement ::= SELECT items FROM source where end.
end ::= .
end ::= SEMI.

items ::= item.
items ::= items COMMA item.
item ::= here(B) expr(X) here(E) as. { clr_syntax_item(syntax, B, X, E); }

/* The number of the token that comes next. */
%type here {size_t}
here(A) ::= . { A = syntax->token_count - 1; }

as ::= .
as ::= AS name.
as ::= name.
name ::= ID.
name ::= STRING.

source ::= ID(T) alias(A). { syntax->table = T; syntax->alias = A; }
source ::= ID(S) DOT ID(T) alias(A). {
    syntax->schema = S;
    syntax->table = T;
    syntax->alias = A;
}
%type alias {struct clr_token}
alias(A) ::= . { A = (struct clr_token){.kind = 0}; }
alias(A) ::= ID(N). { A = N; }
alias(A) ::= AS ID(N). { A = N; }

where ::= .
where ::= WHERE expr(X). { clr_syntax_where(syntax, X); }

%type expr {struct clr_node *}
expr(A) ::= LP expr(X) RP. { A = X; }
expr(A) ::= ID(X). { A = clr_syntax_column(syntax, 1, &X); }
expr(A) ::= ID(X) DOT ID(Y). {
    A = clr_syntax_column(syntax, 2, (struct clr_token[]){X, Y});
}
expr(A) ::= ID(X) DOT ID(Y) DOT ID(Z). {
    A = clr_syntax_column(syntax, 3, (struct clr_token[]){X, Y, Z});
}
expr(A) ::= NULL|NUMBER(X). { A = clr_syntax_value(syntax, CLR_N_LITERAL, &X); }
expr(A) ::= VARIABLE(X). { A = clr_syntax_value(syntax, CLR_N_PARAMETER, &X); }

expr(A) ::= ID(N) LP list(L) RP(R). {
    A = clr_syntax_call(syntax, &N, false, L, NULL, R.index + 1);
}
expr(A) ::= ID(N) LP list(L) RP FILTER LP WHERE expr(F) RP(R). {
    A = clr_syntax_call(syntax, &N, false, L, F, R.index + 1);
}
expr(A) ::= ID(N) LP STAR RP(R). {
    A = clr_syntax_call(syntax, &N, true, (struct clr_list){NULL, NULL}, NULL, R.index + 1);
}
expr(A) ::= ID(N) LP STAR RP FILTER LP WHERE expr(F) RP(R). {
    A = clr_syntax_call(syntax, &N, true, (struct clr_list){NULL, NULL}, F, R.index + 1);
}

expr(A) ::= expr(X) AND(O) expr(Y). { A = clr_syntax_binary(syntax, O.kind, X, Y); }
expr(A) ::= expr(X) OR(O) expr(Y). { A = clr_syntax_binary(syntax, O.kind, X, Y); }
expr(A) ::= expr(X) LT|GT|GE|LE(O) expr(Y). { A = clr_syntax_binary(syntax, O.kind, X, Y); }
expr(A) ::= expr(X) EQ|NE(O) expr(Y). { A = clr_syntax_binary(syntax, O.kind, X, Y); }
expr(A) ::= expr(X) PLUS|MINUS(O) expr(Y). { A = clr_syntax_binary(syntax, O.kind, X, Y); }
expr(A) ::= expr(X) STAR|SLASH|REM(O) expr(Y). { A = clr_syntax_binary(syntax, O.kind, X, Y); }

expr(A) ::= expr(X) ISNULL. { A = clr_syntax_unary(syntax, CLR_OP_IS_NULL, X); }
expr(A) ::= expr(X) NOTNULL. { A = clr_syntax_unary(syntax, CLR_OP_NOT_NULL, X); }
expr(A) ::= expr(X) NOT NULL. { A = clr_syntax_unary(syntax, CLR_OP_NOT_NULL, X); }
expr(A) ::= expr(X) IS expr(Y). { A = clr_syntax_is(syntax, false, X, Y); }
expr(A) ::= expr(X) IS NOT expr(Y). { A = clr_syntax_is(syntax, true, X, Y); }
expr(A) ::= NOT expr(X). { A = clr_syntax_unary(syntax, CLR_OP_NOT, X); }
expr(A) ::= PLUS|MINUS(O) expr(X). [SIGN] { A = clr_syntax_sign(syntax, O.kind, X); }

%type between {bool}
between(A) ::= BETWEEN. { A = false; }
between(A) ::= NOT BETWEEN. { A = true; }
expr(A) ::= expr(X) between(N) expr(Y) AND expr(Z). [BETWEEN] {
    struct clr_list list = {NULL, NULL};
    clr_list_append(&list, Y);
    clr_list_append(&list, Z);
    A = clr_syntax_range(syntax, CLR_N_BETWEEN, N, X, list);
}

%type in {bool}
in(A) ::= IN. { A = false; }
in(A) ::= NOT IN. { A = true; }
expr(A) ::= expr(X) in(N) LP list(L) RP. [IN] {
    A = clr_syntax_range(syntax, CLR_N_IN, N, X, L);
}

expr(A) ::= CASE base(B) whens(W) else(E) END. { A = clr_syntax_case(syntax, B, W, E); }
%type base {struct clr_node *}
base(A) ::= . { A = NULL; }
base(A) ::= expr(X). { A = X; }
%type whens {struct clr_list}
whens(A) ::= WHEN expr(X) THEN expr(Y). {
    A = (struct clr_list){NULL, NULL};
    clr_list_append(&A, X);
    clr_list_append(&A, Y);
}
whens(A) ::= whens(W) WHEN expr(X) THEN expr(Y). {
    A = W;
    clr_list_append(&A, X);
    clr_list_append(&A, Y);
}
%type else {struct clr_node *}
else(A) ::= . { A = NULL; }
else(A) ::= ELSE expr(X). { A = X; }

%type list {struct clr_list}
list(A) ::= . { A = (struct clr_list){NULL, NULL}; }
list(A) ::= filled(L). { A = L; }
%type filled {struct clr_list}
filled(A) ::= expr(X). {
    A = (struct clr_list){NULL, NULL};
    clr_list_append(&A, X);
}
filled(A) ::= filled(L) COMMA expr(X). {
    A = L;
    clr_list_append(&A, X);
}

%code {
/* Appends a token to the statement's; returns where it is until the next one, or NULL. */
static struct clr_token *next_token(struct clr_syntax *syntax, const char **at)
{
    struct clr_token *token;

    if (syntax->token_count == syntax->token_capacity) {
        size_t capacity = syntax->token_capacity == 0 ? 64 : 2 * syntax->token_capacity;
        token = clr_memory_realloc(syntax->tokens, capacity * sizeof *token);
        if (token == NULL) {
            clr_syntax_no_memory(syntax);
            return NULL;
        }
        syntax->tokens = token;
        syntax->token_capacity = capacity;
    }
    token = &syntax->tokens[syntax->token_count];
    syntax->code = clr_lexer_next(at, token, syntax->reason);
    token->index = syntax->token_count++;
    return syntax->code == CLR_OK ? token : NULL;
}

enum clr_code clr_grammar_parse(struct clr_syntax *syntax)
{
    const char *at = syntax->sql;
    struct clr_token *token;
    yyParser parser;

    clr_grammarInit(&parser);
    do {
        token = next_token(syntax, &at);
        if (token == NULL)
            break;
        clr_grammar(&parser, token->kind, *token, syntax);
    } while (token->kind != 0 && syntax->code == CLR_OK);
    clr_grammarFinalize(&parser);
    return syntax->code;
}
}

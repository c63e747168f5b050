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
#include "query/syntax/syntax.h"

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

%left OR.
%left AND.
%right NOT.
%left IS MATCH LIKE_KW BETWEEN IN ISNULL NOTNULL NE EQ.
%left GT LE LT GE.
%right ESCAPE.
%left BITAND BITOR LSHIFT RSHIFT.
%left PLUS MINUS.
%left STAR SLASH REM.
%left CONCAT PTR.
%left COLLATE.
%right BITNOT.

/* The operators that are names where they are none: like(x, y) is a function. */
%fallback ID LIKE_KW MATCH.
/* A SELECT within parentheses in an expression: its first token, which stands for all of them. */
%token SUBQUERY.

/* The words that are names where they say nothing. */
%fallback ID ASC BY DESC FIRST LAST NULLS OFFSET.

statement ::= SELECT distinct items FROM source where group order limit end.
end ::= .
end ::= SEMI.

distinct ::= .
distinct ::= DISTINCT. { syntax->distinct = true; }

items ::= item.
items ::= items COMMA item.
item ::= here(B) expr(X) here(E) as(N). { clr_syntax_item(syntax, B, X, E, &N); }

/* The number of the token that comes next. */
%type here {size_t}
here(A) ::= . { A = syntax->token_count - 1; }

item ::= here(B) STAR. { clr_syntax_star(syntax, B); }
item ::= here(B) ID DOT STAR. { clr_syntax_star(syntax, B); }

%type as {struct clr_token}
as(A) ::= . { A = (struct clr_token){.kind = 0}; }
as(A) ::= AS name(N). { A = N; }
as(A) ::= name(N). { A = N; }
name(A) ::= ID(N). { A = N; }
name(A) ::= STRING(N). { A = N; }

source ::= ID(T) alias(A). { syntax->table = T; syntax->alias = A; }
source ::= ID(S) DOT ID(T) alias(A). {
    syntax->schema = S;
    syntax->table = T;
    syntax->alias = A;
}
source ::= LP open SELECT items FROM source where RP(E) alias(A). {
    clr_syntax_close(syntax, &E, &A);
}
open ::= . { clr_syntax_open(syntax); }
%type alias {struct clr_token}
alias(A) ::= . { A = (struct clr_token){.kind = 0}; }
alias(A) ::= ID(N). { A = N; }
alias(A) ::= AS ID(N). { A = N; }

where ::= .
where ::= WHERE expr(X). { clr_syntax_where(syntax, X); }

group ::= .
group ::= GROUP BY keys having.
keys ::= key.
keys ::= keys COMMA key.
key ::= expr(X). { clr_syntax_key(syntax, X); }
having ::= .
having ::= HAVING expr(X). { syntax->having = X; }

order ::= .
order ::= ORDER(O) BY terms. { clr_syntax_order_end(syntax, &O); }
terms ::= term.
terms ::= terms COMMA term.
term ::= expr(X) direction(D) nulls. { clr_syntax_order(syntax, X, D); }
%type direction {bool}
direction(A) ::= . { A = false; }
direction(A) ::= ASC. { A = false; }
direction(A) ::= DESC. { A = true; }
nulls ::= .
nulls ::= NULLS FIRST.
nulls ::= NULLS LAST.

limit ::= .
limit ::= LIMIT(L) expr(X). { clr_syntax_limit(syntax, &L, X, NULL); }
limit ::= LIMIT(L) expr(X) OFFSET expr(Y). { clr_syntax_limit(syntax, &L, X, Y); }
limit ::= LIMIT(L) expr(X) COMMA expr(Y). { clr_syntax_limit(syntax, &L, X, Y); }

%type expr {struct clr_node *}
expr(A) ::= LP(B) expr(X) RP. { A = clr_syntax_enclose(syntax, B.index, X); }
expr(A) ::= ID(X). { A = clr_syntax_column(syntax, 1, &X); }
expr(A) ::= ID(X) DOT ID(Y). {
    A = clr_syntax_column(syntax, 2, (struct clr_token[]){X, Y});
}
expr(A) ::= ID(X) DOT ID(Y) DOT ID(Z). {
    A = clr_syntax_column(syntax, 3, (struct clr_token[]){X, Y, Z});
}
expr(A) ::= NULL|NUMBER|STRING|BLOB|TRUE|FALSE(X). {
    A = clr_syntax_value(syntax, CLR_N_LITERAL, &X);
}
expr(A) ::= VARIABLE(X). { A = clr_syntax_value(syntax, CLR_N_PARAMETER, &X); }

expr(A) ::= ID(N) LP list(L) RP. { A = clr_syntax_call(syntax, &N, false, L, NULL); }
expr(A) ::= ID(N) LP list(L) RP FILTER LP WHERE expr(F) RP. {
    A = clr_syntax_call(syntax, &N, false, L, F);
}
expr(A) ::= ID(N) LP STAR RP. {
    A = clr_syntax_call(syntax, &N, true, (struct clr_list){NULL, NULL}, NULL);
}
expr(A) ::= ID(N) LP STAR RP FILTER LP WHERE expr(F) RP. {
    A = clr_syntax_call(syntax, &N, true, (struct clr_list){NULL, NULL}, F);
}
expr(A) ::= ID(N) LP DISTINCT(D) expr(X) RP. {
    A = clr_syntax_call_distinct(syntax, &N, &D, X, NULL);
}
expr(A) ::= ID(N) LP DISTINCT(D) expr(X) RP FILTER LP WHERE expr(F) RP. {
    A = clr_syntax_call_distinct(syntax, &N, &D, X, F);
}
expr(A) ::= CAST(C) LP expr(X) AS type(T) RP. { A = clr_syntax_cast(syntax, &C, X, T); }

expr(A) ::= expr(X) AND(O) expr(Y). { A = clr_syntax_binary(syntax, &O, X, Y); }
expr(A) ::= expr(X) OR(O) expr(Y). { A = clr_syntax_binary(syntax, &O, X, Y); }
expr(A) ::= expr(X) LT|GT|GE|LE(O) expr(Y). { A = clr_syntax_binary(syntax, &O, X, Y); }
expr(A) ::= expr(X) EQ|NE(O) expr(Y). { A = clr_syntax_binary(syntax, &O, X, Y); }
expr(A) ::= expr(X) BITAND|BITOR|LSHIFT|RSHIFT(O) expr(Y). {
    A = clr_syntax_binary(syntax, &O, X, Y);
}
expr(A) ::= expr(X) PLUS|MINUS(O) expr(Y). { A = clr_syntax_binary(syntax, &O, X, Y); }
expr(A) ::= expr(X) STAR|SLASH|REM(O) expr(Y). { A = clr_syntax_binary(syntax, &O, X, Y); }
expr(A) ::= expr(X) CONCAT(O) expr(Y). { A = clr_syntax_binary(syntax, &O, X, Y); }
expr(A) ::= expr(X) PTR(O) expr(Y). { A = clr_syntax_binary(syntax, &O, X, Y); }
expr(A) ::= expr(X) COLLATE ID|STRING. { A = clr_syntax_collate(syntax, X); }

%type like {struct clr_like}
like(A) ::= LIKE_KW|MATCH(O). { A = (struct clr_like){O, false}; }
like(A) ::= NOT LIKE_KW|MATCH(O). { A = (struct clr_like){O, true}; }
expr(A) ::= expr(X) like(O) expr(Y). [LIKE_KW] { A = clr_syntax_like(syntax, &O, X, Y, NULL); }
expr(A) ::= expr(X) like(O) expr(Y) ESCAPE expr(E). [LIKE_KW] {
    A = clr_syntax_like(syntax, &O, X, Y, E);
}

expr(A) ::= expr(X) ISNULL. { A = clr_syntax_postfix(syntax, CLR_OP_IS_NULL, X); }
expr(A) ::= expr(X) NOTNULL. { A = clr_syntax_postfix(syntax, CLR_OP_NOT_NULL, X); }
expr(A) ::= expr(X) NOT NULL. { A = clr_syntax_postfix(syntax, CLR_OP_NOT_NULL, X); }
expr(A) ::= expr(X) IS expr(Y). { A = clr_syntax_is(syntax, false, X, Y); }
expr(A) ::= expr(X) IS NOT expr(Y). { A = clr_syntax_is(syntax, true, X, Y); }
expr(A) ::= expr(X) IS DISTINCT FROM expr(Y). { A = clr_syntax_is(syntax, true, X, Y); }
expr(A) ::= expr(X) IS NOT DISTINCT FROM expr(Y). { A = clr_syntax_is(syntax, false, X, Y); }
expr(A) ::= NOT(O) expr(X). { A = clr_syntax_prefix(syntax, &O, X); }
expr(A) ::= BITNOT(O) expr(X). { A = clr_syntax_prefix(syntax, &O, X); }
expr(A) ::= PLUS|MINUS(O) expr(X). [BITNOT] { A = clr_syntax_prefix(syntax, &O, X); }

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

expr(A) ::= subquery(X). { A = X; }
expr(A) ::= EXISTS(E) subquery(X). { A = clr_syntax_exists(syntax, &E, X); }
expr(A) ::= expr(X) in(N) subquery(Y). [IN] {
    A = clr_syntax_in_subquery(syntax, N, X, Y);
}
%type subquery {struct clr_node *}
subquery(A) ::= LP(B) SUBQUERY RP. { A = clr_syntax_subquery(syntax, B.index); }

expr(A) ::= CASE(C) base(B) whens(W) else(E) END. { A = clr_syntax_case(syntax, &C, B, W, E); }
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

/* The first and the last token of a type. */
%type type {struct clr_type}
type(A) ::= words(T). { A = T; }
type(A) ::= words(T) LP signed RP(E). { A = (struct clr_type){T.first, E}; }
type(A) ::= words(T) LP signed COMMA signed RP(E). { A = (struct clr_type){T.first, E}; }
%type words {struct clr_type}
words(A) ::= ID(T). { A = (struct clr_type){T, T}; }
words(A) ::= words(F) ID(T). { A = (struct clr_type){F.first, T}; }
signed ::= NUMBER.
signed ::= PLUS|MINUS NUMBER.

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
static struct clr_token *next_token(struct clr_syntax *syntax, const char **at, bool is_raw)
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
    syntax->code = is_raw ? clr_lexer_next_raw(at, token, syntax->reason)
                          : clr_lexer_next(at, token, syntax->reason);
    token->index = syntax->token_count++;
    return syntax->code == CLR_OK ? token : NULL;
}

/* Reads the tokens of a subquery but for its first one, up to the parenthesis that closes it. */
static void read_subquery(struct clr_syntax *syntax, const char **at)
{
    struct clr_token *token;
    const char *next;
    int depth = 0;

    while (syntax->code == CLR_OK) {
        next = *at;
        token = next_token(syntax, &next, true);
        if (token == NULL)
            return;
        depth += (token->kind == CLR_T_LP) - (token->kind == CLR_T_RP);
        if (depth < 0 || token->kind == 0) {
            syntax->token_count--;
            return;
        }
        *at = next;
        if (token->kind == CLR_T_VARIABLE)
            clr_syntax_inner_parameter(syntax, token);
    }
}

enum clr_code clr_grammar_parse(struct clr_syntax *syntax)
{
    const char *at = syntax->sql;
    struct clr_token *token;
    yyParser parser;
    int kind;

    clr_grammarInit(&parser);
    do {
        const bool is_subquery = clr_syntax_opens_subquery(syntax, at);

        token = next_token(syntax, &at, is_subquery);
        if (token == NULL)
            break;
        if (is_subquery)
            token->kind = CLR_T_SUBQUERY;
        kind = token->kind;
        clr_grammar(&parser, kind, *token, syntax);
        if (is_subquery)
            read_subquery(syntax, &at);
    } while (kind != 0 && syntax->code == CLR_OK);
    clr_grammarFinalize(&parser);
    return syntax->code;
}
}

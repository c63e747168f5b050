/*
 * The part of SQLite's SELECT that is understood. Rules and precedences have the form of those in
 * SQLite's parse.y, so that Lemon settles every conflict as it does there. The parser is a part of
 * syntax.c, which has the functions that the rules call.
 */
%name clr_grammar
%token_prefix CLR_T_
%token_type {struct clr_token}
%extra_argument {struct clr_syntax *syntax}
%stack_size 1000

%include {
/* Neither assertions nor traces in the parser's template. */
#ifndef NDEBUG
#define NDEBUG
#endif
/* The first error is the last token. */
#define YYNOERRORRECOVERY 1
/* The parser lives on the stack of clr_syntax_parse(). */
#define clr_grammar_ENGINEALWAYSONSTACK 1

void clr_grammarInit(void *parser);
void clr_grammarFinalize(void *parser);
void clr_grammar(void *parser, int kind, struct clr_token token, struct clr_syntax *syntax);
int clr_grammarFallback(int kind);
}

%stack_overflow { clr_refuse(syntax, CLR_WHY_NESTING); }
%syntax_error { refuse_unexpected(syntax, &TOKEN); }

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
%fallback ID ASC BY DESC FIRST FRAME LAST NULLS OFFSET PARTITION.

statement ::= with select end.
select ::= SELECT distinct items FROM source where group order limit.
end ::= .
end ::= SEMI.

with ::= .
with ::= WITH ctes.
with ::= WITH ID(R) ctes. { check_word(syntax, &R, "RECURSIVE"); }
ctes ::= cte.
ctes ::= ctes COMMA cte.
cte ::= ID(N) names(L) AS hint LP open select RP. { end_cte(syntax, &N, &L); }
%type names {struct clr_list}
names(A) ::= . { A = none; }
names(A) ::= LP columns(L) RP. { A = L; }
hint ::= .
hint ::= ID(M). { check_word(syntax, &M, "MATERIALIZED"); }
hint ::= NOT ID(M). { check_word(syntax, &M, "MATERIALIZED"); }

distinct ::= .
distinct ::= DISTINCT. { syntax->at->distinct = true; }

items ::= item.
items ::= items COMMA item.
item ::= expr(X) as(N). { add_item(syntax, X, &N); }
item ::= STAR. { add_star(syntax, NULL); }
item ::= ID(T) DOT STAR. { add_star(syntax, &T); }

%type as {struct clr_token}
as(A) ::= . { A = (struct clr_token){.kind = 0}; }
as(A) ::= AS name(N). { A = N; }
as(A) ::= name(N). { A = N; }
name(A) ::= ID(N). { A = N; }
name(A) ::= STRING(N). { A = N; }

source ::= tables.
tables ::= table.
tables ::= tables join(J) table condition. { end_join(syntax, &J); }
table ::= ID(T) alias(A). { add_source(syntax, NULL, &T, &A); }
table ::= ID(S) DOT ID(T) alias(A). { add_source(syntax, &S, &T, &A); }
%type join {struct joining}
join(A) ::= COMMA(T). { A = (struct joining){.words = T}; }
join(A) ::= JOIN(T). { A = (struct joining){.words = T}; }
join(A) ::= JOIN_KW(K) JOIN(T). { A = join_words(syntax, (struct clr_token[]){K}, 1, &T); }
join(A) ::= JOIN_KW(K) JOIN_KW(L) JOIN(T). {
    A = join_words(syntax, (struct clr_token[]){K, L}, 2, &T);
}
join(A) ::= JOIN_KW(K) JOIN_KW(L) JOIN_KW(M) JOIN(T). {
    A = join_words(syntax, (struct clr_token[]){K, L, M}, 3, &T);
}
condition ::= .
condition ::= ON expr(X). { set_on(syntax, X); }
condition ::= USING LP columns(L) RP. { set_using(syntax, L); }
%type columns {struct clr_list}
columns(A) ::= ID(N). { A = one(column_name(syntax, &N)); }
columns(A) ::= columns(L) COMMA ID(N). {
    A = L;
    append(&A, column_name(syntax, &N));
}
table ::= LP open select RP alias(A). { end_inner(syntax, &A); }
open ::= . { begin_inner(syntax); }
%type alias {struct clr_token}
alias(A) ::= . { A = (struct clr_token){.kind = 0}; }
alias(A) ::= ID(N). { A = N; }
alias(A) ::= AS ID(N). { A = N; }

where ::= .
where ::= WHERE expr(X). { set_where(syntax, X); }

group ::= .
group ::= GROUP BY keys having.
keys ::= key.
keys ::= keys COMMA key.
key ::= expr(X). { append(&syntax->at->keys, clr_syntax_node(syntax, CLR_N_TERM, NULL, one(X))); }
having ::= .
having ::= HAVING expr(X). { syntax->at->having = X; }

order ::= .
order ::= ordering terms.
ordering ::= ORDER BY. { syntax->is_ordering = true; }
terms ::= term.
terms ::= terms COMMA term.
term ::= expr(X) direction(D) nulls(N). { add_term(syntax, X, D, N); }
%type direction {bool}
direction(A) ::= . { A = false; }
direction(A) ::= ASC. { A = false; }
direction(A) ::= DESC. { A = true; }
%type nulls {enum clr_nulls}
nulls(A) ::= . { A = CLR_NULLS_ANYWHERE; }
nulls(A) ::= NULLS FIRST. { A = CLR_NULLS_FIRST; }
nulls(A) ::= NULLS LAST. { A = CLR_NULLS_LAST; }

limit ::= .
limit ::= LIMIT expr(X). { set_limit(syntax, X, NULL); }
limit ::= LIMIT expr(X) OFFSET expr(Y). { set_limit(syntax, X, Y); }
limit ::= LIMIT expr(X) COMMA expr(Y). { set_limit(syntax, Y, X); }

%type expr {struct clr_node *}
expr(A) ::= LP expr(X) RP. {
    A = X;
    if (A != NULL)
        A->is_enclosed = true;
}
expr(A) ::= ID(X). { A = column(syntax, 1, &X); }
expr(A) ::= JOIN_KW(X). { A = column(syntax, 1, &X); }
expr(A) ::= ID(X) DOT ID(Y). { A = column(syntax, 2, (struct clr_token[]){X, Y}); }
expr(A) ::= ID(X) DOT ID(Y) DOT ID(Z). {
    A = column(syntax, 3, (struct clr_token[]){X, Y, Z});
}
expr(A) ::= NULL|NUMBER|STRING|BLOB|TRUE|FALSE|CTIME_KW(X). { A = literal(syntax, &X); }
expr(A) ::= VARIABLE(X). { A = parameter(syntax, &X); }

expr(A) ::= ID(N) LP list(L) RP filter(F). { A = call(syntax, &N, false, L, none, F); }
expr(A) ::= ID(N) LP list(L) ORDER BY sorts(S) RP filter(F). {
    A = call(syntax, &N, false, L, S, F);
}
expr(A) ::= ID(N) LP STAR RP filter(F). { A = call(syntax, &N, true, none, none, F); }
expr(A) ::= ID(N) LP DISTINCT(D) expr(X) RP filter(F). {
    A = call_distinct(syntax, &N, &D, X, none, F);
}
expr(A) ::= ID(N) LP DISTINCT(D) expr(X) ORDER BY sorts(S) RP filter(F). {
    A = call_distinct(syntax, &N, &D, X, S, F);
}
expr(A) ::= ID(N) LP list(L) RP over(W). { A = window(syntax, &N, NULL, L, &W); }
expr(A) ::= ID(N) LP STAR(T) RP over(W). { A = window(syntax, &N, &T, none, &W); }
%type over {struct over}
over(A) ::= OVER LP partition(P) sorting(S) frame(F) RP. { A = (struct over){P, S, F}; }
%type partition {struct clr_list}
partition(A) ::= . { A = none; }
partition(A) ::= PARTITION BY parts(L). { A = L; }
%type parts {struct clr_list}
parts(A) ::= expr(X). { A = one(clr_syntax_node(syntax, CLR_N_TERM, NULL, one(X))); }
parts(A) ::= parts(L) COMMA expr(X). {
    A = L;
    append(&A, clr_syntax_node(syntax, CLR_N_TERM, NULL, one(X)));
}
%type sorting {struct clr_list}
sorting(A) ::= . { A = none; }
sorting(A) ::= ORDER BY sorts(L). { A = L; }
%type sorts {struct clr_list}
sorts(A) ::= expr(X) direction(D) nulls(N). { A = one(term(syntax, X, D, N)); }
sorts(A) ::= sorts(L) COMMA expr(X) direction(D) nulls(N). {
    A = L;
    append(&A, term(syntax, X, D, N));
}
/* A frame is all of its text. */
%type frame {struct clr_token}
frame(A) ::= . { A = (struct clr_token){.kind = 0}; }
frame(A) ::= FRAME(F) bounds(E). { A = join(&F, &E); }
%type bounds {struct clr_token}
bounds(A) ::= bound(T). { A = T; }
bounds(A) ::= bounds bound(T). { A = T; }
%type bound {struct clr_token}
bound(A) ::= ID|NUMBER|BETWEEN|AND|GROUP(T). { A = T; }

%type filter {struct clr_node *}
filter(A) ::= . { A = NULL; }
filter(A) ::= FILTER LP WHERE expr(X) RP. { A = X; }
expr(A) ::= CAST LP expr(X) AS type(T) RP. { A = cast(syntax, X, T); }

expr(A) ::= expr(X) AND(O) expr(Y). { A = fold(syntax, CLR_OP_AND, &O, X, Y); }
expr(A) ::= expr(X) OR(O) expr(Y). { A = fold(syntax, CLR_OP_OR, &O, X, Y); }
expr(A) ::= expr(X) LT(O) expr(Y). { A = fold(syntax, CLR_OP_LESS, &O, X, Y); }
expr(A) ::= expr(X) GT(O) expr(Y). { A = fold(syntax, CLR_OP_GREATER, &O, X, Y); }
expr(A) ::= expr(X) GE(O) expr(Y). { A = fold(syntax, CLR_OP_GREATER_EQUAL, &O, X, Y); }
expr(A) ::= expr(X) LE(O) expr(Y). { A = fold(syntax, CLR_OP_LESS_EQUAL, &O, X, Y); }
expr(A) ::= expr(X) EQ(O) expr(Y). { A = fold(syntax, CLR_OP_EQUAL, &O, X, Y); }
expr(A) ::= expr(X) NE(O) expr(Y). { A = fold(syntax, CLR_OP_UNEQUAL, &O, X, Y); }
expr(A) ::= expr(X) BITAND(O) expr(Y). { A = fold(syntax, CLR_OP_BIT_AND, &O, X, Y); }
expr(A) ::= expr(X) BITOR(O) expr(Y). { A = fold(syntax, CLR_OP_BIT_OR, &O, X, Y); }
expr(A) ::= expr(X) LSHIFT(O) expr(Y). { A = fold(syntax, CLR_OP_SHIFT_LEFT, &O, X, Y); }
expr(A) ::= expr(X) RSHIFT(O) expr(Y). { A = fold(syntax, CLR_OP_SHIFT_RIGHT, &O, X, Y); }
expr(A) ::= expr(X) PLUS(O) expr(Y). { A = fold(syntax, CLR_OP_ADD, &O, X, Y); }
expr(A) ::= expr(X) MINUS(O) expr(Y). { A = fold(syntax, CLR_OP_SUBTRACT, &O, X, Y); }
expr(A) ::= expr(X) STAR(O) expr(Y). { A = fold(syntax, CLR_OP_MULTIPLY, &O, X, Y); }
expr(A) ::= expr(X) SLASH(O) expr(Y). { A = fold(syntax, CLR_OP_DIVIDE, &O, X, Y); }
expr(A) ::= expr(X) REM(O) expr(Y). { A = fold(syntax, CLR_OP_REMAINDER, &O, X, Y); }
expr(A) ::= expr(X) CONCAT(O) expr(Y). {
    A = binary(syntax, CLR_N_OPERATOR, CLR_OPCODES, &O, X, Y);
}
expr(A) ::= expr(X) PTR(O) expr(Y). {
    A = binary(syntax, CLR_N_FUNCTION, CLR_OPCODES, &O, X, Y);
}
expr(A) ::= expr(X) COLLATE ID|STRING(N). { A = collate(syntax, X, &N); }

%type like {struct like}
like(A) ::= LIKE_KW|MATCH(O). { A = (struct like){O, false}; }
like(A) ::= NOT LIKE_KW|MATCH(O). { A = (struct like){O, true}; }
expr(A) ::= expr(X) like(O) expr(Y). [LIKE_KW] { A = like(syntax, &O, X, Y, NULL); }
expr(A) ::= expr(X) like(O) expr(Y) ESCAPE expr(E). [LIKE_KW] { A = like(syntax, &O, X, Y, E); }

expr(A) ::= expr(X) ISNULL. { A = unary(syntax, CLR_OP_IS_NULL, X); }
expr(A) ::= expr(X) NOTNULL. { A = unary(syntax, CLR_OP_NOT_NULL, X); }
expr(A) ::= expr(X) NOT NULL. { A = unary(syntax, CLR_OP_NOT_NULL, X); }
expr(A) ::= expr(X) IS expr(Y). { A = is(syntax, false, X, Y); }
expr(A) ::= expr(X) IS NOT expr(Y). { A = is(syntax, true, X, Y); }
expr(A) ::= expr(X) IS DISTINCT FROM expr(Y). { A = is(syntax, true, X, Y); }
expr(A) ::= expr(X) IS NOT DISTINCT FROM expr(Y). { A = is(syntax, false, X, Y); }
expr(A) ::= NOT expr(X). { A = unary(syntax, CLR_OP_NOT, X); }
expr(A) ::= BITNOT expr(X). { A = unary(syntax, CLR_OP_BIT_NOT, X); }
expr(A) ::= PLUS expr(X). [BITNOT] { A = clr_syntax_node(syntax, CLR_N_PLUS, NULL, one(X)); }
expr(A) ::= MINUS expr(X). [BITNOT] { A = minus(syntax, X); }

%type between {bool}
between(A) ::= BETWEEN. { A = false; }
between(A) ::= NOT BETWEEN. { A = true; }
expr(A) ::= expr(X) between(N) expr(Y) AND expr(Z). [BETWEEN] {
    A = negate(syntax, N, clr_syntax_node(syntax, CLR_N_BETWEEN, NULL, three(X, Y, Z)));
}

%type in {bool}
in(A) ::= IN. { A = false; }
in(A) ::= NOT IN. { A = true; }
expr(A) ::= expr(X) in(N) LP list(L) RP. [IN] { A = in(syntax, N, X, L); }

expr(A) ::= subquery(X). { A = X; }
expr(A) ::= EXISTS subquery(X). { A = clr_syntax_node(syntax, CLR_N_OPERATOR, NULL, one(X)); }
expr(A) ::= expr(X) in(N) subquery(Y). [IN] { A = in_subquery(syntax, N, X, Y); }
%type subquery {struct clr_node *}
subquery(A) ::= LP(B) SUBQUERY RP(E). { A = subquery(syntax, &B, &E); }

expr(A) ::= CASE base(B) whens(W) else(E) END. { A = choice(syntax, B, W, E); }
%type base {struct clr_node *}
base(A) ::= . { A = NULL; }
base(A) ::= expr(X). { A = X; }
%type whens {struct clr_list}
whens(A) ::= WHEN expr(X) THEN expr(Y). { A = three(X, Y, NULL); }
whens(A) ::= whens(W) WHEN expr(X) THEN expr(Y). {
    A = W;
    append(&A, X);
    append(&A, Y);
}
%type else {struct clr_node *}
else(A) ::= . { A = NULL; }
else(A) ::= ELSE expr(X). { A = X; }

/* A type is all of its text. */
%type type {struct clr_token}
type(A) ::= words(T). { A = T; }
type(A) ::= words(T) LP signed RP(E). { A = join(&T, &E); }
type(A) ::= words(T) LP signed COMMA signed RP(E). { A = join(&T, &E); }
%type words {struct clr_token}
words(A) ::= ID(T). { A = T; }
words(A) ::= words(F) ID(T). { A = join(&F, &T); }
signed ::= NUMBER.
signed ::= PLUS|MINUS NUMBER.

%type list {struct clr_list}
list(A) ::= . { A = none; }
list(A) ::= filled(L). { A = L; }
%type filled {struct clr_list}
filled(A) ::= expr(X). { A = one(X); }
filled(A) ::= filled(L) COMMA expr(X). {
    A = L;
    append(&A, X);
}

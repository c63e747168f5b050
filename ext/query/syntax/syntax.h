/*
 * The syntax of a SELECT, as the parser builds it. Whatever the constructors below fail at is
 * written into syntax->code, and from then on they all return NULL.
 */
#ifndef CLR_QUERY_SYNTAX_H
#define CLR_QUERY_SYNTAX_H

#include "base/status.h"
#include "numeric/scan/scan.h"
#include "numeric/values/column.h"
#include "query/aggregate.h"
#include "query/syntax/lexer.h"

#include <stdbool.h>
#include <stddef.h>

enum clr_node_kind {
    CLR_N_COLUMN,    /* names */
    CLR_N_LITERAL,   /* names[0]; negative: a number with a minus sign */
    CLR_N_PARAMETER, /* names[0] */
    CLR_N_AGGREGATE, /* a call over the children (none: all rows), with a filter */
    CLR_N_PLUS,      /* unary, of the child */
    CLR_N_MINUS,     /* unary, of the child, which is no literal */
    CLR_N_UNARY,     /* opcode, of the child */
    CLR_N_FOLD,      /* opcode, of two or more children, from the left */
    CLR_N_BETWEEN,   /* the first child lies between the second and the third */
    CLR_N_IN,        /* the first child is one of the others */
    CLR_N_CASE,      /* [base] {when then} [else] */
    CLR_N_NULLIF,    /* NULL if the first child is equal to the second, else the first */
    CLR_N_HINT,      /* likely() and the like: the first child */
    CLR_N_FUNCTION,  /* names[0], which may be an operator that is one, of the children */
    CLR_N_OPERATOR,  /* one without an opcode, of the children */
    CLR_N_COLLATE,   /* of the child */
    CLR_N_CAST,      /* of the child */
    CLR_N_SUBQUERY,  /* a SELECT in parentheses, which SQLite evaluates: no children */
    CLR_N_STAR,      /* all columns, in the select list */
    CLR_N_ITEM,      /* of the select list: the child; names[0], of kind 0 if it has none */
    CLR_N_TERM       /* of GROUP BY or ORDER BY: the child */
};

/* What is somewhere in an expression. */
enum {
    CLR_HAS_COLUMN = 1,    /* outside aggregates */
    CLR_HAS_AGGREGATE = 2, /* in a place where SQLite may drop it before it knows what it is */
    CLR_HAS_SURE_AGGREGATE = 4,
    CLR_HAS_COLLATE = 8,
    CLR_HAS_SUBQUERY = 16
};

/* What a cast is to. */
enum clr_cast {
    CLR_CAST_TO_BLOB,
    CLR_CAST_TO_TEXT,
    CLR_CAST_TO_INTEGER,
    CLR_CAST_TO_REAL,
    CLR_CAST_TO_NUMERIC
};

/* Which column of the table an expression reads, if it is no number of the environment. */
enum { CLR_READS_NONE = -1, CLR_READS_SEVERAL = -2 };

/* Recursion over a tree goes no deeper. */
enum { CLR_DEEPEST = 250 };

struct clr_node {
    enum clr_node_kind kind;
    enum clr_opcode opcode;
    struct clr_node *first;              /* of its children */
    struct clr_node *next;               /* of the same parent */
    struct clr_node *allocated, *listed; /* the next of all nodes, and of those of one kind */
    int depth;
    unsigned has;

    struct clr_token names[3];
    int name_count;
    bool negative, has_base, has_else;
    const struct clr_aggregate *aggregate; /* of CLR_N_AGGREGATE, as are the next two */
    enum clr_form form;
    bool builtin;     /* SQLite's own */
    bool is_distinct; /* as written with DISTINCT: values are told apart as SQLite does */
    struct clr_node *filter;
    struct clr_node *tested; /* of CLR_N_SUBQUERY: what IN looks for in it, or NULL */
    /* The tokens, without and with the parentheses around them; of what NOT negates in the middle
       of its tokens, as in "x NOT IN (y)", only the outer node has them. */
    size_t begin, end, outer_begin, outer_end;
    enum clr_cast cast;   /* of CLR_N_CAST */
    const char *function; /* of a call that a scan computes, of no aggregate: its name; else NULL */
    bool descending;      /* of CLR_N_TERM */

    /*
     * Of a name outside of the subquery in FROM that means a column of it: the node is what the
     * subquery's item is, with its tokens, and this is where the name is written. Else both are 0.
     */
    size_t name_begin, name_end;
    bool is_behind; /* of such a name: "*" stands before the item, and may have the name as well */
    bool is_hidden; /* of such a name that means none of its columns: no column of the table either
                     */

    /* From here on: once bound. */
    int reads;       /* a column's number, or one of the above */
    bool is_text;    /* a column of TEXT affinity */
    bool seems_text; /* a column of no such affinity that may well have TEXT: a guess */
    /* Something in it is not for kernels: TEXT, a BLOB, a function. */
    bool is_foreign;
    int number;       /* of a parameter; of a subquery: see struct clr_query's lists, or 0 */
    int key;          /* of an expression that is what a key is: the key's number, from 1 */
    bool is_constant; /* of a term of GROUP BY: no key, as it is the same in all rows */
    bool is_item;     /* of a column's name: an item of the select list is meant */
    bool is_numeric;  /* a column of NUMERIC, INTEGER or REAL affinity */
    bool is_real;     /* the last one */
    bool is_binary;   /* a column that is compared by the collating sequence BINARY */
    /* Of a column, or a term of GROUP BY: the name of another one; "": none, or none that is known.
     */
    char collation[CLR_COLLATION_NAME];
    bool known; /* whether value is a literal's value already */
    struct clr_scalar value;
};

struct clr_list {
    struct clr_node *first, *last;
};

struct clr_syntax {
    char *sql; /* what the tokens point to */
    struct clr_token *tokens;
    size_t token_count, token_capacity;
    struct clr_node *nodes;                        /* all of them, the last one first */
    struct clr_list items, aggregates, parameters; /* in the order of the text */
    struct clr_list terms;                         /* of ORDER BY */
    struct clr_list keys;                          /* terms of GROUP BY */
    struct clr_list truths;                        /* TRUE and FALSE */
    struct clr_list subqueries;                    /* but for that in FROM */
    struct clr_node *where, *having;
    /* Of the subquery in FROM: its select list, its condition, its name of kind 0 if it has none,
       and its tokens, from inner_begin up to inner_end, both 0 if there is no subquery. */
    struct clr_list inner_items;
    struct clr_node *inner_where;
    struct clr_token inner_name;
    size_t inner_begin, inner_end;
    bool distinct;
    size_t order_begin, order_end;         /* the tokens of ORDER BY; both 0 without */
    struct clr_node *limit;                /* and what is behind it: the two that LIMIT may have */
    size_t limit_begin, limit_end;         /* its tokens */
    struct clr_token schema, table, alias; /* kind 0: none */
    enum clr_code code;                    /* CLR_OK, until something fails */
    struct clr_reason *reason;             /* of CLR_INVALID */
};

/* What a rowid is called where no column has the name. */
enum { CLR_ROWID_NAMES = 3 };
extern const char *const clr_rowid_names[CLR_ROWID_NAMES];

/* Parses syntax->sql: grammar.y. Returns syntax->code. */
enum clr_code clr_grammar_parse(struct clr_syntax *syntax);

/* Set the code, and the reason, unless something has failed already. */
void clr_syntax_refuse(struct clr_syntax *syntax, enum clr_reason_code why);
void clr_syntax_refuse_name(struct clr_syntax *syntax, enum clr_reason_code why, const char *name,
                            size_t length);
void clr_syntax_no_memory(struct clr_syntax *syntax);

/* Refuses a token that the grammar does not have in this place. */
void clr_syntax_unexpected(struct clr_syntax *syntax, const struct clr_token *token);

/* Returns how many nodes there are, as siblings. */
int clr_list_count(const struct clr_list *list);

void clr_list_append(struct clr_list *list, struct clr_node *node);

/* Appends to a list of nodes of one kind, whose siblings are others. */
void clr_list_enlist(struct clr_list *list, struct clr_node *node);

/* A node over the children, all else zero. */
struct clr_node *clr_syntax_node(struct clr_syntax *syntax, enum clr_node_kind kind,
                                 struct clr_list children);

/* One to three names with dots between them. */
struct clr_node *clr_syntax_column(struct clr_syntax *syntax, int count,
                                   const struct clr_token *names);

/* A literal or a parameter. */
struct clr_node *clr_syntax_value(struct clr_syntax *syntax, enum clr_node_kind kind,
                                  const struct clr_token *token);

/* Takes note of the parentheses around an expression, from the token `begin` on. */
struct clr_node *clr_syntax_enclose(struct clr_syntax *syntax, size_t begin, struct clr_node *node);

/* The operators, by their tokens. */
struct clr_node *clr_syntax_prefix(struct clr_syntax *syntax, const struct clr_token *token,
                                   struct clr_node *operand);
struct clr_node *clr_syntax_binary(struct clr_syntax *syntax, const struct clr_token *token,
                                   struct clr_node *left, struct clr_node *right);
struct clr_node *clr_syntax_is(struct clr_syntax *syntax, bool negated, struct clr_node *left,
                               struct clr_node *right);

/* ISNULL and NOTNULL. */
struct clr_node *clr_syntax_postfix(struct clr_syntax *syntax, enum clr_opcode opcode,
                                    struct clr_node *operand);

/* An operator such as LIKE. */
struct clr_like {
    struct clr_token token;
    bool negated;
};

/* escape may be NULL. */
struct clr_node *clr_syntax_like(struct clr_syntax *syntax, const struct clr_like *like,
                                 struct clr_node *operand, struct clr_node *pattern,
                                 struct clr_node *escape);

/* COLLATE, whatever the name behind it. */
struct clr_node *clr_syntax_collate(struct clr_syntax *syntax, struct clr_node *operand);

/* A type: its first and its last token. */
struct clr_type {
    struct clr_token first, last;
};

struct clr_node *clr_syntax_cast(struct clr_syntax *syntax, const struct clr_token *cast,
                                 struct clr_node *operand, struct clr_type type);

/* CLR_N_BETWEEN or CLR_N_IN. */
struct clr_node *clr_syntax_range(struct clr_syntax *syntax, enum clr_node_kind kind, bool negated,
                                  struct clr_node *operand, struct clr_list list);

/* base and otherwise may be NULL; whens are pairs. */
struct clr_node *clr_syntax_case(struct clr_syntax *syntax, const struct clr_token *word,
                                 struct clr_node *base, struct clr_list whens,
                                 struct clr_node *otherwise);

/* name(arguments) or name(*), with FILTER (WHERE filter) unless that is NULL. */
struct clr_node *clr_syntax_call(struct clr_syntax *syntax, const struct clr_token *name, bool star,
                                 struct clr_list arguments, struct clr_node *filter);

/* Whether the last token is a parenthesis that opens a subquery, which is not that of FROM: the
   rest of the text is at `at`. */
bool clr_syntax_opens_subquery(const struct clr_syntax *syntax, const char *at);

/* A parameter in such a subquery; without memory syntax->code is set. */
void clr_syntax_inner_parameter(struct clr_syntax *syntax, const struct clr_token *token);

/* A subquery, from its parenthesis at `begin` on, and its uses. */
struct clr_node *clr_syntax_subquery(struct clr_syntax *syntax, size_t begin);
struct clr_node *clr_syntax_exists(struct clr_syntax *syntax, const struct clr_token *exists,
                                   struct clr_node *subquery);
struct clr_node *clr_syntax_in_subquery(struct clr_syntax *syntax, bool negated,
                                        struct clr_node *operand, struct clr_node *subquery);

/* Where a subquery in FROM begins and ends. name: of kind 0 if it has none. */
void clr_syntax_open(struct clr_syntax *syntax);
void clr_syntax_close(struct clr_syntax *syntax, const struct clr_token *end,
                      const struct clr_token *name);

/* Puts the subquery's expressions in the place of the names of its columns. To be called once, when
   all has been parsed. */
void clr_syntax_flatten(struct clr_syntax *syntax);

/* name(DISTINCT argument), likewise: of count() alone. */
struct clr_node *clr_syntax_call_distinct(struct clr_syntax *syntax, const struct clr_token *name,
                                          const struct clr_token *distinct,
                                          struct clr_node *argument, struct clr_node *filter);

/* Sets which tokens a node has: from `begin` up to the one that the parser has read last. Returns
   the node; NULL is fine. */
struct clr_node *clr_syntax_place(struct clr_syntax *syntax, size_t begin, struct clr_node *node);

/* An item of the select list, of the tokens from begin up to end, and with a name unless its kind
   is 0. */
void clr_syntax_item(struct clr_syntax *syntax, size_t begin, struct clr_node *expression,
                     size_t end, const struct clr_token *name);

/* All columns, of the tokens from begin on to the one that the parser has read last. */
void clr_syntax_star(struct clr_syntax *syntax, size_t begin);

void clr_syntax_where(struct clr_syntax *syntax, struct clr_node *expression);

/* A term of GROUP BY. */
void clr_syntax_key(struct clr_syntax *syntax, struct clr_node *expression);

/* A term of ORDER BY, and the end of all of them behind the token ORDER. */
void clr_syntax_order(struct clr_syntax *syntax, struct clr_node *expression, bool descending);
void clr_syntax_order_end(struct clr_syntax *syntax, const struct clr_token *order);

/* Whether the SELECT has a row for each group: for keys, or for the values that DISTINCT leaves. */
bool clr_syntax_is_grouped(const struct clr_syntax *syntax);

/* Whether the SELECT has rows of the table as they are, those that WHERE lets pass. */
bool clr_syntax_has_rows(const struct clr_syntax *syntax);

/* Refuses what has no meaning here in a SELECT of one row: columns outside of aggregates, in the
   select list and in ORDER BY. */
void clr_syntax_check_row(struct clr_syntax *syntax);

/* Stores the item of the select list whose name an expression is, COLLATE aside, or NULL. Returns
   false without memory. */
bool clr_syntax_find_item(const struct clr_syntax *syntax, const struct clr_node *node,
                          struct clr_node **item);

/* LIMIT, which has no columns and aggregates; the second one may be NULL. */
void clr_syntax_limit(struct clr_syntax *syntax, const struct clr_token *limit,
                      struct clr_node *first, struct clr_node *second);

#endif

/*
 * A SELECT's text as a tree: a struct clr_select_tree has a list of nodes, or a node, for each
 * clause, and a node has its operands as children. Nodes belong to the tree; their names and texts
 * point into it. What a name means is found out later, and kept in its node (names.h).
 *
 * A new operator needs a rule in grammar.y, a function in syntax.c that makes its node, and a form
 * in print.c, which writes a tree, or a part of it, as text again. names.c says what is in it,
 * lower.c how a scan computes it. Recursive functions go over a node's children; clr_node_find()
 * does where one test is all.
 */
#ifndef CLR_QUERY_SYNTAX_H
#define CLR_QUERY_SYNTAX_H

#include "numeric/scan/scan.h"
#include "numeric/states/aggregate_table.h"
#include "query/syntax/lexer.h"
#include "query/table_facts.h"

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
    CLR_N_OPERATOR,  /* one without an opcode, of the children: ||, IN or EXISTS with a subquery */
    /* One over the rows of the result: names[0] of the children but for the terms behind them, by
       partition_count of which the rows are parted, and by the rest sorted. names[1] is the frame,
       names[2] a star in the place of arguments; of kind 0: none. */
    CLR_N_WINDOW,
    CLR_N_COLLATE, /* of the child; names[0] */
    CLR_N_CAST,    /* of the child; names[0] is the type's text */
    /* A SELECT in parentheses, which SQLite evaluates: names[0], all of its text; and the child:
       the one column of the query around it that it names, if it names any. */
    CLR_N_SUBQUERY,
    CLR_N_STAR, /* all columns, in the select list; names[0]: of that table, if there is one */
    CLR_N_ITEM, /* of the select list: the child; names[0], of kind 0 if it has none */
    CLR_N_TERM  /* of GROUP BY, ORDER BY or a window: the child */
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

/* Returns what a type's name of so many bytes makes of a cast, or of a column, by the parts that it
   has: of several the first one of SQLite's rules counts (https://sqlite.org/datatype3.html). */
enum clr_cast clr_cast_of(const char *type, size_t length);

/* NULLS FIRST or NULLS LAST behind a term. */
enum clr_nulls { CLR_NULLS_ANYWHERE, CLR_NULLS_FIRST, CLR_NULLS_LAST };

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
    bool is_enclosed; /* it is written in parentheses */
    bool is_infix;    /* an operator, though the kind is that of a function; of NOT: in the middle
                         of its operand, as in "x NOT IN (y)" */
    bool is_ordering; /* it is written in ORDER BY */
    const struct clr_select_tree *at;      /* the SELECT that it is written in */
    const struct clr_aggregate *aggregate; /* of CLR_N_AGGREGATE, as are the next two */
    enum clr_form form;
    bool builtin;     /* SQLite's own */
    bool is_distinct; /* as written with DISTINCT: values are told apart as SQLite does */
    struct clr_node *filter;
    struct clr_node *tested; /* of CLR_N_SUBQUERY: what IN looks for in it, or NULL */
    /* Of the same: it names something of the query around it, but no column alone. The caller of
       clr_query_bind() notes it, with the child. */
    bool names_more;
    bool aggregates_around; /* of the same, likewise: an aggregate in it may be that query's */
    bool is_looked_up;      /* of the same, once bound: it is in an expression of rows */
    bool is_exists;         /* of the same, in another expression: behind EXISTS */
    enum clr_cast cast;     /* of CLR_N_CAST */
    const char *function;   /* of a call that a scan computes, of no aggregate: its name, or NULL */
    int partition_count;    /* of CLR_N_WINDOW */
    bool descending;        /* of CLR_N_TERM, as is the next one */
    enum clr_nulls nulls;

    /* Of a name that means an expression in a subquery in FROM: the node is what the subquery's
       item is, and this is the name as it is written. Else NULL. */
    struct clr_node *written;
    bool is_hidden; /* of a name beside subqueries in FROM: none of their columns, nor a table's */

    int source; /* of a column: the place of its table in FROM, from 1; 0: it is not known yet */

    /* Facts that the caller of clr_query_bind() notes, of the syntax' numbers and functions. */
    bool is_known;           /* of a number: it has a value, */
    struct clr_scalar value; /* an INTEGER or a REAL, as SQLite gives the literal, with its sign */
    bool is_deterministic;   /* of a function: all of that name are, and none is an aggregate; of
                                an operator too, named "like", "glob", "regexp", "match", "->" */
    bool is_builtin;         /* of the same: all of that name are SQLite's own */
    unsigned subtypes;       /* bits of enum clr_subtype_use: what those of the name do */

    /* From here on: once bound. */
    /* The number of a column of the table that is scanned, or one of the above. Of a column of a
       dimension it is the column that leads there. */
    int reads;
    int dimension;                  /* of such a column: its number, from 1; else 0 */
    struct clr_known_column column; /* of CLR_N_COLUMN; else zeros */
    /* Something in it is not for kernels: TEXT, a BLOB, a function. */
    bool is_foreign;
    /* It has functions of times and no columns: SQLite evaluates it once a run, where 'now' is one
       instant. */
    bool is_momentary;
    int number; /* of a parameter, or an operand; of a subquery: see struct clr_query's lists,
                   or 0 */
    int key;    /* of an expression that is what a key is: the key's number, from 1 */
    bool is_determined; /* of a column: it follows from a key, and is none */
    bool is_constant;   /* of a term of GROUP BY: no key, as it is the same in all rows */
    struct clr_node
        *item; /* of a column's name that means an item of the select list: that, or NULL */
    /* Of a column, or a term of GROUP BY: the name of another one; "": none, or none that is known.
     */
    char collation[CLR_COLLATION_NAME];
};

struct clr_list {
    struct clr_node *first, *last;
};

struct clr_select_tree;

/* A table in FROM. */
struct clr_from_table {
    struct clr_token schema, table, alias; /* kind 0: none */
    const char *found; /* the schema in which a table without one is found; NULL: not known */
    /* The subquery that stands there, or the SELECT of the CTE or the ordinary view whose name
       does; NULL: a table. */
    struct clr_select_tree *inner;
    struct clr_token join;  /* the words that join it to the tables before it, or their comma */
    bool is_left;           /* it may have no row: by LEFT JOIN, or, of the first one, RIGHT JOIN */
    bool is_natural;        /* by NATURAL JOIN */
    struct clr_node *on;    /* ON, or NULL */
    struct clr_list common; /* the columns of USING, or those that NATURAL JOIN stands for */
};

enum { CLR_MOST_SOURCES = 16 };

/* A SELECT from tables that are joined. One in FROM is a projection of rows that meet its
   condition, of one table, or of several where it is all that FROM has. */
struct clr_select_tree {
    bool distinct;
    struct clr_list items;
    /* The tables, as they are written. */
    int source_count;
    struct clr_from_table sources[CLR_MOST_SOURCES];
    struct clr_node *where, *having;
    struct clr_list keys;            /* terms of GROUP BY */
    struct clr_list terms;           /* of ORDER BY */
    struct clr_node *limit, *offset; /* NULL: none */

    /* Of the parser: the next of all but the statement's; the SELECT around it; of a CTE its name,
       and the next one; and the word that began the clause, or 0 before FROM. */
    struct clr_select_tree *allocated, *outer;
    struct clr_token name;
    struct clr_select_tree *next;
    int clause;
};

/* Text that tokens point to. */
struct clr_text_block {
    struct clr_text_block *next;
    char text[];
};

struct clr_syntax {
    const char *sql;               /* the statement's text, one of the blocks */
    struct clr_text_block *blocks; /* what tokens point to, and all names */
    char *last;             /* room for the longest name of a token of the statement's text */
    struct clr_node *nodes; /* all of them, the last one first */
    struct clr_select_tree select;          /* the statement's */
    struct clr_select_tree *trees;          /* those in FROM and WITH */
    struct clr_select_tree *ctes;           /* those in WITH, of the text that was parsed last */
    struct clr_list aggregates, parameters; /* in the order of the text, also below */
    struct clr_list truths;                 /* TRUE and FALSE */
    struct clr_list numbers;                /* literals */
    struct clr_list functions;              /* of kind CLR_N_FUNCTION or CLR_N_WINDOW */
    struct clr_list subqueries;             /* but for those in FROM */
    enum clr_code code;                     /* CLR_OK, until something fails */
    struct clr_reason *reason;              /* of CLR_INVALID */

    /* Of the parser: which SELECT it is in, whether in ORDER BY, and the kinds of the tokens read
       last, the last one first. */
    struct clr_select_tree *at;
    bool is_ordering;
    int last_kinds[3];
};

/* What a rowid is called where no column has the name. */
enum { CLR_ROWID_NAMES = 3 };
extern const char *const clr_rowid_names[CLR_ROWID_NAMES];

/* Parses a SELECT. Returns CLR_OK with *syntax, to be freed with clr_syntax_free(), which refers to
   the reason; CLR_INVALID with the reason; or CLR_NOMEM. */
enum clr_code clr_syntax_parse(const char *sql, struct clr_syntax **syntax,
                               struct clr_reason *reason);

/* Frees a tree and its nodes; NULL is none. */
void clr_syntax_free(struct clr_syntax *syntax);

/*
 * Has a name in FROM mean an ordinary view of a schema, whose SELECT, which may be followed by a
 * semicolon, and list of columns, NULL if there is none, are texts of the schema. Names in it mean
 * tables of that schema. Returns syntax->code.
 */
enum clr_code clr_syntax_add_view(struct clr_syntax *syntax, struct clr_from_table *source,
                                  const char *schema, const char *columns, const char *select);

/* Adds a column to those that a table has in common with tables before it, of NATURAL JOIN. Returns
   false once something has failed. */
bool clr_syntax_add_common(struct clr_syntax *syntax, struct clr_from_table *source,
                           const char *name);

/* These set the code, and the reason, unless something has failed already. They return -1. */
int clr_refuse(struct clr_syntax *syntax, enum clr_reason_code why);
int clr_refuse_name(struct clr_syntax *syntax, enum clr_reason_code why, const char *name);
int clr_refuse_token(struct clr_syntax *syntax, enum clr_reason_code why,
                     const struct clr_token *token);
int clr_syntax_no_memory(struct clr_syntax *syntax);

/* Adds a node of a kind that has those children, and names[0]; NULL is none. All else is zeros.
   Returns NULL once something has failed. */
struct clr_node *clr_syntax_node(struct clr_syntax *syntax, enum clr_node_kind kind,
                                 const struct clr_token *name, struct clr_list children);

/* Makes the node of a column's name; NULL without memory. */
struct clr_node *clr_syntax_column(struct clr_syntax *syntax, const struct clr_token *name);

/* Has a column, once it is bound, be max() of it, which is printed as the column where a SELECT is
   printed as it was written. Fails without memory. */
void clr_syntax_be_greatest(struct clr_syntax *syntax, struct clr_node *node);

/* The function of the number that sums take a value for: TEXT or a BLOB, too. */
#define CLR_NUMBER "clreduce_number"

/* Returns the call of CLR_NUMBER of an expression that is bound, which stays where it is; NULL
   without memory. */
struct clr_node *clr_syntax_number(struct clr_syntax *syntax, const struct clr_node *node);

/* Whether it is such a call. */
static inline bool clr_node_is_number(const struct clr_node *node)
{
    return node->kind == CLR_N_FUNCTION && strcmp(node->names[0].name, CLR_NUMBER) == 0;
}

/* Whether a window function stands in it. */
static inline bool clr_syntax_has_window(const struct clr_syntax *syntax)
{
    const struct clr_node *node = syntax->functions.first;

    while (node != NULL && node->kind != CLR_N_WINDOW)
        node = node->listed;
    return node != NULL;
}

/* Returns the table that a place in FROM leads to by way of subqueries. */
static inline const struct clr_from_table *clr_from_leaf(const struct clr_from_table *source)
{
    while (source->inner != NULL)
        source = source->inner->sources;
    return source;
}

/* Returns what the query calls something in FROM: its alias, or else its name; of kind 0: nothing.
 */
static inline const struct clr_token *clr_from_name(const struct clr_from_table *source)
{
    return source->alias.kind != 0 ? &source->alias : &source->table;
}

/* Returns the SELECT that joins the tables of a statement's SELECT: that itself, or one in its FROM
   that is all that there is, also by way of others. */
struct clr_select_tree *clr_select_join(struct clr_select_tree *select);

/* Whether a SELECT reads a subquery, a CTE or a view. */
bool clr_select_has_inner(const struct clr_select_tree *select);

/* Whether it is TRUE or FALSE. */
bool clr_node_is_truth(const struct clr_node *node);

/* Whether it is AND of two conditions. */
static inline bool clr_node_is_and(const struct clr_node *node)
{
    return node->kind == CLR_N_FOLD && node->opcode == CLR_OP_AND;
}

/* Returns the next result of a CASE, [base] {when then} [else], behind one of them, or the first
   one behind NULL; NULL: there is none. */
static inline const struct clr_node *clr_case_next(const struct clr_node *node,
                                                   const struct clr_node *result)
{
    const struct clr_node *next = result != NULL   ? result->next
                                  : node->has_base ? node->first->next
                                                   : node->first;

    return next != NULL && next->next != NULL ? next->next : next;
}

/* Whether it is a column of the table that is scanned, once it is bound. */
static inline bool clr_node_is_scanned(const struct clr_node *node)
{
    return node->kind == CLR_N_COLUMN && node->dimension == 0;
}

/* Whether it is one of a dimension. */
static inline bool clr_node_is_dimension(const struct clr_node *node)
{
    return node->kind == CLR_N_COLUMN && node->dimension != 0;
}

/* Returns the first node of an expression, itself and then its children from the left, for which
   the test is true; NULL if there is none. */
const struct clr_node *clr_node_find(const struct clr_node *node,
                                     bool (*test)(const struct clr_node *node));

/* Returns the item of the select list whose name an expression is, COLLATE aside, or NULL. */
struct clr_node *clr_syntax_find_item(const struct clr_syntax *syntax, const struct clr_node *node);

/* Returns the item of the select list whose number, from 1, an expression is. NULL: it is none, or
   a star is that item or one before it, whose columns count. */
struct clr_node *clr_syntax_find_numbered(const struct clr_syntax *syntax,
                                          const struct clr_node *node);

#endif

/*
 * The SELECTs that stand in a statement, found by its tokens alone, so that what is around them can
 * stay to the letter (https://sqlite.org/lang_select.html).
 */
#ifndef CLR_QUERY_SELECTS_H
#define CLR_QUERY_SELECTS_H

#include <stdbool.h>
#include <stddef.h>

/* A text that has more of them is not read. */
enum { CLR_MOST_SELECTS = 64, CLR_MOST_CTES = 32, CLR_MOST_TABLE_NAMES = 128 };

enum clr_select_place {
    CLR_PLACE_STATEMENT, /* it is the statement */
    CLR_PLACE_WRITTEN,   /* its rows are those of an INSERT, or of a new table */
    CLR_PLACE_FROM,
    CLR_PLACE_CTE,
    CLR_PLACE_IN,
    CLR_PLACE_EXISTS,
    CLR_PLACE_VALUE /* in an expression */
};

/* A name as it is written, within the statement's text. */
struct clr_written {
    const char *text;
    size_t length;
};

/* A name that WITH defines. */
struct clr_cte {
    struct clr_written name;
    struct clr_written definition; /* with the name and the parentheses */
    int with;                      /* the number of its WITH */
};

/* A SELECT with its WITH, ORDER BY and LIMIT; or, of a compound one, an arm, without these. So is a
   statement that writes, as if the table to which it writes were one in FROM. */
struct clr_stood {
    struct clr_written text;
    enum clr_select_place place; /* an arm's is its compound's */
    int around;                  /* the number of the one that it stands in, or -1 */
    int compound;                /* of an arm: the number of the first one; else -1 */
    int with;                    /* the number of the innermost WITH around it, or -1 */
    int cte;                     /* the number of the CTE that it is, or an arm of; or -1 */
    bool writes;                 /* it is no SELECT, but a statement that writes */
    int sources;                 /* tables and subqueries in its FROM */
    /* Of its ORDER BY and LIMIT, or those of an arm's compound: */
    int order_count;   /* terms of ORDER BY; 0: there is none */
    bool has_computed; /* a term is more than a number or a bare name */
    bool is_named;     /* a term is no number */
    bool descends;     /* a term has DESC */
    bool is_limited;   /* there is LIMIT */
    bool is_set;       /* an arm's compound has other operators than UNION ALL */
    /* A row counts once, however often it is there: behind IN, and in an arm of UNION, INTERSECT or
       EXCEPT or before one. */
    bool is_values;
};

/* Each stands before those that stand in it. */
struct clr_selects {
    int count, with_count, cte_count, source_count;
    struct clr_stood list[CLR_MOST_SELECTS];
    int withs[CLR_MOST_CTES]; /* of each WITH the number of the one around it, or -1 */
    struct clr_cte ctes[CLR_MOST_CTES];
    /* Names of tables: behind FROM and its commas, JOIN and IN. */
    struct clr_written sources[CLR_MOST_TABLE_NAMES];
};

/* Lists the SELECTs of a statement that SQLite has prepared; the names point into its text. Returns
   false, and nothing is known, if it is neither a SELECT nor one that writes rows or makes a table,
   or has too many of something, too deep parentheses, or a token that is not read. */
bool clr_selects_find(const char *sql, struct clr_selects *selects);

/* Whether a CTE's name is that of a table in a part of the text. */
bool clr_select_reads(const struct clr_selects *selects, const struct clr_written *text,
                      const struct clr_cte *cte);

#endif

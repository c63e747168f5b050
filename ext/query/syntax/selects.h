/*
 * The SELECTs that stand in a statement, found by its tokens alone, so that what is around them can
 * stay to the letter (https://sqlite.org/lang_select.html).
 */
#ifndef CLR_QUERY_SELECTS_H
#define CLR_QUERY_SELECTS_H

#include <stdbool.h>
#include <stddef.h>

/* A text has no more of them, or nothing is said of it. */
enum { CLR_MOST_SELECTS = 64, CLR_MOST_CTES = 32, CLR_MOST_SOURCES = 128 };

enum clr_select_place {
    CLR_PLACE_STATEMENT, /* it is the statement */
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

/* A SELECT with its WITH, ORDER BY and LIMIT; or, of a compound one, an arm, without these. */
struct clr_stood {
    struct clr_written text;
    enum clr_select_place place; /* an arm's is its compound's */
    int around;                  /* the number of the one that it stands in, or -1 */
    int compound;                /* of an arm: the number of the first one; else -1 */
    int with;                    /* the number of the innermost WITH around it, or -1 */
    int cte;                     /* the number of the CTE that it is, or an arm of; or -1 */
    int sources;                 /* tables and subqueries in its FROM */
    /* It, or an arm's compound, has ORDER BY, of so many terms; one of them is more than a number
       or a bare name, is no number, or has DESC; it has LIMIT. */
    int order_count;
    bool has_computed, is_named, descends, is_limited;
    bool is_set; /* an arm's compound has more than UNION ALL */
    /* Rows that it has twice count once: of what IN looks in, and of an arm that another operator
       than UNION ALL takes, by itself or with what is before that. */
    bool is_values;
};

/* Each stands before those that stand in it. */
struct clr_selects {
    int count, with_count, cte_count, source_count;
    struct clr_stood list[CLR_MOST_SELECTS];
    int withs[CLR_MOST_CTES]; /* of each WITH the number of the one around it, or -1 */
    struct clr_cte ctes[CLR_MOST_CTES];
    /* Names of tables: behind FROM and its commas, JOIN and IN. */
    struct clr_written sources[CLR_MOST_SOURCES];
};

/* Lists the SELECTs of a statement that SQLite has prepared. Returns false, and nothing is known,
   for a text that is no SELECT or has tokens or depths that are not read. */
bool clr_selects_find(const char *sql, struct clr_selects *selects);

/* Whether a CTE's name is that of a table in a part of the text. */
bool clr_select_reads(const struct clr_selects *selects, const struct clr_written *text,
                      const struct clr_cte *cte);

#endif

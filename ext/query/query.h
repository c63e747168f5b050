/*
 * From a SELECT's text to a scan: parse it, look up its columns, and write down what has to be
 * computed. What is not understood is no error: SQLite runs that SELECT itself. The grammar is a
 * part of SQLite's, and whatever it accepts means the same there.
 */
#ifndef CLR_QUERY_QUERY_H
#define CLR_QUERY_QUERY_H

#include "base/status.h"
#include "numeric/scan/scan.h"
#include "numeric/states/aggregate_table.h"
#include "numeric/values/timestamp.h"
#include "query/reason.h"
#include "query/table_facts.h"

#include <stdbool.h>

/* ---- The calls of aggregates. */

/* A call of an aggregate; equal arguments and filters share tallies. */
struct clr_call {
    const struct clr_aggregate *aggregate;
    enum clr_form form;
    /* SQLite's own: of sums the tally has the extremes as well, which tell if results agree. */
    bool builtin;
    bool is_exact;         /* by that name it is ours: results need not be known to agree */
    int tally;             /* has the counts */
    int question;          /* where all values are needed together: CLR_NEEDS_ORDER and beyond */
    const char *separator; /* of a list: the tree's, or a comma */
    /* The tallies whose sums are the operation's terms (clr_operation_terms()); -1: not needed. */
    int terms[CLR_MOST_TERMS];
};

enum { CLR_MOST_CALLS = 256, CLR_MOST_CONSTANTS = 512, CLR_MOST_ARGUMENTS = 3 };

/* What is asked of all values together; equal calls share it. */
struct clr_asked {
    const struct clr_aggregate *aggregate;
    int tally;
    int arguments[CLR_MOST_ARGUMENTS]; /* constants: those beside x; -1: there is none */
    enum clr_values_order order;       /* of a list, as is the next one: see struct clr_question */
    bool is_distinct;
};

/* Whether an aggregate needs all values together, and so asks a question of them. */
static inline bool clr_aggregate_asks(const struct clr_aggregate *aggregate)
{
    return aggregate->needs >= CLR_NEEDS_ORDER;
}

/* The name by which a query calls the aggregate, without the form's suffix. */
static inline const char *clr_call_name(const struct clr_call *call)
{
    return call->builtin ? call->aggregate->builtin : call->aggregate->name;
}

/* ---- The plan. */

/* A parameter that is bounded may have that magnitude: see lower_compared(). */
#define CLR_MOST_OF_A_PARAMETER ((int64_t)1 << 52)

/* Whether a constant is 2^63 or -2^63 as a REAL, with which nothing is compared here: see
   lower_compared(). */
static inline bool clr_scalar_is_past_integers(const struct clr_scalar *value)
{
    const double real = clr_real_of(value->bits);

    return value->tag == CLR_TAG_REAL && (real == 0x1p63 || real == -0x1p63);
}

/* A tally, as a run of the query begins it: see struct clr_tally. */
struct clr_tally_plan {
    unsigned operations;
    int x, y, filter;
};

/* The table of entries that SQLite evaluates a lookup over, as the lookup's text names it, its
   column, and that column with the table's name before it. */
#define CLR_LOOKUP_TABLE "clreduce:entries"
#define CLR_LOOKUP_COLUMN "clreduce:entry"
#define CLR_LOOKUP_ENTRY "\"" CLR_LOOKUP_TABLE "\".\"" CLR_LOOKUP_COLUMN "\""

/* The function, in the text of a derived column, of a value that is a time: the value itself, or an
   error if that is the present time, or may be. */
#define CLR_FIXED_TIME "clreduce_fixed_time"

/* The function, in the text of a derived column, that makes one value of several ones, to the bit:
   of those that are equal to a dimension's key together, or of a group's keys. And the function, in
   the text of a lookup over that column, that gives the value with a number, from 0, again. */
#define CLR_ROW_KEY "clreduce_key"
#define CLR_ROW_KEY_PART "clreduce_key_part"

/* An expression over one column, and over the rows that a join finds by it, that SQLite evaluates
   for each entry of the column's dictionary. */
enum { CLR_MOST_DECIDING = 4 };

struct clr_lookup_plan {
    int column; /* of the scan, with codes */
    /* The expression as it is written, but for the column, which is CLR_LOOKUP_ENTRY, columns of
       dimensions, and the parameters, which are ?N with their numbers N. */
    char *text;
    /* The dimensions, each a LEFT JOIN of one row at most with the table of entries; NULL: none. */
    char *joins;
    bool has_subqueries; /* in its text */
    /* The dimension, by its number from 1, whose row's columns decide on the result, by their
       numbers in the table, together with whether the entry, which is compared with the rowid
       alone, has a row there. 0: more decides. */
    int decided_by, deciding_count, deciding[CLR_MOST_DECIDING];
    /* It has a function whose result may follow from the present time, or the time zone, where an
       argument says so: 'now', 'localtime', 'utc'. */
    bool is_timed;
    /* The results are needed in their order: each is the INTEGER that is its rank. */
    bool is_ranked;
};

/*
 * A constant that timestamps of a column are compared with, as counts: clr_timestamp_count().
 * BELOW: the first one that is not less than the value; UPTO: the last one that is not greater;
 * EQUAL: the one that it is. Where there is none it is one that no value has.
 */
enum clr_bound_kind {
    CLR_BOUND_NONE,
    CLR_BOUND_BELOW,
    CLR_BOUND_UPTO,
    CLR_BOUND_EQUAL,
    CLR_BOUND_FIRST /* of no value: see struct clr_first_rows */
};

struct clr_bound {
    enum clr_bound_kind kind;
    clr_time_format format;
    bool is_text, is_numeric; /* the column's affinity, by which the value is converted */
};

enum { CLR_MOST_LISTS = 32, CLR_MOST_OPERANDS = 32 };

/* A column of the scan. */
struct clr_query_column {
    int number; /* the environment's; -1: it is derived */
    /* Then the expression of a row that it is, over columns of the table by their names, which
       SQLite evaluates; else NULL. It has no parameters. All connections get the same of it, but
       where it calls a function of the application's. pattern_at, pattern_size: see struct
       clr_field; they are of the column of the number like. */
    char *derived;
    bool calls_own;
    int like;
    uint16_t pattern_at, pattern_size;
    /* In which form it is needed: see struct clr_field. Only lookups need codes. */
    bool with_bytes, with_codes, is_joined;
    enum clr_time_unit unit;
    clr_time_format times;
};

/* ---- Joins. */

/*
 * A join of a table with others, each of which has one row at most for a row of that table, as it
 * is joined by a unique key: the first one is the one that is scanned, the fact table, and the
 * others are dimensions (Kimball's terms). All that is said of a dimension follows from the column
 * of the fact table that leads to it, also by way of other dimensions, and so is a lookup over that
 * column.
 */
struct clr_dimension {
    int source; /* its place in FROM */
    int column; /* of the fact table, by its number, or CLR_COMPOSITE plus the place in FROM */
    /* Then the expressions over several columns that the key is equal to: CLR_ROW_KEY of them is a
       derived column, which leads there. Else there are 0. */
    int part_count;
    struct clr_node *parts[CLR_MOST_KEY_COLUMNS];
    char *key; /* the text of that column; NULL: there is none */
    /* What finds its row: of LEFT JOIN all of ON, else equality with the key. */
    int term_count;
    struct clr_node *terms[CLR_MOST_KEY_COLUMNS];
    bool is_read; /* by a lookup, for which SQLite evaluates the terms */
};

enum { CLR_MOST_DIMENSIONS = 15, CLR_MOST_CONDITIONS = 64, CLR_COMPOSITE = 1 << 16 };

/*
 * Groups that are made before a join: eager aggregation (Yan and Larson, VLDB 1995). A SELECT that
 * ORMs write, from each row of some tables with aggregates of the rows that the last one has for
 * it,
 *
 *     SELECT u.name, count(o.id) FROM u LEFT JOIN o ON o.uid = u.id GROUP BY u.id
 *
 * is one of the groups of the last table, by what the key is equal to, which SQLite joins with the
 * rows of the others as it finishes the query. The tree is that of the groups then.
 */
struct clr_eager {
    struct clr_select_tree *whole; /* the SELECT as it was written */
    struct clr_node *key, *other;  /* columns that are equal: a table's key, and the last one's */
    int keyed;                     /* the table that has the key, by its place in FROM */
    bool is_ordered;               /* ORDER BY has the key */
    char *order;                   /* terms that go before the key, each with a comma; or NULL */
    int term_count;                /* of ON, those that do not read the last table */
    struct clr_node *terms[CLR_MOST_CONDITIONS];
};

/* ---- The first rows in an order. */

enum { CLR_MOST_RANKS = 16 };

/*
 * Of a query that has rows: SQLite needs no others than the first ones by the key, with all that
 * are equal to the last of them. It is the first term of ORDER BY, before LIMIT; or the argument of
 * the one aggregate that the SELECT has, min() or max(), whose row the columns beside it are of:
 * then it may be the first row of each group, too. Or it is the first term of a window's ORDER BY,
 * and the rows are the first ones of its partitions.
 */
struct clr_first_rows {
    int key; /* an instruction; -1: SQLite needs all rows that the filter lets pass */
    bool descends;
    /* What rows are grouped by: an instruction, a lookup with ranks; -1: there are no groups. Of
       groups the run makes one more lookup of the same column, behind those of the query, that has
       the last key of each group's first rows, or NULL where there are fewer keys, and the filter
       asks for rows with that key, or one before it. */
    int group;
    int keys;   /* then: so many different ones of each group, and what is equal to them */
    int beyond; /* then: what takes the filter's place for the next one of them */
    /* Constants; -1: one row, and none before it. Of groups the limit is how many keys there are,
       up to CLR_MOST_RANKS, and one less if it is_beyond. */
    int limit, offset;
    bool is_beyond;
    int bound; /* the constant that the run sets: the key is compared with it */
    /* What takes the filter's place: it is true, and the key is not behind the bound, or else NULL,
       if NULLs come first. */
    int filter, filter_or_null;
};

/* The plan of a query. Once it is bound it never changes: each run has what it needs of its own. */
struct clr_query {
    /* From clr_query_parse(). */
    struct clr_syntax *syntax; /* the tree, on whose nodes the caller notes facts, too */
    bool has_subqueries;       /* in expressions; once it is bound: that SQLite evaluates as it
                                  finishes the query */
    bool may_find_extremes;    /* there is GROUP BY, and all aggregates are one min() or max() */
    bool may_find_rows;        /* a scan may find the rows for a part of WHERE, as the text tells */
    bool has_part; /* once it is bound: it is such a scan, or one that finds the rows for
                      WHERE though SQLite needs the first ones in an order alone */

    /* From clr_query_bind(). */
    bool is_utf8; /* the environment's, as is the next one */
    int parameter_count;
    int fact;                /* the table that is scanned, in FROM */
    int scanned;             /* it is this one of the environment's tables */
    struct clr_eager *eager; /* groups are made before a join; else NULL */
    int dimension_count;
    struct clr_dimension dimensions[CLR_MOST_DIMENSIONS]; /* each behind those that lead to it */
    int condition_count;
    struct clr_node *conditions[CLR_MOST_CONDITIONS]; /* of rows: in WHERE, and in ON */
    /* SQLite does arithmetic with the SELECT's numbers, or compares them, before they get to an
       aggregate or in an aggregate of its own: its results are those of the caller's floating-point
       environment. */
    bool computes;
    bool looks_up_subqueries; /* there are subqueries in expressions of rows */
    bool looks_up_values;     /* and one gives a value, or has LIMIT, GROUP BY or calls: it matters
                                 which rows SQLite finds first */
    int instruction_count, constant_count, column_count, tally_count, call_count, filter;
    struct clr_instruction instructions[CLR_MOST_INSTRUCTIONS];
    struct clr_scalar constants[CLR_MOST_CONSTANTS]; /* those of literals */
    /* The number of a parameter, from 1, or of an operand, from parameter_count + 1; 0: a literal
     */
    int parameters[CLR_MOST_CONSTANTS];
    struct clr_bound bounds[CLR_MOST_CONSTANTS]; /* what the constant is of that value */
    /* Expressions without columns, with parameters as ?N, that SQLite evaluates once a run. In a
       lookup's text one is as a parameter. */
    int operand_count;
    char *operands[CLR_MOST_OPERANDS];
    /* A parameter may be no more than CLR_MOST_OF_A_PARAMETER: something that is compared is
       computed of it. */
    bool is_bounded[CLR_MOST_CONSTANTS];
    struct clr_query_column columns[CLR_MOST_COLUMNS]; /* of the scan */
    bool has_derived;                                  /* one of them is derived */
    int lookup_count;
    struct clr_lookup_plan lookups[CLR_MOST_LOOKUPS];
    struct clr_tally_plan tallies[CLR_MOST_TALLIES];
    struct clr_call calls[CLR_MOST_CALLS];
    int question_count;
    struct clr_asked asked[CLR_MOST_QUESTIONS];
    /* There is a row for each group of the table's rows, and not one row. */
    bool is_grouped;
    /* Then, and of rows. Of one row with lists, which are of groups, all rows are one group, whose
       key is a constant. */
    struct clr_grouping grouping;
    bool is_ordered; /* then: ORDER BY has all keys */
    /* The rows are those of the table that WHERE lets pass. The key is the rowid, by which SQLite
       finds them; it has that name. */
    bool has_rows;
    const char *rowid;
    bool lists_rows; /* a list has its values in the order of the rows */
    /* Of the first rows of partitions, the function that ranks them, in the SELECT in FROM; else
       NULL. It is that SELECT that reads the table, and the rows are those that it lets pass. */
    struct clr_node *ranking;
    int ranks; /* then: the greatest rank that is asked for, or that may be by a parameter: */
    struct clr_node *rank; /* this is it, or the next one if it is_beyond; or NULL */
    bool is_beyond;
    struct clr_first_rows first;
    /*
     * A SELECT from the table CLR_GROUP_TABLE, whose argument is parameter P + 1, where P is the
     * environment's parameter_count, that makes a row of each of its rows that HAVING lets pass;
     * one row of all rows is a group without keys. Keys and calls are its columns: see below. Each
     * parameter is ?N with its number N. Of rows: the SELECT itself, with one more condition where
     * it reads the table, that the rowid is the key of such a row.
     */
    char *answer;
    /*
     * Of groups: what computes the expressions of keys and calls in the select list, where a scan
     * can. It is a query without a table, parameters and syntax. Its columns' numbers are those of
     * keys, and of calls after the last key, and each tally has an expression as its x. Else NULL.
     */
    struct clr_query *results;
    /* Where answer makes no more than that of keys and calls, and a row of every group, in their
       order, which key, call after the last key, or result after the last call, each of its columns
       is. Else there are 0. */
    int plain_count;
    uint16_t plain_columns[CLR_MOST_KEYS + CLR_MOST_CALLS];
    char *probes; /* the caller's, to be freed with clr_memory_free() */
    /*
     * A SELECT without FROM that SQLite prepares if the subqueries of expressions name nothing of
     * the query around them; NULL if there are none, or the query has rows. It has "?N IN
     * (subquery)", where N is parameter_count + 1 + i, for each of the lists: SQLite has a key, or
     * an aggregate, changed from there on if it applies an affinity to it. lists[i] has the letters
     * of those that change no value of it.
     */
    char *subqueries;
    int list_count;
    const char *lists[CLR_MOST_LISTS];
    /* A SELECT from the table of groups that SQLite prepares if each of the others names a key
       alone, and no aggregate in it is one of the query around it. NULL: there are no others. */
    char *asked_of_keys;
    /* Of groups with keys that are compared by other collating sequences than BINARY: a SELECT from
       their table, whose argument is ?1, that gives 1 if no two values of such a key are equal by
       its sequence. Else SQLite names the group by one of them. NULL: there are no such keys. */
    char *different;
    /* Of one row or of groups: the SELECT itself, with one more term in its WHERE, the first one:
       CLR_ROW_COUNTER(?(P + 1)), which SQLite evaluates for each row that it looks at. NULL where
       there are subqueries, in FROM or elsewhere. */
    char *counted;
};

/* Whether a scan is of groups: also of one that all rows are, and of rows, which are found so. */
static inline bool clr_query_has_groups(const struct clr_query *query)
{
    return query->grouping.key_count > 0;
}

#define CLR_ROW_COUNTER "clreduce_count_row"

/* The table of groups and its columns, as the text that finishes a query names them: by numbers,
   from 0. A key has a column for each way that SQLite compares it in. */
#define CLR_GROUP_TABLE "clreduce_groups"
/* What names of the columns below begin with, in capitals. */
#define CLR_GROUP_KEY_PREFIX "K:"
#define CLR_GROUP_CALL_PREFIX "C:"
#define CLR_GROUP_KEY_TEXT "k:%d:text"
#define CLR_GROUP_KEY_NUMERIC "k:%d:numeric"
#define CLR_GROUP_KEY_REAL "k:%d:real"
#define CLR_GROUP_KEY_BLOB "k:%d:blob"
#define CLR_GROUP_CALL "c:%d"
/* The first key once more: the group with an INTEGER there is found at once, where groups are in
   the order of their keys. */
#define CLR_GROUP_FIRST_KEY "c:key"

/*
 * Parses a SELECT. Returns CLR_OK with *query, to be freed with clr_query_free(); CLR_INVALID, with
 * the reason, if it is not in the grammar; CLR_NOMEM.
 */
enum clr_code clr_query_parse(const char *sql, struct clr_query **query, struct clr_reason *reason);

/*
 * Looks up names and writes down the scan. To be called once, when the tree's nodes have the facts
 * that struct clr_node wants of the caller. Returns CLR_OK, CLR_INVALID as above, or CLR_NOMEM.
 */
enum clr_code clr_query_bind(struct clr_query *query, const struct clr_environment *environment,
                             struct clr_reason *reason);

/* Writes the statements that finish a query anew, once other keys of its groups descend. Returns
   CLR_OK or CLR_NOMEM. */
enum clr_code clr_query_write(struct clr_query *query);

/* Whether the SELECT leaves all groups, or the one row, as they are, but for their order by keys.
 */
bool clr_query_gives_groups(const struct clr_query *query);

/* Writes the SELECT itself, once it is bound, with the schemas that it means its tables in: a
   view's SELECT may have none. There must be no subqueries in expressions, whose tables would need
   one, too. To be freed with clr_memory_free(); NULL without memory. */
char *clr_query_write_select(const struct clr_query *query);

/* Whether there is a call of a function that scans compute and that is no aggregate; around
   aggregates only if there are results. It is named as in SQLite. */
bool clr_query_calls(const struct clr_query *query, const char *function);

/* Frees the texts of a lookup's plan; zeros are fine. */
void clr_lookup_plan_free(struct clr_lookup_plan *plan);

/* NULL is fine. */
void clr_query_free(struct clr_query *query);

/* ---- A run: what one execution of a plan needs of its own. Several runs of one plan may be under
   way at the same time. */

struct clr_query_run {
    const struct clr_query *query;
    struct clr_scalar constants[CLR_MOST_CONSTANTS];
    struct clr_tally tallies[CLR_MOST_TALLIES];
    int question_count;
    struct clr_question questions[CLR_MOST_QUESTIONS]; /* the counts are the run's */
    const struct clr_lookup *lookups;                  /* those that the scan had; the caller's */
    /* The columns that the scan had, likewise; NULL: it was a stream. */
    struct clr_column *const *columns;
    unsigned char time[CLR_TIMESTAMP_MOST]; /* the text of the last time that is a value */
};

/*
 * Makes a run of a bound query. values: of each of its constants that is a parameter or an operand
 * the value that is given, BYTES for TEXT and BLOBs, or the bound that is made of it; the others
 * are not read. Returns CLR_OK with *run, to be freed before the query; CLR_INVALID, with the
 * reason, if a value is not for a scan, or a function may have an error for its arguments;
 * CLR_NOMEM.
 */
enum clr_code clr_query_run_begin(const struct clr_query *query, const struct clr_scalar *values,
                                  struct clr_query_run **run, struct clr_reason *reason);

/* Returns the run's scan: without columns, rows and lookups, which are the caller's to set, and
   without the limits of what it may take. */
struct clr_scan clr_query_run_scan(struct clr_query_run *run);

/* NULL is fine. */
void clr_query_run_free(struct clr_query_run *run);

#endif

/*
 * What the parts of query-t have in common: a table, SQLite's word for what it means, and queries
 * as text.
 */
#ifndef CLR_TESTS_ENVIRONMENT_H
#define CLR_TESTS_ENVIRONMENT_H

#include "query/query_run.h"
#include "query/syntax/syntax.h"

#include <sqlite3.h>

/* ---- The environment: a table t of six numbers, two TEXTs and a generated column. */

/* It is open from open_database() on; main() closes it. */
extern sqlite3 *database;

/* Whether the encoding of the database is said to be UTF-8: it is, but where a check says else. */
extern bool is_utf8;

/* The table's schema, if the environment is to know it: "main", but where a check says else. */
extern const char *schema;

/* Makes the database; gives up on the test if there is none. */
void open_database(void);

/* Prepares a statement, so that its parameters can be asked for; NULL if SQLite refuses it. The
   caller finalizes it. */
sqlite3_stmt *prepare(const char *sql);

/* Parses and binds, with the parameters of the statement, which may be NULL; *query is NULL unless
   the result is CLR_OK, and the caller's to be freed. */
enum clr_code make(const char *sql, sqlite3_stmt *statement, struct clr_query **query,
                   struct clr_reason *reason);

/* The text of a reason, until the next call. */
const char *text_of(const struct clr_reason *reason);

/* ---- Queries as text. */

enum { LONGEST_DUMP = 8000 };

/* What was printed since dumped was made 0. */
extern char dump[LONGEST_DUMP];
extern size_t dumped;

/* Appends to the dump. */
void print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Appends instruction i of a query: "(+ a 1)", and "[column: text]" for a lookup. */
void print_value(const struct clr_query *query, int i);

/* The same as SQL, with parentheses around everything, and nothing that has an affinity. */
void print_sql(const struct clr_query *query, int i);

/* Appends the finishing SELECT: {0} is the result of the first call, {k0 blob} the first key as a
   column of that affinity, groups(?1) where the rows come from. */
void print_answer(const struct clr_query *query);

/* SQLite's code for a statement, to be freed with sqlite3_free(). */
char *program_of(const char *sql);

/* ---- Checks. Those of what an SQLite before 3.39 does not have are skipped. */

/* Up to one check: to SQLite the text that the tree is printed as means what the statement does,
   whose code names parameters as they are written. Either may be NULL. */
void is_printed(const struct clr_query *query, sqlite3_stmt *statement, const char *sql);

/* Up to two checks: what a statement becomes, "where FILTER; #0 OPERATIONS x, y if FILTER; #1 ...;
   calls; finish", and how it is printed. */
void accepted(const char *sql, const char *want);

/* The same of an expression over columns, as a WHERE. */
void lowered(const char *expression, const char *want);

/* One check: why a statement is not accelerated. */
void refused(const char *sql, const char *want);

/* Binds a SELECT of which SQLite has taken the syntax; NULL, with the reason, if it is refused. */
struct clr_query *bound(const char *sql, struct clr_reason *reason);

/* The same of an expression over columns, as a WHERE. */
struct clr_query *bound_where(const char *expression, struct clr_reason *reason);

/* One check: what an expression over columns becomes, or why it is not accelerated. */
void becomes(const char *expression, const char *want);

/* One check: why a condition is not accelerated. */
void refuses(const char *expression, const char *want);

/* Two checks: each allocation fails once, and they are more than `least`; what is left of the query
   is freed, as valgrind and ASan can tell. */
void fail_allocations(const char *sql, long least);

/* ---- Reasons that several checks expect; OUTSIDE, NO_AGGREGATE and NO_ARGUMENT follow a name. */

#define NOT_THIS_ORDER "ORDER BY of this is not accelerated: leave it out, as the result is one row"
#define OUTSIDE                                                                                    \
    "is not accelerated: it is an aggregate that no view computes, or its result may follow from " \
    "more than its arguments"
#define NO_AGGREGATE                                                                               \
    "is no aggregate that a view computes; other functions of a column may stand in aggregates, "  \
    "WHERE and GROUP BY"
#define NO_ARGUMENT "is not accelerated with this argument: write a literal or a parameter"
#define TOO_DEEP "the expressions are nested too deep to be accelerated"
#define TWO_COLUMNS                                                                                \
    "an expression with text or functions of two columns is not accelerated: write one for each "  \
    "column"
#define NO_COLUMN                                                                                  \
    "an expression with text or functions and no column is not accelerated: make it a parameter"
#define NO_WHERE                                                                                   \
    "a SELECT without aggregates and GROUP BY is accelerated where its WHERE finds few rows, and " \
    "this one has no WHERE"
#define NO_FROM "a SELECT without FROM is not accelerated: it reads no table"
#define JOIN "a join is not accelerated: let the view read one table"
#define EMPTY_LIST "an empty IN list is not accelerated: write 0 for IN, 1 for NOT IN"
#define SUBQUERY "a subquery is not accelerated in this place: make it a parameter or a table"
#define NOT_DISTINCT "DISTINCT is accelerated in SELECT DISTINCT and in count(DISTINCT x) alone"
#define NOT_THIS_LIMIT "LIMIT of this is not accelerated: write a literal or a parameter"
#define PRESENT                                                                                    \
    "the present time ('now', CURRENT_DATE and the like) and time zones are not accelerated: "     \
    "make the result a parameter"
#define LETTERS "a number with letters or _ in it is not accelerated: write its digits"
#define NO_NAME "the parameter's name is not accelerated: write ?1 or :name"
#define BESIDE                                                                                     \
    "a column beside aggregates is not accelerated: SQLite takes it from some row; write GROUP "   \
    "BY, or an aggregate of it"
#define VIRTUAL                                                                                    \
    "the virtual generated column g is not accelerated: its value may follow from more than its "  \
    "row; make it STORED"
#define TEXT_COLUMN "the TEXT column s is not accelerated in this place"
#define NO_CAST "CAST to this type is not accelerated: write INTEGER, REAL, TEXT, NUMERIC or BLOB"

/* ---- The parts of query-t, each a file. */

void argument_tests(void);
void expression_tests(void);
void group_tests(void);
void lookup_tests(void);
void lookup_random_tests(void);
void lookup_refusal_tests(void);
void random_tests(void);
void refusal_tests(void);

#endif

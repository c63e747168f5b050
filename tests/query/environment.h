/*
 * What the parts of query-t have in common: a table, SQLite's word for what it means, and queries
 * as text.
 */
#ifndef CLR_TESTS_ENVIRONMENT_H
#define CLR_TESTS_ENVIRONMENT_H

#include "query/query.h"
#include "query/syntax/syntax.h"

#include <sqlite3.h>

/* ---- The environment: a table t of six numbers, two TEXTs and a generated column. */

/* It is open from open_database() on, which closes the one before: the tests of a file have their
 * own. */
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

/* Appends the finishing SELECT. */
void print_answer(const struct clr_query *query);

/* Appends all that query.test says of a SELECT. */
void print_query(const struct clr_query *query);

/* SQLite's code for a statement, to be freed with sqlite3_free(). */
char *program_of(const char *sql);

/* ---- Checks. */

/* Up to one check: to SQLite the text that the tree is printed as means what the statement does,
   whose code names parameters as they are written. Either may be NULL. */
void is_printed(const struct clr_query *query, sqlite3_stmt *statement, const char *sql);

/* Binds a SELECT of which SQLite has taken the syntax; NULL, with the reason, if it is refused. */
struct clr_query *bound(const char *sql, struct clr_reason *reason);

/* Two checks: each allocation fails once, and they are more than `least`; what is left of the query
   is freed, as valgrind and ASan can tell. */
void fail_allocations(const char *sql, long least);

#endif

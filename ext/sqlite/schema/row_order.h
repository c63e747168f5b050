/* In which order SQLite gives the rows of a SELECT, or its groups, where ORDER BY does not say. */
#ifndef CLR_SQLITE_ROW_ORDER_H
#define CLR_SQLITE_ROW_ORDER_H

#include "query/query.h"
#include "query/syntax/lexer.h"
#include "sqlite/schema/table_info.h"
#include "sqlite/schema/walk.h"

/* The tables of a query. */
struct clr_joined {
    const struct clr_table_info *fact;   /* the one that is scanned */
    const struct clr_table_info *tables; /* by their places in FROM; the fact's is empty */
};

/*
 * Stores the order in which a program goes over all rows of the table of main with that name and
 * root page, in the outermost loop: terms of ORDER BY, each with a comma behind it, of columns of
 * the table by its alias in the statement, which are to be followed by the rowid; to be freed with
 * clr_memory_free(). NULL: it is that of the rowids. Returns SQLITE_OK; SQLITE_NOTFOUND if it is
 * not known, or that of an index of expressions; or SQLITE_NOMEM.
 */
int clr_row_order_find(sqlite3 *db, const struct clr_bytecode *program, const char *table,
                       uint32_t root, const struct clr_token *alias, char **order);

/*
 * Finds out whether SQLite's code for the SELECT of a query, and its walk, give rows as they are
 * found in the table, or groups in an order into which they can be brought: that is written to the
 * query, whose statements are written anew then. Stores of how many rows of a query of rows one may
 * be found, at most. Sets the reason if not. Returns SQLITE_OK, or SQLite's code.
 */
int clr_row_order_check(sqlite3 *db, const struct clr_bytecode *program,
                        const struct clr_walk *walk, const struct clr_joined *joined,
                        struct clr_query *query, int *rows_per_found, struct clr_reason *reason);

#endif

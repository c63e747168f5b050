/* In which order SQLite gives the rows of a SELECT, or its groups, where ORDER BY does not say. */
#ifndef CLR_SQLITE_ROW_ORDER_H
#define CLR_SQLITE_ROW_ORDER_H

#include "query/query.h"
#include "query/syntax/lexer.h"
#include "sqlite/schema/bytecode.h"
#include "sqlite/schema/table_info.h"

/* The tables of a query. */
struct clr_joined {
    const struct clr_table_info *fact;   /* the one that is scanned */
    const struct clr_table_info *tables; /* by their places in FROM; the fact's is empty */
};

/*
 * Stores the order of rows that SQLite goes over by the table's index with that root page: terms of
 * ORDER BY, each with a comma behind it, of columns of the table by its alias in the statement.
 * They are to be followed by the rowid. To be freed with clr_memory_free(). Returns SQLITE_OK;
 * SQLITE_NOTFOUND if there is no such index, or one of expressions; or SQLITE_NOMEM.
 */
int clr_row_order_find(sqlite3 *db, const char *schema, const char *table, uint32_t root,
                       const struct clr_token *alias, char **order);

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

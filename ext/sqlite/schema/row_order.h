/* In which order SQLite gives the rows of a SELECT, or its groups, where ORDER BY does not say. */
#ifndef CLR_SQLITE_ROW_ORDER_H
#define CLR_SQLITE_ROW_ORDER_H

#include "query/query.h"
#include "query/syntax/lexer.h"
#include "sqlite/schema/bytecode.h"
#include "sqlite/schema/table_info.h"

/* Where the rows come from that a program of one table goes over. */
enum clr_walk_kind {
    CLR_WALK_UNKNOWN, /* not known */
    CLR_WALK_ONE,     /* there is one row at most */
    CLR_WALK_TREE     /* from a b-tree: the table's, or an index's */
};

struct clr_walk {
    enum clr_walk_kind kind;
    /* Of the b-tree: which one it is, by clr_vdbe_op_tree(); from its end to its beginning; from
       one end on, and not from where a key leads; for one value of an IN after the other, which
       ascend.
     */
    int64_t tree;
    bool descends, is_whole, has_lists;
    bool ends_early; /* it may end before the last row: by LIMIT (also of an UNKNOWN one), or with
                        min() or max() */
    /* Of the groups: the operation that opens the sorter which brings equal keys together, whose
       keys p4 describes; or NULL. */
    const struct clr_vdbe_op *sorter;
    bool has_sorter;   /* it is not NULL, or was not while there was the program */
    bool finds_values; /* DISTINCT looks each row up among those before */
};

/* Finds out how a program goes over its rows. Code that is not like the known one is UNKNOWN. */
struct clr_walk clr_bytecode_walk(const struct clr_bytecode *program);

/* Whether a program goes over a table, or an index, in code that does not run once alone. */
bool clr_bytecode_repeats_walks(const struct clr_bytecode *program);

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

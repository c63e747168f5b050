/* How SQLite's code for a statement goes over the rows of tables. */
#ifndef CLR_SQLITE_WALK_H
#define CLR_SQLITE_WALK_H

#include "sqlite/schema/bytecode.h"

#include <stdbool.h>
#include <stdint.h>

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

/* Returns the b-tree, of a table or an index, all of which a program goes over in its order in the
   outermost loop. 0: there is none, or it is not known. */
int64_t clr_bytecode_outermost_tree(const struct clr_bytecode *program);

/*
 * Whether a program of a join, in which each row of the outermost table has one row at most of each
 * other table, goes over the rows of the table with that b-tree in the order of their rowids: over
 * all of them, or, if they are listed, over the values of the one IN that it goes over.
 */
bool clr_bytecode_join_in_order(const struct clr_bytecode *program, int64_t tree, bool are_listed);

/*
 * Returns the b-tree, of a table or an index, that a program goes over in its order in the
 * outermost loop, where it tells groups from one another as they come within that, by no sorter. 0:
 * there is none, or it is not known.
 */
int64_t clr_bytecode_grouping_tree(const struct clr_bytecode *program);

/*
 * Whether the one b-tree that a program reads is that one, a table's, in the order of the rowids:
 * over all rows, or, if they are listed, over the values of the one list that it goes over.
 * Whatever it does with the rows then: sorters leave equal ones in their order.
 */
bool clr_bytecode_feeds_in_order(const struct clr_bytecode *program, int64_t tree, bool are_listed);

/* Returns the b-tree of the index whose rows a program goes over, all of them from the first one
   on, if it reads nothing else but maybe their rows in the table with that b-tree. 0: it does not.
 */
int64_t clr_bytecode_feeding_index(const struct clr_bytecode *program, int64_t tree);

/* Whether a program without groups ends its loops at some row, since the rows come in the order
   that its min() or max() asks for. */
bool clr_bytecode_leaves_loops(const struct clr_bytecode *program);

#endif

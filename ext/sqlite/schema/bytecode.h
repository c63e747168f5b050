/*
 * The code that SQLite makes of a statement, as EXPLAIN shows it (https://sqlite.org/opcode.html).
 * Operations, cursors and root pages are numbers: no name of the schema can be taken for one. What
 * versions of SQLite write in another way is read here alone.
 */
#ifndef CLR_SQLITE_BYTECODE_H
#define CLR_SQLITE_BYTECODE_H

#include "query/syntax/selects.h"
#include "sqlite/api.h"

#include <stdbool.h>
#include <stdint.h>

struct clr_vdbe_op {
    const char *opcode;
    int p1, p2, p3, p5;
    const char *p4; /* "": there is none */
    /* In code that runs once before what needs its result, and not for each row: the values of an
       IN, or a subquery that names nothing around it. */
    bool runs_once;
};

struct clr_bytecode {
    struct clr_vdbe_op *operations; /* by their addresses */
    int count;
};

/* Reads the code of a statement, whose text sqlite3_mprintf() makes of the format, to be freed with
   clr_bytecode_free(). Returns SQLite's result code; the program is empty unless that is SQLITE_OK.
 */
int clr_bytecode_read(sqlite3 *db, struct clr_bytecode *program, const char *format, ...);

/* Frees what it has; zeros are fine. */
void clr_bytecode_free(struct clr_bytecode *program);

/*
 * Hashes the code of a statement: it names functions with their numbers of arguments, collating
 * sequences, and what an authorizer puts in the place of anything. It is the same for all
 * connections to a database. 0: it can't be had.
 */
uint64_t clr_bytecode_hash(sqlite3 *db, const char *sql);

/* Hashes the operations that open and move cursors, and so how a statement goes over rows, of the
   code that SQLite makes once the parameters have these values; NULL: none. Newer versions have
   other code for LIMIT ? once it has a value, which moves the same cursors. */
uint64_t clr_bytecode_hash_moves(sqlite3 *db, const char *sql, sqlite3_value *const *values,
                                 int count);

/*
 * Whether a program has all subqueries that run once in another one: it goes over the same b-trees
 * in the same way. SQLite makes an index for a run, for instance, where it expects so many rows
 * around a subquery that it takes this one for repeated, and values that are equal come in another
 * order by it (nQueryLoop in SQLite's where.c).
 */
bool clr_bytecode_has_subqueries(const struct clr_bytecode *program,
                                 const struct clr_bytecode *other);

/* The databases in which the code of a statement begins transactions. */
struct clr_databases_read {
    bool has_main;
    int attached; /* how many beside main and temp */
    int last;     /* the greatest number: main has 0, temp 1, and the others follow; -1: none */
};

/* Finds them for a statement, whose text sqlite3_mprintf() makes of the format. Returns SQLite's
   result code; there are none unless that is SQLITE_OK. */
int clr_bytecode_databases(sqlite3 *db, struct clr_databases_read *read, const char *format, ...);

/* How many operations of a program are of that opcode. */
int clr_bytecode_count(const struct clr_bytecode *program, const char *opcode);

/* Whether an operation is of that opcode. */
bool clr_vdbe_op_is(const struct clr_vdbe_op *operation, const char *opcode);

/* Whether it is of one of those, of a list that NULL ends. */
bool clr_vdbe_op_in(const struct clr_vdbe_op *operation, const char *const *opcodes);
#define CLR_VDBE_OP_IN(operation, ...)                                                             \
    clr_vdbe_op_in(operation, (const char *const[]){__VA_ARGS__, NULL})

/* Stores the name of the collating sequence in the p4 of a comparison; of one that has none it is
   BINARY. Returns false if it is not known: SQLite cuts long names short. */
enum { CLR_SEQUENCE_NAME = 20 };
bool clr_vdbe_op_sequence(const struct clr_vdbe_op *operation, char name[CLR_SEQUENCE_NAME]);

/* Where the rows come from that a program of one table goes over. */
enum clr_walk_kind {
    CLR_WALK_UNKNOWN, /* not known */
    CLR_WALK_ONE,     /* there is one row at most */
    CLR_WALK_TREE     /* from a b-tree: the table's, or an index's */
};

struct clr_walk {
    enum clr_walk_kind kind;
    /* Of the b-tree: its root page; from its end to its beginning; from one end on, and not from
       where a key leads; for one value of an IN after the other, which ascend. */
    uint32_t root;
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

/* Returns the root page of the b-tree, of a table or an index, all of which a program goes over in
   its order in the outermost loop. 0: there is none, or it is not known. */
uint32_t clr_bytecode_outermost_root(const struct clr_bytecode *program);

/*
 * Whether a program of a join, in which each row of the outermost table has one row at most of each
 * other table, goes over the rows of the table with that root page in the order of their rowids:
 * over all of them, or, if they are listed, over the values of the one IN that it goes over.
 */
bool clr_bytecode_is_in_order(const struct clr_bytecode *program, uint32_t root, bool are_listed);

/*
 * Returns the root page of the b-tree, of a table or an index, that a program goes over in its
 * order in the outermost loop, where it tells groups from one another as they come within that, by
 * no sorter. 0: there is none, or it is not known.
 */
uint32_t clr_bytecode_grouping_root(const struct clr_bytecode *program);

/*
 * Whether the one b-tree that a program reads is that of the table with that root page, in the
 * order of the rowids: over all rows, or, if they are listed, over the values of the one list that
 * it goes over. Whatever it does with the rows then: sorters leave equal ones in their order.
 */
bool clr_bytecode_feeds_in_order(const struct clr_bytecode *program, uint32_t root,
                                 bool are_listed);

/* Returns the root page of the index whose rows a program goes over, all of them from the first one
   on, if it reads nothing else but maybe their rows in the table with that root page. 0: it does
   not. */
uint32_t clr_bytecode_feeding_index(const struct clr_bytecode *program, uint32_t root);

/*
 * Whether a program that writes leaves alone the b-trees that another one reads, and those of main
 * with these root pages, count of them: it may write rows of the b-trees that it opens, in its
 * triggers and by foreign keys too, and make a table. False for one that may write in other ways,
 * or leave rows behind where it fails, and if the other one reads a virtual table.
 */
bool clr_bytecode_spares(const struct clr_bytecode *writing, const struct clr_bytecode *reading,
                         const uint32_t *roots, int count);

/* Whether a program goes over a table, or an index, in code that does not run once alone. */
bool clr_bytecode_repeats_walks(const struct clr_bytecode *program);

/* The SELECTs that are read from virtual tables, and where one of them may stand. */
struct clr_replaced {
    int count;
    const char *selects[CLR_MOST_SELECTS]; /* as statements by themselves */
    int columns;                           /* of all of them together */
    bool are_joined;                       /* with other tables */
    bool are_named;                        /* as an arm of a compound whose ORDER BY has names */
    bool are_sets;                         /* as a distinct arm of a compound */
    bool are_written;                      /* in a statement that writes */
};

/*
 * Finds out whether the rows of a statement, as it is and as it becomes, come in the same order.
 * SQLite has to go over the same b-trees in the statement as in what comes of it and in the
 * replaced SELECTs by themselves, and to sort as often: it may have moved a condition into one, and
 * find its rows by an index, or group by its order. In which order a virtual table finds what is
 * DISTINCT does not matter: such rows are sorted. Where a SELECT is joined the loops have to be the
 * same, too, and where an arm's rows are distinct, the compound must tell them apart as well: it
 * may give the last one of those that are equal to it. A statement that writes has to leave alone
 * the b-trees that the SELECTs read, find the rows that it changes in the same loops, and make the
 * same table. Returns SQLITE_OK, SQLITE_NOTFOUND if not, or SQLITE_NOMEM.
 */
int clr_same_order(sqlite3 *db, const char *plain, const char *changed,
                   const struct clr_replaced *replaced);

#endif

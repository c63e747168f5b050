/*
 * The code that SQLite makes of a statement, as EXPLAIN shows it (https://sqlite.org/opcode.html).
 * Operations, cursors and root pages are numbers: no name of the schema can be taken for one. What
 * versions of SQLite write in another way is told apart here, in walk.c and in row_order.c.
 */
#ifndef CLR_SQLITE_BYTECODE_H
#define CLR_SQLITE_BYTECODE_H

#include "query/syntax/lexer.h"
#include "query/syntax/selects.h"
#include "sqlite/session/connection.h"

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
 * sequences, and what an authorizer puts in the place of anything. Without the numbers of
 * databases, which are the connection's own, it is the same for all connections to a database. 0:
 * it can't be had.
 */
uint64_t clr_bytecode_hash(sqlite3 *db, const char *sql, bool with_databases);

/* The same of code that was read. */
uint64_t clr_bytecode_hash_program(const struct clr_bytecode *program, bool with_databases);

/* Hashes the operations that open and move cursors, and so how a statement goes over rows, of the
   code that SQLite makes once the parameters have these values; NULL: none. Newer versions have
   other code for LIMIT ? once it has a value, which moves the same cursors. */
uint64_t clr_bytecode_hash_moves(sqlite3 *db, const char *sql, sqlite3_value *const *values,
                                 int count);

/* The databases in which the code of a statement begins transactions. */
struct clr_databases_read {
    bool has_main;
    int attached; /* how many beside main and temp */
    int last;     /* the greatest number: main has 0, temp 1, and the others follow; -1: none */
};

/* Finds them for a statement, whose text sqlite3_mprintf() makes of the format. Returns SQLite's
   result code; there are none unless that is SQLITE_OK. */
int clr_bytecode_databases(sqlite3 *db, struct clr_databases_read *read, const char *format, ...);

/* Returns where the operations end. */
static inline const struct clr_vdbe_op *clr_bytecode_end(const struct clr_bytecode *program)
{
    return program->operations + program->count;
}

/* Returns the next operation of one of those opcodes, of a list that NULL ends, behind one of the
   program's, or the first one behind NULL; NULL: there is none. */
const struct clr_vdbe_op *clr_bytecode_next(const struct clr_bytecode *program,
                                            const struct clr_vdbe_op *behind,
                                            const char *const *opcodes);
#define CLR_BYTECODE_NEXT(program, behind, ...)                                                    \
    clr_bytecode_next((program), (behind), (const char *const[]){__VA_ARGS__, NULL})

/* How many operations of a program are of that opcode. */
int clr_bytecode_count(const struct clr_bytecode *program, const char *opcode);

/* Whether an operation is of that opcode. */
bool clr_vdbe_op_is(const struct clr_vdbe_op *operation, const char *opcode);

/* Whether it is of one of those. */
#define CLR_VDBE_OP_IN(operation, ...) CLR_TEXT_IN((operation)->opcode, __VA_ARGS__)

/* Returns the b-tree that an operation opens: its root page, and above that the number of its
   database, as pages of two databases have the same numbers. */
static inline int64_t clr_vdbe_op_tree(const struct clr_vdbe_op *open)
{
    return ((int64_t)open->p3 << 32) + open->p2;
}

/* The operations that search a cursor's b-tree for a key. */
#define CLR_VDBE_SEARCHES                                                                          \
    "SeekGE", "SeekGT", "SeekLE", "SeekLT", "Found", "SeekRowid", "NotExists", "NotFound",         \
        "NoConflict"

/* The operations that search, and others that move a cursor over a b-tree or a sorter. */
#define CLR_VDBE_MOVES CLR_VDBE_SEARCHES, "Rewind", "Last", "Next", "Prev", "Sort", "SorterSort"

/* The operations that open a b-tree or a sorter. */
#define CLR_VDBE_OPENS "OpenRead", "OpenAutoindex", "ReopenIdx", "SorterOpen"

/* Stores the name of the collating sequence in the p4 of a comparison; of one that has none it is
   BINARY. Returns false if it is not known: SQLite cuts long names short. */
enum { CLR_SEQUENCE_NAME = 20 };
bool clr_vdbe_op_sequence(const struct clr_vdbe_op *operation, char name[CLR_SEQUENCE_NAME]);

/* Whether a program compares by no collating sequence that the connection has beside BINARY; false
   also where SQLite does not tell. */
bool clr_sequences_are_binary(sqlite3 *db, const struct clr_bytecode *program);

/* ---- SELECTs within a statement that writes, such as INSERT INTO t SELECT ... FROM v. */

/*
 * Whether the connection's transaction has changed, and changes, none of the tables of main that a
 * SELECT reads, nor the b-trees with these root pages, count of them, although it writes to main.
 *
 * The proof. One statement alone runs that writes, it gives no rows and so runs in one step, and
 * before it the transaction had written nothing: it is not within BEGIN, or that was promised. All
 * that it writes is what its code writes. What its functions and virtual tables have SQLite write
 * meanwhile, a query that runs already need not see (https://sqlite.org/isolation.html). False also
 * where that is not known, and where nothing writes.
 */
bool clr_sole_writer_spares(struct clr_connection *connection, const char *select,
                            const uint32_t *roots, int count);

/* Takes note that a statement of that text is the next one to write, and that its transaction has
   written nothing before it; NULL: that is over. */
void clr_sole_writer_promise(struct clr_connection *connection, const char *sql);

/* ---- SELECTs that are read from elsewhere. */

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

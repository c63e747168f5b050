/*
 * SELECTs within a statement that writes, such as INSERT INTO t SELECT ... FROM v: whether all is
 * committed of the tables which they read.
 */
#ifndef CLR_SQLITE_SOLE_WRITER_H
#define CLR_SQLITE_SOLE_WRITER_H

#include "sqlite/session/connection.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether the connection's transaction has changed, and changes, none of the tables of main that a
 * SELECT reads, nor the b-trees with these root pages, count of them, although it writes to main.
 *
 * The proof. One statement alone runs that writes, it gives no rows and so runs in one step, and
 * before it the transaction had written nothing: it is not within BEGIN, or that was promised. All
 * that it writes is what its code writes (clr_bytecode_spares()). What its functions and virtual
 * tables have SQLite write meanwhile, a query that runs already need not see
 * (https://sqlite.org/isolation.html). False also where that is not known, and where nothing
 * writes.
 */
bool clr_sole_writer_spares(struct clr_connection *connection, const char *select,
                            const uint32_t *roots, int count);

/* Takes note that a statement of that text is the next one to write, and that its transaction has
   written nothing before it; NULL: that is over. */
void clr_sole_writer_promise(struct clr_connection *connection, const char *sql);

#endif

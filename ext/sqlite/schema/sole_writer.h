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
 * The proof. One statement alone runs that writes, the connection's sole_writer: before it the
 * transaction had written nothing, and no other statement has changed a row since. All that it
 * writes is what its code writes (clr_bytecode_spares()). False also where that is not known. Asked
 * only of a connection that has a sole_writer.
 */
bool clr_sole_writer_spares(struct clr_connection *connection, const char *select,
                            const uint32_t *roots, int count);

/* Takes note that a statement is about to run that writes. Its end is to be told with NULL. */
void clr_sole_writer_set(struct clr_connection *connection, sqlite3_stmt *statement);

#endif

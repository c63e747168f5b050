/*
 * Which version of a database SQLite's own rows are of: for columns that are filled through SQLite,
 * where the pages can't be read or their versions not be told from outside, and for what is looked
 * up in databases beside that of the scan.
 *
 * The proof is SQLite's own. A pager keeps pages in its cache for as long as nobody has changed the
 * database, and counts a data version up whenever it finds that somebody has, and whenever it
 * commits (pager_reset(), sqlite3PagerCommitPhaseTwo()). While a read transaction is open, what a
 * SELECT reads is what the cache may have held since that version began. So columns that were
 * filled under a version, in a transaction, are what a SELECT reads in a transaction under the same
 * one, as long as
 *
 * 1. it is the same pager. DETACH expires all statements, and so gives the database another
 * generation. sqlite3_deserialize() expires none, but what it puts in a pager's place has the VFS
 * "memdb" from then on, and such databases are refused;
 *
 * 2. what is read is committed. A connection with changes of its own is refused, and so is a cache
 * that connections share, in which others' changes may be seen;
 *
 * 3. what is rolled back is restored. Without a journal it is not: a file's cache is then thrown
 * away, with a new version, but a database that has no file keeps what was written. Those are
 * refused in that journal mode, and of them the changes that this connection has made are counted
 * too: whoever changes the mode, rolls back and changes it again has changed rows in between. What
 * SQLite documents as undefined remains: in a database in memory whose journal mode is another one
 * by now, what a statement left that failed halfway, in no transaction, or what another connection
 * rolled back that shared the cache then;
 *
 * 4. values follow from rows alone: see bytecode.h. The limits of lengths and of LIKE's
 * patterns, which make functions fail, are part of the version; PRAGMAs and settings that change
 * what statements do expire all statements.
 */
#ifndef CLR_SQLITE_ROW_VERSION_H
#define CLR_SQLITE_ROW_VERSION_H

#include "sqlite/database/snapshot.h"

/*
 * Begins a read transaction, or takes part in one, and fills in the version, in the form of a
 * token. To be ended with clr_database_release() whatever is returned. Returns SQLITE_OK, with *why
 * if the version can't be known; or SQLITE_BUSY as from clr_database_hold().
 */
int clr_row_version_begin(struct clr_database *database, struct clr_database_version *token,
                          enum clr_reason_code *why);

/* Within a read transaction: stores the version's number, which only grows, and is the same for as
   long as the version is. Returns CLR_WHY_NONE, or why the version can't be known. */
enum clr_reason_code clr_row_version_number(struct clr_database *database, unsigned *number);

#endif

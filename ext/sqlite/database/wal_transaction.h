/* Read transactions in WAL mode, and the proof of which version of the database each one sees:
   clause 2 of the contract in snapshot.h. */
#ifndef CLR_SQLITE_WAL_TRANSACTION_H
#define CLR_SQLITE_WAL_TRANSACTION_H

#include "sqlite/database/connection_database.h"
#include "sqlite/database/wal_index.h"

/*
 * Begins a read transaction of a database in WAL mode, whose file is given, or takes part in the
 * one that is open, until clr_database_release(). Returns what clr_database_hold() does. With
 * CLR_WHY_NONE, *index has the header of the version that the transaction sees; *is_overtaken is
 * set if others have committed since, and is left as it is if not. CLR_WHY_UNPROVED_SNAPSHOT: it is
 * not known which version that is, and the transaction has been released.
 */
int clr_wal_transaction_hold(struct clr_database *database, sqlite3_file *file,
                             struct clr_wal_index *index, bool *is_overtaken,
                             enum clr_reason_code *why);

#endif

/*
 * Work during which SQLite frees no schema.
 *
 * A statement of our own may find out that another connection has changed the schema. SQLite then
 * drops what it knows of all tables, also the table for which it has called xCreate, and goes on to
 * use it. It waits with that (db->nSchemaLock) in two places: around xConnect when a name is looked
 * up, and around xBestIndex. So the work is done in the xBestIndex of a table of our own. SQLite
 * drops the schema afterwards, when it next finds one to be stale.
 */
#ifndef CLR_SQLITE_SCHEMA_LOCK_H
#define CLR_SQLITE_SCHEMA_LOCK_H

#include "sqlite/session/connection.h"

#include <stdbool.h>

/* Registers that table. Returns SQLite's result code. */
int clr_schema_lock_register(struct clr_connection *connection);

/*
 * Calls work(argument), in which statements may be prepared and run, and may be nested. Returns
 * what it returns. If SQLite could not get that far, returns its error code, and the error message
 * is the connection's.
 */
int clr_schema_lock_run(struct clr_connection *connection, int (*work)(void *argument),
                        void *argument);

/*
 * Within such work: begins a read transaction on each database that is needed, and checks that the
 * schema which SQLite has in memory is the database's. select: a SELECT, in parentheses or not,
 * which needs main, temp and the attached databases up to the last one that it reads: its names are
 * looked for in these. Returns SQLITE_OK, also for databases that cannot be read; SQLITE_BUSY if a
 * lock has kept one from being read, after the connection's own wait for it; SQLITE_SCHEMA if
 * one is stale: SQLite repeats what fails with that code, with the new schema; or SQLITE_NOMEM.
 * *hold is to be finalized at last, and ends the transactions. If the transaction on main begins
 * here, its snapshot is proved: views that read in it need that. That leaves main
 * with statements, which clr_databases_rest() finalizes.
 */
int clr_schema_check(struct clr_connection *connection, const char *select, sqlite3_stmt **hold);

/*
 * Elsewhere: the same, but SQLite reads a stale schema anew, which disconnects views. Returns
 * SQLITE_OK, SQLITE_BUSY or SQLITE_NOMEM.
 */
int clr_schema_renew(struct clr_connection *connection, const char *select, sqlite3_stmt **hold);

/*
 * For xFilter of a view, which has no columns that are known, or some. SQLite clears temp's schema
 * where a nested statement finds that of another database changed. A CREATE that runs meanwhile
 * then misses in temp what it has created there, and fails with SQLITE_CORRUPT (OP_ParseSchema in
 * vdbe.c). So amid a CREATE this checks the schemas first. So it does for a view without columns,
 * which may have some by now. Returns SQLITE_OK with *hold as above, until the rows are there; NULL
 * otherwise, as behind a lock. Or SQLITE_SCHEMA, with which SQLite begins the statement again, by
 * the new schema; or SQLITE_NOMEM.
 */
int clr_schema_settle(struct clr_connection *connection, const char *select, bool has_columns,
                      sqlite3_stmt **hold);

/*
 * Whether main may be a database that sqlite3_deserialize() made. SQLite keeps an eponymous table
 * with a pointer to the schema that main had when the table was first used, which that call frees.
 */
bool clr_schema_may_go(sqlite3 *db);

#endif

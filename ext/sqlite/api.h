/*
 * SQLite's interface, for this folder and the entry point alone. As a loadable extension all calls
 * go through the table that SQLite hands to the entry point; compiled with SQLITE_CORE they go
 * straight to the library that the application is linked with.
 */
#ifndef CLR_SQLITE_API_H
#define CLR_SQLITE_API_H

#include <sqlite3ext.h>

#ifndef SQLITE_CORE
/* Hidden where it is declared, too: else its address would be looked up for every call. */
extern __attribute__((visibility("hidden"))) const sqlite3_api_routines *sqlite3_api;
#endif

/* The version of SQLite that sqlite3_txn_state() came with. */
#define CLR_HAS_TXN_STATE 3034000

#endif

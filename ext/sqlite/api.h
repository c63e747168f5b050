/*
 * SQLite's interface, for this folder and the entry point alone. As a loadable extension all calls
 * go through the table that SQLite hands to the entry point; compiled with SQLITE_CORE they go
 * straight to the library that the application is linked with.
 */
#ifndef CLR_SQLITE_API_H
#define CLR_SQLITE_API_H

#include <sqlite3ext.h>

#include <string.h>

#ifndef SQLITE_CORE
/* Hidden where it is declared, too: else its address would be looked up for every call. */
extern __attribute__((visibility("hidden"))) const sqlite3_api_routines *sqlite3_api;
#endif

/* The oldest SQLite that will do, as a number and for people: sqlite3_txn_state() came with it. */
#define CLR_OLDEST_SQLITE 3034000
#define CLR_OLDEST_SQLITE_NAME "3.34"

#if SQLITE_VERSION_NUMBER < CLR_OLDEST_SQLITE
#error "clreduce needs the headers of SQLite 3.34 or later"
#endif

/* A function that sets subtypes says so from 3.45 on; older versions ignore the flag. */
#ifdef SQLITE_RESULT_SUBTYPE
#define CLR_RESULT_SUBTYPE SQLITE_RESULT_SUBTYPE
#else
#define CLR_RESULT_SUBTYPE 0x001000000
#endif

/* As sqlite3_malloc64(), with all bytes zero. */
static inline void *clr_sqlite_alloc_zero(sqlite3_uint64 size)
{
    void *block = sqlite3_malloc64(size);

    if (block != NULL)
        memset(block, 0, size);
    return block;
}

/* The subtype of JSON text, by which SQLite's JSON functions know it from other text. */
enum { CLR_JSON_SUBTYPE = 'J' };

#endif

/*
 * SQLite's interface, for this folder and the entry point alone. All calls go through a table of
 * functions: in the loadable extension it is the one that SQLite hands to the entry point
 * (loaded.c), in the library to link with one of the functions that it is linked with (linked.c).
 */
#ifndef CLR_SQLITE_API_H
#define CLR_SQLITE_API_H

/* An application may have other extensions built in, which name their table as SQLite does. */
#define sqlite3_api clr_sqlite_routines
#include <sqlite3ext.h>

#include <string.h>

/* Hidden where it is declared, too: else its address would be looked up for every call. */
extern __attribute__((visibility("hidden"))) const sqlite3_api_routines *sqlite3_api;

/* The oldest SQLite that will do, as a number and for people: sqlite3_txn_state() came with it. */
#define CLR_OLDEST_SQLITE 3034000
#define CLR_OLDEST_SQLITE_NAME "3.34"

/* The error of an older one, with its version as %s. */
#define CLR_TOO_OLD "clreduce needs SQLite " CLR_OLDEST_SQLITE_NAME " or later, and this is %s"

/*
 * Sees to it that SQLite's functions can be called. routines: the table that SQLite hands to the
 * entry point, unused in the library to link with. Returns what the entry point is to return where
 * all goes well: SQLITE_OK, or SQLITE_OK_LOAD_PERMANENTLY in a loadable extension. Else
 * SQLITE_ERROR with the reason in *error, for sqlite3_free(): this SQLite is too old, or the
 * extension serves another copy of SQLite in the process.
 */
int clr_routines_take(const sqlite3_api_routines *routines, char **error);

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

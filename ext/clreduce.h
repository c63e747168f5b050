/*
 * clreduce for applications that link it in (libclreduce.a) instead of loading it with
 * sqlite3_load_extension().
 *
 *     sqlite3_auto_extension((void (*)(void))sqlite3_clreduce_init);
 *
 * makes the functions and tables available on every connection opened afterwards.
 */
#ifndef CLREDUCE_H
#define CLREDUCE_H

#include <sqlite3.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CLREDUCE_VERSION "0.1.0"

struct sqlite3_api_routines;

/*
 * Registers the functions and tables with a connection. Calling it again for the same connection
 * changes nothing. Returns SQLITE_OK (as a loaded extension SQLITE_OK_LOAD_PERMANENTLY), or an
 * error code with a message in *error, to be freed with sqlite3_free(). routines is SQLite's own
 * table for extensions, and ignored where the library is linked in.
 */
int sqlite3_clreduce_init(sqlite3 *db, char **error, const struct sqlite3_api_routines *routines);

/*
 * As sqlite3_prepare_v2(), and accelerated where that is possible: a SELECT that an accelerated
 * view can hold is prepared as one that reads such a view (docs/views.md), and so are SELECTs in
 * statements that write. Parameters, with their names and numbers, columns' names and declared
 * types, and rows are those of the statement. Any other one, and any on a connection without
 * clreduce, is prepared as it is. The statement is SQLite's own kind, to be ended by
 * sqlite3_finalize(), and before sqlite3_deserialize() is called: SQLite crashes afterwards on
 * tables that are in no schema.
 *
 * sql, bytes, statement and tail are those of sqlite3_prepare_v2(), and so is the result. As a
 * loaded extension: SQLITE_MISUSE before the extension is first loaded.
 */
int clreduce_prepare_v2(sqlite3 *db, const char *sql, int bytes, sqlite3_stmt **statement,
                        const char **tail);

/* The same as sqlite3_prepare_v3(), with its SQLITE_PREPARE_... flags: those of
   SQLITE_PREPARE_NO_VTAB are prepared as they are. */
int clreduce_prepare_v3(sqlite3 *db, const char *sql, int bytes, unsigned flags,
                        sqlite3_stmt **statement, const char **tail);

#ifdef __cplusplus
}
#endif

#endif

/* The extension, in the connections of the one copy of SQLite that it serves. */
#ifndef CLR_PRELOAD_EXTENSION_H
#define CLR_PRELOAD_EXTENSION_H

#include "preload/originals.h"
#include "sqlite/access/gate.h"

#include <stdbool.h>

/* The gate of the extension; NULL before it is loaded. */
extern _Atomic(const struct clreduce_gate *) clr_gate;

/* Whether the program has opened a connection through this library. */
extern _Atomic(bool) clr_was_opened;

/*
 * How many calls of the extension this thread is in, and how many of SQLite's functions that
 * prepare statements of their own by the exported functions: what is prepared meanwhile is not the
 * application's. They are found without the dynamic linker, as this library is there from the
 * start.
 */
extern _Thread_local int clr_inside __attribute__((tls_model("initial-exec")));
extern _Thread_local int clr_in_sqlite __attribute__((tls_model("initial-exec")));

/* In a call of the application's own, maybe amid one of the extension's: by a function that a
   statement of the extension calls. Returns clr_inside, to be set to that again. */
static inline int clr_extension_leave(void)
{
    const int inside = clr_inside;

    if (clr_in_sqlite == 0)
        clr_inside = 0;
    return inside;
}

/*
 * Before a copy of SQLite opens a connection: has it hand over its table of functions, if it is the
 * copy to be served, which is the first one to come here, and has not done so yet. Returns whether
 * that is so; then clr_extension_close_hook() has to be called after the connection was opened.
 */
bool clr_extension_open_hook(const struct clr_originals *originals);
void clr_extension_close_hook(const struct clr_originals *originals);

/* Loads the extension into a new connection. Returns whether it is there. */
bool clr_extension_load(const struct clr_originals *originals, sqlite3 *db);

/* Sets what CLREDUCE_SETTINGS says, and what is the default here. Returns false where no statement
   can be prepared: some copies of SQLite read the schema for any, which may be locked. */
bool clr_extension_set(sqlite3 *db);

/* Whether a statement was prepared by the extension for itself. */
bool clr_extension_owns(sqlite3_stmt *statement);

/* Calls line() with what went wrong, if anything did, for people: a setting, and, if all is wanted,
   why the extension could not be loaded. */
void clr_extension_tell_failures(void (*line)(const char *format, ...)
                                     __attribute__((format(printf, 1, 2))),
                                 bool all);

#endif

/*
 * Callbacks of the application's that see statements: its authorizer, and what it traces. SQLite is
 * given a callback of this library in their place, which passes on what belongs to the
 * application's own statements. All functions are called with the mutex of the connection.
 */
#ifndef CLR_PRELOAD_CALLBACKS_H
#define CLR_PRELOAD_CALLBACKS_H

#include "preload/originals.h"

#include <stdbool.h>

typedef int clr_authorizer(void *, int, const char *, const char *, const char *, const char *);
typedef int clr_trace(unsigned, void *, void *, void *);

/* Those of a connection. It lies where it is as long as SQLite has it. */
struct clr_callbacks {
    clr_authorizer *authorizer; /* NULL: there is none */
    void *authorizer_argument;
    bool has_ignored; /* it has said SQLITE_IGNORE of a statement, which may still be there */
    /* By sqlite3_trace_v2(). */
    unsigned trace_mask; /* 0: nothing */
    clr_trace *trace;
    void *trace_argument;
    bool has_older_trace, has_profile; /* of sqlite3_trace() and sqlite3_profile() */
    bool has_progress;
};

/* Whether another statement may run in the place of one of the application's. */
static inline bool clr_callbacks_allow(const struct clr_callbacks *callbacks)
{
    return !callbacks->has_ignored && !callbacks->has_older_trace && !callbacks->has_profile;
}

/* As sqlite3_set_authorizer() and sqlite3_trace_v2(). */
int clr_callbacks_set_authorizer(struct clr_callbacks *callbacks,
                                 const struct clr_originals *originals, sqlite3 *db,
                                 clr_authorizer *authorizer, void *argument);
int clr_callbacks_set_trace(struct clr_callbacks *callbacks, const struct clr_originals *originals,
                            sqlite3 *db, unsigned mask, clr_trace *trace, void *argument);

/* Gives SQLite the application's callbacks themselves. */
void clr_callbacks_return(const struct clr_callbacks *callbacks,
                          const struct clr_originals *originals, sqlite3 *db);

/* Traces an event of an accelerated run of a statement, if the application wants that; x: as in its
   callback. */
void clr_callbacks_tell(const struct clr_callbacks *callbacks, unsigned event, sqlite3_stmt *plain,
                        void *x);

#endif

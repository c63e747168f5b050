/*
 * The statements of the application that the extension's gate watches, and their runs.
 *
 * The application's handle is always SQLite's own statement of its own text. Where its run is
 * accelerated, another statement, its companion, has its bindings and is stepped in its place. All
 * of that is over when the run is: at the next reset, at a step after the last row, or when the
 * statement is finalized.
 */
#ifndef CLR_PRELOAD_STATEMENTS_H
#define CLR_PRELOAD_STATEMENTS_H

#include "preload/originals.h"
#include "preload/pointers.h"
#include "sqlite/access/gate.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int clr_authorizer(void *, int, const char *, const char *, const char *, const char *);
typedef int clr_trace(unsigned, void *, void *, void *);

enum { CLR_MOST_READABLE = 256 };

/*
 * Callbacks of the application's that see statements: its authorizer, and what it traces. SQLite is
 * given a callback of this library in their place, which passes on what belongs to the
 * application's own statements. They lie where they are as long as SQLite has them.
 */
struct clr_callbacks {
    clr_authorizer *authorizer; /* NULL: there is none */
    void *authorizer_argument;
    /* Hashes of the columns that it lets be read, the latest ones; 0: none. */
    uint64_t readable[CLR_MOST_READABLE];
    unsigned readable_count;
    bool has_ignored; /* it has said SQLITE_IGNORE of a statement, which may still be there */
    /* By sqlite3_trace_v2(). */
    unsigned trace_mask; /* 0: nothing */
    clr_trace *trace;
    void *trace_argument;
    bool has_older_trace, has_profile; /* of sqlite3_trace() and sqlite3_profile() */
    bool has_progress, has_rollback;   /* handlers of these */
};

/* A connection that the extension is loaded into. */
struct clr_connected {
    const struct clr_originals *originals;
    sqlite3 *db;
    /* With the mutex of db: the statements that are watched, and those whose memory serves the next
       ones; and that memory. */
    struct clr_statement *first, *spare;
    struct clr_statements_memory *memory;
    _Atomic(int) users; /* those, and who knows the connection by db */
    bool is_served;     /* the extension is there */
    bool is_set;        /* and so are its settings; with the mutex of db */
    bool is_closed;
    struct clr_callbacks callbacks;
};

/* sqlite3_stmt_status() counts by numbers from 1 on. SQLite 3.38 added the last two. */
enum { CLR_COUNTERS = 9 };

/* What a statement is watched by. */
struct clr_statement {
    struct clr_connected *connected;
    struct clr_statement *next, **link; /* of the connection's; link: what points here */
    sqlite3_stmt *plain;
    _Atomic(sqlite3_stmt *) companion; /* what runs in its place; NULL: nothing does */
    struct clreduce_watched *watched;  /* the memory behind this structure */
    bool writes;
    bool is_in_step;  /* either */
    bool is_running;  /* the plain one, from its first step to its last */
    bool has_ended;   /* what ran gives no more rows: the next step begins anew */
    bool was_stepped; /* the plain one, since its last reset */
    /* Of the run: how many, how long, the longest one, which may have sorted all rows or waited for
       a disk, and one of how many is timed. */
    sqlite3_int64 steps, nanoseconds, longest, interval;
    sqlite3_int64 untimed; /* so many steps until one is timed */
    sqlite3_int64 begun;   /* when the step began that was timed last */
    /* How many of the next runs are quiet, whether one is under way, those that have ended since
       the gate was told, and the plain statement's steps of SQLite's virtual machine before the
       next. */
    int quiet;
    bool is_quiet;
    struct clreduce_quiet_runs ended;
    int steps_before;
    /* Of the first step: after how long the gate looks at it (0: never), and whether it was stopped
       then. */
    sqlite3_int64 patience;
    bool is_stopped;
    bool is_end_traced; /* the end of the companion's run is still to be traced */
    /* Of companions, less those of plain runs that were stopped; for sqlite3_stmt_status(). */
    int counters[CLR_COUNTERS];
};

/* How many are watched, and how many companions run. */
extern _Atomic(int) clr_watched_count, clr_companion_count;

/* Statements by their handles. */
extern struct clr_pointers clr_statements;

/* Returns what a statement is watched by, or NULL; *count is one of the two above. */
static inline struct clr_statement *clr_statement_find(_Atomic(int) *count, sqlite3_stmt *handle)
{
    if (__builtin_expect(atomic_load_explicit(count, memory_order_relaxed) == 0, 1))
        return NULL;
    return clr_pointers_get(&clr_statements, handle);
}

/* Returns the statement that runs for a handle: its companion, or it. */
static inline sqlite3_stmt *clr_statement_running(sqlite3_stmt *handle)
{
    struct clr_statement *statement = clr_statement_find(&clr_companion_count, handle);
    sqlite3_stmt *companion =
        statement == NULL ? NULL
                          : atomic_load_explicit(&statement->companion, memory_order_acquire);

    return companion == NULL ? handle : companion;
}

/* Whether the application would not see that another statement runs. */
static inline bool clr_may_accelerate(const struct clr_connected *connected)
{
    const struct clr_callbacks *callbacks = &connected->callbacks;

    return !connected->is_closed && !callbacks->has_ignored && !callbacks->has_older_trace &&
           !callbacks->has_profile;
}

/* Has the gate look at a statement that was just prepared. */
void clr_statement_watch(struct clr_connected *connected, sqlite3_stmt *handle);

/* As sqlite3_step() and so on. */
int clr_statement_step(struct clr_statement *statement);
int clr_statement_reset(struct clr_statement *statement);
int clr_statement_finalize(struct clr_statement *statement);
char *clr_statement_expanded_sql(struct clr_statement *statement);
int clr_statement_status(struct clr_statement *statement, int operation, int reset);

/* Has the statements of a connection run as they are from now on. One whose companion runs, or that
   is amid a step, does so after that. With the mutex of the connection. */
void clr_statements_let_go(struct clr_connected *connected);

/* Gives SQLite the application's callbacks themselves, in the place of this library's. */
void clr_callbacks_return(const struct clr_connected *connected);

/* Frees what is known of a connection, unless somebody else uses it. */
void clr_connected_release(struct clr_connected *connected);

#endif

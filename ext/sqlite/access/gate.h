/*
 * The gate of an application's own statements, for a library that stands between a program and its
 * SQLite (ext/preload): which SELECTs, and which statements that write and have SELECTs in them,
 * are worth an accelerated statement in their place, by the times that the application's own runs
 * take. A guess here chooses the quicker way, and never the answer: the plain statement is always
 * there to run instead.
 */
#ifndef CLR_SQLITE_GATE_H
#define CLR_SQLITE_GATE_H

#include <sqlite3.h>

struct clreduce_watched;

/* A run of the plain statement of fewer steps of SQLite's virtual machine takes less than 100
   microseconds or so. */
enum { CLREDUCE_FEW_STEPS = 5000 };

/* Runs of the plain statement that the gate was not asked about, and not told of. */
struct clreduce_quiet_runs {
    int count;
    int steps; /* of the last one: of SQLite's virtual machine */
};

/* One distinct statement, for people. Times are of the steps of one run, in nanoseconds; 0: not
   known. */
struct clreduce_gate_line {
    const char *sql;    /* one of its texts, which differ in numbers and strings alone */
    const char *reason; /* why SQLite runs it now; NULL: it is accelerated */
    sqlite3_int64 runs, accelerated_runs;
    sqlite3_int64 total; /* of all runs */
    sqlite3_int64 plain, accelerated;
};

/* The functions. All but report() are called with the mutex of the statement's connection held. */
struct clreduce_gate {
    /* The size of this structure and the extension's version, CLREDUCE_VERSION: in another one the
       functions may have other arguments, and a preloaded library must not call them. */
    unsigned long size;
    const char *version;

    /* The size of struct clreduce_watched in bytes. */
    unsigned long watched_bytes;

    /*
     * Looks at a statement that the application has just prepared. Returns 0 for those that are
     * SQLite's alone, as nearly all are; else *watched, memory of the caller's that is aligned as
     * an int64_t, is filled in, and is to be given to unwatch() before the statement is finalized.
     * unseen: nothing of the application's is called if another one is prepared for it now, should
     * it write.
     */
    int (*watch)(struct clreduce_watched *watched, sqlite3_stmt *plain, int unseen);

    /*
     * Before a run: returns the statement to bind and step in the plain one's place, which stays
     * the gate's, or NULL: the plain one is to run. Then *patience is the nanoseconds of its first
     * step after which stops() is to be asked, or 0: never. *quiet: 0, or this run and the next
     * ones, so many together, need neither begin() nor end(), up to one of CLREDUCE_FEW_STEPS or
     * more. ended: those that have ended since the last call.
     */
    sqlite3_stmt *(*begin)(struct clreduce_watched *watched, struct clreduce_quiet_runs ended,
                           sqlite3_int64 *patience, int *quiet);

    /* Amid the first step of the plain statement, in a progress handler, which is gone by then:
       whether it is to be stopped and reset, and begin() to be called again, for SQLite would take
       long. */
    int (*stops)(struct clreduce_watched *watched, sqlite3_int64 nanoseconds);

    /* The first step of the statement from begin() has failed: whether that is how the plain one
       would fail, as it has run: one that writes must not begin twice. */
    int (*is_final)(const struct clreduce_watched *watched);

    /* The statement from begin() has failed, and the plain one runs. It has been reset. */
    void (*failed)(struct clreduce_watched *watched);

    /* A run has ended, and what ran is reset: which of the two it was, how long its steps took
       together, and whether they came to the end of the rows. */
    void (*end)(struct clreduce_watched *watched, int accelerated, sqlite3_int64 nanoseconds,
                int complete);

    /* ended: as in begin(). The memory stays the caller's. */
    void (*unwatch)(struct clreduce_watched *watched, struct clreduce_quiet_runs ended);

    /* Before a connection is closed: finalizes what the gate keeps with it for later statements. */
    void (*closing)(sqlite3 *db);

    /* Calls line(argument, ...) for each distinct statement that was watched and has run. */
    void (*report)(void (*line)(void *argument, const struct clreduce_gate_line *), void *argument);
};

/* What the extension exports: the functions, which are constant. */
const struct clreduce_gate *clreduce_gate(void);

#endif

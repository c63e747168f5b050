/*
 * What is remembered of statements' runs, by all connections of the process, and which way is the
 * quicker one by that. Texts that differ in numbers and strings alone are one statement. All
 * functions can be called by several threads.
 */
#ifndef CLR_SQLITE_PAST_RUNS_H
#define CLR_SQLITE_PAST_RUNS_H

#include "sqlite/access/gate.h"

#include <stdbool.h>
#include <stdint.h>

/* A statement, by its key. */
struct clr_past {
    uint64_t key;
    struct clr_memory
        *memory; /* where it was last; NULL: nowhere. Another one may have its place */
};

/* A run that has ended. */
struct clr_past_run {
    int64_t nanoseconds; /* of its steps */
    bool is_complete;    /* it came to the end of the rows */
    bool is_accelerated; /* it was the accelerated statement's */
    bool is_by_rows;     /* then: SQLite ran all SELECTs in it */
    bool is_postponed;   /* then: but this time alone */
    bool is_loaded;      /* then: it was not the first one, which may have loaded columns */
};

/* Returns whether the accelerated statement should run, by what is known; and whether anything is,
   and whether it was the latest choice. */
bool clr_past_look(struct clr_past *past, bool *is_known, bool *is_accelerated);

/* Takes note of quiet runs, if there are any. */
void clr_past_add_quiet(struct clr_past *past, struct clreduce_quiet_runs runs);

/* Takes note that a statement is about to run. rows: of its table, about; 0: not known. Returns as
   clr_past_look() does; and whether it is seen for the first time, and how many runs of the plain
   one are so quick that nothing needs to be known of them. */
bool clr_past_begin(struct clr_past *past, const char *sql, int64_t rows, bool *is_new, int *quiet);

/* Takes note that there is an accelerated statement to run; or that SQLite is to run the statement,
   for a while, with the reason, which may be NULL and is sqlite3_free()d. sql: NULL if it is not to
   be remembered for that. */
void clr_past_choose(struct clr_past *past, const char *sql, bool is_refused, char *reason);

/* Takes note of a run. Returns whether the accelerated statement is not to run again for a while.
 */
bool clr_past_end(struct clr_past *past, const struct clr_past_run *run);

/* Calls line(argument, ...) for each statement that has run. */
void clr_past_runs_tell(void (*line)(void *argument, const struct clreduce_gate_line *),
                        void *argument);

/* Touches the pages that the first statements of a process need, when it loads the extension. */
void clr_past_runs_touch(void);

#endif

#include "preload/statements.h"

#include "base/clock.h"
#include "preload/extension.h"

#include <stdlib.h>
#include <string.h>

_Atomic(int) clr_watched_count, clr_companion_count;
struct clr_pointers clr_statements;

/* The first steps of a run are all timed, and then one of so many that it takes no time. */
enum { TIMED_STEPS = 16 };

/* After so many steps of SQLite's virtual machine a first run is looked at: some microseconds. */
enum { STEPS_TO_LOOK = 1000 };

/* Takes the connection's mutex, which may outlive what is known of the connection. */
static sqlite3_mutex *lock(const struct clr_connected *connected)
{
    sqlite3_mutex *mutex = connected->originals->db_mutex(connected->db);

    connected->originals->mutex_enter(mutex);
    return mutex;
}

/* The memory of some statements, each with what the gate keeps of it behind. */
enum { STATEMENTS_AT_ONCE = 16 };

struct clr_statements_memory {
    struct clr_statements_memory *next;
    int64_t statements[];
};

void clr_connected_release(struct clr_connected *connected)
{
    struct clr_statements_memory *memory;

    if (atomic_fetch_sub(&connected->users, 1) != 1)
        return;
    while ((memory = connected->memory) != NULL) {
        connected->memory = memory->next;
        free(memory);
    }
    free(connected);
}

void clr_callbacks_return(const struct clr_connected *connected)
{
    const struct clr_callbacks *callbacks = &connected->callbacks;
    const struct clr_originals *originals = connected->originals;

    /* A connection that is closed prepares nothing, and so asks no authorizer; all of its
       statements would have to be prepared anew if one were set. */
    if (callbacks->authorizer != NULL && !connected->is_closed)
        originals->set_authorizer(connected->db, callbacks->authorizer,
                                  callbacks->authorizer_argument);
    if (callbacks->trace_mask != 0)
        originals->trace_v2(connected->db, callbacks->trace_mask, callbacks->trace,
                            callbacks->trace_argument);
}

/* ---- What is watched. */

/* Whether the application is told of what it should not be where a statement that writes has a
   companion: authorizers and traces are of the triggers that it may have by now, a progress handler
   may end the transaction by the steps that the companion takes to be made, and where both it and
   the plain one can't be prepared anew two transactions are rolled back. */
static bool has_witnesses(const struct clr_callbacks *callbacks)
{
    return callbacks->authorizer != NULL || callbacks->trace_mask != 0 || callbacks->has_progress ||
           callbacks->has_rollback;
}

/* Keeps the memory of a statement for the next one. */
static void keep_memory(struct clr_connected *connected, struct clr_statement *statement)
{
    statement->next = connected->spare;
    connected->spare = statement;
}

/* Returns memory for a statement, or NULL. */
static struct clr_statement *take_memory(struct clr_connected *connected)
{
    struct clr_statement *statement = connected->spare;
    struct clr_statements_memory *memory;
    size_t words;
    int i;

    if (statement == NULL) {
        words = (sizeof *statement + atomic_load(&clr_gate)->watched_bytes) / sizeof(int64_t) + 1;
        memory = malloc(sizeof *memory + STATEMENTS_AT_ONCE * words * sizeof(int64_t));
        if (memory == NULL)
            return NULL;
        memory->next = connected->memory;
        connected->memory = memory;
        for (i = STATEMENTS_AT_ONCE - 1; i >= 0; i--)
            keep_memory(connected,
                        (struct clr_statement *)(memory->statements + (size_t)i * words));
        statement = connected->spare;
    }
    connected->spare = statement->next;
    return statement;
}

/* Has the gate look at a statement. Returns false if it is not to be watched. */
static bool watch(struct clr_connected *connected, sqlite3_stmt *handle,
                  struct clr_statement *statement)
{
    struct clreduce_watched *watched = (struct clreduce_watched *)(statement + 1);
    const struct clreduce_gate *gate = atomic_load(&clr_gate);

    if (!gate->watch(watched, handle, !has_witnesses(&connected->callbacks)))
        return false;
    *statement = (struct clr_statement){.connected = connected,
                                        .next = connected->first,
                                        .link = &connected->first,
                                        .plain = handle,
                                        .watched = watched,
                                        .writes = connected->originals->column_count(handle) == 0};
    if (clr_pointers_put(&clr_statements, handle, statement))
        return true;
    gate->unwatch(watched, (struct clreduce_quiet_runs){0, 0});
    return false;
}

void clr_statement_watch(struct clr_connected *connected, sqlite3_stmt *handle)
{
    const struct clr_originals *originals = connected->originals;
    struct clr_statement *statement = NULL;
    sqlite3_mutex *mutex;

    /* SQLite keeps no text of what it prepares to read a schema. */
    if (!clr_may_accelerate(connected) || originals->sql(handle) == NULL)
        return;
    if (originals->transfer_bindings == NULL && originals->bind_parameter_count(handle) > 0)
        return;
    mutex = lock(connected);
    clr_inside++;
    if (!connected->is_set)
        connected->is_set = clr_extension_set(connected->db);
    if (connected->is_set)
        statement = take_memory(connected);
    if (statement != NULL && watch(connected, handle, statement)) {
        if (statement->next != NULL)
            statement->next->link = &statement->next;
        connected->first = statement;
        atomic_fetch_add(&connected->users, 1);
        atomic_fetch_add(&clr_watched_count, 1);
    } else if (statement != NULL) {
        keep_memory(connected, statement);
    }
    clr_inside--;
    originals->mutex_leave(mutex);
}

/* Ends the watch of a statement that runs as it is, or not at all. */
static void let_go(struct clr_statement *statement)
{
    struct clr_connected *connected = statement->connected;

    *statement->link = statement->next;
    if (statement->next != NULL)
        statement->next->link = statement->link;
    clr_pointers_take(&clr_statements, statement->plain);
    atomic_fetch_sub(&clr_watched_count, 1);
    clr_inside++;
    atomic_load(&clr_gate)->unwatch(statement->watched, statement->ended);
    if (connected->is_closed && connected->first == NULL) {
        clr_callbacks_return(connected);
        /* A companion that waits would keep the connection. */
        atomic_load(&clr_gate)->closing(connected->db);
    }
    clr_inside--;
    keep_memory(connected, statement);
    clr_connected_release(connected);
}

void clr_statements_let_go(struct clr_connected *connected)
{
    struct clr_statement *statement = connected->first, *next;

    for (; statement != NULL; statement = next) {
        next = statement->next;
        if (atomic_load(&statement->companion) == NULL && !statement->is_in_step)
            let_go(statement);
    }
}

/* ---- Runs. */

/* Returns which of the steps are timed, by the mean of the first ones in nanoseconds: two readings
   of a clock, which take 50 ns to 500 ns by the machine, in so long. */
static sqlite3_int64 choose_interval(sqlite3_int64 mean)
{
    enum { BETWEEN_READINGS_NS = 50000, MOST = 256 };

    return mean * MOST < BETWEEN_READINGS_NS ? MOST
           : mean < BETWEEN_READINGS_NS      ? BETWEEN_READINGS_NS / mean
                                             : 1;
}

/* Steps what runs, and adds to the time of the run. */
static int timed_step(struct clr_statement *statement, sqlite3_stmt *running)
{
    const struct clr_originals *originals = statement->connected->originals;
    sqlite3_int64 taken;
    int rc;

    if (statement->steps == 0) {
        statement->interval = 1;
        statement->longest = statement->untimed = 0;
    } else if (statement->steps == TIMED_STEPS) {
        statement->interval =
            choose_interval((statement->nanoseconds - statement->longest) / (TIMED_STEPS - 1));
        statement->untimed =
            (statement->interval - TIMED_STEPS % statement->interval) % statement->interval;
    }
    statement->steps++;
    statement->is_in_step = true;
    if (statement->untimed > 0) {
        statement->untimed--;
        rc = originals->step(running);
    } else {
        statement->untimed = statement->interval - 1;
        statement->begun = clr_clock_ns();
        rc = originals->step(running);
        taken = clr_clock_ns() - statement->begun;
        statement->nanoseconds += taken * statement->interval;
        if (taken > statement->longest)
            statement->longest = taken;
    }
    statement->is_in_step = false;
    return rc;
}

static void tell_end(struct clr_statement *statement, bool accelerated, bool complete)
{
    clr_inside++;
    atomic_load(&clr_gate)->end(statement->watched, accelerated, statement->nanoseconds, complete);
    clr_inside--;
}

/* Returns how many steps of SQLite's virtual machine the plain statement has taken. */
static int count_steps(const struct clr_statement *statement)
{
    return statement->connected->originals->stmt_status(statement->plain, SQLITE_STMTSTATUS_VM_STEP,
                                                        0);
}

/* Ends a quiet run, if one is under way. */
static void end_quiet(struct clr_statement *statement)
{
    int steps;

    if (!statement->is_quiet)
        return;
    steps = count_steps(statement);
    statement->is_quiet = false;
    statement->ended.count++;
    statement->ended.steps = steps - statement->steps_before;
    statement->steps_before = steps;
    statement->quiet = statement->ended.steps < CLREDUCE_FEW_STEPS ? statement->quiet - 1 : 0;
}

/* Adds what one has counted, so many times. */
static void add_counters(struct clr_statement *statement, sqlite3_stmt *counted, int times,
                         bool reset)
{
    const struct clr_originals *originals = statement->connected->originals;
    int i;

    for (i = 1; i < CLR_COUNTERS; i++) {
        if (i < SQLITE_STMTSTATUS_FILTER_MISS || originals->libversion_number() >= 3038000)
            statement->counters[i] += times * originals->stmt_status(counted, i, reset);
    }
}

/* Clears the error of the connection, and its text. */
static void clear_error(const struct clr_connected *connected)
{
    connected->originals->exec(connected->db, "", NULL, NULL, NULL);
}

/* Gives the bindings back. Returns the code of the companion's run. */
static int end_companion(struct clr_statement *statement)
{
    const struct clr_originals *originals = statement->connected->originals;
    sqlite3_stmt *companion = atomic_load(&statement->companion);
    int rc;

    clr_inside++;
    rc = originals->reset(companion);
    clr_inside--;
    if (originals->transfer_bindings != NULL)
        originals->transfer_bindings(companion, statement->plain);
    atomic_store_explicit(&statement->companion, NULL, memory_order_release);
    atomic_fetch_sub(&clr_companion_count, 1);
    return rc;
}

/* Whether SQLite would say the same of the plain statement, after a wait as long. */
static bool is_sqlites_own(const struct clr_connected *connected, int rc)
{
    const int primary = rc & 0xff;

    return (primary == SQLITE_BUSY || primary == SQLITE_INTERRUPT) &&
           strcmp(connected->originals->errmsg(connected->db), connected->originals->errstr(rc)) ==
               0;
}

/* Returns the companion for a run, with the bindings; NULL: there is none. */
static sqlite3_stmt *begin_companion(struct clr_statement *statement)
{
    struct clr_connected *connected = statement->connected;
    const struct clr_originals *originals = connected->originals;
    sqlite3_stmt *companion;

    statement->patience = 0;
    if (!clr_may_accelerate(connected) ||
        (statement->writes && has_witnesses(&connected->callbacks)))
        return NULL;
    clr_inside++;
    companion = atomic_load(&clr_gate)->begin(statement->watched, statement->ended,
                                              &statement->patience, &statement->quiet);
    clr_inside--;
    statement->ended = (struct clreduce_quiet_runs){0, 0};
    if (companion == NULL)
        return NULL;
    if (statement->was_stepped)
        originals->reset(statement->plain);
    statement->was_stepped = false;
    if (originals->transfer_bindings != NULL)
        originals->transfer_bindings(statement->plain, companion);
    atomic_store_explicit(&statement->companion, companion, memory_order_release);
    atomic_fetch_add(&clr_companion_count, 1);
    return companion;
}

/* Traces an event of an accelerated run, if the application wants that; x: as in its callback. */
static void tell_trace(const struct clr_statement *statement, unsigned event, void *x)
{
    const struct clr_callbacks *callbacks = &statement->connected->callbacks;

    if ((callbacks->trace_mask & event) != 0 && clr_inside == 0)
        callbacks->trace(event, callbacks->trace_argument, statement->plain, x);
}

/* Traces the end of the companion's run, once, if that was wanted at its begin. */
static void trace_end(struct clr_statement *statement)
{
    sqlite3_int64 nanoseconds = statement->nanoseconds;

    if (statement->is_end_traced)
        tell_trace(statement, SQLITE_TRACE_PROFILE, &nanoseconds);
    statement->is_end_traced = false;
}

/* Traces what SQLite would of the begin of the plain statement's run. */
static void trace_begin(struct clr_statement *statement)
{
    statement->is_end_traced =
        (statement->connected->callbacks.trace_mask & SQLITE_TRACE_PROFILE) != 0;
    tell_trace(statement, SQLITE_TRACE_STMT,
               (char *)statement->connected->originals->sql(statement->plain));
}

/* Traces what SQLite would of a step of the plain statement. */
static void trace_step(struct clr_statement *statement, int rc)
{
    if (rc == SQLITE_ROW)
        tell_trace(statement, SQLITE_TRACE_ROW, NULL);
    else
        trace_end(statement);
}

static int step_companion(struct clr_statement *statement)
{
    int rc;

    clr_inside++;
    rc = timed_step(statement, atomic_load(&statement->companion));
    clr_inside--;
    statement->has_ended = rc != SQLITE_ROW;
    return rc;
}

static void clear_times(struct clr_statement *statement)
{
    statement->steps = 0;
    statement->nanoseconds = 0;
    statement->has_ended = false;
}

/* Whether SQLite has prepared the companion anew, and its columns are not the plain statement's,
   which is then of a schema that is over. */
static bool has_other_columns(const struct clr_statement *statement)
{
    const struct clr_originals *originals = statement->connected->originals;
    sqlite3_stmt *companion = atomic_load(&statement->companion), *plain = statement->plain;
    const int count = originals->column_count(plain);
    const char *names[2];
    int i;

    if (originals->stmt_status(companion, SQLITE_STMTSTATUS_REPREPARE, 0) == 0)
        return false;
    if (originals->column_count(companion) != count)
        return true;
    for (i = 0; i < count; i++) {
        names[0] = originals->column_name(companion, i);
        names[1] = originals->column_name(plain, i);
        if (names[0] == NULL || names[1] == NULL || strcmp(names[0], names[1]) != 0)
            return true;
    }
    return false;
}

/* Begins an accelerated run, and stores the code of its first step. Returns false if there is none,
   and the plain statement is to run. */
static bool begin_accelerated(struct clr_statement *statement, int *rc)
{
    clear_times(statement);
    if (begin_companion(statement) == NULL)
        return false;
    *rc = step_companion(statement);
    if (((*rc == SQLITE_ROW || *rc == SQLITE_DONE) && !has_other_columns(statement)) ||
        is_sqlites_own(statement->connected, *rc) ||
        atomic_load(&clr_gate)->is_final(statement->watched)) {
        trace_begin(statement);
        trace_step(statement, *rc);
        return true;
    }
    end_companion(statement);
    clr_inside++;
    atomic_load(&clr_gate)->failed(statement->watched);
    clr_inside--;
    clear_times(statement);
    return false;
}

/* SQLite calls it amid the first step of a plain statement. Returns whether to stop that; then what
   SQLite logs of it until the step is over is not the application's. */
static int look(void *argument)
{
    struct clr_statement *statement = argument;
    const struct clr_originals *originals = statement->connected->originals;
    sqlite3 *db = statement->connected->db;
    const sqlite3_int64 nanoseconds = clr_clock_ns() - statement->begun;

    if (nanoseconds < statement->patience)
        return 0;
    originals->progress_handler(db, 0, NULL, NULL);
    clr_inside++;
    statement->is_stopped = atomic_load(&clr_gate)->stops(statement->watched, nanoseconds) != 0;
    clear_error(statement->connected);
    if (!statement->is_stopped)
        clr_inside--;
    return statement->is_stopped;
}

/* The first step of a plain run, during which the gate may stop it for an accelerated one: by a
   progress handler, unless the application has one. */
static int first_step(struct clr_statement *statement)
{
    const struct clr_connected *connected = statement->connected;
    const struct clr_originals *originals = connected->originals;
    int rc;

    statement->is_running = true;
    statement->was_stepped = true;
    /* A run that is begun twice is traced twice. */
    if (statement->patience == 0 || connected->callbacks.has_progress ||
        connected->callbacks.trace_mask != 0 || originals->progress_handler == NULL)
        return timed_step(statement, statement->plain);
    originals->progress_handler(connected->db, STEPS_TO_LOOK, look, statement);
    rc = timed_step(statement, statement->plain);
    if (!connected->callbacks.has_progress)
        originals->progress_handler(connected->db, 0, NULL, NULL);
    if (statement->is_stopped)
        clr_inside--;
    return rc;
}

/* A step of the plain statement in a run of which the gate needs to know nothing. */
static int step_quietly(struct clr_statement *statement)
{
    int rc;

    statement->is_in_step = true;
    statement->was_stepped = true;
    statement->is_quiet = true;
    rc = statement->connected->originals->step(statement->plain);
    statement->is_in_step = false;
    if (rc != SQLITE_ROW)
        end_quiet(statement);
    return rc;
}

/* Begins a run, accelerated or not. */
static int begin_run(struct clr_statement *statement)
{
    int rc;

    statement->is_stopped = false;
    if (begin_accelerated(statement, &rc))
        return rc;
    if (statement->quiet > 0) {
        statement->steps_before = count_steps(statement);
        return step_quietly(statement);
    }
    rc = first_step(statement);
    if (!statement->is_stopped)
        return rc;
    /* As if it had not run. */
    statement->connected->originals->reset(statement->plain);
    add_counters(statement, statement->plain, -1, false);
    statement->is_running = false;
    statement->was_stepped = false;
    clear_error(statement->connected);
    if (begin_accelerated(statement, &rc))
        return rc;
    statement->patience = 0;
    return first_step(statement);
}

/* Ends a run of whatever ran, of which there may be none. Returns the companion's code. */
static int end_run(struct clr_statement *statement)
{
    sqlite3_stmt *companion = atomic_load(&statement->companion);
    int rc = SQLITE_OK;

    if (companion != NULL) {
        trace_end(statement);
        add_counters(statement, companion, 1, true);
        rc = end_companion(statement);
        tell_end(statement, true, statement->has_ended && rc == SQLITE_OK);
    } else if (statement->is_running) {
        tell_end(statement, false, statement->has_ended);
    }
    end_quiet(statement);
    statement->is_running = false;
    statement->has_ended = false;
    return rc;
}

/* A run of the plain statement that has come to its end has its time told at once: it may be that
   nobody resets it. */
static int end_plain(struct clr_statement *statement, int rc)
{
    if (rc != SQLITE_ROW && statement->is_running) {
        statement->has_ended = rc == SQLITE_DONE;
        end_run(statement);
    }
    return rc;
}

/* Steps what runs, or begins a run, with the connection's mutex. */
static __attribute__((noinline)) int step_locked(struct clr_statement *statement)
{
    const struct clr_originals *originals = statement->connected->originals;
    sqlite3_mutex *mutex = lock(statement->connected);
    int rc;

    if (atomic_load(&statement->companion) != NULL && statement->has_ended)
        end_run(statement);
    if (atomic_load(&statement->companion) != NULL) {
        rc = step_companion(statement);
        trace_step(statement, rc);
    } else if (statement->is_running) {
        rc = end_plain(statement, timed_step(statement, statement->plain));
    } else {
        rc = end_plain(statement, begin_run(statement));
    }
    originals->mutex_leave(mutex);
    return rc;
}

/* As end_plain(), with the connection's mutex. */
static __attribute__((noinline)) int end_plain_locked(struct clr_statement *statement, int rc)
{
    const struct clr_originals *originals = statement->connected->originals;
    sqlite3_mutex *mutex = lock(statement->connected);

    end_plain(statement, rc);
    originals->mutex_leave(mutex);
    return rc;
}

/* Most steps of a plain statement take SQLite less time than a mutex, and a division. */
int clr_statement_step(struct clr_statement *statement)
{
    int rc;

    if (statement->quiet > 0)
        return step_quietly(statement);
    if (!statement->is_running || statement->untimed == 0)
        return step_locked(statement);
    statement->untimed--;
    rc = statement->connected->originals->step(statement->plain);
    return rc == SQLITE_ROW ? rc : end_plain_locked(statement, rc);
}

int clr_statement_reset(struct clr_statement *statement)
{
    struct clr_connected *connected = statement->connected;
    const struct clr_originals *originals = connected->originals;
    sqlite3_stmt *plain = statement->plain;
    sqlite3_mutex *mutex;
    int rc, plain_rc = SQLITE_OK;

    if (statement->quiet > 0 && !statement->is_in_step) {
        end_quiet(statement);
        statement->was_stepped = false;
        return originals->reset(plain);
    }
    mutex = lock(connected);
    if (statement->is_in_step) {
        /* SQLite itself resets a statement that it prepares anew, or begins again. */
        rc = originals->reset(plain);
        originals->mutex_leave(mutex);
        return rc;
    }
    if (atomic_load(&statement->companion) == NULL)
        plain_rc = originals->reset(plain);
    statement->was_stepped = false;
    rc = end_run(statement);
    if (!clr_may_accelerate(connected))
        let_go(statement);
    originals->mutex_leave(mutex);
    return rc != SQLITE_OK ? rc : plain_rc;
}

int clr_statement_finalize(struct clr_statement *statement)
{
    struct clr_connected *connected = statement->connected;
    const struct clr_originals *originals = connected->originals;
    sqlite3_mutex *mutex = lock(connected);
    sqlite3_stmt *plain = statement->plain;
    int rc, plain_rc;

    rc = end_run(statement);
    let_go(statement);
    originals->mutex_leave(mutex);
    /* That may free the connection, and with it the mutex. */
    plain_rc = originals->finalize(plain);
    return rc != SQLITE_OK ? rc : plain_rc;
}

char *clr_statement_expanded_sql(struct clr_statement *statement)
{
    struct clr_connected *connected = statement->connected;
    const struct clr_originals *originals = connected->originals;
    sqlite3_mutex *mutex = lock(connected);
    sqlite3_stmt *companion = atomic_load(&statement->companion);
    char *sql;

    if (companion != NULL && originals->transfer_bindings != NULL)
        originals->transfer_bindings(companion, statement->plain);
    sql = originals->expanded_sql(statement->plain);
    if (companion != NULL && originals->transfer_bindings != NULL)
        originals->transfer_bindings(statement->plain, companion);
    originals->mutex_leave(mutex);
    return sql;
}

int clr_statement_status(struct clr_statement *statement, int operation, int reset)
{
    struct clr_connected *connected = statement->connected;
    const struct clr_originals *originals = connected->originals;
    sqlite3_mutex *mutex = lock(connected);
    sqlite3_stmt *companion;
    int value;

    value = originals->stmt_status(statement->plain, operation, reset);
    if (operation > 0 && operation < CLR_COUNTERS) {
        companion = atomic_load(&statement->companion);
        if (companion != NULL)
            add_counters(statement, companion, 1, true);
        value += statement->counters[operation];
        if (reset)
            statement->counters[operation] = 0;
    }
    originals->mutex_leave(mutex);
    return value;
}

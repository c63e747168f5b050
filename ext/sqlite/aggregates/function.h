/* What a registered aggregate function knows of itself, and what all of them do alike. The clauses
   that are cited by their numbers are those of aggregates.h. */
#ifndef CLR_SQLITE_FUNCTION_H
#define CLR_SQLITE_FUNCTION_H

#include "base/float_environment.h"
#include "numeric/order/kept.h"
#include "numeric/states/aggregate_table.h"
#include "sqlite/session/connection.h"

#include <float.h>
#include <math.h>

/* A function of a connection: sqlite3_user_data() of its callbacks. It has one reference to the
   connection, which goes with the function. */
struct clr_aggregate_function {
    struct clr_connection *connection;
    const struct clr_aggregate *aggregate;
    const struct clr_aggregate_callbacks *callbacks;
    enum clr_form form;
    char name[32]; /* with the form's suffix, for messages */
};

/*
 * How the aggregates of one need (enum clr_need) keep what they know of their rows. The context is
 * what SQLite keeps for every group, all zeros at first: small, with pointers to what is large.
 *
 * All but steps run in the default floating-point environment. Those that return a code return
 * CLR_OK; CLR_NOMEM, CLR_LIMIT (of the setting values_memory) or CLR_STOPPED (as the statement is
 * interrupted), of which the caller makes the function's error; or CLR_INVALID, and have set it.
 * After an error the context is ended, and gets no more rows.
 */
struct clr_aggregate_callbacks {
    int size; /* of the context, in bytes */
    /* SQLite's xStep, of functions of one argument and of more. They run in the caller's
       environment: see clr_function_step() and clr_function_take(). */
    void (*steps[2])(sqlite3_context *, int, sqlite3_value **);
    /* Takes a row of any values: for clr_function_take(), if a step calls it. */
    enum clr_code (*take)(sqlite3_context *sql, void *context, sqlite3_value **values);
    /* Takes the oldest row out again: clause 7 of the contract. */
    enum clr_code (*leave)(sqlite3_context *sql, void *context, sqlite3_value **values);
    /* Adds a state, with weight 1, or takes it out again, with -1. A fault that is not
       CLR_STATE_SOUND is for the caller to report. NULL: there are no states. */
    enum clr_code (*merge)(sqlite3_context *sql, void *context, const struct clr_value *state,
                           int weight, enum clr_state_fault *fault);
    /* Makes the output, which is NULL before, of what has come and not left: of a context that is
       NULL, too. Nothing is launched (clause 8). More may come unless it is the last time. */
    void (*show)(const struct clr_aggregate_function *function, void *context, bool last,
                 struct clr_output *output);
    /* Frees what the context holds, if that is anything. */
    void (*end)(struct clr_connection *connection, void *context);
};

extern const struct clr_aggregate_callbacks clr_sums_callbacks, clr_extreme_callbacks,
    clr_percentile_callbacks, clr_frequency_callbacks, clr_histogram_callbacks;

/* Returns the function whose callback was given the context. */
static inline const struct clr_aggregate_function *clr_function_of(sqlite3_context *context)
{
    return sqlite3_user_data(context);
}

static inline struct clr_connection *clr_function_connection(sqlite3_context *context)
{
    return clr_function_of(context)->connection;
}

/* Sets the function's error that a value is not what it must be, as in "low must be a number".
   Returns CLR_INVALID. */
enum clr_code clr_function_refuse(sqlite3_context *sql, const char *must,
                                  const struct clr_value *value);

/* The same for an argument. */
enum clr_code clr_function_refuse_argument(sqlite3_context *sql, const char *must,
                                           sqlite3_value *argument);

/* Sets the function's error that the setting values_memory, which allows it limit bytes for what it
   keeps, is too small. That is no SQLITE_NOMEM, for which SQLite rolls back the transaction of a
   SELECT, and which some languages' interfaces show without its text. Returns CLR_INVALID. */
enum clr_code clr_function_refuse_memory(sqlite3_context *sql, const char *kept, uint64_t limit);

/* Ends the context, which may be NULL, and sets the function's error, if the code is one. */
void clr_function_report(sqlite3_context *sql, void *context, enum clr_code code);

/* The step of a row, whatever its values are: take(), which is the function's, in the default
   floating-point environment. context: NULL without memory. Inlined with take. */
static inline __attribute__((always_inline)) void
clr_function_take_by(sqlite3_context *sql, void *context, sqlite3_value **values,
                     enum clr_code (*take)(sqlite3_context *, void *, sqlite3_value **))
{
    const struct clr_float_environment before = clr_float_environment_begin();
    enum clr_code code = context != NULL ? take(sql, context, values) : CLR_NOMEM;

    if (code != CLR_OK)
        clr_function_report(sql, context, code);
    clr_float_environment_end(&before);
}

/* The same, by the table of callbacks and not inlined: for rows that are not the usual ones. */
void clr_function_take(sqlite3_context *sql, void *context, sqlite3_value **values);

/*
 * The step of a row of one number, with a context that begins with a feed: NULL, if it is still to
 * be got. Most numbers are just appended; the others, and infinities if they must be finite, are
 * for clr_function_take(). Inlined, with a way for each type, so that SQLite's answers need not be
 * kept over the next call; clr_function_take() is not, which would cost every row registers to
 * save.
 */
static inline __attribute__((always_inline)) void clr_function_step(sqlite3_context *sql,
                                                                    struct clr_feed *feed, int size,
                                                                    bool finite,
                                                                    sqlite3_value **values)
{
    const int type = sqlite3_value_type(values[0]);

    if (type == SQLITE_FLOAT) {
        if (feed == NULL)
            feed = sqlite3_aggregate_context(sql, size);
        if (feed != NULL && feed->real < feed->real_end &&
            (!finite || fabs(sqlite3_value_double(values[0])) <= DBL_MAX))
            *feed->real++ = sqlite3_value_double(values[0]);
        else
            clr_function_take(sql, feed, values);
    } else if (type == SQLITE_INTEGER) {
        if (feed == NULL)
            feed = sqlite3_aggregate_context(sql, size);
        if (feed != NULL && feed->integer < feed->integer_end)
            *feed->integer++ = sqlite3_value_int64(values[0]);
        else
            clr_function_take(sql, feed, values);
    } else if (type != SQLITE_NULL) { /* clause 1 */
        clr_function_take(sql, feed != NULL ? feed : sqlite3_aggregate_context(sql, size), values);
    }
}

#endif

/* What a registered aggregate function knows of itself: sqlite3_user_data() of its callbacks. */
#ifndef CLR_SQLITE_FUNCTION_H
#define CLR_SQLITE_FUNCTION_H

#include "numeric/exact/chunk.h"
#include "sqlite/session/connection.h"

/*
 * The forms in which an aggregate F exists: F(x) itself; F_state(x), which returns its state as a
 * BLOB; F_merge(state), which takes such BLOBs for F's value; F_state_merge(state), which takes
 * them for one more state.
 */
enum clr_form { CLR_FORM_VALUE, CLR_FORM_STATE, CLR_FORM_MERGE, CLR_FORM_STATE_MERGE, CLR_FORMS };

/*
 * The callbacks of one form, as sqlite3_create_window_function() takes them. They run in the
 * default floating-point environment, but for the steps of single rows: these run in the caller's,
 * and see to theirs where they compute, which most of them do for few rows.
 */
struct clr_callbacks {
    bool takes_rows; /* the step is such a one */
    void (*step)(sqlite3_context *, int, sqlite3_value **);
    void (*final)(sqlite3_context *);
    void (*value)(sqlite3_context *);
    void (*inverse)(sqlite3_context *, int, sqlite3_value **);
};

/* A row of the table of aggregates. */
struct clr_aggregate {
    const char *name;
    int arguments;
    /* Of functions with small states those of all forms; else of the first form alone. */
    const struct clr_callbacks *values, *merges;
    enum clr_operation operation; /* what a reduction finds out for it, if it has one */
    int which;                    /* among the functions of these callbacks */
};

/* A function of a connection: one reference to it, which goes with the function. */
struct clr_function {
    struct clr_connection *connection;
    const struct clr_aggregate *aggregate;
    const struct clr_callbacks *callbacks; /* of this form */
    enum clr_form form;
    char name[32]; /* with the form's suffix, for messages */
};

/* Returns the function whose callback was given the context. */
static inline const struct clr_function *clr_function_of(sqlite3_context *context)
{
    return sqlite3_user_data(context);
}

static inline struct clr_connection *clr_function_connection(sqlite3_context *context)
{
    return clr_function_of(context)->connection;
}

#endif

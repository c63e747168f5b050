#include "sqlite/aggregates/aggregates.h"

#include "base/float_environment.h"
#include "base/memory.h"
#include "sqlite/aggregates/function.h"
#include "sqlite/session/sql_value.h"

#include <stdio.h>

/* How aggregates keep what they need. SQLite's count() is not ours. */
static const struct clr_aggregate_callbacks *const callbacks[] = {
    [CLR_NEEDS_SUMS] = &clr_sums_callbacks,
    [CLR_NEEDS_EXTREME] = &clr_extreme_callbacks,
    [CLR_NEEDS_ORDER] = &clr_percentile_callbacks,
    [CLR_NEEDS_FREQUENCIES] = &clr_frequency_callbacks,
    [CLR_NEEDS_BINS] = &clr_histogram_callbacks,
};

/* ---- What all functions do alike. */

/* Returns a value as an error shows it, to be freed with sqlite3_free(); NULL without memory. */
static char *describe(const struct clr_value *value)
{
    switch (value->kind) {
    case CLR_KIND_INTEGER:
        return sqlite3_mprintf("%lld", (long long)value->as.integer);
    case CLR_KIND_REAL:
        return sqlite3_mprintf("%!.17g", value->as.real);
    case CLR_KIND_TEXT:
        return sqlite3_mprintf("'%!.60q'", (const char *)value->bytes);
    case CLR_KIND_BLOB:
        return sqlite3_mprintf("a BLOB");
    default:
        return sqlite3_mprintf("NULL");
    }
}

enum clr_code clr_function_refuse(sqlite3_context *sql, const char *must,
                                  const struct clr_value *value)
{
    char *text = describe(value);

    if (text == NULL)
        sqlite3_result_error_nomem(sql);
    else
        clr_set_error(sql, "%s: %s, not %s", clr_function_of(sql)->name, must, text);
    sqlite3_free(text);
    return CLR_INVALID;
}

enum clr_code clr_function_refuse_argument(sqlite3_context *sql, const char *must,
                                           sqlite3_value *argument)
{
    struct clr_value value = {.kind = CLR_KIND_NONE};

    if (sqlite3_value_type(argument) != SQLITE_NULL && !clr_value_read(argument, &value))
        return CLR_NOMEM;
    return clr_function_refuse(sql, must, &value);
}

enum clr_code clr_function_refuse_memory(sqlite3_context *sql, const char *kept, uint64_t limit)
{
    clr_set_error(
        sql, "%s: %s would take more than the %llu bytes that the setting values_memory allows",
        clr_function_of(sql)->name, kept, (unsigned long long)limit);
    return CLR_INVALID;
}

void clr_function_report(sqlite3_context *sql, void *context, enum clr_code code)
{
    const struct clr_aggregate_function *function = clr_function_of(sql);

    if (code == CLR_OK)
        return;
    if (code == CLR_NOMEM)
        sqlite3_result_error_nomem(sql);
    else if (code == CLR_STOPPED)
        sqlite3_result_error_code(sql, SQLITE_INTERRUPT);
    else if (code == CLR_LIMIT)
        clr_function_refuse_memory(sql, "its values", function->connection->values.limit);
    if (context != NULL)
        function->callbacks->end(function->connection, context);
}

void clr_function_take(sqlite3_context *sql, void *context, sqlite3_value **values)
{
    clr_function_take_by(sql, context, values, clr_function_of(sql)->callbacks->take);
}

/* ---- SQLite's callbacks, in the default floating-point environment. */

static void inverse(sqlite3_context *sql, int count, sqlite3_value **values)
{
    const struct clr_float_environment before = clr_float_environment_begin();
    void *context = sqlite3_aggregate_context(sql, 0);
    enum clr_code code;

    (void)count;
    if (context != NULL) {
        code = clr_function_of(sql)->callbacks->leave(sql, context, values);
        if (code != CLR_OK)
            clr_function_report(sql, context, code);
    }
    clr_float_environment_end(&before);
}

/* What is no state is an error that says what it is instead. */
static enum clr_code refuse_state(sqlite3_context *sql, const struct clr_value *argument,
                                  enum clr_state_fault fault)
{
    const struct clr_aggregate_function *function = clr_function_of(sql);
    char must[64];

    if (argument->kind != CLR_KIND_BLOB) {
        sqlite3_snprintf(sizeof must, must, "the argument must be a state of %s",
                         function->aggregate->name);
        return clr_function_refuse(sql, must, argument);
    }
    clr_set_error(sql, "%s: the argument is not a state of %s: %s", function->name,
                  function->aggregate->name, clr_state_fault_text(fault, argument->bytes));
    return CLR_INVALID;
}

static enum clr_code merge_argument(sqlite3_context *sql, void *context, sqlite3_value *argument,
                                    int weight)
{
    enum clr_state_fault fault = CLR_STATE_NOT_A_STATE;
    enum clr_code code = CLR_OK;
    struct clr_value state;

    if (!clr_value_read(argument, &state))
        return CLR_NOMEM;
    if (state.kind == CLR_KIND_BLOB)
        code = clr_function_of(sql)->callbacks->merge(sql, context, &state, weight, &fault);
    return code == CLR_OK && fault != CLR_STATE_SOUND ? refuse_state(sql, &state, fault) : code;
}

static void merge(sqlite3_context *sql, sqlite3_value *argument, int weight)
{
    const struct clr_float_environment before = clr_float_environment_begin();
    void *context;

    if (sqlite3_value_type(argument) != SQLITE_NULL) {
        context = sqlite3_aggregate_context(sql, clr_function_of(sql)->callbacks->size);
        if (context == NULL)
            sqlite3_result_error_nomem(sql);
        else
            clr_function_report(sql, context, merge_argument(sql, context, argument, weight));
    }
    clr_float_environment_end(&before);
}

static void merge_step(sqlite3_context *sql, int count, sqlite3_value **values)
{
    (void)count;
    merge(sql, values[0], 1);
}

static void merge_inverse(sqlite3_context *sql, int count, sqlite3_value **values)
{
    (void)count;
    merge(sql, values[0], -1);
}

/* Sets the result. Inlined: a GROUP BY may have millions of groups. */
static inline __attribute__((always_inline)) void
show(sqlite3_context *sql, const struct clr_aggregate_function *function, void *context, bool last)
{
    struct clr_output output;

    clr_output_init(&output);
    function->callbacks->show(function, context, last, &output);
    if (output.code == CLR_LIMIT || output.code == CLR_STOPPED)
        clr_function_report(sql, context, output.code);
    else
        clr_output_set(sql, &output);
}

static void value(sqlite3_context *sql)
{
    const struct clr_float_environment before = clr_float_environment_begin();

    show(sql, clr_function_of(sql), sqlite3_aggregate_context(sql, 0), false);
    clr_float_environment_end(&before);
}

/* Also runs when a statement is aborted (clause 8). */
static void final(sqlite3_context *sql)
{
    const struct clr_float_environment before = clr_float_environment_begin();
    const struct clr_aggregate_function *function = clr_function_of(sql);
    void *context = sqlite3_aggregate_context(sql, 0);

    show(sql, function, context, true);
    if (context != NULL)
        function->callbacks->end(function->connection, context);
    clr_float_environment_end(&before);
}

/* ---- Registration. */

static void free_function(void *pointer)
{
    struct clr_aggregate_function *function = pointer;

    /* The application may have replaced it. */
    function->connection->replaced = function->connection->complete;
    clr_connection_release(function->connection);
    clr_memory_free(function);
}

static int register_form(struct clr_connection *connection, const struct clr_aggregate *aggregate,
                         enum clr_form form, const char *name, int encoding)
{
    const bool merges = form & CLR_FORM_MERGE;
    const int flags = encoding | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS |
                      (clr_aggregate_gives_json(aggregate, form) ? CLR_RESULT_SUBTYPE : 0);
    struct clr_aggregate_function *function = clr_memory_alloc(sizeof *function);

    if (function == NULL)
        return SQLITE_NOMEM;
    function->connection = clr_connection_retain(connection);
    function->aggregate = aggregate;
    function->callbacks = callbacks[aggregate->needs];
    function->form = form;
    snprintf(function->name, sizeof function->name, "%s%s", name, clr_form_suffix(form));
    /* On failure SQLite itself calls the destructor. */
    return sqlite3_create_window_function(
        connection->db, function->name, merges ? 1 : aggregate->arguments, flags, function,
        merges ? merge_step : function->callbacks->steps[aggregate->arguments > 1], final, value,
        merges ? merge_inverse : inverse, free_function);
}

int clr_aggregates_register(struct clr_connection *connection)
{
    const struct clr_aggregate *aggregate;
    int rc = SQLITE_OK, form;

    for (aggregate = clr_aggregates; aggregate->name != NULL; aggregate++) {
        int forms = aggregate->state != 0 ? CLR_FORMS : 1;
        for (form = 0; form < forms && rc == SQLITE_OK; form++)
            rc = register_form(connection, aggregate, (enum clr_form)form, aggregate->name,
                               SQLITE_UTF8);
    }
    return rc;
}

int clr_aggregate_override(struct clr_connection *connection, const struct clr_aggregate *aggregate)
{
    const bool replaced = connection->replaced;
    int rc =
        register_form(connection, aggregate, CLR_FORM_VALUE, aggregate->builtin, SQLITE_UTF16LE);

    /* A function that SQLite has not taken goes as if it was replaced. */
    if (rc != SQLITE_OK)
        connection->replaced = replaced;
    return rc;
}

#include "sqlite/aggregates.h"

#include "base/memory.h"
#include "sqlite/extremes.h"
#include "sqlite/function.h"
#include "sqlite/sums.h"

#include <stdio.h>

static const struct clr_callbacks single = {clr_single_step, clr_sums_final, clr_sums_value,
                                            clr_sums_inverse};
static const struct clr_callbacks pair = {clr_pair_step, clr_sums_final, clr_sums_value,
                                          clr_sums_inverse};
static const struct clr_callbacks least = {clr_min_step, clr_extreme_final, clr_extreme_value,
                                           clr_extreme_inverse};
static const struct clr_callbacks greatest = {clr_max_step, clr_extreme_final, clr_extreme_value,
                                              clr_extreme_inverse};

/* The table of all aggregates: a new one is a new row. */
static const struct clr_aggregate aggregates[] = {
    {"gpu_sum", 1, &single, NULL, CLR_SUM, CLR_S_SUM},
    {"gpu_total", 1, &single, NULL, CLR_SUM, CLR_S_TOTAL},
    {"gpu_avg", 1, &single, NULL, CLR_SUM, CLR_S_AVG},
    {"gpu_dot", 2, &pair, NULL, CLR_DOT, CLR_S_SUM},
    {"gpu_min", 1, &least, NULL, CLR_EXTREMES, -1},
    {"gpu_max", 1, &greatest, NULL, CLR_EXTREMES, 1},
};

static const char *const suffixes[CLR_FORMS] = {
    [CLR_FORM_VALUE] = "",
    [CLR_FORM_STATE] = "_state",
    [CLR_FORM_MERGE] = "_merge",
    [CLR_FORM_STATE_MERGE] = "_state_merge",
};

static void free_function(void *pointer)
{
    struct clr_function *function = pointer;

    clr_connection_replace(function->connection);
    clr_memory_free(function);
}

static int register_form(struct clr_connection *connection, const struct clr_aggregate *aggregate,
                         enum clr_form form)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    const bool merges = form == CLR_FORM_MERGE || form == CLR_FORM_STATE_MERGE;
    const struct clr_callbacks *callbacks = merges ? aggregate->merges : aggregate->values;
    struct clr_function *function = clr_memory_alloc(sizeof *function);

    if (function == NULL)
        return SQLITE_NOMEM;
    function->connection = clr_connection_retain(connection);
    function->aggregate = aggregate;
    function->form = form;
    snprintf(function->name, sizeof function->name, "%s%s", aggregate->name, suffixes[form]);
    /* On failure SQLite itself calls the destructor. */
    return sqlite3_create_window_function(
        connection->db, function->name, merges ? 1 : aggregate->arguments, flags, function,
        callbacks->step, callbacks->final, callbacks->value, callbacks->inverse, free_function);
}

int clr_aggregates_register(struct clr_connection *connection)
{
    int rc = SQLITE_OK, form;
    size_t i;

    for (i = 0; i < sizeof aggregates / sizeof aggregates[0]; i++) {
        int forms = aggregates[i].merges != NULL ? CLR_FORMS : 1;
        for (form = 0; form < forms && rc == SQLITE_OK; form++)
            rc = register_form(connection, &aggregates[i], (enum clr_form)form);
    }
    return rc;
}

#include "sqlite/aggregates.h"

#include "sqlite/extremes.h"
#include "sqlite/sums.h"

/* The table of all aggregates: a new one is a new row. */
static const struct aggregate {
    const char *name;
    int arguments;
    void (*step)(sqlite3_context *, int, sqlite3_value **);
    void (*final)(sqlite3_context *);
    void (*value)(sqlite3_context *);
    void (*inverse)(sqlite3_context *, int, sqlite3_value **);
} aggregates[] = {
    {"gpu_sum", 1, clr_sum_step, clr_sum_final, clr_sum_value, clr_sum_inverse},
    {"gpu_total", 1, clr_sum_step, clr_total_final, clr_total_value, clr_sum_inverse},
    {"gpu_avg", 1, clr_sum_step, clr_avg_final, clr_avg_value, clr_sum_inverse},
    {"gpu_dot", 2, clr_dot_step, clr_sum_final, clr_sum_value, clr_dot_inverse},
    {"gpu_min", 1, clr_min_step, clr_extreme_final, clr_extreme_value, clr_extreme_inverse},
    {"gpu_max", 1, clr_max_step, clr_extreme_final, clr_extreme_value, clr_extreme_inverse},
};

int clr_aggregates_register(struct clr_connection *connection)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    int rc = SQLITE_OK;
    size_t i;

    for (i = 0; i < sizeof aggregates / sizeof aggregates[0] && rc == SQLITE_OK; i++) {
        const struct aggregate *row = &aggregates[i];
        /* On failure SQLite itself calls the destructor. */
        rc = sqlite3_create_window_function(
            connection->db, row->name, row->arguments, flags, clr_connection_retain(connection),
            row->step, row->final, row->value, row->inverse, clr_connection_replace);
    }
    return rc;
}

#include "sqlite/acceleration.h"

struct clr_acceleration {
    int unused;
};

struct clr_acceleration *clr_acceleration_new(struct clr_connection *connection,
                                              const struct clr_select *select)
{
    (void)connection, (void)select;
    return sqlite3_malloc(sizeof(struct clr_acceleration));
}

void clr_acceleration_free(struct clr_acceleration *acceleration)
{
    sqlite3_free(acceleration);
}

int clr_acceleration_run(struct clr_acceleration *acceleration, sqlite3_value *const *parameters,
                         sqlite3_stmt **answer)
{
    (void)acceleration, (void)parameters, (void)answer;
    return SQLITE_OK;
}

const char *clr_acceleration_explain(struct clr_acceleration *acceleration, int i)
{
    (void)acceleration;
    return i == 0 ? "row by row" : NULL;
}

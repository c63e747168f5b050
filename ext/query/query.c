#include "query/query.h"

enum clr_code clr_query_parse(const char *sql, struct clr_query **query, struct clr_status *status)
{
    (void)sql, (void)query;
    return clr_status_set(status, CLR_INVALID, 0, "stub");
}

enum clr_code clr_query_bind(struct clr_query *query, const struct clr_environment *environment,
                             struct clr_status *status)
{
    (void)query, (void)environment;
    return clr_status_set(status, CLR_INVALID, 0, "stub");
}

void clr_query_free(struct clr_query *query)
{
    (void)query;
}

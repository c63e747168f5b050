/* The statement that makes the result row of the aggregates' values. */
#ifndef CLR_QUERY_RESULT_ROW_H
#define CLR_QUERY_RESULT_ROW_H

#include "query/query.h"

/* Writes query->answer, once the parameters have their numbers. rowid: its name, if the query has
   rows. Returns CLR_OK or CLR_NOMEM. */
enum clr_code clr_result_row_write(struct clr_query *query,
                                   const struct clr_environment *environment, const char *rowid);

#endif

/*
 * Operands: expressions of a query without columns that SQLite evaluates once a run, such as
 * date('now', '-7 days'), and the constants of a scan that are made of these and of parameters.
 */
#ifndef CLR_SQLITE_OPERANDS_H
#define CLR_SQLITE_OPERANDS_H

#include "query/query.h"
#include "query/reason.h"
#include "sqlite/api.h"

/* The values of a run: the SELECT's parameters, from ?1 on, and behind them the operands, as the
   query numbers them. */
struct clr_operands {
    sqlite3_value **values; /* NULL: a parameter that is not given */
    int count;
    int first; /* operand: those before are the caller's */
};

/*
 * Fills in the values, of a query whose parameters are given up to parameter_count, and has SQLite
 * evaluate the operands, all in one statement. To be freed with clr_operands_free() in any case.
 * Returns SQLITE_OK, with the reason set if SQLite reports an error, which is then the SELECT's to
 * report; SQLITE_NOMEM or SQLITE_INTERRUPT.
 */
int clr_operands_evaluate(sqlite3 *db, const struct clr_query *query,
                          sqlite3_value *const *parameters, int parameter_count,
                          struct clr_operands *operands, struct clr_reason *reason);

/* Zeros are fine. */
void clr_operands_free(struct clr_operands *operands);

/* Stores the query's constants that are parameters, operands or bounds: see clr_query_run_begin().
   A value that is not given is NULL. Returns SQLITE_OK or SQLITE_NOMEM. */
int clr_operands_read(const struct clr_operands *operands, const struct clr_query *query,
                      struct clr_scalar *constants);

#endif

/*
 * SELECTs of which a scan can compute a part of WHERE alone: it finds the rows for which that part
 * is true, and SQLite runs the SELECT over these.
 */
#ifndef CLR_QUERY_PARTIAL_H
#define CLR_QUERY_PARTIAL_H

#include "query/binding/emit.h"

/*
 * Binds the query, which could not be bound as a whole, as one of rows: with the terms of WHERE
 * that can be. What is in its expressions must have been found out. Stores the rowid's name.
 * Returns CLR_OK, CLR_INVALID, with what could not be bound first as the reason, or CLR_NOMEM.
 */
enum clr_code clr_partial_bind(struct clr_binder *binder, const char **rowid);

#endif

/* In which order an index has its records. */
#ifndef CLR_SQLITE_KEY_ORDERS_H
#define CLR_SQLITE_KEY_ORDERS_H

#include "sqlite/api.h"
#include "storage/format/source.h"

/*
 * Finds the orders of an index's first columns, which are known as long as their collating
 * sequences are BINARY. The index may be the one for the primary key of a WITHOUT ROWID table.
 * Returns SQLITE_OK or SQLITE_NOMEM.
 */
int clr_key_orders_find(sqlite3 *db, const char *schema, const char *index,
                        struct clr_key_orders *orders);

#endif

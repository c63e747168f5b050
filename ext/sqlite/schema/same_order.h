/*
 * Whether the rows of a statement stay in their order when SELECTs in it are read from elsewhere:
 * told by the code that SQLite makes of both texts.
 */
#ifndef CLR_SQLITE_SAME_ORDER_H
#define CLR_SQLITE_SAME_ORDER_H

#include "query/syntax/selects.h"
#include "sqlite/api.h"

#include <stdbool.h>

/* The SELECTs that are read from virtual tables, and where one of them may stand. */
struct clr_replaced {
    int count;
    const char *selects[CLR_MOST_SELECTS]; /* as statements by themselves */
    int columns;                           /* of all of them together */
    bool are_joined;                       /* with other tables */
    bool are_named;                        /* as an arm of a compound whose ORDER BY has names */
    bool are_sets;                         /* as a distinct arm of a compound */
};

/*
 * Finds out whether the rows of a statement, as it is and as it becomes, come in the same order.
 * SQLite has to go over the same b-trees in the statement as in what comes of it and in the
 * replaced SELECTs by themselves, and to sort as often: it may have moved a condition into one, and
 * find its rows by an index, or group by its order. In which order a virtual table finds what is
 * DISTINCT does not matter: such rows are sorted. Where a SELECT is joined the loops have to be the
 * same, too, and where an arm's rows are distinct, the compound must tell them apart as well: it
 * may give the last one of those that are equal to it. Returns SQLITE_OK, SQLITE_NOTFOUND if not,
 * or SQLITE_NOMEM.
 */
int clr_same_order(sqlite3 *db, const char *plain, const char *changed,
                   const struct clr_replaced *replaced);

#endif

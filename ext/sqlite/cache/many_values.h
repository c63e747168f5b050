/*
 * Columns that have too many different values for a dictionary: what was found once for a version
 * of the database is not found again for the same, and for later ones only once in a while.
 */
#ifndef CLR_SQLITE_MANY_VALUES_H
#define CLR_SQLITE_MANY_VALUES_H

#include "base/backoff.h"
#include "sqlite/database/snapshot.h"

#include <stdbool.h>

/* One column, in a list of those of an image. */
struct clr_many_values {
    struct clr_many_values *next;
    int index;                         /* of the image's field */
    struct clr_database_version token; /* of the version for which it was found */
    struct clr_backoff skips;          /* queries of other versions that do without */
};

/* Takes note of a query that needs the column in that version. Returns whether the column is to be
   taken for one with too many values. */
bool clr_many_values_expected(struct clr_many_values *list, int index,
                              const struct clr_database_version *token);

/* Takes note that it has. Without memory it is found again. */
void clr_many_values_found(struct clr_many_values **list, int index,
                           const struct clr_database_version *token);

/* Takes note that it has not. */
void clr_many_values_forget(struct clr_many_values **list, int index);

void clr_many_values_free(struct clr_many_values **list);

#endif

/* A column of a table, as it is found in records. */
#ifndef CLR_STORAGE_FIELD_H
#define CLR_STORAGE_FIELD_H

#include "numeric/values/column.h"

#include <stdbool.h>

enum { CLR_FIELD_ROWID = -1 };

struct clr_field {
    int index;    /* of the column in the records, from 0, or CLR_FIELD_ROWID */
    bool is_real; /* REAL affinity: an INTEGER in the record is a REAL that was stored short */
    /* The column is to have the bytes of TEXT and BLOBs. No two such fields have one index; of the
       rowid it means nothing. */
    bool with_bytes;
    /* The column is declared NOT NULL. A NULL in it ends the load with CLR_LOAD_UNSURE: SQLite may
       take tests for it to be settled, and then again not. */
    bool never_null;
    /* The value of rows whose record ends before this column. UNSURE: such a row ends the load with
       CLR_LOAD_UNSUPPORTED, and so does one of OTHER if bytes are wanted. */
    struct clr_scalar missing;
};

struct clr_want;

/*
 * Returns the wants (see record.h) for those fields, ascending by index, with the fields' numbers
 * as positions; to be freed with clr_memory_free(). NULL without memory.
 */
struct clr_want *clr_field_wants(const struct clr_field *fields, int count);

#endif

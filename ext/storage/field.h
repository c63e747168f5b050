/* A column of a table, as it is found in records. */
#ifndef CLR_STORAGE_FIELD_H
#define CLR_STORAGE_FIELD_H

#include "numeric/column.h"

#include <stdbool.h>

enum { CLR_FIELD_ROWID = -1 };

struct clr_field {
    int index;    /* of the column in the records, from 0, or CLR_FIELD_ROWID */
    bool is_real; /* REAL affinity: an INTEGER in the record is a REAL that was stored short */
    /* The value of rows whose record ends before this column. UNSURE: such a row ends the load with
       CLR_LOAD_UNSUPPORTED. */
    struct clr_scalar missing;
};

#endif

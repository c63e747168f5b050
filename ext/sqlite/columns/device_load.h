/* Columns loaded from pages, which devices decode where they can answer the query. */
#ifndef CLR_SQLITE_DEVICE_LOAD_H
#define CLR_SQLITE_DEVICE_LOAD_H

#include "sqlite/columns/column_source.h"

struct clr_device_load {
    /* What to load. */
    int count;
    const char *names[CLR_MOST_COLUMNS];
    struct clr_field fields[CLR_MOST_COLUMNS];

    /* What came of it; the columns have one reference each. */
    struct clr_column *columns[CLR_MOST_COLUMNS];
    struct clr_load_report report;
    struct clr_status status;
    /* If devices have decoded them, which then have them: the first one's name, how many they are,
       and copies with one reference each. */
    const char *device;
    int device_count;
    struct clr_sharded *copies[CLR_MOST_COLUMNS];
};

/* Calls clr_load() for the request's image, whose snapshot is open. */
enum clr_load_outcome clr_device_load(struct clr_column_request *request,
                                      struct clr_device_load *load);

#endif

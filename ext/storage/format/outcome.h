/* How a load or a stream ends. */
#ifndef CLR_STORAGE_OUTCOME_H
#define CLR_STORAGE_OUTCOME_H

#include <stdint.h>

enum clr_load_outcome {
    CLR_LOAD_DONE,
    CLR_LOAD_STOPPED,     /* as watch asked */
    CLR_LOAD_MALFORMED,   /* a page is not as it must be: its number is in the report */
    CLR_LOAD_UNSUPPORTED, /* not a rowid table, or a row that only SQLite can read */
    CLR_LOAD_TOO_LARGE,   /* more rows, or bytes of TEXT and BLOBs, than there may be */
    CLR_LOAD_MANY_VALUES, /* too many for codes, of the field that the report tells */
    CLR_LOAD_UNSURE,      /* as CLR_SCAN_UNSURE: there is a value that only SQLite can treat */
    CLR_LOAD_FAILED       /* no memory, or a read failed: status, with SQLite's code in error */
};

struct clr_load_report {
    int64_t bytes_read;
    uint32_t page; /* of CLR_LOAD_MALFORMED */
    int field;     /* of CLR_LOAD_MANY_VALUES: its number among those that were to be loaded */
};

#endif

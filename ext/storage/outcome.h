/* How a load ends. */
#ifndef CLR_STORAGE_OUTCOME_H
#define CLR_STORAGE_OUTCOME_H

enum clr_load_outcome {
    CLR_LOAD_DONE,
    CLR_LOAD_STOPPED,     /* as watch asked */
    CLR_LOAD_MALFORMED,   /* a page is not as it must be: its number is in the report */
    CLR_LOAD_UNSUPPORTED, /* not a rowid table, or a row that only SQLite can read */
    CLR_LOAD_TOO_LARGE,   /* more rows than the layout's limit */
    CLR_LOAD_FAILED       /* no memory, or a read failed: status, with SQLite's code in cl_error */
};

#endif

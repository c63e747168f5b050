/* The values of a query's keys and calls for each of its groups, finished. */
#ifndef CLR_SQLITE_GROUP_VALUES_H
#define CLR_SQLITE_GROUP_VALUES_H

#include "engine/worker/team.h"
#include "numeric/groups/groups.h"
#include "numeric/values/bytes.h"
#include "query/query_run.h"

/* The values of a key or a call, group by group. */
struct clr_group_column {
    uint8_t *tags; /* INTEGER, REAL, NULL, or BYTES: then the bits are an address in bytes */
    int64_t *bits;
};

struct clr_group_values {
    size_t rows; /* groups */
    int key_count, call_count;
    struct clr_group_column *columns; /* those of keys, and then those of calls */
    struct clr_bytes bytes;           /* of TEXT, in UTF-8, and of BLOBs */
    void *memory;                     /* of the columns */
};

/*
 * Finishes the calls of a run for each of its groups. memory: bytes that the values may take.
 * Returns CLR_SCAN_DONE, to be freed with clr_group_values_free(); CLR_SCAN_UNSURE if SQLite's own
 * result may be another one, or an error, for one of the groups; CLR_SCAN_LIMIT; CLR_SCAN_STOPPED
 * as the watch asks; or CLR_SCAN_FAILED without memory.
 */
enum clr_scan_outcome clr_group_values_make(struct clr_query_run *run,
                                            const struct clr_groups *groups, uint64_t memory,
                                            const struct clr_watch *watch,
                                            struct clr_group_values **values);

/* NULL is fine. */
void clr_group_values_free(struct clr_group_values *values);

#endif

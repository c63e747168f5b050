/*
 * The different values among portions, and the most frequent of them: numbers, equal as in
 * distinct.h; and TEXT and BLOBs, equal if they have one kind and the same bytes.
 */
#ifndef CLR_NUMERIC_DISTINCT_COUNTING_H
#define CLR_NUMERIC_DISTINCT_COUNTING_H

#include "base/status.h"
#include "numeric/distinct/distinct.h"
#include "numeric/order/portions.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Stores the result for the portions' numbers; of it count and mode only if with_mode. memory: the
 * bytes that it may take. seed: as for clr_distinct_init(). Returns CLR_OK, CLR_NOMEM, CLR_LIMIT or
 * CLR_STOPPED.
 */
enum clr_code clr_portions_distinct(const struct clr_portions *portions, bool with_mode,
                                    uint64_t memory, uint64_t seed,
                                    struct clr_distinct_result *result);

/* A portion's TEXT and BLOBs: their addresses (numeric/values/bytes.h). */
struct clr_bytes_run {
    const int64_t *addresses;
    size_t count;
};

/* Likewise for the TEXT and BLOBs of the runs, one for each portion, whose numbers are not looked
   at. The mode's bytes are where its address says. */
enum clr_code clr_portions_distinct_bytes(const struct clr_portions *portions,
                                          const struct clr_bytes_run *runs, bool with_mode,
                                          uint64_t memory, uint64_t seed,
                                          struct clr_distinct_result *result);

#endif

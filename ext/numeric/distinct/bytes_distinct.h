/*
 * The different TEXT and BLOBs among portions, and the most frequent of them. Equal are values of
 * one kind with the same bytes. The method is that of distinct_counting.h.
 */
#ifndef CLR_NUMERIC_BYTES_DISTINCT_H
#define CLR_NUMERIC_BYTES_DISTINCT_H

#include "base/status.h"
#include "numeric/distinct/distinct_result.h"
#include "numeric/order/portions.h"

/* A portion: the addresses of its values (numeric/values/bytes.h). */
struct clr_bytes_run {
    const int64_t *addresses;
    size_t count;
};

/*
 * Stores the result for the values of the runs, one for each portion, whose own numbers are not
 * looked at; of it count and mode only if with_mode. The mode's bytes are where its address says.
 * memory: the bytes that it may take. seed: as for clr_distinct_init(). Returns CLR_OK, CLR_NOMEM,
 * CLR_LIMIT or CLR_STOPPED.
 */
enum clr_code clr_bytes_distinct(const struct clr_portions *portions,
                                 const struct clr_bytes_run *runs, bool with_mode, uint64_t memory,
                                 uint64_t seed, struct clr_distinct_result *result);

#endif

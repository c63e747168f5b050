/* The different numbers among portions, and the most frequent of them. Equal are numbers as in
   distinct.h. The method is that of distinct_counting.h. */
#ifndef CLR_NUMERIC_DISTINCT_PORTIONS_H
#define CLR_NUMERIC_DISTINCT_PORTIONS_H

#include "base/status.h"
#include "numeric/distinct/distinct_result.h"
#include "numeric/order/portions.h"

/*
 * Stores the result; of it count and mode only if with_mode. memory: the bytes that it may take.
 * seed: as for clr_distinct_init(). Returns CLR_OK, CLR_NOMEM, CLR_LIMIT or CLR_STOPPED.
 */
enum clr_code clr_portions_distinct(const struct clr_portions *portions, bool with_mode,
                                    uint64_t memory, uint64_t seed,
                                    struct clr_distinct_result *result);

#endif

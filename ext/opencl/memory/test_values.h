/* What self-tests have in common. For ext/opencl alone. */
#ifndef CLR_OPENCL_TEST_VALUES_H
#define CLR_OPENCL_TEST_VALUES_H

#include "numeric/states/state.h"
#include "opencl/memory/resident_column.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Stores `count` INTEGERs (CLR_TAG_INTEGER) of all sizes, or bits of REALs (CLR_TAG_REAL) with both
 * zeros, infinities and subnormals among them; a quarter of them are whole numbers between -512 and
 * 511. The same on every machine.
 */
void clr_test_values(int64_t *values, size_t count, uint8_t kind);

/* Returns the next of a sequence of random bits, which is the same on every machine. The seed is
   not 0. */
uint64_t clr_test_random(uint64_t *seed);

/* The seed that the self-tests begin with. */
#define CLR_TEST_SEED UINT64_C(88172645463325252)

/* Whether two ranges are the same. */
bool clr_test_same_range(const struct clr_range *a, const struct clr_range *b);

/*
 * Returns a column of that kind, as of clr_column_device_kind(), with the values or codes on the
 * device, and the tags if it has any; or NULL with CLR_NOMEM or CLR_DEVICE in status. frame: if the
 * kind is narrow, one that has the values, in 8 bytes each here.
 */
struct clr_resident_column *clr_test_column(struct clr_device *device, uint8_t kind,
                                            const struct clr_frame *frame, const void *values,
                                            const uint8_t *tags, size_t count,
                                            struct clr_status *status);

/* Returns a frame for a column of that kind, narrow or not, from the integer `least` on; decimals
   are thousandths. */
struct clr_frame clr_test_frame(uint8_t kind, int64_t least);

/* Returns the value that a frame, narrow or not, has in the place of another one. */
int64_t clr_test_frame_value(const struct clr_frame *frame, int64_t value);

#endif

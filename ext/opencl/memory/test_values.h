/* Values for the self-tests of what works on columns. For ext/opencl alone. */
#ifndef CLR_OPENCL_TEST_VALUES_H
#define CLR_OPENCL_TEST_VALUES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Stores `count` INTEGERs (CLR_TAG_INTEGER) of all sizes, or bits of REALs (CLR_TAG_REAL) with both
 * zeros, infinities and subnormals among them; a quarter of them are whole numbers between
 * -512 and 511. The same on
 * every machine.
 */
void clr_test_values(int64_t *values, size_t count, uint8_t kind);

#endif

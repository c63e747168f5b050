/* Scans done slowly: value by value, row by row, each added to the state by itself. */
#ifndef CLR_TESTS_SCAN_REFERENCE_H
#define CLR_TESTS_SCAN_REFERENCE_H

#include "numeric/scan/scan.h"

#include "../../kernels/arithmetic/reals.cl"
#include "../../kernels/scan/values.cl"
#include "../../kernels/scan/values_logic.cl"

/* What an operator gives of its operands; those that it does not have may be any. */
scalar reference_operate(enum clr_opcode opcode, scalar a, scalar b, scalar c);

/* Stores the value of each of the scan's instructions in a row. */
void reference_row(const struct clr_scan *scan, size_t row, scalar *values);

/* Stores the states of the scan's tallies. Returns CLR_SCAN_DONE or CLR_SCAN_UNSURE. */
enum clr_scan_outcome reference_scan(const struct clr_scan *scan, struct clr_state *states);

/* The same in the tallies; CLR_SCAN_NOT_NOW for what is done but on no device, since the product of
   an INTEGER and a REAL is not exact there. */
enum clr_scan_outcome reference_expect(struct clr_scan *scan);

bool reference_same_range(const struct clr_range *a, const struct clr_range *b);

/* Whether two states have the same answers. Of REALs it is no matter which part of a sum has them:
   a device may add whole ones as integers. */
bool reference_same_answer(struct clr_state *a, struct clr_state *b);

/* Whether also the parts of the sums that are for INTEGERs are the same. */
bool reference_same(struct clr_state *a, struct clr_state *b);

#endif

/* Operators value by value, as devices have them, and whether two states are the same. */
#ifndef CLR_TESTS_SCAN_REFERENCE_H
#define CLR_TESTS_SCAN_REFERENCE_H

#include "numeric/scan/scan.h"

#include "../../kernels/arithmetic/reals.cl"
#include "../../kernels/scan/values.cl"
#include "../../kernels/scan/values_logic.cl"

/* What an operator gives of its operands; those that it does not have may be any. */
scalar reference_operate(enum clr_opcode opcode, scalar a, scalar b, scalar c);

/* Whether two states have the same answers. Of REALs it is no matter which part of a sum has them:
   a device may add whole ones as integers. */
bool reference_same_answer(struct clr_state *a, struct clr_state *b);

/* Whether also the parts of the sums that are for INTEGERs are the same. */
bool reference_same(struct clr_state *a, struct clr_state *b);

#endif

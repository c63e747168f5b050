/* How large the numbers can be that expressions without columns have. */
#ifndef CLR_QUERY_MAGNITUDE_H
#define CLR_QUERY_MAGNITUDE_H

#include "query/binding/emit.h"

/* Up to here every INTEGER is a REAL. */
#define CLR_EXACT_INTEGERS 0x1p53

/* Stores the most that a number of an operand without columns, or a part of it, can be, in
   magnitude: of parameters as much as CLR_MOST_OF_A_PARAMETER. Returns false once it has failed. */
bool clr_magnitude_find(struct clr_binder *binder, struct clr_node *node, double *most);

#endif

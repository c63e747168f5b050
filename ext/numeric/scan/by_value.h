/* Instructions value by value, for whatever types the values have. */
#ifndef CLR_NUMERIC_BY_VALUE_H
#define CLR_NUMERIC_BY_VALUE_H

#include "numeric/scan/register.h"

/* Sets the result's values and tags, not its types, for a whole block. */
void clr_run_by_value(enum clr_opcode opcode, const struct clr_register *a,
                      const struct clr_register *b, const struct clr_register *c,
                      struct clr_register *result);

#endif

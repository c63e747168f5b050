/* The values that an instruction of a scan has for the rows of a block. */
#ifndef CLR_NUMERIC_REGISTER_H
#define CLR_NUMERIC_REGISTER_H

#include "numeric/scan/scan.h"

#include <stdint.h>

#define CLR_TYPE(tag) (1u << (tag))

/* The values of an instruction. types has CLR_TYPE(tag) for each type there is; a type that is
   missing in it has no row. */
struct clr_register {
    unsigned types;
    const int64_t *values; /* anything where the row is NULL, BYTES or UNSURE */
    const uint8_t *tags;
    int64_t *own_values; /* room for values that are not a column's */
    uint8_t *own_tags;
    const int64_t *reals; /* of a constant INTEGER that a double can have: it as REALs; else NULL */
};

#endif

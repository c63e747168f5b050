/* A finite double as an integer times a power of two. */
#ifndef CLR_NUMERIC_PARTS_H
#define CLR_NUMERIC_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The value is significand * 2^exponent, negated if negative; the significand is below 2^53. */
struct clr_parts {
    uint64_t significand;
    int exponent;
    bool negative;
};

/* Returns the parts of x, which is finite. */
static inline struct clr_parts clr_parts_of(double x)
{
    struct clr_parts parts;
    uint64_t bits;
    int biased;

    memcpy(&bits, &x, sizeof bits);
    parts.negative = bits >> 63;
    biased = (int)(bits >> 52 & 0x7ff);
    parts.significand = bits & 0xfffffffffffff;
    if (biased == 0)
        biased = 1;
    else
        parts.significand |= (uint64_t)1 << 52;
    parts.exponent = biased - 1075;
    return parts;
}

#endif

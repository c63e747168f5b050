/* A state of sums that was read and not yet believed, and bounds of what rows can make. */
#ifndef CLR_NUMERIC_STATE_CHECK_H
#define CLR_NUMERIC_STATE_CHECK_H

#include "numeric/states/state_format.h"

/* Every finite double, and so every sum of them, is a multiple of 2^CLR_LOWEST_BIT. */
enum { CLR_LOWEST_BIT = -1074 };

/* A sum in a state: size bytes that count units of 256^exponent, and what is not finite. */
struct clr_stored_sum {
    const unsigned char *bytes;
    size_t size;
    int exponent;
    bool negative;
    int64_t plus_infinity, minus_infinity, nan;
};

/* A state, taken apart; its sums are in the format's order. */
struct clr_stored_state {
    int64_t count, non_integers;
    struct clr_stored_sum sums[CLR_MOST_TERMS];
};

static inline int clr_stored_lowest_bit(const struct clr_stored_sum *sum)
{
    return 8 * sum->exponent + __builtin_ctz(sum->bytes[0]);
}

/* The size of a sum that is an integer of 24 bytes at most. */
static inline struct clr_int192 clr_stored_integer(const struct clr_stored_sum *sum)
{
    uint64_t word[3] = {0, 0, 0};
    size_t i;

    for (i = 0; i < sum->size; i++) {
        size_t at = (size_t)sum->exponent + i;
        word[at / 8] |= (uint64_t)sum->bytes[i] << (8 * (at % 8));
    }
    return (struct clr_int192){word[0], word[1], word[2]};
}

/*
 * Returns whether rows of that kind can have these counts and sums, as far as each sum's size,
 * lowest bit and sign tell, and which of them are infinite. What is left to ask is whether squares
 * and products agree with the sums (clr_moments_consistent).
 */
bool clr_stored_is_consistent(const struct clr_stored_state *state, enum clr_state_kind kind);

#endif

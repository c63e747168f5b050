/* Where numbers go that come one by one. */
#ifndef CLR_NUMERIC_FEED_H
#define CLR_NUMERIC_FEED_H

#include <stdint.h>

/*
 * Where the next number of each element type goes. The owner appends at real or integer while they
 * are short of their ends (of pairs the second operand at a distance that the owner knows), and
 * else asks for room. All zeros: there is none yet.
 */
struct clr_feed {
    double *real, *real_end;
    int64_t *integer, *integer_end;
};

#endif

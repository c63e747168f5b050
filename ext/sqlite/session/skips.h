/* What was found not to be worth its while is not tried again at once. */
#ifndef CLR_SQLITE_SKIPS_H
#define CLR_SQLITE_SKIPS_H

#include <limits.h>
#include <stdbool.h>

/* How often, mostly. */
enum { CLR_SKIPS = 256 };

/* Zeros: nothing is held back. */
struct clr_skips {
    int left; /* how often it is still to be left out; INT_MAX: always */
};

/* Takes note of one occasion. Returns whether it is to be left out. */
static inline bool clr_skips_take(struct clr_skips *skips)
{
    if (skips->left == 0)
        return false;
    skips->left -= skips->left < INT_MAX;
    return true;
}

#endif

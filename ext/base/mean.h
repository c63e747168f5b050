/* What something takes, in the mean of about the latest eight times. */
#ifndef CLR_BASE_MEAN_H
#define CLR_BASE_MEAN_H

#include <stdint.h>

/* Returns the mean with one more time; 0 as a mean: there were none. */
static inline int64_t clr_mean_with(int64_t mean, int64_t latest)
{
    return mean == 0 ? latest : mean + (latest - mean) / 8;
}

#endif

/* What is asked of all values of a tally together: order statistics, the mode, distinct values and
   histograms. */
#ifndef CLR_NUMERIC_QUESTION_H
#define CLR_NUMERIC_QUESTION_H

#include "numeric/bins/bins.h"

enum clr_question_kind {
    CLR_ASK_BETWEEN,  /* the value at a fraction of the way, between two if need be; a REAL */
    CLR_ASK_AT,       /* the last value that is not past that; as a REAL */
    CLR_ASK_MODE,     /* the most frequent value, the least of several */
    CLR_ASK_DISTINCT, /* how many different values there are, an INTEGER */
    CLR_ASK_BINS      /* how many values each bin has */
};

struct clr_question {
    enum clr_question_kind kind;
    int tally;            /* of values that are kept; for the first two kinds also of extremes */
    double fraction;      /* of the first two kinds: 0 .. 1 */
    struct clr_bins bins; /* of CLR_ASK_BINS */
    /* The answer; of CLR_ASK_BINS bins.count + 2 counts, in the caller's memory: of what is below,
       of each bin, of what is above. Else a value, of kind CLR_KIND_NONE if there are no values. */
    uint64_t *counts;
    struct clr_value answer;
};

#endif

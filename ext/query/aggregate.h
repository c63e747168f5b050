/* The aggregate functions that a query calls. */
#ifndef CLR_QUERY_AGGREGATE_H
#define CLR_QUERY_AGGREGATE_H

#include "numeric/exact/chunk.h"
#include "numeric/exact/moments.h"
#include "numeric/scan/question.h"

#include <stdbool.h>

/* The aggregate functions that a scan can compute; each has SQLite's name, or with gpu_ in front.
 */
enum clr_function {
    CLR_F_COUNT, /* count(*), count(x): SQLite's own alone */
    CLR_F_SUM,
    CLR_F_TOTAL,
    CLR_F_AVG,
    CLR_F_MIN,
    CLR_F_MAX,
    CLR_F_DOT,     /* gpu_dot alone */
    CLR_F_MOMENTS, /* those of one or two quantities, ours alone */
    CLR_F_ORDER    /* those of all values together, ours alone */
};

/* The functions of CLR_F_ORDER. */
enum clr_order_function {
    CLR_ORDER_MEDIAN,
    CLR_ORDER_PERCENTILE, /* (x, p), p from 0 to 100 */
    CLR_ORDER_CONT,       /* (x, f), f from 0 to 1 */
    CLR_ORDER_DISC,       /* (x, f), f from 0 to 1 */
    CLR_ORDER_MODE,
    CLR_ORDER_DISTINCT,
    CLR_ORDER_HISTOGRAM /* (x, low, high, bins) */
};

/* A call of an aggregate; equal arguments and filters share tallies. */
struct clr_call {
    enum clr_function function;
    enum clr_operation operation; /* CLR_EXTREMES of min and max; of count() any */
    enum clr_statistic statistic; /* of CLR_F_MOMENTS */
    bool state;                   /* gpu_X_state(): the state instead of the value */
    bool merge;                   /* gpu_X_merge(), gpu_X_state_merge(): of states */
    const char *name;             /* of the function X: constant */
    bool
        builtin; /* SQLite's own: the tally has the extremes as well, which tell if results agree */
    int tally;   /* has the counts */
    int question; /* of CLR_F_ORDER */
    /* The tallies whose sums are the operation's terms (clr_operation_terms()); -1: not needed. */
    int terms[CLR_MOST_TERMS];
};

enum { CLR_MOST_CALLS = 64, CLR_MOST_CONSTANTS = 128, CLR_MOST_ARGUMENTS = 3 };

/* What a function of CLR_F_ORDER asks; equal calls share it. */
struct clr_asked {
    enum clr_order_function order;
    int tally;
    int arguments[CLR_MOST_ARGUMENTS]; /* constants: those beside x; -1: there is none */
};

#endif

/* The calls of aggregates in a query. */
#ifndef CLR_QUERY_AGGREGATE_H
#define CLR_QUERY_AGGREGATE_H

#include "numeric/states/aggregate_table.h"

#include <stdbool.h>

/* A call of an aggregate; equal arguments and filters share tallies. */
struct clr_call {
    const struct clr_aggregate *aggregate;
    enum clr_form form;
    /* SQLite's own: of sums the tally has the extremes as well, which tell if results agree. */
    bool builtin;
    bool is_exact; /* by that name it is ours: results need not be known to agree */
    int tally;     /* has the counts */
    int question;  /* where all values are needed together: CLR_NEEDS_ORDER and beyond */
    /* The tallies whose sums are the operation's terms (clr_operation_terms()); -1: not needed. */
    int terms[CLR_MOST_TERMS];
};

/* Room for the name of a collating sequence. */
enum { CLR_COLLATION_NAME = 32 };

enum { CLR_MOST_CALLS = 256, CLR_MOST_CONSTANTS = 512, CLR_MOST_ARGUMENTS = 3 };

/* What is asked of all values together; equal calls share it. */
struct clr_asked {
    const struct clr_aggregate *aggregate;
    int tally;
    int arguments[CLR_MOST_ARGUMENTS]; /* constants: those beside x; -1: there is none */
};

/* Whether an aggregate needs all values together, and so asks a question of them. */
static inline bool clr_aggregate_asks(const struct clr_aggregate *aggregate)
{
    return aggregate->needs >= CLR_NEEDS_ORDER;
}

/* The name by which a query calls the aggregate, without the form's suffix. */
static inline const char *clr_call_name(const struct clr_call *call)
{
    return call->builtin ? call->aggregate->builtin : call->aggregate->name;
}

#endif

/*
 * The table of aggregates: how each is called, what it needs to know of its rows, and what it makes
 * of that. SQL functions, views and the views' probes read it; a new aggregate is a new line.
 */
#ifndef CLR_NUMERIC_AGGREGATE_TABLE_H
#define CLR_NUMERIC_AGGREGATE_TABLE_H

#include "numeric/exact/operation.h"
#include "numeric/states/state_format.h"

/* What an aggregate needs to know of its rows. */
enum clr_need {
    CLR_NEEDS_COUNT,       /* how many there are: SQLite's count() alone */
    CLR_NEEDS_SUMS,        /* exact sums: the operation says of what */
    CLR_NEEDS_EXTREME,     /* the least or the greatest value */
    CLR_NEEDS_ORDER,       /* all numbers, in order */
    CLR_NEEDS_FREQUENCIES, /* the different values, and how often each is there */
    CLR_NEEDS_BINS         /* what is counted of numbers: an enum clr_counted */
};

/* What is made of one sum. What is made of several is an enum clr_statistic. */
enum clr_total { CLR_TOTAL_SUM, CLR_TOTAL_TOTAL, CLR_TOTAL_AVG };

/* What is made of all numbers, in order. */
enum clr_percentile {
    CLR_MEDIAN,
    CLR_PERCENTILE,      /* (x, p), p from 0 to 100 */
    CLR_PERCENTILE_CONT, /* (x, f), f from 0 to 1 */
    CLR_PERCENTILE_DISC  /* (x, f), f from 0 to 1; the value itself, not interpolated */
};

/* What is made of how often each value is there. */
enum clr_frequency { CLR_MODE, CLR_COUNT_DISTINCT };

struct clr_aggregate {
    const char *name;
    const char *builtin; /* SQLite's own aggregate that a view computes too, or NULL */
    int arguments;
    enum clr_need needs;
    enum clr_operation operation; /* of SUMS and EXTREME: what a scan of the values finds */
    enum clr_state_kind state;    /* 0: it has no form with states */
    /* What is made of what is known: of SUMS an enum clr_total for the operations CLR_SUM and
       CLR_DOT, else an enum clr_statistic; of EXTREME -1 for the least and 1 for the greatest; of
       ORDER an enum clr_percentile; of FREQUENCIES an enum clr_frequency; of BINS what is
       counted, an enum clr_counted. */
    int finish;
};

/* All aggregates of this library; the name after the last one is NULL. */
extern const struct clr_aggregate clr_aggregates[];

/*
 * The forms in which an aggregate F exists: F(x) itself; F_state(x), which gives its state as a
 * BLOB; F_merge(state), which takes such BLOBs for F's value; F_state_merge(state), which takes
 * them for one more state.
 */
enum clr_form {
    CLR_FORM_VALUE = 0,
    CLR_FORM_STATE = 1, /* a bit: the state is what it gives */
    CLR_FORM_MERGE = 2, /* a bit: states are what it takes */
    CLR_FORM_STATE_MERGE = CLR_FORM_STATE | CLR_FORM_MERGE,
    CLR_FORMS
};

/* Returns what follows F in the name of the form: a constant. */
const char *clr_form_suffix(enum clr_form form);

/* Whether an aggregate gives JSON in the form. */
static inline bool clr_aggregate_gives_json(const struct clr_aggregate *aggregate,
                                            enum clr_form form)
{
    return aggregate->needs == CLR_NEEDS_BINS && !(form & CLR_FORM_STATE) &&
           clr_countings[aggregate->finish].value == NULL;
}

#endif

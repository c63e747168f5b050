/*
 * The table of aggregates: how each is called, what it needs to know of its rows, and what it makes
 * of that. SQL functions, views and the views' probes read it; a new aggregate is a new line.
 */
#ifndef CLR_NUMERIC_AGGREGATE_TABLE_H
#define CLR_NUMERIC_AGGREGATE_TABLE_H

#include "base/status.h"
#include "numeric/bins/bins.h"
#include "numeric/exact/operation.h"
#include "numeric/states/state.h"
#include "numeric/states/state_format.h"
#include "numeric/values/value.h"

/* What an aggregate needs to know of its rows. */
enum clr_need {
    CLR_NEEDS_COUNT,       /* how many there are: SQLite's count() alone */
    CLR_NEEDS_SUMS,        /* exact sums: the operation says of what */
    CLR_NEEDS_EXTREME,     /* the least or the greatest value */
    CLR_NEEDS_ORDER,       /* all numbers, in order */
    CLR_NEEDS_FREQUENCIES, /* the different values, and how often each is there */
    CLR_NEEDS_BINS,        /* how many numbers are in each of some bins */
    CLR_NEEDS_VALUES       /* the values, one after the other: SQLite's lists alone */
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

/* What is made of the values. */
enum clr_listing { CLR_LIST_OF_TEXT, CLR_LIST_OF_JSON };

struct clr_aggregate {
    const char *name;
    const char *builtin; /* SQLite's own aggregate that a view computes too, or NULL */
    int arguments;
    enum clr_need needs;
    enum clr_operation operation; /* of SUMS and EXTREME: what a scan of the values finds */
    enum clr_state_kind state;    /* 0: it has no form with states */
    /* What is made of what is known: of SUMS an enum clr_total for the operations CLR_SUM and
       CLR_DOT, else an enum clr_statistic; of EXTREME -1 for the least and 1 for the greatest; of
       ORDER an enum clr_percentile; of FREQUENCIES an enum clr_frequency; of VALUES an enum
       clr_listing. */
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
    return (aggregate->needs == CLR_NEEDS_BINS && !(form & CLR_FORM_STATE)) ||
           (aggregate->needs == CLR_NEEDS_VALUES && aggregate->finish == CLR_LIST_OF_JSON);
}

/*
 * ---- What an aggregate gives for what it knows of its rows: its value, or its state as bytes. The
 * same for rows that were fed one by one and for those of a scan.
 */

struct clr_output {
    enum clr_code code;     /* CLR_OK, CLR_NOMEM, or CLR_INVALID with an error */
    const char *error;      /* a constant */
    struct clr_value value; /* CLR_KIND_NONE is NULL, and so is a REAL that is NaN */
    bool is_json;           /* value is TEXT, and that is JSON */
    /* The value's bytes, if they took memory of their own, which whoever uses the output frees with
       clr_memory_free(). NULL: they are whoever's the value was, or in small. */
    void *memory;
    unsigned char small[CLR_STATE_LIMIT];
};

/* Makes the output NULL. small is left as it is, since it is large. */
static inline void clr_output_init(struct clr_output *output)
{
    output->code = CLR_OK;
    output->value.kind = CLR_KIND_NONE;
    output->is_json = false;
    output->memory = NULL;
}

/*
 * These store what an aggregate gives in the form: for CLR_FORM_STATE and CLR_FORM_STATE_MERGE its
 * state, else its value. The output has been made NULL.
 *
 * An aggregate of sums, whose sum of integers may not fit in 64 bits: that is an error. May
 * propagate carries in the sums, but keeps their values.
 */
void clr_finish_sums(const struct clr_aggregate *aggregate, enum clr_form form,
                     const struct clr_sums *sums, struct clr_output *output);

/* The least or the greatest value; kind CLR_KIND_NONE of no rows. Bytes stay the extreme's. */
void clr_finish_extreme(const struct clr_aggregate *aggregate, enum clr_form form,
                        const struct clr_value *extreme, struct clr_output *output);

/* bins->count + 2 counters, whose value is JSON, or NULL if they have counted nothing. bins: NULL
   of no rows. */
void clr_finish_bins(enum clr_form form, const struct clr_bins *bins, const uint64_t *counters,
                     struct clr_output *output);

#endif

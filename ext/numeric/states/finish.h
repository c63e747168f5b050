/*
 * What an aggregate gives for what it knows of its rows: its value, or its state as bytes. The same
 * for rows that were fed one by one and for those of a scan.
 */
#ifndef CLR_NUMERIC_FINISH_H
#define CLR_NUMERIC_FINISH_H

#include "base/status.h"
#include "numeric/bins/bins.h"
#include "numeric/states/aggregate_table.h"
#include "numeric/states/state.h"
#include "numeric/states/state_format.h"
#include "numeric/values/value.h"

/* What an aggregate gives. */
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

/* Returns the mask (bits 1 << term) of the operation's terms whose sums the aggregate's value
   needs. */
unsigned clr_finish_needs(const struct clr_aggregate *aggregate);

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

/* bins->count + 2 counters, whose value is JSON or as struct clr_counting has it, or NULL if they
   have counted nothing. bins: NULL of no rows. */
void clr_finish_bins(const struct clr_aggregate *aggregate, enum clr_form form,
                     const struct clr_bins *bins, const uint64_t *counters,
                     struct clr_output *output);

#endif

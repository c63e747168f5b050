#include "query/query.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

static struct clr_value value_of(const struct clr_scalar *constant)
{
    struct clr_value value = {.kind = CLR_KIND_NONE};

    if (constant->tag == CLR_TAG_INTEGER) {
        value.kind = CLR_KIND_INTEGER;
        value.as.integer = constant->bits;
    } else if (constant->tag == CLR_TAG_REAL) {
        value.kind = CLR_KIND_REAL;
        memcpy(&value.as.real, &constant->bits, sizeof value.as.real);
    }
    return value;
}

static double real_of(const struct clr_value *value)
{
    return value->kind == CLR_KIND_INTEGER ? (double)value->as.integer : value->as.real;
}

/* Stores the fraction. Returns whether it is a valid one. */
static bool ask_position(enum clr_order_function order, const struct clr_value *argument,
                         struct clr_question *question)
{
    question->kind = order == CLR_ORDER_DISC ? CLR_ASK_AT : CLR_ASK_BETWEEN;
    if (order == CLR_ORDER_MEDIAN) {
        question->fraction = 0.5;
        return true;
    }
    if (argument->kind == CLR_KIND_NONE)
        return false;
    question->fraction = real_of(argument) / (order == CLR_ORDER_PERCENTILE ? 100.0 : 1.0);
    return question->fraction >= 0.0 && question->fraction <= 1.0;
}

static bool is_finite(const struct clr_value *value)
{
    return value->kind == CLR_KIND_INTEGER ||
           (value->kind == CLR_KIND_REAL && isfinite(value->as.real));
}

/* Low, high and the number of bins. */
static bool are_valid(const struct clr_value arguments[CLR_MOST_ARGUMENTS])
{
    const struct clr_value *low = &arguments[0], *high = &arguments[1], *bins = &arguments[2];

    return is_finite(low) && is_finite(high) && real_of(low) <= real_of(high) &&
           clr_value_compare(low, high, 0) < 0 &&
           !(low->kind == CLR_KIND_REAL && high->kind == CLR_KIND_REAL &&
             low->as.real == high->as.real) &&
           bins->kind == CLR_KIND_INTEGER && bins->as.integer >= 1 &&
           bins->as.integer <= CLR_BINS_LIMIT;
}

static enum clr_code ask_bins(const struct clr_value arguments[CLR_MOST_ARGUMENTS],
                              struct clr_question *question)
{
    question->kind = CLR_ASK_BINS;
    if (!are_valid(arguments))
        return CLR_INVALID;
    clr_bins_init(&question->bins, &arguments[0], &arguments[1], arguments[2].as.integer);
    question->counts =
        clr_memory_alloc(((size_t)question->bins.count + 2) * sizeof *question->counts);
    return question->counts == NULL ? CLR_NOMEM : CLR_OK;
}

static enum clr_code ask(const struct clr_query *query, const struct clr_asked *asked,
                         struct clr_question *question)
{
    struct clr_value arguments[CLR_MOST_ARGUMENTS];
    int i;

    for (i = 0; i < CLR_MOST_ARGUMENTS && asked->arguments[i] >= 0; i++)
        arguments[i] = value_of(&query->constants[asked->arguments[i]]);
    question->tally = asked->tally;
    switch (asked->order) {
    case CLR_ORDER_MODE:
        question->kind = CLR_ASK_MODE;
        return CLR_OK;
    case CLR_ORDER_DISTINCT:
        question->kind = CLR_ASK_DISTINCT;
        return CLR_OK;
    case CLR_ORDER_HISTOGRAM:
        return ask_bins(arguments, question);
    default:
        return ask_position(asked->order, &arguments[0], question) ? CLR_OK : CLR_INVALID;
    }
}

/* Gives each tally that merges what it merges into, without states. What the threads have been
   allowed for histograms is enough for the whole. */
static enum clr_code begin_merges(struct clr_query *query)
{
    const struct clr_scan scan = {.tallies = query->tallies, .tally_count = query->tally_count};
    const int merges = clr_scan_merges(&scan);
    int i, next = 0;

    if (merges > 0 && query->merged == NULL) {
        query->merged = clr_memory_alloc((size_t)merges * sizeof *query->merged);
        if (query->merged == NULL)
            return CLR_NOMEM;
        for (i = 0; i < merges; i++)
            clr_merged_init(&query->merged[i], CLR_STATE_SUM, 0);
    }
    for (i = 0; i < query->tally_count; i++) {
        struct clr_tally *tally = &query->tallies[i];
        if (tally->merge == 0)
            continue;
        tally->merged = &query->merged[next++];
        clr_merged_free(tally->merged);
        clr_merged_init(tally->merged, tally->merge, UINT64_MAX);
    }
    return CLR_OK;
}

enum clr_code clr_query_ask(struct clr_query *query, struct clr_status *status)
{
    enum clr_code code = begin_merges(query);
    int i;

    for (i = 0; i < query->question_count && code == CLR_OK; i++) {
        clr_memory_free(query->questions[i].counts);
        memset(&query->questions[i], 0, sizeof query->questions[i]);
        code = ask(query, &query->asked[i], &query->questions[i]);
    }
    if (code == CLR_NOMEM)
        return clr_status_set(status, code, 0, "out of memory");
    return code == CLR_OK
               ? code
               : clr_status_set(status, code, 0, "an aggregate may refuse its arguments");
}

#include "engine/operations/resident_questions.h"

#include "base/memory.h"
#include "engine/columns/resident_private.h"
#include "engine/operations/resident_bins.h"
#include "engine/operations/resident_scan.h"
#include "engine/operations/sharded_order.h"
#include "numeric/order/percentile.h"
#include "numeric/scan/whole_columns.h"

#include <math.h>
#include <string.h>

/* A scan's questions, each with the copy whose rows are all its values, in one type. */
struct asked {
    const struct clr_division *division;
    struct clr_scan *scan;
    struct clr_sharded *columns[CLR_MOST_QUESTIONS];
    /* The extremes of the tallies that are in order, and so need not be looked for. */
    struct {
        struct clr_range range;
        uint8_t kind;
    } ends[CLR_MOST_TALLIES];
    int64_t timeout_ms;
    const struct clr_watch *watch;
};

/* Returns the kind of all shards of a copy, with all bytes, or CLR_TAG_MIXED if they are of
   several. */
static uint8_t kind_of(const struct clr_sharded *copy)
{
    const uint8_t kind = clr_sharded_resident(copy, 0)->kind;
    int s;

    for (s = 1; s < clr_sharded_division(copy)->count; s++) {
        if (clr_sharded_resident(copy, s)->kind != kind)
            return CLR_TAG_MIXED;
    }
    return clr_kind_wide(kind);
}

/* Returns whether each question has such a copy. */
static bool find_columns(struct asked *asked, struct clr_sharded *const *copies)
{
    const struct clr_scan *scan = asked->scan;
    uint8_t kinds[CLR_MOST_COLUMNS];
    int columns[2], i;

    for (i = 0; i < scan->column_count; i++)
        kinds[i] = kind_of(copies[i]);
    for (i = 0; i < scan->question_count; i++) {
        const struct clr_tally *tally = &scan->tallies[scan->questions[i].tally];
        if (tally->y >= 0 || !clr_tally_takes_whole_columns(scan, kinds, tally, columns) ||
            (kinds[columns[0]] != CLR_TAG_INTEGER && kinds[columns[0]] != CLR_TAG_REAL))
            return false;
        asked->columns[i] = copies[columns[0]];
    }
    return scan->rows > 0;
}

/* Returns the first question from that number on that the order of the column answers, or the
   end. */
static int find_question(const struct asked *asked, int from, const struct clr_sharded *column)
{
    while (from < asked->scan->question_count &&
           (asked->columns[from] != column || asked->scan->questions[from].kind == CLR_ASK_BINS))
        from++;
    return from;
}

static struct clr_value value_of(const struct clr_sharded *column, int64_t key)
{
    return clr_sort_key_to_value(kind_of(column) == CLR_TAG_REAL ? CLR_KIND_REAL : CLR_KIND_INTEGER,
                                 key);
}

static bool is_infinite(const struct clr_value *value)
{
    return value->kind == CLR_KIND_REAL && isinf(value->as.real);
}

static bool is_position(const struct clr_question *question)
{
    return question->kind == CLR_ASK_BETWEEN || question->kind == CLR_ASK_AT;
}

/* Puts two neighbours into the order for each percentile of the column, and before these the ends,
   since percentiles have an error for Inf. */
static void choose_ranks(const struct asked *asked, const struct clr_sharded *column,
                         struct clr_order *order)
{
    const uint64_t rows = asked->scan->rows;
    int i;

    order->rank_count = 0;
    for (i = 0; (i = find_question(asked, i, column)) < asked->scan->question_count; i++) {
        const struct clr_question *question = &asked->scan->questions[i];
        uint64_t *ranks = order->ranks + order->rank_count, rank;
        if (!is_position(question))
            continue;
        if (order->rank_count == 0) {
            *ranks++ = 0;
            *ranks++ = rows - 1;
        }
        rank = clr_percentile_position(question->fraction, rows).rank;
        *ranks++ = rank;
        *ranks++ = rank + 1 < rows ? rank + 1 : rank;
        order->rank_count = (int)(ranks - order->ranks);
    }
}

static enum clr_scan_outcome take_positions(struct asked *asked, const struct clr_sharded *column,
                                            const struct clr_order *order)
{
    struct clr_value found[CLR_MOST_RANKS];
    int i, place = 2;

    for (i = 0; i < order->rank_count; i++)
        found[i] = value_of(column, order->keys[i]);
    if (order->rank_count > 0 && (is_infinite(&found[0]) || is_infinite(&found[1])))
        return CLR_SCAN_UNSURE;
    for (i = 0; (i = find_question(asked, i, column)) < asked->scan->question_count; i++) {
        struct clr_question *question = &asked->scan->questions[i];
        double beyond;
        if (!is_position(question))
            continue;
        beyond = clr_percentile_position(question->fraction, asked->scan->rows).beyond;
        question->answer.kind = CLR_KIND_REAL;
        question->answer.bytes = NULL;
        question->answer.as.real =
            clr_percentile_at(found + place, beyond, question->kind == CLR_ASK_BETWEEN);
        place += 2;
        asked->ends[question->tally].kind = kind_of(column);
        asked->ends[question->tally].range =
            (struct clr_range){.seen = true, .least = order->keys[0], .greatest = order->keys[1]};
    }
    return CLR_SCAN_DONE;
}

static bool has_runs(const struct asked *asked, const struct clr_sharded *column)
{
    int i;

    for (i = 0; (i = find_question(asked, i, column)) < asked->scan->question_count; i++) {
        if (!is_position(&asked->scan->questions[i]))
            return true;
    }
    return false;
}

static void take_runs(const struct asked *asked, const struct clr_sharded *column,
                      const struct clr_order *order)
{
    int i;

    for (i = 0; (i = find_question(asked, i, column)) < asked->scan->question_count; i++) {
        struct clr_question *question = &asked->scan->questions[i];
        if (question->kind == CLR_ASK_MODE)
            question->answer = value_of(column, order->runs.mode);
        else if (question->kind == CLR_ASK_DISTINCT)
            question->answer = (struct clr_value){.kind = CLR_KIND_INTEGER,
                                                  .as.integer = (int64_t)order->runs.distinct};
    }
}

/* Answers all questions to the order of a column: with one request, if it is in one shard. */
static enum clr_scan_outcome ask_order(struct asked *asked, const struct clr_sharded *column,
                                       struct clr_device_work *work, struct clr_status *status)
{
    enum clr_scan_outcome outcome;
    struct clr_order order;

    choose_ranks(asked, column, &order);
    outcome = clr_sharded_order(column, has_runs(asked, column), &order, asked->timeout_ms,
                                asked->watch, work, status);
    if (outcome != CLR_SCAN_DONE)
        return outcome;
    take_runs(asked, column, &order);
    return take_positions(asked, column, &order);
}

static enum clr_scan_outcome ask_bins(const struct asked *asked, int number,
                                      struct clr_device_work *work, struct clr_status *status)
{
    const struct clr_question *question = &asked->scan->questions[number];

    /* A bin's bounds take the host as long as to count a few values. If there is too little memory
       for the host as well, it is the host that says so. */
    if ((uint64_t)question->bins.count > asked->scan->rows ||
        clr_resident_bins_memory(&question->bins) >
            asked->scan->values_memory / (uint64_t)asked->division->count)
        return CLR_SCAN_NOT_NOW;
    return clr_resident_bins(asked->columns[number], &question->bins, question->counts,
                             asked->timeout_ms, asked->watch, work, status);
}

/* The tallies alone, for which nothing need be kept, and no extremes found that are known. */
static enum clr_scan_outcome scan_tallies(const struct asked *asked,
                                          struct clr_sharded *const *copies,
                                          struct clr_device_work *work, struct clr_status *status)
{
    const unsigned extremes = 1u << CLR_EXTREMES;
    const struct clr_scan *scan = asked->scan;
    struct clr_scan tallies_only = *scan;
    enum clr_scan_outcome outcome;
    int i;

    tallies_only.question_count = 0;
    tallies_only.tallies =
        clr_memory_alloc((size_t)scan->tally_count * sizeof *tallies_only.tallies);
    if (tallies_only.tallies == NULL) {
        clr_status_set(status, CLR_NOMEM, 0, "no memory for a scan");
        return CLR_SCAN_FAILED;
    }
    for (i = 0; i < scan->tally_count; i++) {
        tallies_only.tallies[i] = scan->tallies[i];
        tallies_only.tallies[i].operations &=
            ~(CLR_KEEP | CLR_BYTES | (asked->ends[i].range.seen ? extremes : 0));
    }
    outcome = clr_resident_scan(asked->division, &tallies_only, copies, asked->timeout_ms,
                                asked->watch, work, status);
    for (i = 0; i < scan->tally_count && outcome == CLR_SCAN_DONE; i++) {
        struct clr_state *state = &scan->tallies[i].state;
        *state = tallies_only.tallies[i].state;
        if ((scan->tallies[i].operations & extremes) && asked->ends[i].range.seen)
            *(asked->ends[i].kind == CLR_TAG_REAL ? &state->reals : &state->integers) =
                asked->ends[i].range;
    }
    clr_memory_free(tallies_only.tallies);
    return outcome;
}

enum clr_scan_outcome clr_resident_answer(const struct clr_division *division,
                                          struct clr_scan *scan, struct clr_sharded *const *copies,
                                          int64_t timeout_ms, const struct clr_watch *watch,
                                          struct clr_device_work *work, struct clr_status *status)
{
    struct asked asked = {
        .division = division, .scan = scan, .timeout_ms = timeout_ms, .watch = watch};
    enum clr_scan_outcome outcome = CLR_SCAN_DONE, one;
    int i;

    if (!find_columns(&asked, copies))
        return CLR_SCAN_NOT_NOW;
    /* All of them, so that after the first query all columns are being sorted, and what counts bins
       is being built. */
    for (i = 0; i < scan->question_count; i++) {
        if (scan->questions[i].kind == CLR_ASK_BINS)
            one = ask_bins(&asked, i, work, status);
        else if (find_question(&asked, 0, asked.columns[i]) == i)
            one = ask_order(&asked, asked.columns[i], work, status);
        else
            continue;
        if (one != CLR_SCAN_DONE)
            outcome = one;
        if (one != CLR_SCAN_DONE && one != CLR_SCAN_NOT_NOW)
            return one;
    }
    if (outcome != CLR_SCAN_DONE)
        return outcome;
    return scan_tallies(&asked, copies, work, status);
}

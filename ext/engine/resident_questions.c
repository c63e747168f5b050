#include "engine/resident_questions.h"

#include "base/memory.h"
#include "engine/resident_order.h"
#include "engine/resident_private.h"
#include "numeric/percentile.h"
#include "numeric/plain.h"

#include <math.h>
#include <string.h>

/* Finds for each question the resident whose rows are all its values, in one type. Returns whether
   all have one. */
static bool find_columns(const struct clr_scan *scan, struct clr_resident *const *residents,
                         struct clr_resident *found[CLR_MOST_QUESTIONS])
{
    uint8_t kinds[CLR_MOST_COLUMNS];
    int columns[2], i;

    for (i = 0; i < scan->column_count; i++)
        kinds[i] = residents[i]->kind;
    for (i = 0; i < scan->question_count; i++) {
        const struct clr_question *question = &scan->questions[i];
        const struct clr_tally *tally = &scan->tallies[question->tally];
        if (question->kind == CLR_ASK_BINS || tally->y >= 0 ||
            !clr_tally_is_plain(scan, kinds, tally, columns) ||
            (kinds[columns[0]] != CLR_TAG_INTEGER && kinds[columns[0]] != CLR_TAG_REAL))
            return false;
        found[i] = residents[columns[0]];
    }
    return scan->rows > 0;
}

static struct clr_value value_of(const struct clr_resident *resident, int64_t key)
{
    return clr_sort_key_to_value(resident->kind == CLR_TAG_REAL ? CLR_KIND_REAL : CLR_KIND_INTEGER,
                                 key);
}

/* SQLite's percentiles have an error for Inf: the ends of the order tell. */
static bool is_infinite(const struct clr_value *value)
{
    return value->kind == CLR_KIND_REAL && isinf(value->as.real);
}

static enum clr_scan_outcome take_answer(struct clr_question *question,
                                         const struct clr_resident *resident,
                                         const struct clr_order *order, double beyond)
{
    struct clr_value found[4];
    int i;

    question->answer.kind = CLR_KIND_INTEGER;
    question->answer.bytes = NULL;
    if (question->kind == CLR_ASK_DISTINCT) {
        question->answer.as.integer = (int64_t)order->runs.distinct;
        return CLR_SCAN_DONE;
    }
    if (question->kind == CLR_ASK_MODE) {
        question->answer = value_of(resident, order->runs.mode);
        return CLR_SCAN_DONE;
    }
    for (i = 0; i < order->rank_count; i++)
        found[i] = value_of(resident, order->keys[i]);
    if (is_infinite(&found[2]) || is_infinite(&found[3]))
        return CLR_SCAN_UNSURE;
    question->answer.kind = CLR_KIND_REAL;
    question->answer.as.real = clr_percentile_at(found, beyond, question->kind == CLR_ASK_BETWEEN);
    return CLR_SCAN_DONE;
}

/* What a question needs of the order: for a percentile the values there, and the first and last. */
static double prepare(const struct clr_question *question, size_t rows, struct clr_order *order)
{
    struct clr_position position;

    order->rank_count = 0;
    if (question->kind != CLR_ASK_BETWEEN && question->kind != CLR_ASK_AT)
        return 0.0;
    position = clr_percentile_position(question->fraction, rows);
    order->rank_count = 4;
    order->ranks[0] = position.rank;
    order->ranks[1] = position.rank + 1 < rows ? position.rank + 1 : position.rank;
    order->ranks[2] = 0;
    order->ranks[3] = rows - 1;
    return position.beyond;
}

/* The tallies alone, for which nothing need be kept. */
static enum clr_scan_outcome scan_tallies(struct clr_worker *worker, const struct clr_scan *scan,
                                          struct clr_resident *const *residents, int64_t timeout_ms,
                                          const struct clr_watch *watch,
                                          struct clr_device_work *work, struct clr_status *status)
{
    struct clr_scan plain = *scan;
    enum clr_scan_outcome outcome;
    int i;

    plain.question_count = 0;
    plain.tallies = clr_memory_alloc((size_t)scan->tally_count * sizeof *plain.tallies);
    if (plain.tallies == NULL) {
        clr_status_set(status, CLR_NOMEM, 0, "no memory for a scan");
        return CLR_SCAN_FAILED;
    }
    for (i = 0; i < scan->tally_count; i++) {
        plain.tallies[i] = scan->tallies[i];
        plain.tallies[i].operations &= ~CLR_KEEP;
    }
    outcome = clr_resident_scan(worker, &plain, residents, timeout_ms, watch, work, status);
    for (i = 0; i < scan->tally_count && outcome == CLR_SCAN_DONE; i++)
        scan->tallies[i].state = plain.tallies[i].state;
    clr_memory_free(plain.tallies);
    return outcome;
}

enum clr_scan_outcome clr_resident_answer(struct clr_worker *worker, struct clr_scan *scan,
                                          struct clr_resident *const *residents, int64_t timeout_ms,
                                          const struct clr_watch *watch,
                                          struct clr_device_work *work, struct clr_status *status)
{
    enum clr_scan_outcome outcome = CLR_SCAN_DONE, one;
    struct clr_resident *columns[CLR_MOST_QUESTIONS];
    struct clr_order order;
    double beyond;
    int i;

    if (!find_columns(scan, residents, columns))
        return CLR_SCAN_NOT_NOW;
    /* All of them, so that all columns are being sorted after the first query. */
    for (i = 0; i < scan->question_count; i++) {
        struct clr_question *question = &scan->questions[i];
        beyond = prepare(question, scan->rows, &order);
        one = clr_resident_order(worker, columns[i], &order, timeout_ms, watch, work, status);
        if (one == CLR_SCAN_DONE)
            one = take_answer(question, columns[i], &order, beyond);
        if (one != CLR_SCAN_DONE)
            outcome = one;
        if (one != CLR_SCAN_DONE && one != CLR_SCAN_NOT_NOW)
            return one;
    }
    if (outcome != CLR_SCAN_DONE)
        return outcome;
    return scan_tallies(worker, scan, residents, timeout_ms, watch, work, status);
}

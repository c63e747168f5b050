#include "numeric/groups/arranged.h"

#include "numeric/distinct/distinct_portions.h"
#include "numeric/order/few.h"
#include "numeric/order/keys.h"
#include "numeric/order/percentile.h"
#include "numeric/order/radix_sort.h"
#include "numeric/order/selection.h"

#include <math.h>
#include <string.h>

/* Values that are put into bins between two looks at whether to stop. */
enum { PIECE = 4096 };

/* The values of one group. */
struct asked {
    const struct clr_answering *answering;
    size_t group;
    struct clr_arranged_values integers, reals;
    bool few;    /* numbers of one type, whose keys are in answering->keys: */
    bool sorted; /* in order */
    struct clr_run runs[2];
    const struct clr_run *starts[2];
    struct clr_portions portions;
};

/* Work on the one portion that a group is, by the thread that has the group. */
static bool run_portion(void *context, int count, clr_portion_work *work, void *argument)
{
    const atomic_bool *stop = context;
    int i;

    for (i = 0; i < count; i++)
        work(argument, i, stop);
    return !clr_portion_stops(stop);
}

static void set_runs(struct asked *asked)
{
    asked->runs[0] = (struct clr_run){.next = &asked->runs[1],
                                      .kind = CLR_KIND_INTEGER,
                                      .values = asked->integers.x,
                                      .count = asked->integers.count};
    asked->runs[1] = (struct clr_run){
        .kind = CLR_KIND_REAL, .values = asked->reals.x, .count = asked->reals.count};
    asked->starts[0] = &asked->runs[0];
    asked->starts[1] = NULL;
    asked->portions = (struct clr_portions){1, asked->starts, run_portion,
                                            (void *)(uintptr_t)asked->answering->stop};
}

/* Makes keys of the values if they are few, and numbers of one type. */
static void key_few(struct asked *asked, bool sorts)
{
    const bool real = asked->reals.count > 0;
    const struct clr_arranged_values *values = real ? &asked->reals : &asked->integers;
    uint64_t *keys = asked->answering->keys;
    size_t i;

    asked->few = values->count > 0 && values->count <= CLR_FEW_VALUES &&
                 (!real || asked->integers.count == 0);
    asked->sorted = asked->few && sorts;
    if (!asked->few)
        return;
    for (i = 0; i < values->count; i++)
        keys[i] = real ? (uint64_t)clr_real_to_key(values->x[i]) ^ CLR_KEY_SIGN
                       : clr_integer_to_key(values->x[i]);
    if (sorts)
        clr_radix_sort(keys, asked->answering->scratch, values->count);
}

static struct clr_value value_of(const struct asked *asked, uint64_t key)
{
    return clr_sort_key_to_value(asked->reals.count > 0 ? CLR_KIND_REAL : CLR_KIND_INTEGER,
                                 (int64_t)(key ^ CLR_KEY_SIGN));
}

static struct clr_value *answer_of(const struct asked *asked, int question)
{
    return (struct clr_value *)asked->answering->groups->answers[question].values.start +
           asked->group;
}

/* ---- Positions. */

static bool has_infinity(const struct asked *asked)
{
    const int64_t bits = clr_bits_of(INFINITY);
    bool has = false;
    size_t i;

    for (i = 0; i < asked->reals.count; i++)
        has |= (asked->reals.x[i] & INT64_MAX) == bits;
    return has;
}

static enum clr_scan_outcome find_position(const struct asked *asked,
                                           const struct clr_question *question,
                                           struct clr_value *answer)
{
    const struct clr_counted *counted = asked->answering->counted;
    const size_t count = counted != NULL ? clr_counted_total(counted, asked->group)
                                         : asked->integers.count + asked->reals.count;
    struct clr_position position;
    struct clr_value found[1][2];
    enum clr_code code = CLR_OK;

    *answer = (struct clr_value){.kind = CLR_KIND_NONE};
    if (count == 0)
        return CLR_SCAN_DONE;
    position = clr_percentile_position(question->fraction, count);
    if (counted != NULL) {
        clr_counted_select(counted, asked->group, position.rank, found[0]);
    } else if (asked->few) {
        const struct clr_answering *answering = asked->answering;
        const uint64_t *keys = answering->keys;
        const size_t next = position.rank + 1 < count ? position.rank + 1 : position.rank;
        uint64_t pair[2] = {keys[position.rank], keys[next]};

        if (!asked->sorted)
            clr_few_select(keys, answering->scratch, count, position.rank, pair);
        found[0][0] = value_of(asked, pair[0]);
        found[0][1] = value_of(asked, pair[1]);
    } else {
        code = clr_portions_select(&asked->portions, &position.rank, 1, found);
    }
    if (code != CLR_OK)
        return clr_scan_outcome_of(code);
    answer->kind = CLR_KIND_REAL;
    answer->as.real =
        clr_percentile_at(found[0], position.beyond, question->kind == CLR_ASK_BETWEEN);
    return CLR_SCAN_DONE;
}

/* ---- Different values. */

static bool is_zero(const struct clr_value *value)
{
    return value->kind == CLR_KIND_REAL && value->as.real == 0.0;
}

/* Of sorted keys; -0.0 comes right before 0.0, and both are one value. */
static void count_sorted(const struct asked *asked, struct clr_distinct_result *result)
{
    const uint64_t *keys = asked->answering->keys;
    const size_t count = asked->integers.count + asked->reals.count;
    size_t i, end;

    *result = (struct clr_distinct_result){0, 0, {.kind = CLR_KIND_NONE}};
    for (i = 0; i < count; i = end) {
        struct clr_value value = value_of(asked, keys[i]);

        for (end = i; end < count && keys[end] == keys[i]; end++)
            continue;
        if (is_zero(&value)) {
            value.as.real = 0.0;
            while (end < count && keys[end] == clr_double_to_key(0.0))
                end++;
        }
        result->size++;
        if (end - i > result->count) {
            result->count = end - i;
            result->mode = value;
        }
    }
}

/* Whatever they are. */
static enum clr_code count_any(const struct asked *asked, bool mode,
                               struct clr_distinct_result *result)
{
    struct clr_groups *groups = asked->answering->groups;
    const int64_t left = (int64_t)atomic_load(&groups->memory.left);

    return clr_portions_distinct(&asked->portions, mode, left < 0 ? 0 : (uint64_t)left,
                                 groups->plan.seed, result);
}

static enum clr_scan_outcome count_different(const struct asked *asked, bool modes)
{
    const struct clr_scan *scan = asked->answering->scan;
    struct clr_distinct_result result;
    enum clr_code code = CLR_OK;
    int i;

    if (asked->sorted)
        count_sorted(asked, &result);
    else
        code = count_any(asked, modes, &result);
    if (code != CLR_OK)
        return clr_scan_outcome_of(code);
    for (i = 0; i < scan->question_count; i++) {
        const struct clr_question *question = &scan->questions[i];

        if (question->tally != asked->answering->tally)
            continue;
        if (question->kind == CLR_ASK_DISTINCT)
            *answer_of(asked, i) =
                (struct clr_value){.kind = CLR_KIND_INTEGER, .as.integer = (int64_t)result.size};
        else if (question->kind == CLR_ASK_MODE)
            *answer_of(asked, i) =
                result.count > 0 ? result.mode : (struct clr_value){.kind = CLR_KIND_NONE};
    }
    return CLR_SCAN_DONE;
}

/* ---- Bins. */

static enum clr_scan_outcome fill_bins(const struct asked *asked, const struct clr_bins *bins,
                                       uint64_t *counts)
{
    const size_t integers = asked->integers.count, all = integers + asked->reals.count;
    struct clr_value value = {.kind = CLR_KIND_INTEGER};
    size_t i;

    for (i = 0; i < all; i++) {
        if (i % PIECE == 0 && clr_portion_stops(asked->answering->stop))
            return CLR_SCAN_STOPPED;
        if (i < integers) {
            value.as.integer = asked->integers.x[i];
        } else {
            value.kind = CLR_KIND_REAL;
            memcpy(&value.as.real, &asked->reals.x[i - integers], sizeof value.as.real);
        }
        counts[clr_bins_find(bins, &value) + 1]++;
    }
    return CLR_SCAN_DONE;
}

/* ---- All. */

enum clr_scan_outcome clr_groups_answer_group(const struct clr_answering *answering, size_t group)
{
    const struct clr_scan *scan = answering->scan;
    struct asked asked = {.answering = answering, .group = group};
    bool positions = false, different = false, modes = false;
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int i;

    asked.integers = clr_arranged_get(answering->arranged, CLR_LIST_INTEGERS, group);
    asked.reals = clr_arranged_get(answering->arranged, CLR_LIST_REALS, group);
    for (i = 0; i < scan->question_count; i++) {
        const struct clr_question *question = &scan->questions[i];

        if (question->tally != answering->tally)
            continue;
        positions = positions || question->kind == CLR_ASK_BETWEEN || question->kind == CLR_ASK_AT;
        different =
            different || question->kind == CLR_ASK_DISTINCT || question->kind == CLR_ASK_MODE;
        modes = modes || question->kind == CLR_ASK_MODE;
    }
    if (positions && has_infinity(&asked))
        return CLR_SCAN_UNSURE;
    set_runs(&asked);
    if (positions || different)
        key_few(&asked, different);
    if (different)
        outcome = count_different(&asked, modes);
    for (i = 0; i < scan->question_count && outcome == CLR_SCAN_DONE; i++) {
        const struct clr_question *question = &scan->questions[i];

        if (question->tally != answering->tally)
            continue;
        if (question->kind == CLR_ASK_BETWEEN || question->kind == CLR_ASK_AT)
            outcome = find_position(&asked, question, answer_of(&asked, i));
        else if (question->kind == CLR_ASK_BINS)
            outcome = fill_bins(&asked, &question->bins,
                                (uint64_t *)answering->groups->answers[i].counts.start +
                                    group * ((size_t)question->bins.count + 2));
    }
    return outcome;
}

#include "numeric/groups/arranged.h"

#include "base/memory.h"
#include "numeric/scan/host_reduce.h"

#include <string.h>

/* CHUNK: groups that a worker takes at a time. PIECE: values between two looks at whether to stop.
 */
enum { CHUNK = 64, PIECE = 1 << 18 };

/* What workers share. */
struct gathering {
    struct clr_groups *groups;
    const struct clr_arranged *arranged;
    const struct clr_counted *counted;
    int tally;
    bool sums, asks;
    atomic_size_t next; /* group */
    atomic_int outcome; /* the first one that is not CLR_SCAN_DONE */
};

static enum clr_scan_outcome reduce(const struct gathering *gathering, size_t group,
                                    struct clr_state *state, const atomic_bool *stop)
{
    const enum clr_operation operation =
        gathering->groups->plan.tallies[gathering->tally].operations & 1u << CLR_DOT ? CLR_DOT
                                                                                     : CLR_SUM;
    size_t i, count;
    int kind;

    for (kind = CLR_LIST_INTEGERS; kind <= CLR_LIST_REALS; kind++) {
        const struct clr_arranged_values values =
            clr_arranged_get(gathering->arranged, (enum clr_group_list_kind)kind, group);

        for (i = 0; i < values.count; i += count) {
            if (clr_portion_stops(stop))
                return CLR_SCAN_STOPPED;
            count = values.count - i < PIECE ? values.count - i : PIECE;
            clr_host_reduce_arrays(operation, kind == CLR_LIST_REALS ? CLR_REAL : CLR_INTEGER,
                                   values.x + i, (values.y == NULL ? values.x : values.y) + i,
                                   count, state);
        }
    }
    return CLR_SCAN_DONE;
}

static enum clr_scan_outcome do_group(const struct gathering *gathering,
                                      const struct clr_answering *answering, size_t group,
                                      struct clr_state *state)
{
    struct clr_groups *groups = gathering->groups;
    struct clr_kept_sum *sums = groups->sums[gathering->tally].sums.start;
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;

    if (clr_portion_stops(answering->stop))
        return CLR_SCAN_STOPPED;
    if (gathering->sums) {
        clr_state_clear(state);
        outcome = reduce(gathering, group, state, answering->stop);
        if (outcome == CLR_SCAN_DONE)
            outcome = clr_kept_sum_store(&sums[group], &groups->memory, &state->sum);
    }
    if (outcome == CLR_SCAN_DONE && gathering->asks)
        outcome = clr_groups_answer_group(answering, group);
    return outcome;
}

static void do_groups(void *argument, int worker, const atomic_bool *stop)
{
    struct gathering *gathering = argument;
    struct clr_answering answering = {.groups = gathering->groups,
                                      .scan = gathering->groups->plan.scan,
                                      .arranged = gathering->arranged,
                                      .counted = gathering->counted,
                                      .tally = gathering->tally,
                                      .stop = stop};
    uint64_t *keys = clr_memory_alloc(2 * CLR_FEW_VALUES * sizeof *keys);
    enum clr_scan_outcome outcome = keys == NULL ? CLR_SCAN_FAILED : CLR_SCAN_DONE;
    struct clr_state state;
    size_t group = 0, end = 0;

    (void)worker;
    answering.keys = keys;
    answering.scratch = keys + CLR_FEW_VALUES;
    while (outcome == CLR_SCAN_DONE &&
           atomic_load_explicit(&gathering->outcome, memory_order_relaxed) == CLR_SCAN_DONE) {
        if (group == end) {
            group = atomic_fetch_add(&gathering->next, CHUNK);
            end = group + CHUNK;
        }
        if (group >= gathering->groups->count)
            break;
        outcome = do_group(gathering, &answering, group++, &state);
    }
    if (outcome != CLR_SCAN_DONE)
        atomic_store(&gathering->outcome, (int)outcome);
    clr_memory_free(keys);
}

/* Makes room for the answers to the questions of a tally. Stores whether there are any. */
static enum clr_scan_outcome make_answers(struct clr_groups *groups, int tally, bool *asks)
{
    const struct clr_scan *scan = groups->plan.scan;
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int i;

    *asks = false;
    for (i = 0; i < scan->question_count && outcome == CLR_SCAN_DONE; i++) {
        const struct clr_question *question = &scan->questions[i];
        struct clr_gathered_answer *answer = &groups->answers[i];

        if (question->tally != tally)
            continue;
        *asks = true;
        if (question->kind == CLR_ASK_BINS) {
            answer->bins = (size_t)question->bins.count;
            if (groups->count > SIZE_MAX / sizeof(uint64_t) / (answer->bins + 2))
                return CLR_SCAN_LIMIT;
            outcome = clr_room_make(&answer->counts, &groups->memory,
                                    groups->count * (answer->bins + 2) * sizeof(uint64_t));
        } else {
            outcome = clr_room_make(&answer->values, &groups->memory,
                                    groups->count * sizeof(struct clr_value));
        }
    }
    return outcome;
}

/* Makes the sums, and answers the questions, of a tally whose values are arranged. */
static enum clr_scan_outcome gather(struct clr_groups *groups, int tally,
                                    const struct clr_arranged *arranged,
                                    const struct clr_counted *counted,
                                    const struct clr_group_team *team)
{
    struct gathering gathering = {.groups = groups,
                                  .arranged = arranged,
                                  .counted = counted->range > 0 ? counted : NULL,
                                  .tally = tally,
                                  .sums = groups->plan.tallies[tally].gathers_sum};
    const size_t chunks = groups->count / CHUNK + 1;
    const int workers = chunks < (size_t)team->size ? (int)chunks : team->size;
    enum clr_scan_outcome outcome;

    atomic_init(&gathering.next, 0);
    atomic_init(&gathering.outcome, CLR_SCAN_DONE);
    outcome = make_answers(groups, tally, &gathering.asks);
    if (outcome == CLR_SCAN_DONE && gathering.sums) {
        outcome = clr_room_make(&groups->sums[tally].sums, &groups->memory,
                                groups->count * sizeof(struct clr_kept_sum));
        groups->sums[tally].count = outcome == CLR_SCAN_DONE ? groups->count : 0;
    }
    if (outcome == CLR_SCAN_DONE && !team->run(team->context, workers, do_groups, &gathering))
        outcome = CLR_SCAN_STOPPED;
    if (outcome == CLR_SCAN_DONE)
        outcome = (enum clr_scan_outcome)atomic_load(&gathering.outcome);
    return outcome;
}

/* The same for all tallies whose values a tally has listed. */
static enum clr_scan_outcome gather_listed(struct clr_groups *groups, int lister,
                                           const struct clr_group_team *team)
{
    const struct clr_group_tally *tallies = groups->plan.tallies;
    struct clr_arranged arranged = {0};
    struct clr_counted counted;
    enum clr_scan_outcome outcome = clr_counted_make(&counted, groups, lister, team);
    int i;

    if (outcome == CLR_SCAN_DONE && counted.range == 0)
        outcome = clr_arranged_make(&arranged, groups, lister, team);

    for (i = lister; i < groups->plan.tally_count && outcome == CLR_SCAN_DONE; i++)
        if (tallies[i].gathers && tallies[i].gathered_by == lister)
            outcome = gather(groups, i, &arranged, &counted, team);
    clr_arranged_free(&arranged, &groups->memory);
    clr_counted_free(&counted, &groups->memory);
    return outcome;
}

enum clr_scan_outcome clr_groups_gather(struct clr_groups *groups,
                                        const struct clr_group_team *team)
{
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int i;

    for (i = 0; i < groups->plan.tally_count && outcome == CLR_SCAN_DONE; i++)
        if (groups->plan.tallies[i].gathers && groups->plan.tallies[i].gathered_by == i)
            outcome = gather_listed(groups, i, team);
    return outcome;
}

#include "engine/host/questions.h"

#include "base/memory.h"
#include "numeric/distinct/distinct_portions.h"
#include "numeric/order/percentile.h"
#include "numeric/order/portions.h"

#include <string.h>

/* Values that are put into bins between two looks at whether to stop. */
enum { PIECE = 4096 };

/* What a team needs to know. */
struct team {
    bool alone;
    const struct clr_watch *watch;
};

static bool run_team(void *context, int count, clr_portion_work *work, void *argument)
{
    const struct team *team = context;
    const atomic_bool never = false;
    int i;

    if (!team->alone)
        return clr_team_run(count, work, argument, team->watch);
    for (i = 0; i < count; i++)
        work(argument, i, &never);
    return true;
}

/* Those of one tally and family are answered together; bins, each by itself. */
enum family { POSITIONS, DIFFERENT, BINS };

static enum family family_of(const struct clr_question *question)
{
    if (question->kind == CLR_ASK_BINS)
        return BINS;
    return question->kind == CLR_ASK_BETWEEN || question->kind == CLR_ASK_AT ? POSITIONS
                                                                             : DIFFERENT;
}

/* Returns the scan's first question of that tally and family from that number on, or the end. */
static int find_question(const struct clr_scan *scan, int from, int tally, enum family family)
{
    while (from < scan->question_count &&
           (scan->questions[from].tally != tally || family_of(&scan->questions[from]) != family))
        from++;
    return from;
}

/* Returns where the rank is among the ranks; appends it if it is none of them. */
static int place_rank(uint64_t *ranks, int *count, uint64_t rank)
{
    int i;

    for (i = 0; i < *count && ranks[i] != rank; i++)
        continue;
    ranks[i] = rank;
    *count += i == *count;
    return i;
}

/* Answers all questions for positions of a tally; their ranks are selected together. */
static enum clr_scan_outcome find_positions(struct clr_scan *scan, int tally,
                                            const struct clr_portions *portions)
{
    const struct clr_state *state = &scan->tallies[tally].state;
    struct clr_position positions[CLR_MOST_QUESTIONS];
    struct clr_value found[CLR_MOST_QUESTIONS][2];
    uint64_t ranks[CLR_MOST_QUESTIONS];
    int places[CLR_MOST_QUESTIONS], count = 0, i;
    enum clr_code code = CLR_OK;

    if (clr_state_has_infinity(state))
        return CLR_SCAN_UNSURE;
    for (i = 0; (i = find_question(scan, i, tally, POSITIONS)) < scan->question_count; i++) {
        scan->questions[i].answer.kind = CLR_KIND_NONE;
        if (state->count == 0)
            continue;
        positions[i] = clr_percentile_position(scan->questions[i].fraction, (uint64_t)state->count);
        places[i] = place_rank(ranks, &count, positions[i].rank);
    }
    if (count == 0)
        return CLR_SCAN_DONE;
    code = clr_portions_select(portions, ranks, count, found);
    if (code != CLR_OK)
        return clr_scan_outcome_of(code);
    for (i = 0; (i = find_question(scan, i, tally, POSITIONS)) < scan->question_count; i++) {
        struct clr_question *question = &scan->questions[i];
        question->answer.kind = CLR_KIND_REAL;
        question->answer.as.real = clr_percentile_at(found[places[i]], positions[i].beyond,
                                                     question->kind == CLR_ASK_BETWEEN);
    }
    return CLR_SCAN_DONE;
}

/* Adds the TEXT and BLOBs, if there are any, to what is known of the numbers. */
static enum clr_code add_bytes(const struct clr_scan *scan, const struct clr_portions *portions,
                               const struct clr_bytes_run *runs, bool with_mode, uint64_t memory,
                               struct clr_distinct_result *result)
{
    struct clr_distinct_result more;
    enum clr_code code = CLR_OK;
    size_t count = 0;
    int i;

    for (i = 0; i < portions->count; i++)
        count += runs[i].count;
    if (count == 0)
        return CLR_OK;
    code = clr_portions_distinct_bytes(portions, runs, with_mode, memory, scan->seed, &more);
    if (code != CLR_OK)
        return code;
    clr_distinct_join(result, &more);
    return CLR_OK;
}

/* Answers all questions for different values and modes of a tally. */
static enum clr_scan_outcome count_distinct(struct clr_scan *scan, int tally,
                                            const struct clr_portions *portions,
                                            const struct clr_bytes_run *runs, uint64_t memory)
{
    struct clr_distinct_result result;
    bool mode = false;
    enum clr_code code;
    int i;

    for (i = 0; (i = find_question(scan, i, tally, DIFFERENT)) < scan->question_count; i++)
        mode = mode || scan->questions[i].kind == CLR_ASK_MODE;
    code = clr_portions_distinct(portions, mode, memory, scan->seed, &result);
    if (code == CLR_OK)
        code = add_bytes(scan, portions, runs, mode, memory, &result);
    for (i = 0; (i = find_question(scan, i, tally, DIFFERENT)) < scan->question_count; i++) {
        struct clr_question *question = &scan->questions[i];
        question->answer =
            (struct clr_value){.kind = CLR_KIND_INTEGER, .as.integer = (int64_t)result.size};
        if (question->kind == CLR_ASK_MODE && result.count > 0)
            question->answer = result.mode;
        else if (question->kind == CLR_ASK_MODE)
            question->answer.kind = CLR_KIND_NONE;
    }
    return clr_scan_outcome_of(code);
}

/* ---- Bins. */

struct binning {
    const struct clr_bins *bins;
    const struct clr_portions *portions;
    uint64_t *counts; /* bins->count + 2 for each portion */
};

static void bin_piece(const struct clr_bins *bins, const struct clr_run *run, size_t first,
                      size_t last, uint64_t *counts)
{
    struct clr_value value = {.kind = run->kind};
    int64_t room[PIECE];
    const void *values = clr_run_values(run, first, last - first, room);
    size_t i;

    for (i = 0; i < last - first; i++) {
        if (run->kind == CLR_KIND_REAL)
            value.as.real = ((const clr_stored_real *)values)[i];
        else
            value.as.integer = ((const int64_t *)values)[i];
        counts[clr_bins_find(bins, &value) + 1]++;
    }
}

static void bin_portion(void *argument, int portion, const atomic_bool *stop)
{
    const struct binning *binning = argument;
    const size_t size = (size_t)binning->bins->count + 2;
    uint64_t *counts = binning->counts + (size_t)portion * size;
    struct clr_portion_reader reader;
    size_t count;

    memset(counts, 0, size * sizeof *counts);
    clr_portion_begin(&reader, binning->portions, portion, stop);
    while ((count = clr_portion_next(&reader, PIECE)) > 0)
        bin_piece(binning->bins, reader.run, reader.position - count, reader.position, counts);
}

static enum clr_scan_outcome fill_bins(struct clr_question *question,
                                       const struct clr_portions *portions, uint64_t memory)
{
    struct binning binning = {.bins = &question->bins, .portions = portions};
    const size_t size = (size_t)question->bins.count + 2;
    const size_t bytes = (size_t)portions->count * size * sizeof *binning.counts;
    enum clr_code code = CLR_OK;
    size_t i;
    int portion;

    if (bytes > memory)
        return CLR_SCAN_LIMIT;
    binning.counts = clr_memory_alloc(bytes);
    if (binning.counts == NULL)
        return CLR_SCAN_FAILED;
    if (!clr_portions_run(portions, bin_portion, &binning))
        code = CLR_STOPPED;
    memset(question->counts, 0, size * sizeof *question->counts);
    for (portion = 0; portion < portions->count; portion++)
        for (i = 0; i < size; i++)
            question->counts[i] += binning.counts[(size_t)portion * size + i];
    clr_memory_free(binning.counts);
    return clr_scan_outcome_of(code);
}

/* ---- All of them. */

/* Answers the question, and those that are answered together with it. Of TEXT and BLOBs bins are an
   error, and so are positions, whose extremes have said so. */
static enum clr_scan_outcome answer(struct clr_scan *scan, struct clr_question *question,
                                    const struct clr_portions *portions,
                                    const struct clr_bytes_run *runs, uint64_t memory)
{
    int i;

    switch (family_of(question)) {
    case POSITIONS:
        return find_positions(scan, question->tally, portions);
    case DIFFERENT:
        return count_distinct(scan, question->tally, portions, runs, memory);
    case BINS:
        break;
    }
    for (i = 0; i < portions->count; i++) {
        if (runs[i].count > 0)
            return CLR_SCAN_UNSURE;
    }
    return fill_bins(question, portions, memory);
}

enum clr_scan_outcome clr_questions_answer(struct clr_scan *scan, struct clr_share *shares,
                                           int parts, bool alone, uint64_t memory,
                                           const struct clr_watch *watch)
{
    struct team team = {alone, watch};
    const struct clr_run **starts = clr_memory_alloc(((size_t)parts + 1) * sizeof *starts);
    struct clr_bytes_run *runs = clr_memory_alloc((size_t)parts * sizeof *runs);
    struct clr_portions portions = {parts, starts, run_team, &team};
    enum clr_scan_outcome outcome =
        starts == NULL || runs == NULL ? CLR_SCAN_FAILED : CLR_SCAN_DONE;
    int i, part;

    for (i = 0; i < scan->question_count && outcome == CLR_SCAN_DONE; i++) {
        struct clr_question *question = &scan->questions[i];
        const enum family family = family_of(question);
        if (family != BINS && find_question(scan, 0, question->tally, family) < i)
            continue;
        starts[parts] = NULL;
        for (part = parts - 1; part >= 0; part--) {
            struct clr_share *share = &shares[part * scan->tally_count + question->tally];
            share->runs[1].next = starts[part + 1];
            starts[part] = &share->runs[0];
            runs[part] = (struct clr_bytes_run){share->others, share->other_count};
        }
        outcome = answer(scan, question, &portions, runs, memory);
    }
    clr_memory_free(runs);
    clr_memory_free(starts);
    return outcome;
}

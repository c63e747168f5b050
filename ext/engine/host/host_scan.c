#include "engine/host/host_scan.h"

#include "base/memory.h"
#include "numeric/distinct/distinct_counting.h"
#include "numeric/filter/filter_terms.h"
#include "numeric/order/portions.h"
#include "numeric/order/selection.h"
#include "numeric/scan/evaluate.h"
#include "numeric/scan/loops.h"
#include "numeric/scan/row_truths.h"

#include <math.h>
#include <string.h>

/* ---- The answers to a scan's questions. */

/* Values that are put into bins between two looks at whether to stop. */
enum { PIECE = 4096 };

/* Those of one tally and family are answered together; bins, each by itself. */
enum family { POSITIONS, DIFFERENT, BINS };

static enum family family_of(const struct clr_question *question)
{
    if (question->kind == CLR_ASK_BINS)
        return BINS;
    return question->kind == CLR_ASK_MODE || question->kind == CLR_ASK_DISTINCT ? DIFFERENT
                                                                                : POSITIONS;
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

/* Returns the position that a question is for, among count values, 1 and up; past them all: none.
 */
static struct clr_position position_of(const struct clr_question *question, uint64_t count)
{
    if (question->kind != CLR_ASK_PLACE)
        return clr_percentile_position(question->fraction, count);
    return (struct clr_position){.rank = question->from_greatest && question->place < count
                                             ? count - 1 - question->place
                                             : question->place};
}

static struct clr_value value_at(const struct clr_question *question,
                                 const struct clr_position *position,
                                 const struct clr_value found[2])
{
    if (question->kind == CLR_ASK_PLACE)
        return found[0];
    return (struct clr_value){
        .kind = CLR_KIND_REAL,
        .as.real = clr_percentile_at(found, position->beyond, question->kind == CLR_ASK_BETWEEN)};
}

/* Whether an extreme is an infinity. */
static bool has_infinity(const struct clr_state *state)
{
    struct clr_value least, greatest;

    clr_state_extreme(state, -1, &least);
    clr_state_extreme(state, 1, &greatest);
    return (least.kind == CLR_KIND_REAL && isinf(least.as.real)) ||
           (greatest.kind == CLR_KIND_REAL && isinf(greatest.as.real));
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

    if (has_infinity(state))
        return CLR_SCAN_UNSURE;
    for (i = 0; (i = find_question(scan, i, tally, POSITIONS)) < scan->question_count; i++) {
        scan->questions[i].answer.kind = CLR_KIND_NONE;
        if (state->count == 0)
            continue;
        positions[i] = position_of(&scan->questions[i], (uint64_t)state->count);
        places[i] = positions[i].rank < (uint64_t)state->count
                        ? place_rank(ranks, &count, positions[i].rank)
                        : -1;
    }
    if (count == 0)
        return CLR_SCAN_DONE;
    code = clr_portions_select(portions, ranks, count, found);
    if (code != CLR_OK)
        return clr_scan_outcome_of(code);
    for (i = 0; (i = find_question(scan, i, tally, POSITIONS)) < scan->question_count; i++) {
        if (places[i] >= 0)
            scan->questions[i].answer =
                value_at(&scan->questions[i], &positions[i], found[places[i]]);
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

struct binning {
    const struct clr_bins *bins;
    const struct clr_portions *portions;
    uint64_t *counts; /* bins->count + 2 for each portion */
};

static void bin_portion(void *argument, int portion, const atomic_bool *stop)
{
    const struct binning *binning = argument;
    const size_t size = (size_t)binning->bins->count + 2;
    uint64_t *counts = binning->counts + (size_t)portion * size;
    struct clr_portion_reader reader;
    int64_t room[PIECE];
    size_t count;

    memset(counts, 0, size * sizeof *counts);
    clr_portion_begin(&reader, binning->portions, portion, stop);
    while ((count = clr_portion_next(&reader, PIECE)) > 0)
        clr_bins_add(binning->bins, reader.run->kind,
                     clr_run_values(reader.run, reader.position - count, count, room), count, 1,
                     counts);
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

/*
 * Answers the scan's questions; its tallies are complete. shares are those of its parts, with
 * tally_count in each. memory: the bytes that may be taken. watch may be NULL. Returns
 * CLR_SCAN_DONE, CLR_SCAN_UNSURE (Inf where SQLite's percentiles have an error), CLR_SCAN_LIMIT,
 * CLR_SCAN_STOPPED or CLR_SCAN_FAILED without memory.
 */
static enum clr_scan_outcome questions_answer(struct clr_scan *scan, struct clr_share *shares,
                                              int parts, uint64_t memory,
                                              const struct clr_watch *watch)
{
    const struct clr_run **starts = clr_memory_alloc(((size_t)parts + 1) * sizeof *starts);
    struct clr_bytes_run *runs = clr_memory_alloc((size_t)parts * sizeof *runs);
    struct clr_portions portions = {parts, starts, clr_team_run_portions, (void *)(uintptr_t)watch};
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

/* ---- The scan. */

/* Less than this for each thread is not worth starting it; less than that, no watching either. */
enum { ROWS_PER_THREAD = 1 << 17, ROWS_ALONE = 1 << 20 };

/* What the threads work on: parts of the rows, each with states and shares of its own. */
struct work {
    const struct clr_scan *scan;
    int parts;
    struct clr_state *states; /* tally_count for each part */
    struct clr_share *shares; /* likewise; NULL: nothing is kept */
    enum clr_scan_outcome *outcomes;
    struct clr_column *rooms[CLR_MOST_TALLIES]; /* for the values that a tally keeps, or NULL */
    struct clr_column *other_rooms[CLR_MOST_TALLIES]; /* for addresses, likewise */
    atomic_int_fast64_t left;                         /* bytes that may be put into them */
};

/* Parts start at multiples of this, so that no block but the last one is short. */
static const size_t step = 4096;

static size_t find_start(const struct work *work, int part)
{
    size_t steps = (work->scan->rows + step - 1) / step;
    size_t start = steps * (size_t)part / (size_t)work->parts * step;
    return start < work->scan->rows ? start : work->scan->rows;
}

static void run_part(void *argument, int part, const atomic_bool *stop)
{
    struct work *work = argument;
    const size_t first = (size_t)part * (size_t)work->scan->tally_count;

    work->outcomes[part] = clr_evaluate(work->scan, find_start(work, part),
                                        find_start(work, part + 1), work->states + first,
                                        work->shares == NULL ? NULL : work->shares + first, stop);
}

/* The most telling outcome of the parts: a value that is unsure settles the scan. */
static enum clr_scan_outcome merge_outcomes(const struct work *work)
{
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int part;

    for (part = 0; part < work->parts; part++) {
        if (work->outcomes[part] == CLR_SCAN_UNSURE)
            return CLR_SCAN_UNSURE;
        if (work->outcomes[part] != CLR_SCAN_DONE)
            outcome = work->outcomes[part];
    }
    return outcome;
}

static void merge_states(const struct work *work, struct clr_scan *scan)
{
    int count = scan->tally_count, part, i;

    for (i = 0; i < count; i++)
        clr_state_clear(&scan->tallies[i].state);
    for (part = 0; part < work->parts; part++)
        for (i = 0; i < count; i++)
            clr_state_merge(&scan->tallies[i].state, &work->states[part * count + i]);
}

/* Gives each part its place in a room for the values of all rows, of which those that are not
   needed cost address space only. */
static bool make_rooms(struct work *work)
{
    const struct clr_scan *scan = work->scan;
    int i, part;

    for (i = 0; i < scan->tally_count; i++) {
        if (!(scan->tallies[i].operations & CLR_KEEP))
            continue;
        work->rooms[i] = clr_column_new(scan->rows);
        if (work->rooms[i] == NULL)
            return false;
        if (scan->tallies[i].operations & CLR_BYTES) {
            work->other_rooms[i] = clr_column_new(scan->rows);
            if (work->other_rooms[i] == NULL)
                return false;
        }
        for (part = 0; part < work->parts; part++) {
            struct clr_share *share = &work->shares[part * scan->tally_count + i];
            share->room = work->rooms[i]->values + find_start(work, part);
            share->room_end = work->rooms[i]->values + find_start(work, part + 1);
            share->left = &work->left;
            if (work->other_rooms[i] != NULL)
                share->other_room = work->other_rooms[i]->values + find_start(work, part);
        }
    }
    return true;
}

static void free_rooms(struct work *work)
{
    int i;

    for (i = 0; i < work->scan->tally_count; i++) {
        clr_column_release(work->rooms[i]);
        clr_column_release(work->other_rooms[i]);
    }
}

static enum clr_scan_outcome run(struct work *work, struct clr_scan *scan,
                                 const struct clr_watch *watch)
{
    enum clr_scan_outcome outcome;

    if (work->parts == 1 && scan->rows < ROWS_ALONE)
        watch = NULL;
    if (!clr_team_run(work->parts, run_part, work, watch))
        return CLR_SCAN_STOPPED;
    outcome = merge_outcomes(work);
    if (outcome == CLR_SCAN_DONE)
        merge_states(work, scan);
    if (outcome == CLR_SCAN_DONE && scan->question_count > 0)
        outcome = questions_answer(scan, work->shares, work->parts,
                                   (uint64_t)atomic_load(&work->left), watch);
    return outcome;
}

enum clr_scan_outcome clr_host_scan(struct clr_scan *scan, const struct clr_watch *watch)
{
    size_t most = clr_host_guess_loaded(scan) / ROWS_PER_THREAD + 1;
    int team = clr_team_size();
    struct work work = {.scan = scan, .parts = most < (size_t)team ? (int)most : team};
    size_t states = (size_t)work.parts * (size_t)scan->tally_count;
    enum clr_scan_outcome outcome = CLR_SCAN_FAILED;
    const bool keeps = scan->question_count > 0;

    atomic_init(&work.left,
                scan->values_memory < INT64_MAX ? (int64_t)scan->values_memory : INT64_MAX);
    work.states = clr_memory_alloc(states * sizeof *work.states + 1);
    work.outcomes = clr_memory_alloc((size_t)work.parts * sizeof *work.outcomes);
    if (keeps)
        work.shares = clr_memory_alloc_zero(states * sizeof *work.shares);
    if (work.states != NULL && work.outcomes != NULL &&
        (!keeps || (work.shares != NULL && make_rooms(&work))))
        outcome = run(&work, scan, watch);
    free_rooms(&work);
    clr_memory_free(work.states);
    clr_memory_free(work.outcomes);
    clr_memory_free(work.shares);
    return outcome;
}

/* ---- Blocks of rows that are left out of a scan whose filter lets none of them through, as zones
   tell. */

/* Less than these for each thread is not worth starting it; so many are found between two looks at
   whether to stop. */
enum { ZONES_PER_THREAD = 256, ZONES_BETWEEN = 64 };

/* What threads work on: the zones of a column, in parts. */
struct zone_work {
    struct clr_column *column;
    struct clr_zones *zones;
    int parts;
    bool failed[CLR_TEAM_MOST];
};

/* Returns the first of so many blocks that a part works on, where there are so many parts. */
static size_t first_of_part(size_t blocks, int part, int parts)
{
    return blocks * (size_t)part / (size_t)parts;
}

static void find_zones(void *argument, int part, const atomic_bool *stop)
{
    struct zone_work *work = argument;
    const size_t last = first_of_part(work->zones->count, part + 1, work->parts);
    size_t first = first_of_part(work->zones->count, part, work->parts), count;

    for (; first < last && !work->failed[part]; first += count) {
        count = last - first < ZONES_BETWEEN ? last - first : ZONES_BETWEEN;
        work->failed[part] = atomic_load_explicit(stop, memory_order_relaxed) ||
                             !clr_column_find_zones(work->column, first, count, work->zones);
    }
}

/* Returns how many threads work on so many blocks. */
static int count_parts(size_t blocks)
{
    const size_t most = blocks / ZONES_PER_THREAD + 1;
    const int team = clr_team_size();

    return most < (size_t)team ? (int)most : team;
}

/* Makes the zones of a column, in threads. Returns whether it has them now. */
static bool make_zones(struct clr_column *column, const struct clr_watch *watch)
{
    struct zone_work work = {.column = column, .zones = clr_zones_new(column, column->rows)};
    bool complete;
    int i;

    if (work.zones == NULL)
        return false;
    work.parts = count_parts(work.zones->count);
    complete = clr_team_run(work.parts, find_zones, &work, work.parts == 1 ? NULL : watch);
    for (i = 0; i < work.parts; i++)
        complete = complete && !work.failed[i];
    if (!complete) {
        clr_memory_free(work.zones);
        return false;
    }
    clr_zones_join(work.zones, 0, work.zones->count);
    clr_zones_complete(work.zones);
    clr_column_set_zones(column, work.zones);
    return true;
}

/* Returns whether all the zones are there that are wanted of the scan's columns. */
static bool bring_zones(const struct clr_scan *scan, const bool *wanted,
                        const struct clr_watch *watch, bool *made)
{
    bool all = true;
    int i;

    for (i = 0; i < scan->column_count; i++) {
        struct clr_column *column = scan->columns[i];

        if (!wanted[i] || clr_column_zones(column) != NULL)
            continue;
        if (make_zones(column, watch))
            *made = true;
        else
            all = false;
    }
    return all;
}

void clr_host_skip(struct clr_scan *scan, const struct clr_watch *watch, bool *made)
{
    bool wanted[CLR_MOST_COLUMNS];

    *made = false;
    if (clr_zones_of(scan->rows) > 1 && clr_skipping_find_columns(scan, wanted) &&
        bring_zones(scan, wanted, watch, made))
        clr_skipping_find_blocks(scan);
}

/* ---- Blocks that are taken as a whole. */

/* Stores the columns of the scan's keys, and adds those that tallies sum up. Returns false if there
   is a key or a tally for which zones won't do. */
static bool find_summed(const struct clr_scan *scan, bool keys[CLR_MOST_COLUMNS],
                        bool wanted[CLR_MOST_COLUMNS])
{
    const struct clr_instruction *instruction;
    int i;

    memset(keys, 0, CLR_MOST_COLUMNS * sizeof *keys);
    for (i = 0; scan->grouping != NULL && i < scan->grouping->key_count; i++) {
        instruction = &scan->instructions[scan->grouping->keys[i]];
        if (instruction->opcode != CLR_OP_COLUMN && instruction->opcode != CLR_OP_LOOKUP)
            return false;
        keys[instruction->a] = true;
    }
    memcpy(wanted, keys, CLR_MOST_COLUMNS * sizeof *wanted);
    for (i = 0; i < scan->tally_count; i++) {
        const struct clr_tally *tally = &scan->tallies[i];

        if (tally->filter >= 0 || !clr_tally_takes_zones(tally))
            return false;
        if (tally->x < 0)
            continue;
        instruction = &scan->instructions[tally->x];
        if (instruction->opcode != CLR_OP_COLUMN || scan->columns[instruction->a]->codes != NULL)
            return false;
        wanted[instruction->a] = true;
    }
    return true;
}

/* Whether a key seems to have one value alone in a block, by its least and its greatest one. */
static bool has_one_value(const struct clr_scan *scan, int key, size_t block)
{
    const struct clr_instruction *instruction = &scan->instructions[key];
    const struct clr_zone *zone = &clr_column_zones(scan->columns[instruction->a])->zones[block];

    if (instruction->opcode == CLR_OP_LOOKUP)
        return scan->lookups[instruction->b].values[zone->least] ==
               scan->lookups[instruction->b].values[zone->greatest];
    return zone->least == zone->greatest;
}

/* Returns about how many of the scan's rows are of blocks that are not taken as a whole, by a
   sample of them, as far as filter and keys are concerned, which have zones. */
static size_t guess_rest(const struct clr_scan *scan)
{
    enum { LOOKS = 64 };
    const size_t all = clr_zones_of(scan->rows), looks = all < LOOKS ? all : LOOKS;
    struct clr_filter_terms terms;
    size_t rest = 0, i;
    int key;

    clr_terms_find(scan, &terms);
    for (i = 0; i < looks; i++) {
        const size_t place = all * i / looks;
        const size_t block = scan->blocks != NULL ? scan->blocks[place] : place;
        bool whole = clr_terms_pass_block(scan, &terms, block);

        for (key = 0; scan->grouping != NULL && key < scan->grouping->key_count; key++)
            whole = whole && has_one_value(scan, scan->grouping->keys[key], block);
        rest += !whole;
    }
    return scan->rows / looks * rest;
}

static bool have_zones(const struct clr_scan *scan, const bool *wanted)
{
    int i;

    for (i = 0; i < scan->column_count; i++)
        if (wanted[i] && clr_column_zones(scan->columns[i]) == NULL)
            return false;
    return true;
}

void clr_host_sum_blocks(const struct clr_scan *scan, const struct clr_watch *watch, bool *made)
{
    bool keys[CLR_MOST_COLUMNS], wanted[CLR_MOST_COLUMNS];

    *made = false;
    if (clr_zones_of(scan->rows) > 1 && find_summed(scan, keys, wanted) &&
        !have_zones(scan, wanted) && bring_zones(scan, keys, watch, made) &&
        guess_rest(scan) < scan->rows / 4 * 3)
        bring_zones(scan, wanted, watch, made);
}

/* ---- Rows for which lookups are true. */

/* What threads work on: truths of a lookup, in parts. */
struct truth_work {
    struct clr_lookup *lookup;
    const struct clr_column *column;
    struct clr_row_truths truths;
    int parts;
};

static void find_truths(void *argument, int part, const atomic_bool *stop)
{
    const struct truth_work *work = argument;
    const struct clr_loops *loops = clr_loops_choose(0);
    const int code_bytes = work->column->code_bytes;
    const size_t last = first_of_part(work->truths.blocks, part + 1, work->parts);
    const size_t size = CLR_BLOCK * (size_t)code_bytes;
    size_t block = first_of_part(work->truths.blocks, part, work->parts);

    for (; block < last && !atomic_load_explicit(stop, memory_order_relaxed); block++)
        loops->select_true((const char *)work->column->codes + block * size, code_bytes,
                           work->lookup->truths,
                           work->truths.bits->words + block * CLR_TRUTH_WORDS);
}

/* Whether it is time to make truths: codes are not quick without, and an earlier scan of the same
   rows has missed them. Takes note of it if this one is the first. */
static bool misses_truths(const struct truth_work *work)
{
    struct clr_row_truths *rows = &work->lookup->rows;
    const uint64_t before = rows->version;

    if (work->lookup->are_beside || work->column->code_bytes == 1)
        return false;
    if (!clr_row_truths_follow(rows, work->column))
        return clr_row_truths_miss(&work->lookup->results->rows, work->column);
    if (rows->version != before)
        clr_row_truths_give(&work->lookup->results->rows, rows);
    return false;
}

/* Makes truths of a column's rows, in threads, in the place of older ones. */
static void make_truths(struct truth_work *work, int64_t most, const struct clr_watch *watch)
{
    if (!clr_row_truths_make(work->column, most, &work->truths))
        return;
    work->parts = count_parts(work->truths.blocks);
    if (!clr_team_run(work->parts, find_truths, work, work->parts == 1 ? NULL : watch)) {
        clr_row_truths_release(&work->truths);
        return;
    }
    clr_row_truths_release(&work->lookup->rows);
    work->lookup->rows = work->truths;
    clr_row_truths_give(&work->lookup->results->rows, &work->truths);
}

void clr_host_keep_truths(const struct clr_scan *scan, struct clr_lookup *lookups, int64_t most,
                          const struct clr_watch *watch)
{
    struct clr_filter_terms terms;
    int i;

    if (scan->filter < 0 || scan->lookup_count == 0 || clr_zones_of(scan->rows) <= 1)
        return;
    clr_terms_find(scan, &terms);
    for (i = 0; i < terms.count; i++) {
        const struct clr_instruction *instruction = &scan->instructions[terms.terms[i].number];
        struct truth_work work;

        if (terms.terms[i].kind != CLR_TERM_LOOKUP)
            continue;
        work = (struct truth_work){.lookup = &lookups[instruction->b],
                                   .column = scan->columns[instruction->a]};
        if (misses_truths(&work))
            make_truths(&work, most, watch);
    }
}

size_t clr_host_guess_loaded(const struct clr_scan *scan)
{
    enum { WHOLE_PART = 16 }; /* of the time of a block whose rows are loaded */
    bool keys[CLR_MOST_COLUMNS], wanted[CLR_MOST_COLUMNS];

    if (scan->rows < ROWS_PER_THREAD || !find_summed(scan, keys, wanted) ||
        !have_zones(scan, wanted))
        return scan->rows;
    return guess_rest(scan) + scan->rows / WHOLE_PART;
}

/* ---- Where the first rows end. */

/*
 * One in STEP blocks is in the sample, but LEAST_BLOCKS if there are as many; and so are the first
 * and the last ones, which have the first rows where rows are in the order of the key.
 */
enum { STEP = 32, LEAST_BLOCKS = 64, ENDS = 2 };

static size_t find_step(size_t all)
{
    const size_t parts = all / LEAST_BLOCKS;

    return parts < 1 ? 1 : parts < STEP ? parts : STEP;
}

/* Stores the blocks of the sample, of a scan that has so many. Returns how many they are. */
static size_t take_blocks(const struct clr_scan *scan, size_t all, uint32_t *blocks)
{
    const size_t each = find_step(all);
    size_t count = 0, i;

    for (i = 0; i < all; i++) {
        if (i % each == 0 || i < ENDS || i + ENDS >= all)
            blocks[count++] = scan->blocks != NULL ? scan->blocks[i] : (uint32_t)i;
    }
    return count;
}

enum clr_scan_outcome clr_host_find_place(const struct clr_scan *scan,
                                          const struct clr_scan_order *order, uint64_t place,
                                          const struct clr_watch *watch, struct clr_scalar *number,
                                          uint64_t *count, uint64_t *nulls)
{
    struct clr_tally tallies[] = {{.operations = CLR_KEEP, .x = order->key, .y = -1, .filter = -1},
                                  {.x = -1, .y = -1, .filter = -1}};
    struct clr_question question = {
        .kind = CLR_ASK_PLACE, .place = place, .from_greatest = order->descends};
    struct clr_scan asking = *scan;
    enum clr_scan_outcome outcome;

    asking.grouping = NULL;
    asking.tallies = tallies;
    asking.tally_count = 2;
    asking.questions = &question;
    asking.question_count = 1;
    outcome = clr_host_scan(&asking, watch);
    if (outcome != CLR_SCAN_DONE)
        return outcome;
    *count = (uint64_t)tallies[1].state.count;
    *nulls = *count - (uint64_t)tallies[0].state.count;
    *number = clr_number_scalar(&question.answer);
    return outcome;
}

enum clr_scan_outcome clr_host_guess_place(const struct clr_scan *scan,
                                           const struct clr_scan_order *order, uint64_t place,
                                           const struct clr_watch *watch, struct clr_scalar *number)
{
    const size_t all = clr_zones_of(scan->rows);
    uint32_t *blocks = clr_memory_alloc((all + 1) * sizeof *blocks);
    struct clr_scan sample = *scan;
    enum clr_scan_outcome outcome = CLR_SCAN_FAILED;
    uint64_t count, nulls;

    *number = (struct clr_scalar){.tag = CLR_TAG_NULL};
    if (blocks != NULL) {
        sample.blocks = blocks;
        sample.rows -= (all - take_blocks(scan, all, blocks)) * CLR_ZONE_ROWS;
        outcome = clr_host_find_place(&sample, order, place, watch, number, &count, &nulls);
    }
    clr_memory_free(blocks);
    return outcome;
}

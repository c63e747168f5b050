#include "engine/host/sorted_answers.h"

#include "base/memory.h"
#include "engine/host/host_scan.h"
#include "numeric/order/selection.h"
#include "numeric/order/sorted_copy.h"

/* Rows that are worth a thread. */
enum { WORTH_A_THREAD = 131072 };

/* ---- Answers. */

int clr_question_column(const struct clr_scan *scan, const struct clr_question *question)
{
    const struct clr_tally *tally = &scan->tallies[question->tally];
    const struct clr_instruction *instruction;

    if (question->kind == CLR_ASK_BINS || scan->grouping != NULL || scan->blocks != NULL ||
        scan->filter >= 0 || tally->filter >= 0 || tally->x < 0 || tally->y >= 0)
        return -1;
    instruction = &scan->instructions[tally->x];
    return instruction->opcode == CLR_OP_COLUMN ? instruction->a : -1;
}

static int64_t key_of(const struct clr_value *value)
{
    return value->kind == CLR_KIND_INTEGER ? value->as.integer
                                           : clr_real_to_key(clr_bits_of(value->as.real));
}

/* Sets what is known of a tally without its values: but for sums, all. */
static void set_state(const struct clr_sorted_copy *copy, struct clr_state *state)
{
    const uint64_t count = clr_sorted_copy_count(copy);
    const struct clr_value least = clr_sorted_copy_at(copy, 0);
    const struct clr_value greatest = clr_sorted_copy_at(copy, count - 1);
    struct clr_range *range = least.kind == CLR_KIND_REAL ? &state->reals : &state->integers;

    clr_state_clear(state);
    state->count = (int64_t)count;
    state->non_integers = least.kind == CLR_KIND_REAL ? (int64_t)count : 0;
    *range = (struct clr_range){true, key_of(&least), key_of(&greatest)};
}

static double find_position(const struct clr_sorted_copy *copy, const struct clr_question *question)
{
    const uint64_t count = clr_sorted_copy_count(copy);
    const struct clr_position position = clr_percentile_position(question->fraction, count);
    const uint64_t next = position.rank + 1 < count ? position.rank + 1 : position.rank;
    const struct clr_value found[2] = {clr_sorted_copy_at(copy, position.rank),
                                       clr_sorted_copy_at(copy, next)};

    return clr_percentile_at(found, position.beyond, question->kind == CLR_ASK_BETWEEN);
}

/* Answers a question, unless percentiles have an error for what is among the values. */
static enum clr_scan_outcome answer(const struct clr_sorted_copy *copy,
                                    struct clr_question *question)
{
    struct clr_state state;

    switch (question->kind) {
    case CLR_ASK_MODE:
        question->answer = clr_sorted_copy_distinct(copy)->mode;
        return CLR_SCAN_DONE;
    case CLR_ASK_DISTINCT:
        question->answer = (struct clr_value){
            .kind = CLR_KIND_INTEGER,
            .as.integer = (int64_t)clr_sorted_copy_distinct(copy)->size,
        };
        return CLR_SCAN_DONE;
    default:
        set_state(copy, &state);
        if (clr_state_has_infinity(&state))
            return CLR_SCAN_UNSURE;
        question->answer =
            (struct clr_value){.kind = CLR_KIND_REAL, .as.real = find_position(copy, question)};
        return CLR_SCAN_DONE;
    }
}

/* What is left of a scan to be computed from the columns. */
struct rest {
    struct clr_scan scan;
    int tally_count;                 /* that it has something to do for */
    int numbers[CLR_MOST_QUESTIONS]; /* of its questions, among all */
    struct clr_question questions[CLR_MOST_QUESTIONS];
    struct clr_tally tallies[];
};

/* Answers what copies can; the others are left, with the tallies as far as they are needed. */
static enum clr_scan_outcome divide(struct clr_scan *scan, struct clr_sorted_copy *const *sorted,
                                    struct rest *rest)
{
    const unsigned known = CLR_KEEP | CLR_BYTES | 1u << CLR_EXTREMES;
    const struct clr_sorted_copy *copies[CLR_MOST_TALLIES] = {NULL};
    bool is_kept[CLR_MOST_TALLIES] = {false};
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int i;

    rest->scan = *scan;
    rest->scan.tallies = rest->tallies;
    rest->scan.questions = rest->questions;
    rest->scan.question_count = rest->tally_count = 0;
    for (i = 0; i < scan->question_count && outcome == CLR_SCAN_DONE; i++) {
        struct clr_question *question = &scan->questions[i];
        const int column = clr_question_column(scan, question);
        const struct clr_sorted_copy *copy = column < 0 ? NULL : sorted[column];

        if (copy != NULL) {
            copies[question->tally] = copy;
            outcome = answer(copy, question);
        } else {
            is_kept[question->tally] = true;
            rest->numbers[rest->scan.question_count] = i;
            rest->questions[rest->scan.question_count++] = *question;
        }
    }
    for (i = 0; i < scan->tally_count; i++) {
        rest->tallies[i] = scan->tallies[i];
        if (copies[i] == NULL || is_kept[i]) {
            rest->tally_count++;
        } else if ((scan->tallies[i].operations & ~known) != 0) {
            rest->tallies[i].operations &= ~(CLR_KEEP | CLR_BYTES);
            rest->tally_count++;
        } else {
            set_state(copies[i], &scan->tallies[i].state);
            rest->tallies[i] = (struct clr_tally){.x = -1, .y = -1, .filter = -1};
        }
    }
    return outcome;
}

enum clr_scan_outcome clr_sorted_scan(struct clr_scan *scan, struct clr_sorted_copy *const *sorted,
                                      const struct clr_watch *watch)
{
    struct rest *rest =
        clr_memory_alloc(sizeof *rest + (size_t)scan->tally_count * sizeof rest->tallies[0]);
    enum clr_scan_outcome outcome;
    int i;

    if (rest == NULL)
        return CLR_SCAN_FAILED;
    outcome = divide(scan, sorted, rest);
    if (outcome == CLR_SCAN_DONE && rest->tally_count > 0) {
        outcome = clr_host_scan(&rest->scan, watch);
        for (i = 0; i < rest->scan.question_count; i++)
            scan->questions[rest->numbers[i]] = rest->questions[i];
        for (i = 0; i < scan->tally_count; i++) {
            if (rest->tallies[i].x >= 0 || scan->tallies[i].x < 0)
                scan->tallies[i].state = rest->tallies[i].state;
        }
    }
    clr_memory_free(rest);
    return outcome;
}

/* ---- Sorting. */

static int count_portions(const struct clr_column *column)
{
    const size_t most = column->rows / WORTH_A_THREAD + 1;
    const int size = clr_team_size();

    return (size_t)size < most ? size : (int)most;
}

size_t clr_host_sort_cost(const struct clr_column *column)
{
    return clr_sorted_copy_cost(column, count_portions(column));
}

struct clr_sorted_copy *clr_host_sort(const struct clr_column *column,
                                      const struct clr_watch *watch)
{
    const struct clr_portions portions = {.count = count_portions(column),
                                          .run = clr_team_run_idly,
                                          .context = (void *)(uintptr_t)watch};
    struct clr_sorted_copy *copy = NULL;

    clr_sorted_copy_make(column, &portions, &copy);
    return copy;
}

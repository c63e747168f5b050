#include "numeric/scan/shared_sums.h"

#include "base/memory.h"

/* What a tally that others share finds out. */
#define SHARED (1u << CLR_SUM | 1u << CLR_EXTREMES)

/* Where a tally of the scan comes from. */
struct source {
    int tally;     /* of those that are computed */
    bool is_moved; /* its values are those of the column, with a constant added */
    int64_t added; /* this one */
};

struct clr_shared_sums {
    struct clr_tally *own; /* the scan's */
    int own_count, count;
    struct source sources[CLR_MOST_TALLIES];    /* of each of the scan's own */
    struct clr_tally tallies[CLR_MOST_TALLIES]; /* that are computed instead */
};

static const struct clr_instruction *get_instruction(const struct clr_scan *scan, int number)
{
    return &scan->instructions[number];
}

/* Whether an instruction is a column that may well have INTEGERs alone, and NULLs. */
static bool is_column(const struct clr_scan *scan, int number)
{
    const struct clr_instruction *instruction = get_instruction(scan, number);
    const struct clr_column *column;

    if (instruction->opcode != CLR_OP_COLUMN)
        return false;
    column = scan->columns[instruction->a];
    return column->codes == NULL &&
           (column->kind == CLR_TAG_INTEGER || column->kind == CLR_TAG_MIXED);
}

static bool is_integer(const struct clr_scan *scan, int number)
{
    const struct clr_instruction *instruction = get_instruction(scan, number);

    return instruction->opcode == CLR_OP_CONSTANT &&
           scan->constants[instruction->a].tag == CLR_TAG_INTEGER;
}

/* Takes a tally's x apart into a column and a constant, 0 for the column by itself. Returns the
   column's instruction, or -1 if it is something else. */
static int find_column(const struct clr_scan *scan, const struct clr_tally *tally, int64_t *added)
{
    const struct clr_instruction *x = tally->x < 0 ? NULL : get_instruction(scan, tally->x);
    int64_t constant;

    *added = 0;
    if (x == NULL || tally->y >= 0 || tally->operations == 0 || (tally->operations & ~SHARED) != 0)
        return -1;
    if (is_column(scan, tally->x))
        return tally->x;
    if (x->opcode == CLR_OP_ADD && is_integer(scan, x->a) && is_column(scan, x->b)) {
        *added = scan->constants[get_instruction(scan, x->a)->a].bits;
        return x->b;
    }
    if ((x->opcode != CLR_OP_ADD && x->opcode != CLR_OP_SUBTRACT) || !is_column(scan, x->a) ||
        !is_integer(scan, x->b))
        return -1;
    constant = scan->constants[get_instruction(scan, x->b)->a].bits;
    if (x->opcode == CLR_OP_SUBTRACT && constant == INT64_MIN)
        return -1;
    *added = x->opcode == CLR_OP_SUBTRACT ? -constant : constant;
    return x->a;
}

/* Returns the tally of a column that is computed for others as well; one is added if need be. */
static int find_shared(struct clr_shared_sums *shared, int column, int filter)
{
    int i;

    for (i = 0; i < shared->count; i++) {
        const struct clr_tally *tally = &shared->tallies[i];
        if (tally->x == column && tally->filter == filter && tally->y < 0 &&
            tally->operations == SHARED)
            return i;
    }
    shared->tallies[i] =
        (struct clr_tally){.operations = SHARED, .x = column, .y = -1, .filter = filter};
    return shared->count++;
}

/* Finds out where each of the scan's tallies comes from. */
static void find_sources(const struct clr_scan *scan, struct clr_shared_sums *shared)
{
    int i;

    for (i = 0; i < scan->tally_count; i++) {
        struct source *source = &shared->sources[i];
        const int column = find_column(scan, &scan->tallies[i], &source->added);

        source->is_moved = column >= 0;
        if (column >= 0) {
            source->tally = find_shared(shared, column, scan->tallies[i].filter);
        } else {
            source->tally = shared->count++;
            shared->tallies[source->tally] = scan->tallies[i];
        }
    }
}

struct clr_shared_sums *clr_shared_sums_begin(struct clr_scan *scan)
{
    struct clr_shared_sums *shared;
    int sums = 0, i;
    int64_t added;

    for (i = 0; i < scan->tally_count; i++)
        sums += find_column(scan, &scan->tallies[i], &added) >= 0 && added != 0;
    if (sums < 2)
        return NULL;
    shared = clr_memory_alloc(sizeof *shared);
    if (shared == NULL)
        return NULL;
    shared->own = scan->tallies;
    shared->own_count = scan->tally_count;
    shared->count = 0;
    find_sources(scan, shared);
    /* One sum and two extremes of a column cost as much as a few sums of expressions. */
    if (shared->count + 1 >= shared->own_count) {
        clr_memory_free(shared);
        return NULL;
    }
    scan->tallies = shared->tallies;
    scan->tally_count = shared->count;
    return shared;
}

/* Stores the state of a tally's values, which are those of another state with a constant added.
   Returns false if one of them is no INTEGER, or overflows. */
static bool move(const struct clr_state *from, int64_t added, struct clr_tally *to)
{
    struct clr_range moved = from->integers;

    if (from->count > 0 && added != 0 &&
        (from->non_integers != 0 || __builtin_add_overflow(moved.least, added, &moved.least) ||
         __builtin_add_overflow(moved.greatest, added, &moved.greatest)))
        return false;
    clr_state_clear(&to->state);
    to->state.count = from->count;
    to->state.non_integers = from->non_integers;
    if (to->operations & 1u << CLR_SUM) {
        to->state.sum = from->sum;
        clr_sum_add_integer(&to->state.sum, (clr_i128)added * from->count, 1);
    }
    if (to->operations & 1u << CLR_EXTREMES) {
        to->state.integers = moved;
        to->state.reals = from->reals;
    }
    return true;
}

bool clr_shared_sums_end(struct clr_shared_sums *shared, struct clr_scan *scan, bool was_done)
{
    bool moved = true;
    int i;

    if (shared == NULL)
        return true;
    scan->tallies = shared->own;
    scan->tally_count = shared->own_count;
    for (i = 0; i < shared->own_count && moved && was_done; i++) {
        const struct source *source = &shared->sources[i];
        const struct clr_state *state = &shared->tallies[source->tally].state;

        if (source->is_moved)
            moved = move(state, source->added, &scan->tallies[i]);
        else
            scan->tallies[i].state = *state;
    }
    clr_memory_free(shared);
    return moved;
}

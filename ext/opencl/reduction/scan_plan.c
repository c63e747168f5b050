#include "opencl/reduction/scan_plan.h"

#include "numeric/filter/filter_terms.h"

const struct clr_kernel_kind *clr_kernel_kind_of(enum clr_operation operation,
                                                 enum clr_element element)
{
    static const struct clr_kernel_kind kinds[CLR_OPERATIONS][CLR_ELEMENTS] = {
        [CLR_SUM] = {{"real_sum", true, false, 1}, {"integer_sum", false, false, 1}},
        [CLR_DOT] = {{"real_dot", true, false, 2}, {"integer_dot", false, false, 2}},
        [CLR_EXTREMES] = {{"real_extremes", false, true, 1}, {"integer_extremes", false, false, 1}},
    };

    return &kinds[operation][element];
}

/* ---- Steps. */

/* Sets of tags that an instruction's values can have. */
enum {
    NONE = 1 << CLR_TAG_NULL,
    INTEGER = 1 << CLR_TAG_INTEGER,
    REAL = 1 << CLR_TAG_REAL,
    BYTES = 1 << CLR_TAG_BYTES,
    UNSURE = 1 << CLR_TAG_UNSURE,
    NUMBER = INTEGER | REAL
};

/* What + - * and more make of two sets; too much does no harm here, only too little. */
static unsigned combine(unsigned a, unsigned b, bool reals_of_integers)
{
    unsigned result = NONE | UNSURE;

    if ((a & INTEGER) && (b & INTEGER))
        result |= reals_of_integers ? NUMBER : INTEGER;
    if ((a & NUMBER) && (b & NUMBER) && ((a | b) & REAL))
        result |= REAL;
    return result;
}

static unsigned find_tags(const struct clr_scan *scan, const uint8_t *kinds,
                          const struct clr_instruction *instruction, const unsigned *tags)
{
    unsigned a, b;

    if (instruction->opcode == CLR_OP_CONSTANT)
        return 1u << scan->constants[instruction->a].tag;
    if (instruction->opcode == CLR_OP_LOOKUP)
        return scan->lookups[instruction->b].types;
    if (instruction->opcode == CLR_OP_COLUMN) {
        uint8_t kind = clr_kind_wide(kinds[instruction->a]);
        return kind == CLR_TAG_MIXED ? NONE | NUMBER | BYTES : 1u << kind;
    }
    a = tags[instruction->a];
    switch (instruction->opcode) {
    case CLR_OP_ADD:
    case CLR_OP_SUBTRACT:
    case CLR_OP_MULTIPLY:
    case CLR_OP_DIVIDE:
    case CLR_OP_REMAINDER:
        b = tags[instruction->b];
        return combine(a, b, instruction->opcode != CLR_OP_REMAINDER);
    case CLR_OP_IF:
        return tags[instruction->b] | tags[instruction->c] | UNSURE;
    case CLR_OP_COALESCE:
        return (a & ~(unsigned)NONE) | tags[instruction->b];
    case CLR_OP_LEAST:
    case CLR_OP_GREATEST:
        return a | tags[instruction->b] | NONE | UNSURE;
    case CLR_OP_ABSOLUTE:
    case CLR_OP_FLOOR:
    case CLR_OP_CEILING:
    case CLR_OP_TRUNCATE:
        return a | UNSURE;
    case CLR_OP_TO_REAL:
    case CLR_OP_ROUND:
        return NONE | REAL | UNSURE;
    default: /* truth values, bits, CAST(... AS INTEGER) and sign() */
        return NONE | INTEGER | UNSURE;
    }
}

/* Adds the steps of one operation to the count that there are. */
static int add_steps(struct clr_scan_step *steps, int count, struct clr_scan_step step, unsigned x,
                     unsigned y)
{
    bool integers, reals;

    if (step.operation == CLR_DOT) {
        integers = (x & INTEGER) && (y & INTEGER);
        reals = (x & NUMBER) && (y & NUMBER) && ((x | y) & REAL);
    } else {
        integers = x & INTEGER;
        reals = x & REAL;
    }
    if (integers) {
        step.element = CLR_INTEGER;
        steps[count++] = step;
    }
    if (reals) {
        step.element = CLR_REAL;
        step.if_reals = integers;
        steps[count++] = step;
    }
    return count;
}

/* Whether all rows of a column can be reduced as they are kept: if it is narrow, INTEGERs by their
   bits, and REALs as decimals. */
static bool takes_all(uint8_t kind)
{
    return clr_kind_narrow_bytes(kind) == 0 ||
           (clr_kind_wide(kind) == CLR_TAG_REAL) == clr_kind_has_decimals(kind);
}

/* A plain tally of one argument, or of none: its counts are known. Returns whether it is one, and
   stores the column if there is anything to reduce, or else -1. */
static bool is_plain(const struct clr_scan *scan, const uint8_t *device_kinds,
                     struct clr_tally *tally, int *column)
{
    uint8_t kinds[CLR_MOST_COLUMNS], kind;
    int i;
    int columns[2];

    for (i = 0; i < scan->column_count; i++)
        kinds[i] = clr_kind_wide(device_kinds[i]);
    *column = -1;
    if (tally->y >= 0 || !clr_tally_takes_whole_columns(scan, kinds, tally, columns) ||
        (columns[0] >= 0 && !takes_all(device_kinds[columns[0]])))
        return false;
    kind = columns[0] < 0 ? CLR_TAG_INTEGER : kinds[columns[0]];
    if (kind == CLR_TAG_BYTES && tally->operations != 0)
        return false;
    tally->state.count = kind == CLR_TAG_NULL ? 0 : (int64_t)scan->rows;
    tally->state.non_integers = kind == CLR_TAG_INTEGER ? 0 : tally->state.count;
    if (kind != CLR_TAG_NULL && tally->operations != 0)
        *column = columns[0];
    return true;
}

static int plan_tally(const struct clr_scan *scan, const uint8_t *kinds, const unsigned *tags,
                      int number, struct clr_scan_step *steps, int count)
{
    struct clr_tally *tally = &scan->tallies[number];
    unsigned x = tally->x >= 0 ? tags[tally->x] : INTEGER;
    unsigned y = tally->y >= 0 ? tags[tally->y] : INTEGER;
    struct clr_scan_step step = {.tally = number, .takes = true};
    bool plain = is_plain(scan, kinds, tally, &step.column);
    int before = count, operation;

    if (plain && step.column < 0)
        return count;
    if (plain && clr_kind_narrow_bytes(kinds[step.column]) > 0) {
        step.whole = true;
        step.column = -1;
    }
    for (operation = 0; operation < CLR_OPERATIONS; operation++) {
        step.operation = (enum clr_operation)operation;
        if (tally->operations & 1u << operation)
            count = add_steps(steps, count, step, x, y);
    }
    if (count == before) {
        /* Counting has no operation of its own: that of the shortest program. What is neither
           NULL nor a number still has to be noticed where it is not counted. */
        step.operation = CLR_EXTREMES;
        step.element = CLR_INTEGER;
        step.takes = tally->operations != 0;
        steps[count++] = step;
    }
    return count;
}

void clr_scan_plan(const struct clr_scan *scan, const uint8_t *kinds, struct clr_scan_plan *plan)
{
    unsigned tags[CLR_MOST_SCAN_INSTRUCTIONS];
    int i;

    plan->scan = scan;
    plan->queued = clr_terms_pass_few(scan);
    plan->count = 0;
    for (i = 0; i < scan->column_count; i++)
        plan->kinds[i] = kinds[i];
    for (i = 0; i < scan->instruction_count; i++)
        tags[i] = find_tags(scan, kinds, &scan->instructions[i], tags);
    for (i = 0; i < scan->tally_count; i++) {
        clr_state_clear(&scan->tallies[i].state);
        if (scan->rows > 0)
            plan->count = plan_tally(scan, kinds, tags, i, plan->steps, plan->count);
    }
}

/* ---- Bundles. */

_Static_assert(CLR_MOST_COLUMNS <= 32, "a set of columns is a mask");

static uint32_t find_columns(const struct clr_scan *scan, const struct clr_scan_step *step)
{
    bool used[CLR_MOST_INSTRUCTIONS];
    uint32_t columns = 0;
    int i;

    clr_scan_find_used(scan, &scan->tallies[step->tally], used);
    for (i = 0; i < scan->instruction_count; i++) {
        const enum clr_opcode opcode = scan->instructions[i].opcode;
        if (used[i] && (opcode == CLR_OP_COLUMN || opcode == CLR_OP_LOOKUP))
            columns |= 1u << scan->instructions[i].a;
    }
    return columns;
}

int clr_scan_bundles(const struct clr_scan_plan *plan,
                     struct clr_scan_bundle bundles[CLR_MOST_SCAN_STEPS])
{
    uint32_t columns[CLR_MOST_SCAN_STEPS]; /* of steps not yet in a bundle that may share one */
    const struct clr_scan_step *steps = plan->steps;
    bool done[CLR_MOST_SCAN_STEPS] = {false};
    int i, j, count = plan->count, found = 0;

    for (i = 0; i < count; i++) {
        bool alone = steps[i].if_reals || steps[i].whole;
        columns[i] = alone ? 0 : find_columns(plan->scan, &steps[i]);
    }
    for (i = 0; i < count; i++) {
        struct clr_scan_bundle *bundle = &bundles[found];
        uint32_t shared = columns[i];
        if (done[i])
            continue;
        *bundle = (struct clr_scan_bundle){.count = 1, .steps = {i}};
        found++;
        for (j = i + 1; j < count && bundle->count < CLR_MOST_BUNDLE; j++) {
            if (done[j] || (columns[j] & shared) == 0)
                continue;
            bundle->steps[bundle->count++] = j;
            shared |= columns[j];
            done[j] = true;
        }
    }
    return found;
}

#include "numeric/filter/filter_terms.h"

#include "numeric/exact/sum.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define UNKNOWN (1u << CLR_TAG_BYTES | 1u << CLR_TAG_UNSURE)

static double real_of(int64_t bits)
{
    double real;

    memcpy(&real, &bits, sizeof real);
    return real;
}

static int64_t bits_of(double real)
{
    int64_t bits;

    memcpy(&bits, &real, sizeof bits);
    return bits;
}

/* Stores which instructions are BYTES or UNSURE for no row, whatever rows there are. */
static void find_sure(const struct clr_scan *scan, bool sure[CLR_MOST_INSTRUCTIONS])
{
    int i;

    for (i = 0; i < scan->instruction_count; i++) {
        const struct clr_instruction *instruction = &scan->instructions[i];
        const int operands = clr_opcode_operands(instruction->opcode);
        uint8_t kind;

        switch (instruction->opcode) {
        case CLR_OP_CONSTANT:
            sure[i] = true;
            break;
        case CLR_OP_COLUMN:
            kind = scan->columns[instruction->a]->kind;
            sure[i] = kind == CLR_TAG_NULL || kind == CLR_TAG_INTEGER || kind == CLR_TAG_REAL;
            break;
        case CLR_OP_LOOKUP:
            sure[i] = (scan->lookups[instruction->b].types & UNKNOWN) == 0;
            break;
        default:
            sure[i] = instruction->opcode != CLR_OP_ABSOLUTE && sure[instruction->a] &&
                      (operands < 2 || sure[instruction->b]) &&
                      (operands < 3 || sure[instruction->c]);
        }
    }
}

/* The comparison with its operands the other way round. */
static enum clr_opcode turn_round(enum clr_opcode opcode)
{
    switch (opcode) {
    case CLR_OP_LESS:
        return CLR_OP_GREATER;
    case CLR_OP_LESS_EQUAL:
        return CLR_OP_GREATER_EQUAL;
    case CLR_OP_GREATER:
        return CLR_OP_LESS;
    case CLR_OP_GREATER_EQUAL:
        return CLR_OP_LESS_EQUAL;
    default:
        return opcode;
    }
}

/* Stores which INTEGERs compare so with one. */
static void bound_integers(enum clr_opcode opcode, int64_t constant, struct clr_filter_term *term)
{
    const bool below = opcode == CLR_OP_LESS, above = opcode == CLR_OP_GREATER;

    term->least = INT64_MIN;
    term->greatest = INT64_MAX;
    if ((below && constant == INT64_MIN) || (above && constant == INT64_MAX)) {
        term->least = INT64_MAX;
        term->greatest = INT64_MIN;
        return;
    }
    if (!below && opcode != CLR_OP_LESS_EQUAL)
        term->least = constant + above;
    if (!above && opcode != CLR_OP_GREATER_EQUAL)
        term->greatest = constant - below;
}

/* Likewise of REALs, none of which is a NaN. */
static void bound_reals(enum clr_opcode opcode, double constant, struct clr_filter_term *term)
{
    const bool below = opcode == CLR_OP_LESS, above = opcode == CLR_OP_GREATER;
    double least = -INFINITY, greatest = INFINITY;

    if ((below && constant == -INFINITY) || (above && constant == INFINITY)) {
        least = INFINITY;
        greatest = -INFINITY;
    } else {
        if (!below && opcode != CLR_OP_LESS_EQUAL)
            least = above ? nextafter(constant, INFINITY) : constant;
        if (!above && opcode != CLR_OP_GREATER_EQUAL)
            greatest = below ? nextafter(constant, -INFINITY) : constant;
    }
    term->least = bits_of(least);
    term->greatest = bits_of(greatest);
}

/* Makes bounds of a comparison of a column with a constant. Returns false if it is none, or not one
   by bounds. The constant is exact as a REAL where the column has those. */
static bool find_bounds(const struct clr_scan *scan, const struct clr_instruction *compared,
                        struct clr_filter_term *term)
{
    const bool turned = clr_opcode_operands(compared->opcode) == 2 &&
                        scan->instructions[compared->a].opcode == CLR_OP_CONSTANT;
    const enum clr_opcode opcode = turned ? turn_round(compared->opcode) : compared->opcode;
    const struct clr_instruction *column, *other;
    const struct clr_scalar *constant;
    uint8_t kind;

    if (opcode != CLR_OP_EQUAL && opcode != CLR_OP_IS &&
        (opcode < CLR_OP_LESS || opcode > CLR_OP_GREATER_EQUAL))
        return false;
    term->number = turned ? compared->b : compared->a;
    column = &scan->instructions[term->number];
    other = &scan->instructions[turned ? compared->a : compared->b];
    if (column->opcode != CLR_OP_COLUMN || other->opcode != CLR_OP_CONSTANT)
        return false;
    kind = scan->columns[column->a]->kind;
    constant = &scan->constants[other->a];
    if (kind == CLR_TAG_INTEGER && constant->tag == CLR_TAG_INTEGER) {
        term->kind = CLR_TERM_INTEGERS;
        bound_integers(opcode, constant->bits, term);
        return true;
    }
    if (kind != CLR_TAG_REAL ||
        (constant->tag != CLR_TAG_REAL && constant->tag != CLR_TAG_INTEGER) ||
        (constant->tag == CLR_TAG_INTEGER && !clr_sum_fits_double(constant->bits)))
        return false;
    term->kind = CLR_TERM_REALS;
    bound_reals(opcode,
                constant->tag == CLR_TAG_REAL ? real_of(constant->bits) : (double)constant->bits,
                term);
    return true;
}

/* Adds bounds, to those that the column has already if there are any. */
static void add_bounds(struct clr_filter_terms *terms, const struct clr_filter_term *bounds)
{
    struct clr_filter_term *known = terms->terms;
    bool more, less;

    while (known < terms->terms + terms->count &&
           (known->kind != bounds->kind || known->number != bounds->number))
        known++;
    if (known == terms->terms + terms->count) {
        terms->terms[terms->count++] = *bounds;
        return;
    }
    more = bounds->kind == CLR_TERM_INTEGERS ? bounds->least > known->least
                                             : real_of(bounds->least) > real_of(known->least);
    less = bounds->kind == CLR_TERM_INTEGERS ? bounds->greatest < known->greatest
                                             : real_of(bounds->greatest) < real_of(known->greatest);
    if (more)
        known->least = bounds->least;
    if (less)
        known->greatest = bounds->greatest;
}

static void add_term(const struct clr_scan *scan, struct clr_filter_terms *terms, int number,
                     bool sure)
{
    const struct clr_instruction *instruction = &scan->instructions[number];
    struct clr_filter_term term = {.number = number};

    if (find_bounds(scan, instruction, &term)) {
        add_bounds(terms, &term);
        return;
    }
    term.number = number;
    term.kind = sure ? CLR_TERM_SURE : CLR_TERM_DOUBTFUL;
    if (term.kind == CLR_TERM_SURE && instruction->opcode == CLR_OP_LOOKUP &&
        scan->lookups[instruction->b].truths != NULL)
        term.kind = CLR_TERM_LOOKUP;
    if (term.kind == CLR_TERM_SURE || term.kind == CLR_TERM_DOUBTFUL)
        terms->stages[number] |= term.kind == CLR_TERM_SURE ? CLR_STAGE_SURE : CLR_STAGE_DOUBTFUL;
    terms->terms[terms->count++] = term;
}

/* Gives an instruction's operands its stages: they are needed when it is. */
static void spread_stages(const struct clr_scan *scan, uint8_t *stages)
{
    int i;

    for (i = scan->instruction_count - 1; i >= 0; i--) {
        const struct clr_instruction *instruction = &scan->instructions[i];
        const int operands = clr_opcode_operands(instruction->opcode);

        if (operands > 0)
            stages[instruction->a] |= stages[i];
        if (operands > 1)
            stages[instruction->b] |= stages[i];
        if (operands > 2)
            stages[instruction->c] |= stages[i];
    }
}

void clr_terms_find(const struct clr_scan *scan, struct clr_filter_terms *terms)
{
    int open[CLR_MOST_TERMS_OF_FILTER], count = 0, i, k;
    bool sure[CLR_MOST_INSTRUCTIONS];

    find_sure(scan, sure);
    terms->count = 0;
    memset(terms->stages, 0, sizeof terms->stages);
    if (scan->filter >= 0) {
        terms->stages[scan->filter] |= CLR_STAGE_FILTER;
        open[count++] = scan->filter;
    }
    while (count > 0) {
        const int number = open[--count];
        const struct clr_instruction *instruction = &scan->instructions[number];

        if (instruction->opcode == CLR_OP_AND &&
            terms->count + count + 2 <= CLR_MOST_TERMS_OF_FILTER) {
            open[count++] = instruction->b;
            open[count++] = instruction->a;
        } else {
            add_term(scan, terms, number, sure[number]);
        }
    }
    for (i = 0; i < scan->tally_count; i++) {
        const int roots[] = {scan->tallies[i].x, scan->tallies[i].y, scan->tallies[i].filter};
        for (k = 0; k < 3; k++)
            if (roots[k] >= 0)
                terms->stages[roots[k]] |= CLR_STAGE_TALLIES;
    }
    for (i = 0; scan->grouping != NULL && i < scan->grouping->key_count; i++)
        terms->stages[scan->grouping->keys[i]] |= CLR_STAGE_TALLIES;
    spread_stages(scan, terms->stages);
}

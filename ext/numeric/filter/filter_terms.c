#include "numeric/filter/filter_terms.h"

#include <math.h>
#include <string.h>

static bool is_upper(enum clr_opcode opcode)
{
    return opcode == CLR_OP_LESS || opcode == CLR_OP_LESS_EQUAL;
}

static bool is_lower(enum clr_opcode opcode)
{
    return opcode == CLR_OP_GREATER || opcode == CLR_OP_GREATER_EQUAL;
}

/* All INTEGERs, or none. */
static void bound_all_or_none(bool all, struct clr_bounds *bounds)
{
    bounds->least = all ? INT64_MIN : INT64_MAX;
    bounds->greatest = all ? INT64_MAX : INT64_MIN;
}

static void bound_integers(enum clr_opcode opcode, int64_t constant, struct clr_bounds *bounds)
{
    const bool below = opcode == CLR_OP_LESS, above = opcode == CLR_OP_GREATER;

    if ((below && constant == INT64_MIN) || (above && constant == INT64_MAX)) {
        bound_all_or_none(false, bounds);
        return;
    }
    bounds->least = is_upper(opcode) ? INT64_MIN : constant + above;
    bounds->greatest = is_lower(opcode) ? INT64_MAX : constant - below;
}

/* By the next INTEGER below, where the constant is none. */
static void bound_integers_by_real(enum clr_opcode opcode, double constant,
                                   struct clr_bounds *bounds)
{
    const double whole = floor(constant);

    if (constant >= 0x1p63 || constant < -0x1p63) {
        bound_all_or_none(constant > 0 ? is_upper(opcode) : is_lower(opcode), bounds);
        return;
    }
    if (whole != constant) {
        if (!is_upper(opcode) && !is_lower(opcode)) {
            bound_all_or_none(false, bounds);
            return;
        }
        opcode = is_upper(opcode) ? CLR_OP_LESS_EQUAL : CLR_OP_GREATER;
    }
    bound_integers(opcode, (int64_t)whole, bounds);
}

static void bound_no_reals(struct clr_bounds *bounds)
{
    bounds->least_real = INFINITY;
    bounds->greatest_real = -INFINITY;
}

/* No REAL is a NaN. */
static void bound_reals(enum clr_opcode opcode, double constant, struct clr_bounds *bounds)
{
    const bool below = opcode == CLR_OP_LESS, above = opcode == CLR_OP_GREATER;

    if ((below && constant == -INFINITY) || (above && constant == INFINITY)) {
        bound_no_reals(bounds);
        return;
    }
    bounds->least_real = is_upper(opcode) ? -INFINITY
                         : above          ? nextafter(constant, INFINITY)
                                          : constant;
    bounds->greatest_real = is_lower(opcode) ? INFINITY
                            : below          ? nextafter(constant, -INFINITY)
                                             : constant;
}

/* Between an INTEGER that is no double and the double that it is rounded to, whichever way, there
   is none. */
static void bound_reals_by_integer(enum clr_opcode opcode, int64_t constant,
                                   struct clr_bounds *bounds)
{
    const double rounded = (double)constant;
    const bool is_more = rounded >= 0x1p63 || (int64_t)rounded > constant;

    if (is_more || (int64_t)rounded < constant) {
        if (!is_upper(opcode) && !is_lower(opcode)) {
            bound_no_reals(bounds);
            return;
        }
        if (is_upper(opcode))
            opcode = is_more ? CLR_OP_LESS : CLR_OP_LESS_EQUAL;
        else
            opcode = is_more ? CLR_OP_GREATER_EQUAL : CLR_OP_GREATER;
    }
    bound_reals(opcode, rounded, bounds);
}

/* Finds out whether an instruction compares a column of values with a constant, and if so stores
   the instruction that is the column, the comparison with the column on its left side, and the
   scan's constant. */
static bool find_comparison(const struct clr_scan *scan, int number, int *column,
                            enum clr_opcode *opcode, const struct clr_scalar **constant)
{
    const struct clr_instruction *compared = &scan->instructions[number], *other;
    bool turned;

    *opcode = compared->opcode;
    if (*opcode != CLR_OP_EQUAL && *opcode != CLR_OP_IS && !is_upper(*opcode) && !is_lower(*opcode))
        return false;
    turned = scan->instructions[compared->a].opcode == CLR_OP_CONSTANT;
    if (turned)
        *opcode = clr_opcode_turn(*opcode);
    *column = turned ? compared->b : compared->a;
    other = &scan->instructions[turned ? compared->a : compared->b];
    if (scan->instructions[*column].opcode != CLR_OP_COLUMN || other->opcode != CLR_OP_CONSTANT)
        return false;
    *constant = &scan->constants[other->a];
    return true;
}

bool clr_bounds_find(const struct clr_scan *scan, int number, int *column,
                     struct clr_bounds *bounds)
{
    const struct clr_scalar *constant;
    enum clr_opcode opcode;
    double real;

    if (!find_comparison(scan, number, column, &opcode, &constant))
        return false;
    if (constant->tag == CLR_TAG_INTEGER) {
        bound_integers(opcode, constant->bits, bounds);
        bound_reals_by_integer(opcode, constant->bits, bounds);
        return true;
    }
    if (constant->tag != CLR_TAG_REAL)
        return false;
    real = clr_real_of(constant->bits);
    bound_integers_by_real(opcode, real, bounds);
    bound_reals(opcode, real, bounds);
    return true;
}

#define UNKNOWN (1u << CLR_TAG_BYTES | 1u << CLR_TAG_UNSURE)

/* Whether no row of a column is BYTES. What zones have not told of rows of several types is left to
   the blocks. */
static bool are_numbers(const struct clr_column *column)
{
    const struct clr_zones *zones = clr_column_zones(column);

    if (column->kind == CLR_TAG_MIXED)
        return zones != NULL && (zones->types & UNKNOWN) == 0;
    return column->kind != CLR_TAG_BYTES;
}

/* Stores which instructions are BYTES or UNSURE for no row, whatever rows there are. */
static void find_sure(const struct clr_scan *scan, bool sure[CLR_MOST_INSTRUCTIONS])
{
    int i;

    for (i = 0; i < scan->instruction_count; i++) {
        const struct clr_instruction *instruction = &scan->instructions[i];
        const int operands = clr_opcode_operands(instruction->opcode);

        switch (instruction->opcode) {
        case CLR_OP_CONSTANT:
            sure[i] = true;
            break;
        case CLR_OP_COLUMN:
            sure[i] = are_numbers(scan->columns[instruction->a]);
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

/* Makes bounds of a comparison of a column, whose rows all have one type, with a constant. Returns
   false if it is none. */
static bool find_bounds(const struct clr_scan *scan, int number, struct clr_filter_term *term)
{
    const struct clr_column *column;
    struct clr_bounds bounds;
    double power;

    if (!clr_bounds_find(scan, number, &term->number, &bounds))
        return false;
    column = scan->columns[scan->instructions[term->number].a];
    power = column->words == NULL ? 0.0 : column->frame.power;
    if (column->kind == CLR_TAG_INTEGER) {
        term->kind = CLR_TERM_INTEGERS;
        term->least = bounds.least;
        term->greatest = bounds.greatest;
        return true;
    }
    if (power != 0.0) {
        term->kind = CLR_TERM_DECIMALS;
        term->least = clr_decimals_from(bounds.least_real, power);
        term->greatest = -clr_decimals_from(-bounds.greatest_real, power);
        return column->kind == CLR_TAG_REAL;
    }
    term->kind = CLR_TERM_REALS;
    term->least = clr_bits_of(bounds.least_real);
    term->greatest = clr_bits_of(bounds.greatest_real);
    return column->kind == CLR_TAG_REAL;
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
    more = bounds->kind != CLR_TERM_REALS ? bounds->least > known->least
                                          : clr_real_of(bounds->least) > clr_real_of(known->least);
    less = bounds->kind != CLR_TERM_REALS
               ? bounds->greatest < known->greatest
               : clr_real_of(bounds->greatest) < clr_real_of(known->greatest);
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

    if (find_bounds(scan, number, &term)) {
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

bool clr_terms_are_sure(const struct clr_scan *scan)
{
    bool sure[CLR_MOST_INSTRUCTIONS];

    find_sure(scan, sure);
    return scan->filter < 0 || sure[scan->filter];
}

/* Returns the share of a term's rows that may pass, by a guess that a column's entries are alike
   often: comparisons of columns, which are quick, come first. */
static double guess_share(const struct clr_scan *scan, const struct clr_filter_term *term)
{
    const struct clr_lookup *lookup;

    if (term->kind != CLR_TERM_LOOKUP)
        return term->kind == CLR_TERM_SURE || term->kind == CLR_TERM_DOUBTFUL ? 2.0 : -1.0;
    lookup = &scan->lookups[scan->instructions[term->number].b];
    return (double)lookup->true_count / ((double)lookup->count + 1.0);
}

/* Puts those terms first that leave the fewest rows to the others. */
static void sort_terms(const struct clr_scan *scan, struct clr_filter_terms *terms)
{
    int i, k;

    for (i = 1; i < terms->count; i++) {
        const struct clr_filter_term term = terms->terms[i];
        const double share = guess_share(scan, &term);

        for (k = i; k > 0 && guess_share(scan, &terms->terms[k - 1]) > share; k--)
            terms->terms[k] = terms->terms[k - 1];
        terms->terms[k] = term;
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
    sort_terms(scan, terms);
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

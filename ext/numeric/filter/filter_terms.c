#include "numeric/filter/filter_terms.h"

#include "base/memory.h"
#include "numeric/scan/loops.h"
#include "numeric/scan/row_truths.h"

#include <math.h>
#include <string.h>

/* ---- Comparisons of a column with a constant, as the values for which they are true. */

/* The INTEGERs and the REALs from the least to the greatest, which are themselves among them; none
   where the least is more. 0.0 and -0.0 are equal here. */
struct bounds {
    int64_t least, greatest;
    double least_real, greatest_real;
};

static bool is_upper(enum clr_opcode opcode)
{
    return opcode == CLR_OP_LESS || opcode == CLR_OP_LESS_EQUAL;
}

static bool is_lower(enum clr_opcode opcode)
{
    return opcode == CLR_OP_GREATER || opcode == CLR_OP_GREATER_EQUAL;
}

/* All INTEGERs, or none. */
static void bound_all_or_none(bool all, struct bounds *bounds)
{
    bounds->least = all ? INT64_MIN : INT64_MAX;
    bounds->greatest = all ? INT64_MAX : INT64_MIN;
}

static void bound_integers(enum clr_opcode opcode, int64_t constant, struct bounds *bounds)
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
static void bound_integers_by_real(enum clr_opcode opcode, double constant, struct bounds *bounds)
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

static void bound_no_reals(struct bounds *bounds)
{
    bounds->least_real = INFINITY;
    bounds->greatest_real = -INFINITY;
}

/* No REAL is a NaN. */
static void bound_reals(enum clr_opcode opcode, double constant, struct bounds *bounds)
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
static void bound_reals_by_integer(enum clr_opcode opcode, int64_t constant, struct bounds *bounds)
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

/*
 * Finds out whether an instruction compares a column of values with a number by =, IS, <, <=, > or
 * >=, and if so stores the instruction that is the column, and the numbers for which that is true,
 * exactly. For what is no number it is not true.
 */
static bool compares(const struct clr_scan *scan, int number, int *column, struct bounds *bounds)
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

/* ---- The terms of a filter. */

/* Whether no row of a column is BYTES. What zones have not told of rows of several types is left to
   the blocks. */
static bool are_numbers(const struct clr_column *column)
{
    const struct clr_zones *zones = clr_column_zones(column);

    if (column->kind == CLR_TAG_MIXED)
        return zones != NULL && (zones->types & CLR_UNKNOWN_TYPES) == 0;
    return column->kind != CLR_TAG_BYTES;
}

void clr_terms_find_sure(const struct clr_scan *scan, const bool *sure_columns,
                         bool sure[CLR_MOST_INSTRUCTIONS])
{
    int operands[3], count, i;

    for (i = 0; i < scan->instruction_count; i++) {
        const struct clr_instruction *instruction = &scan->instructions[i];

        switch (instruction->opcode) {
        case CLR_OP_CONSTANT:
            sure[i] = true;
            break;
        case CLR_OP_COLUMN:
            sure[i] = sure_columns[instruction->a];
            break;
        case CLR_OP_LOOKUP:
            sure[i] = (scan->lookups[instruction->b].types & CLR_UNKNOWN_TYPES) == 0;
            break;
        default:
            sure[i] = instruction->opcode != CLR_OP_ABSOLUTE;
            for (count = clr_instruction_operands(instruction, operands); count > 0; count--)
                sure[i] = sure[i] && sure[operands[count - 1]];
        }
    }
}

/* Does so by what columns and their zones are now. */
static void find_sure(const struct clr_scan *scan, bool sure[CLR_MOST_INSTRUCTIONS])
{
    bool sure_columns[CLR_MOST_COLUMNS];
    int i;

    for (i = 0; i < scan->column_count; i++)
        sure_columns[i] = are_numbers(scan->columns[i]);
    clr_terms_find_sure(scan, sure_columns, sure);
}

int clr_terms_split(const struct clr_scan *scan, int terms[CLR_MOST_TERMS_OF_FILTER])
{
    int open[CLR_MOST_TERMS_OF_FILTER], waiting = 0, count = 0;

    if (scan->filter >= 0)
        open[waiting++] = scan->filter;
    while (waiting > 0) {
        const int number = open[--waiting];
        const struct clr_instruction *instruction = &scan->instructions[number];

        if (instruction->opcode == CLR_OP_AND && count + waiting + 2 <= CLR_MOST_TERMS_OF_FILTER) {
            open[waiting++] = instruction->b;
            open[waiting++] = instruction->a;
        } else {
            terms[count++] = number;
        }
    }
    return count;
}

bool clr_terms_compare(const struct clr_scan *scan, int number, int *column)
{
    struct bounds bounds;
    int at;

    if (!compares(scan, number, &at, &bounds))
        return false;
    *column = scan->instructions[at].a;
    return true;
}

/* Decimals of REALs within bounds are integers within these. */
static void bound_decimals(const struct bounds *bounds, double power, int64_t *least,
                           int64_t *greatest)
{
    *least = clr_decimals_from(bounds->least_real, power);
    *greatest = -clr_decimals_from(-bounds->greatest_real, power);
}

void clr_terms_bound(const struct clr_scan *scan, int column, double power, int64_t *least,
                     int64_t *greatest)
{
    int numbers[CLR_MOST_TERMS_OF_FILTER], at, i;
    const int count = clr_terms_split(scan, numbers);
    struct bounds bounds;

    *least = INT64_MIN;
    *greatest = INT64_MAX;
    for (i = 0; i < count; i++) {
        if (!compares(scan, numbers[i], &at, &bounds) || scan->instructions[at].a != column)
            continue;
        if (power != 0.0)
            bound_decimals(&bounds, power, &bounds.least, &bounds.greatest);
        *least = bounds.least > *least ? bounds.least : *least;
        *greatest = bounds.greatest < *greatest ? bounds.greatest : *greatest;
    }
}

/* Makes bounds of a comparison of a column, whose rows all have one type, with a constant. Returns
   false if it is none. */
static bool find_bounds(const struct clr_scan *scan, int number, struct clr_filter_term *term)
{
    const struct clr_column *column;
    struct bounds bounds;
    double power;

    if (!compares(scan, number, &term->number, &bounds))
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
        bound_decimals(&bounds, power, &term->least, &term->greatest);
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

/* Returns the truths that a lookup has of the column's rows, or NULL. */
static const struct clr_row_truths *find_kept(const struct clr_lookup *lookup,
                                              const struct clr_column *column)
{
    return clr_row_truths_are_of(&lookup->rows, column) ? &lookup->rows : NULL;
}

static void add_term(const struct clr_scan *scan, struct clr_filter_terms *terms, int number,
                     bool sure)
{
    const struct clr_instruction *instruction = &scan->instructions[number];
    const struct clr_lookup *lookup =
        instruction->opcode == CLR_OP_LOOKUP ? &scan->lookups[instruction->b] : NULL;
    struct clr_filter_term term = {.number = number};

    if (find_bounds(scan, number, &term)) {
        add_bounds(terms, &term);
        return;
    }
    term.number = number;
    term.kind = sure ? CLR_TERM_SURE : CLR_TERM_DOUBTFUL;
    if (sure && lookup != NULL && lookup->truths != NULL) {
        /* A join that finds a row for each entry takes no row away. */
        if (lookup->true_count == lookup->count)
            return;
        term.kind = CLR_TERM_LOOKUP;
        term.kept = find_kept(lookup, scan->columns[instruction->a]);
    }
    if (term.kind == CLR_TERM_SURE || term.kind == CLR_TERM_DOUBTFUL)
        terms->stages[number] |= term.kind == CLR_TERM_SURE ? CLR_STAGE_SURE : CLR_STAGE_DOUBTFUL;
    terms->terms[terms->count++] = term;
}

/* Gives an instruction's operands its stages: they are needed when it is. */
static void spread_stages(const struct clr_scan *scan, uint8_t *stages)
{
    int operands[3], count, i;

    for (i = scan->instruction_count - 1; i >= 0; i--) {
        count = clr_instruction_operands(&scan->instructions[i], operands);
        while (count > 0)
            stages[operands[--count]] |= stages[i];
    }
}

/* Whether the filter is neither BYTES nor UNSURE for any row, by what columns, their zones and
   lookups are now. */
static bool is_sure(const struct clr_scan *scan)
{
    bool sure[CLR_MOST_INSTRUCTIONS];

    find_sure(scan, sure);
    return scan->filter < 0 || sure[scan->filter];
}

/* Returns the share of the rows for which a lookup may be true, by a guess that a column's entries
   are alike often. */
static double share_of(const struct clr_lookup *lookup)
{
    return (double)lookup->true_count / ((double)lookup->count + 1.0);
}

bool clr_terms_pass_few(const struct clr_scan *scan)
{
    const double few = 0.25;
    int numbers[CLR_MOST_TERMS_OF_FILTER], i;
    const int count = clr_terms_split(scan, numbers);
    double share = 1.0;

    for (i = 0; i < count; i++)
        if (scan->instructions[numbers[i]].opcode == CLR_OP_LOOKUP)
            share *= share_of(&scan->lookups[scan->instructions[numbers[i]].b]);
    return share < few;
}

/* Returns what terms are sorted by, the share of their rows that may pass. What is quick comes
   first: comparisons of columns and of codes, and truths that are kept. */
static double guess_share(const struct clr_scan *scan, const struct clr_filter_term *term)
{
    const struct clr_lookup *lookup;

    if (term->kind != CLR_TERM_LOOKUP)
        return term->kind == CLR_TERM_SURE || term->kind == CLR_TERM_DOUBTFUL ? 2.0 : -1.0;
    lookup = &scan->lookups[scan->instructions[term->number].b];
    return share_of(lookup) - (lookup->are_beside || term->kept != NULL ? 1.0 : 0.0);
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
    int numbers[CLR_MOST_TERMS_OF_FILTER], count, i, k;
    bool sure[CLR_MOST_INSTRUCTIONS];

    find_sure(scan, sure);
    terms->count = 0;
    memset(terms->stages, 0, sizeof terms->stages);
    if (scan->filter >= 0)
        terms->stages[scan->filter] |= CLR_STAGE_FILTER;
    count = clr_terms_split(scan, numbers);
    for (i = 0; i < count; i++)
        add_term(scan, terms, numbers[i], sure[numbers[i]]);
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

/* ---- Blocks of which all rows pass. */

/* Whether a lookup is known to be true for all codes from least to greatest. */
static bool is_all_true(const struct clr_lookup *lookup, uint32_t least, uint32_t greatest)
{
    enum { FEW = 64 };
    uint32_t code = least;

    if (lookup->are_beside)
        return least >= lookup->first_true && greatest - lookup->first_true < lookup->true_count;
    if (greatest - least >= FEW)
        return false;
    while (code <= greatest && clr_lookup_is_true(lookup, code))
        code++;
    return code > greatest;
}

static bool passes_zone(const struct clr_scan *scan, const struct clr_filter_term *term,
                        const struct clr_column *column, const struct clr_zone *zone)
{
    const double power = column->frame.power;

    switch (term->kind) {
    case CLR_TERM_INTEGERS:
        return zone->types == CLR_TYPE(CLR_TAG_INTEGER) && zone->least >= term->least &&
               zone->greatest <= term->greatest;
    case CLR_TERM_REALS:
        return zone->types == CLR_TYPE(CLR_TAG_REAL) &&
               clr_real_of(zone->least) >= clr_real_of(term->least) &&
               clr_real_of(zone->greatest) <= clr_real_of(term->greatest);
    case CLR_TERM_DECIMALS:
        return zone->types == CLR_TYPE(CLR_TAG_REAL) &&
               clr_decimals_from(clr_real_of(zone->least), power) >= term->least &&
               clr_decimals_from(clr_real_of(zone->greatest), power) <= term->greatest;
    case CLR_TERM_LOOKUP:
        return is_all_true(&scan->lookups[scan->instructions[term->number].b],
                           (uint32_t)zone->least, (uint32_t)zone->greatest);
    default:
        return false;
    }
}

bool clr_terms_pass_block(const struct clr_scan *scan, const struct clr_filter_terms *terms,
                          size_t block)
{
    int i;

    for (i = 0; i < terms->count; i++) {
        const struct clr_filter_term *term = &terms->terms[i];
        const struct clr_column *column = scan->columns[scan->instructions[term->number].a];
        const struct clr_zones *zones =
            term->kind < CLR_TERM_SURE ? clr_column_zones(column) : NULL;

        if (zones == NULL || !passes_zone(scan, term, column, &zones->zones[block]))
            return false;
    }
    return true;
}

/* ---- Blocks that are left out. */

static bool is_below(int64_t a, int64_t b, bool real)
{
    return real ? clr_real_to_key(a) < clr_real_to_key(b) : a < b;
}

/* Adds a zone to a coarse one, which has none yet if it is the first. Where numbers are of two
   types the extremes do not matter; of a zone without numbers they are not defined. */
static void add_zone(struct clr_zone *all, const struct clr_zone *zone, bool is_first)
{
    const unsigned numbers = CLR_TYPE(CLR_TAG_INTEGER) | CLR_TYPE(CLR_TAG_REAL);
    const bool real = (zone->types & CLR_TYPE(CLR_TAG_REAL)) != 0;
    const bool has_any = !is_first && (all->types == 0 || (all->types & numbers) != 0);

    all->types = (uint8_t)(zone->types | (is_first ? 0 : all->types));
    if (zone->types != 0 && (zone->types & numbers) == 0)
        return;
    if (!has_any || is_below(zone->least, all->least, real))
        all->least = zone->least;
    if (!has_any || is_below(all->greatest, zone->greatest, real))
        all->greatest = zone->greatest;
}

void clr_zones_join(struct clr_zones *zones, size_t first, size_t count)
{
    struct clr_zone *coarse = zones->zones + zones->count;
    size_t end = first + count + CLR_COARSE_ZONES - 1, i;

    end -= end % CLR_COARSE_ZONES;
    end = end < zones->count ? end : zones->count;
    for (i = first - first % CLR_COARSE_ZONES; i < end; i++)
        add_zone(&coarse[i / CLR_COARSE_ZONES], &zones->zones[i], i % CLR_COARSE_ZONES == 0);
}

void clr_zones_complete(struct clr_zones *zones)
{
    const struct clr_zone *coarse = zones->zones + zones->count;
    size_t i;

    zones->types = 0;
    for (i = 0; i < clr_zones_coarse(zones->count); i++)
        zones->types |= coarse[i].types;
}

/* Stores the first ranges, as far as there is room. Returns how many there are. */
static int divide(const uint32_t *blocks, size_t count, size_t gap, int most,
                  struct clr_row_ranges *ranges)
{
    size_t first = 0, i;

    ranges->count = 0;
    for (i = 1; i <= count; i++) {
        if (i < count && blocks[i] - blocks[i - 1] <= gap)
            continue;
        if (ranges->count == most)
            return most + 1;
        ranges->ranges[ranges->count++] =
            (struct clr_row_range){(size_t)blocks[first] * CLR_ZONE_ROWS,
                                   ((size_t)blocks[i - 1] - blocks[first] + 1) * CLR_ZONE_ROWS};
        first = i;
    }
    return ranges->count;
}

void clr_row_ranges_find(const struct clr_scan *scan, size_t gap, int most,
                         struct clr_row_ranges *ranges)
{
    const size_t count = clr_zones_of(scan->rows);

    ranges->count = 0;
    if (scan->rows == 0)
        return;
    if (scan->blocks == NULL) {
        ranges->count = 1;
        ranges->ranges[0] = (struct clr_row_range){0, scan->rows};
        return;
    }
    most = most < CLR_MOST_LAUNCHED_RANGES ? most : CLR_MOST_LAUNCHED_RANGES;
    while (divide(scan->blocks, count, gap, most, ranges) > most)
        gap *= 2;
    /* The last block may be short. */
    ranges->ranges[ranges->count - 1].rows -= count * CLR_ZONE_ROWS - scan->rows;
}

/* Blocks, or coarse zones, are looked at so many at a time, a bit for each. What a filter asks
   beyond MOST_TESTS is taken to be true: it takes longer then, and skips less. */
enum { BATCH = CLR_COARSE_ZONES, MOST_TESTS = 32 };

#define NUMBERS (CLR_TYPE(CLR_TAG_INTEGER) | CLR_TYPE(CLR_TAG_REAL))

/* What a block's zone is asked: whether an instruction may be true for one of its rows. */
struct test {
    int number; /* of the instruction */
    int column; /* of the scan */
    const struct clr_zones *zones;
    unsigned types;                  /* it is true for all values of these */
    struct bounds bounds;            /* and for these numbers */
    const struct clr_lookup *lookup; /* or NULL */
};

struct tests {
    const struct clr_scan *scan;
    bool asked[CLR_MOST_INSTRUCTIONS]; /* the filter, and all that ANDs and ORs join in it */
    int count;
    struct test tests[MOST_TESTS]; /* those of instructions that are asked, in their order */
};

static bool is_joint(const struct clr_instruction *instruction)
{
    return instruction->opcode == CLR_OP_AND || instruction->opcode == CLR_OP_OR;
}

static void find_asked(const struct clr_scan *scan, bool asked[CLR_MOST_INSTRUCTIONS])
{
    int i;

    memset(asked, 0, CLR_MOST_INSTRUCTIONS * sizeof *asked);
    asked[scan->filter] = true;
    for (i = scan->filter; i >= 0; i--)
        if (asked[i] && is_joint(&scan->instructions[i]))
            asked[scan->instructions[i].a] = asked[scan->instructions[i].b] = true;
}

/* Finds out what an instruction asks of a column. Returns false if zones can't tell. */
static bool find_test(const struct clr_scan *scan, int number, struct test *test)
{
    const struct clr_instruction *instruction = &scan->instructions[number];
    int operand = number;

    *test = (struct test){.number = number, .bounds = {INT64_MAX, INT64_MIN, INFINITY, -INFINITY}};
    if (instruction->opcode == CLR_OP_LOOKUP) {
        if (scan->lookups[instruction->b].truths == NULL)
            return false;
    } else if (instruction->opcode == CLR_OP_IS_NULL || instruction->opcode == CLR_OP_NOT_NULL) {
        operand = instruction->a;
        test->types = CLR_TYPE(CLR_TAG_NULL);
        if (instruction->opcode == CLR_OP_NOT_NULL)
            test->types = ~test->types;
        if (scan->instructions[operand].opcode != CLR_OP_COLUMN)
            return false;
    } else if (!compares(scan, number, &operand, &test->bounds)) {
        return false;
    }
    test->column = scan->instructions[operand].a;
    return true;
}

/* Columns of several types are wanted wherever they are read: without their zones it is not known
   whether the filter is sure. */
bool clr_skipping_find_columns(const struct clr_scan *scan, bool wanted[CLR_MOST_COLUMNS])
{
    const struct clr_tally none = {.x = -1, .y = -1, .filter = -1};
    bool asked[CLR_MOST_INSTRUCTIONS], used[CLR_MOST_INSTRUCTIONS], any = false;
    struct test test;
    int i;

    memset(wanted, 0, CLR_MOST_COLUMNS * sizeof *wanted);
    if (scan->filter < 0)
        return false;
    find_asked(scan, asked);
    clr_scan_find_used(scan, &none, used);
    for (i = 0; i <= scan->filter; i++) {
        const struct clr_instruction *instruction = &scan->instructions[i];

        if (asked[i] && find_test(scan, i, &test))
            any = wanted[test.column] = true;
        if (used[i] && instruction->opcode == CLR_OP_COLUMN &&
            scan->columns[instruction->a]->kind == CLR_TAG_MIXED)
            wanted[instruction->a] = true;
    }
    return any;
}

/* Whether a lookup is true for one of the codes from least to greatest. */
static bool has_truths(const struct clr_lookup *lookup, uint32_t least, uint32_t greatest)
{
    const uint32_t *truths = lookup->truths;
    const uint32_t from_least = UINT32_MAX << least % 32;
    const uint32_t to_greatest = UINT32_MAX >> (31 - greatest % 32);

    least /= 32;
    greatest /= 32;
    if (least == greatest)
        return (truths[least] & from_least & to_greatest) != 0;
    return (truths[least] & from_least) != 0 || (truths[greatest] & to_greatest) != 0 ||
           lookup->truth_counts[greatest] > lookup->truth_counts[least + 1];
}

static void find_tests(struct tests *tests)
{
    const struct clr_scan *scan = tests->scan;
    int i;

    find_asked(scan, tests->asked);
    for (i = 0; i <= scan->filter && tests->count < MOST_TESTS; i++) {
        struct test *test = &tests->tests[tests->count];
        const struct clr_instruction *instruction = &scan->instructions[i];

        if (!tests->asked[i] || !find_test(scan, i, test))
            continue;
        test->zones = clr_column_zones(scan->columns[test->column]);
        if (instruction->opcode == CLR_OP_LOOKUP)
            test->lookup = &scan->lookups[instruction->b];
        if (test->zones != NULL)
            tests->count++;
    }
}

static bool may_be_true(const struct test *test, const struct clr_zone *zone)
{
    const struct bounds *bounds = &test->bounds;

    if (test->lookup != NULL)
        return has_truths(test->lookup, (uint32_t)zone->least, (uint32_t)zone->greatest);
    switch (zone->types & NUMBERS) {
    case 0:
        return (zone->types & test->types) != 0;
    case CLR_TYPE(CLR_TAG_INTEGER):
        return (zone->types & test->types) != 0 ||
               (zone->least <= bounds->greatest && zone->greatest >= bounds->least);
    case CLR_TYPE(CLR_TAG_REAL):
        return (zone->types & test->types) != 0 ||
               (clr_real_of(zone->least) <= bounds->greatest_real &&
                clr_real_of(zone->greatest) >= bounds->least_real);
    default:
        return true;
    }
}

/* Returns a bit for each of up to BATCH blocks from the first on, of so many in all. */
static uint64_t all_from(size_t first, size_t all)
{
    const size_t count = all - first < BATCH ? all - first : BATCH;

    return UINT64_MAX >> (BATCH - count);
}

/* Returns for which of them the filter may be true. Coarse ones are those of which there is a
   coarse zone. */
static uint64_t ask(const struct tests *tests, bool coarse, size_t first, size_t all)
{
    const size_t count = all - first < BATCH ? all - first : BATCH;
    const struct test *test = tests->tests, *end = test + tests->count;
    uint64_t answers[CLR_MOST_INSTRUCTIONS];
    const struct clr_zone *zones;
    size_t k;
    int i;

    for (i = 0; i <= tests->scan->filter; i++) {
        const struct clr_instruction *instruction = &tests->scan->instructions[i];

        answers[i] = UINT64_MAX;
        if (!tests->asked[i])
            continue;
        if (instruction->opcode == CLR_OP_AND)
            answers[i] = answers[instruction->a] & answers[instruction->b];
        else if (instruction->opcode == CLR_OP_OR)
            answers[i] = answers[instruction->a] | answers[instruction->b];
        if (test == end || test->number != i)
            continue;
        zones = test->zones->zones + (coarse ? test->zones->count : 0) + first;
        for (k = 0; k < count; k++)
            if (!may_be_true(test, &zones[k]))
                answers[i] &= ~(UINT64_C(1) << k);
        test++;
    }
    return answers[tests->scan->filter] & all_from(first, all);
}

/* Whether the filter may be true for all blocks of BATCH coarse ones, which it may be true for, as
   far as some of these tell: a guess, since to ask each block takes a device longer than to scan
   them all. */
static bool may_be_for_all(const struct tests *tests, size_t coarse, size_t all)
{
    enum { STEP = BATCH / 4 };
    size_t i;

    for (i = coarse; i < coarse + BATCH; i += STEP) {
        const size_t first = i * CLR_COARSE_ZONES;

        if (ask(tests, false, first, all) != all_from(first, all))
            return false;
    }
    return true;
}

/* Lists the blocks for which the filter may be true. */
static size_t list_blocks(const struct tests *tests, size_t all, uint32_t *blocks)
{
    const size_t all_coarse = clr_zones_coarse(all);
    size_t listed = 0, coarse;

    for (coarse = 0; coarse < all_coarse; coarse += BATCH) {
        uint64_t some = ask(tests, true, coarse, all_coarse), found;
        const bool is_guessed = some == UINT64_MAX && may_be_for_all(tests, coarse, all);

        for (; some != 0; some &= some - 1) {
            const size_t first = (coarse + (size_t)__builtin_ctzll(some)) * CLR_COARSE_ZONES;

            found = is_guessed ? all_from(first, all) : ask(tests, false, first, all);
            for (; found != 0; found &= found - 1)
                blocks[listed++] = (uint32_t)(first + (size_t)__builtin_ctzll(found));
        }
    }
    return listed;
}

void clr_skipping_find_blocks(struct clr_scan *scan)
{
    const size_t all = clr_zones_of(scan->rows);
    struct tests tests = {.scan = scan};
    uint32_t *blocks = NULL;
    size_t count = all;

    if (scan->filter < 0 || !is_sure(scan))
        return;
    find_tests(&tests);
    if (tests.count > 0)
        blocks = clr_memory_alloc((all + 1) * sizeof *blocks);
    if (blocks != NULL)
        count = list_blocks(&tests, all, blocks);
    if (count == all) {
        clr_memory_free(blocks);
        return;
    }
    scan->blocks = blocks;
    if (count > 0 && blocks[count - 1] == all - 1)
        scan->rows -= (all - count) * CLR_ZONE_ROWS;
    else
        scan->rows = count * CLR_ZONE_ROWS;
}

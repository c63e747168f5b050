/* Scans done slowly: value by value, row by row, each added to the state by itself. */
#ifndef CLR_TESTS_SCAN_REFERENCE_H
#define CLR_TESTS_SCAN_REFERENCE_H

#include "numeric/scan/scan.h"

#include "../../kernels/arithmetic/reals.cl"
#include "../../kernels/scan/values.cl"
#include "../../kernels/scan/values_logic.cl"

#include "tap.h"

static inline scalar reference_operate(enum clr_opcode opcode, scalar a, scalar b, scalar c)
{
    switch (opcode) {
    case CLR_OP_ADD:
        return scalar_add(a, b);
    case CLR_OP_SUBTRACT:
        return scalar_subtract(a, b);
    case CLR_OP_MULTIPLY:
        return scalar_multiply(a, b);
    case CLR_OP_DIVIDE:
        return scalar_divide(a, b);
    case CLR_OP_REMAINDER:
        return scalar_remainder(a, b);
    case CLR_OP_EQUAL:
        return scalar_equal(a, b);
    case CLR_OP_UNEQUAL:
        return scalar_unequal(a, b);
    case CLR_OP_LESS:
        return scalar_less(a, b);
    case CLR_OP_LESS_EQUAL:
        return scalar_less_equal(a, b);
    case CLR_OP_GREATER:
        return scalar_greater(a, b);
    case CLR_OP_GREATER_EQUAL:
        return scalar_greater_equal(a, b);
    case CLR_OP_IS:
        return scalar_is(a, b);
    case CLR_OP_IS_NOT:
        return scalar_is_not(a, b);
    case CLR_OP_IS_NULL:
        return scalar_is_null(a);
    case CLR_OP_NOT_NULL:
        return scalar_not_null(a);
    case CLR_OP_AND:
        return scalar_and(a, b);
    case CLR_OP_OR:
        return scalar_or(a, b);
    case CLR_OP_NOT:
        return scalar_not(a);
    case CLR_OP_IF:
        return scalar_if(a, b, c);
    case CLR_OP_COALESCE:
        return scalar_coalesce(a, b);
    case CLR_OP_LEAST:
        return scalar_least(a, b);
    case CLR_OP_GREATEST:
        return scalar_greatest(a, b);
    case CLR_OP_ABSOLUTE:
        return scalar_absolute(a);
    case CLR_OP_BIT_AND:
        return scalar_bit_and(a, b);
    case CLR_OP_BIT_OR:
        return scalar_bit_or(a, b);
    case CLR_OP_BIT_NOT:
        return scalar_bit_not(a);
    case CLR_OP_SHIFT_LEFT:
        return scalar_shift_left(a, b);
    case CLR_OP_SHIFT_RIGHT:
        return scalar_shift_right(a, b);
    case CLR_OP_TO_INTEGER:
        return scalar_cast_to_integer(a);
    case CLR_OP_TO_REAL:
        return scalar_cast_to_real(a);
    case CLR_OP_ROUND:
        return scalar_round(a);
    case CLR_OP_FLOOR:
        return scalar_floor(a);
    case CLR_OP_CEILING:
        return scalar_ceiling(a);
    case CLR_OP_TRUNCATE:
        return scalar_truncate(a);
    case CLR_OP_SIGN:
        return scalar_sign(a);
    default:
        tap_bail("there is no opcode %d", (int)opcode);
    }
}

static inline scalar reference_column(const struct clr_column *column, size_t row)
{
    int tag = column->kind == CLR_TAG_MIXED ? column->tags[row] : column->kind;
    return scalar_of(tag, clr_column_value(column, row));
}

static inline scalar reference_lookup(const struct clr_column *column,
                                      const struct clr_lookup *lookup, size_t row)
{
    const uint32_t code = clr_column_code(column, row);
    int tag = lookup->kind == CLR_TAG_MIXED ? lookup->tags[code] : lookup->kind;

    return scalar_of(tag, lookup->values[code]);
}

/* The value of an operand; of one that an operator does not have, any. */
static inline scalar reference_operand(const scalar *values, int number)
{
    return number < 0 ? scalar_of(VALUE_UNSURE, 0) : values[number];
}

static inline void reference_row(const struct clr_scan *scan, size_t row, scalar *values)
{
    int i;

    for (i = 0; i < scan->instruction_count; i++) {
        const struct clr_instruction *in = &scan->instructions[i];
        if (in->opcode == CLR_OP_COLUMN)
            values[i] = reference_column(scan->columns[in->a], row);
        else if (in->opcode == CLR_OP_LOOKUP)
            values[i] = reference_lookup(scan->columns[in->a], &scan->lookups[in->b], row);
        else if (in->opcode == CLR_OP_CONSTANT)
            values[i] = scalar_of(scan->constants[in->a].tag, scan->constants[in->a].bits);
        else
            values[i] = reference_operate(in->opcode, reference_operand(values, in->a),
                                          reference_operand(values, in->b),
                                          reference_operand(values, in->c));
    }
}

static inline void reference_extreme(struct clr_state *state, scalar x)
{
    if (x.tag == CLR_TAG_INTEGER)
        clr_range_add(&state->integers, x.bits);
    else
        clr_range_add(&state->reals, clr_real_to_key(x.bits));
}

static inline void reference_sum(struct clr_sum *sum, scalar x)
{
    if (x.tag == CLR_TAG_INTEGER)
        clr_sum_add_integer(sum, x.bits, 1);
    else
        clr_sum_add(sum, value_real_of(x.bits), 1);
}

static inline void reference_product(struct clr_sum *sum, scalar x, scalar y)
{
    if (x.tag == CLR_TAG_INTEGER && y.tag == CLR_TAG_INTEGER)
        clr_sum_add_integer(sum, (clr_i128)x.bits * y.bits, 1);
    else if (x.tag == CLR_TAG_INTEGER)
        clr_sum_add_mixed_product(sum, x.bits, value_real_of(y.bits), 1);
    else if (y.tag == CLR_TAG_INTEGER)
        clr_sum_add_mixed_product(sum, y.bits, value_real_of(x.bits), 1);
    else
        clr_sum_add_product(sum, value_real_of(x.bits), value_real_of(y.bits), 1);
}

/* Whether an argument of a row that passed the filters decides that the scan is unsure. */
static inline bool reference_unsure(const struct clr_tally *tally, scalar x)
{
    return x.tag == CLR_TAG_UNSURE || (x.tag == CLR_TAG_BYTES && tally->operations != 0);
}

static inline enum clr_scan_outcome reference_take(const struct clr_tally *tally,
                                                   const scalar *values, struct clr_state *state)
{
    scalar x = scalar_integer(0), y = x;

    if (tally->filter >= 0 && scalar_is_unknown(values[tally->filter]))
        return CLR_SCAN_UNSURE;
    if (tally->filter >= 0 && !scalar_is_true(values[tally->filter]))
        return CLR_SCAN_DONE;
    if (tally->x >= 0)
        x = values[tally->x];
    if (tally->y >= 0 && values[tally->y].tag == CLR_TAG_UNSURE)
        return CLR_SCAN_UNSURE;
    if (reference_unsure(tally, x))
        return CLR_SCAN_UNSURE;
    if (x.tag == CLR_TAG_NULL)
        return CLR_SCAN_DONE;
    if (tally->y >= 0)
        y = values[tally->y];
    if (reference_unsure(tally, y))
        return CLR_SCAN_UNSURE;
    if (y.tag == CLR_TAG_NULL)
        return CLR_SCAN_DONE;
    state->count++;
    state->non_integers += x.tag != CLR_TAG_INTEGER || y.tag != CLR_TAG_INTEGER;
    if (tally->operations & 1 << CLR_SUM)
        reference_sum(&state->sum, x);
    if (tally->operations & 1 << CLR_DOT)
        reference_product(&state->sum, x, y);
    if (tally->operations & 1 << CLR_EXTREMES)
        reference_extreme(state, x);
    return CLR_SCAN_DONE;
}

/* Returns CLR_SCAN_DONE or CLR_SCAN_UNSURE. */
static inline enum clr_scan_outcome reference_scan(const struct clr_scan *scan,
                                                   struct clr_state *states)
{
    scalar values[CLR_MOST_INSTRUCTIONS];
    size_t row;
    int i;

    for (i = 0; i < scan->tally_count; i++)
        clr_state_clear(&states[i]);
    for (row = 0; row < scan->rows; row++) {
        reference_row(scan, row, values);
        if (scan->filter >= 0 && scalar_is_unknown(values[scan->filter]))
            return CLR_SCAN_UNSURE;
        if (scan->filter >= 0 && !scalar_is_true(values[scan->filter]))
            continue;
        for (i = 0; i < scan->tally_count; i++)
            if (reference_take(&scan->tallies[i], values, &states[i]) != CLR_SCAN_DONE)
                return CLR_SCAN_UNSURE;
    }
    return CLR_SCAN_DONE;
}

/* Whether two states have the same answers; their sums may be kept in different ways. */
static inline bool reference_same_range(const struct clr_range *a, const struct clr_range *b)
{
    return a->seen == b->seen && (!a->seen || (a->least == b->least && a->greatest == b->greatest));
}

static inline bool reference_same(struct clr_state *a, struct clr_state *b)
{
    double x = clr_sum_round(&a->sum, 1), y = clr_sum_round(&b->sum, 1);
    double x_third = clr_sum_round(&a->sum, 3), y_third = clr_sum_round(&b->sum, 3);

    return a->count == b->count && a->non_integers == b->non_integers &&
           ((x != x && y != y) || (value_bits_of(x) == value_bits_of(y) &&
                                   value_bits_of(x_third) == value_bits_of(y_third))) &&
           memcmp(&a->sum.integer, &b->sum.integer, sizeof a->sum.integer) == 0 &&
           reference_same_range(&a->integers, &b->integers) &&
           reference_same_range(&a->reals, &b->reals);
}

#endif

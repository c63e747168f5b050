#include "numeric/scan_reference.h"

#include "tap.h"

#include <string.h>

scalar reference_operate(enum clr_opcode opcode, scalar a, scalar b, scalar c)
{
    static const struct {
        scalar (*of_one)(scalar a);
        scalar (*of_two)(scalar a, scalar b);
        scalar (*of_three)(scalar a, scalar b, scalar c);
    } operators[CLR_OPCODES] = {
        [CLR_OP_ADD] = {.of_two = scalar_add},
        [CLR_OP_SUBTRACT] = {.of_two = scalar_subtract},
        [CLR_OP_MULTIPLY] = {.of_two = scalar_multiply},
        [CLR_OP_DIVIDE] = {.of_two = scalar_divide},
        [CLR_OP_REMAINDER] = {.of_two = scalar_remainder},
        [CLR_OP_EQUAL] = {.of_two = scalar_equal},
        [CLR_OP_UNEQUAL] = {.of_two = scalar_unequal},
        [CLR_OP_LESS] = {.of_two = scalar_less},
        [CLR_OP_LESS_EQUAL] = {.of_two = scalar_less_equal},
        [CLR_OP_GREATER] = {.of_two = scalar_greater},
        [CLR_OP_GREATER_EQUAL] = {.of_two = scalar_greater_equal},
        [CLR_OP_IS] = {.of_two = scalar_is},
        [CLR_OP_IS_NOT] = {.of_two = scalar_is_not},
        [CLR_OP_IS_NULL] = {.of_one = scalar_is_null},
        [CLR_OP_NOT_NULL] = {.of_one = scalar_not_null},
        [CLR_OP_AND] = {.of_two = scalar_and},
        [CLR_OP_OR] = {.of_two = scalar_or},
        [CLR_OP_NOT] = {.of_one = scalar_not},
        [CLR_OP_IF] = {.of_three = scalar_if},
        [CLR_OP_COALESCE] = {.of_two = scalar_coalesce},
        [CLR_OP_LEAST] = {.of_two = scalar_least},
        [CLR_OP_GREATEST] = {.of_two = scalar_greatest},
        [CLR_OP_ABSOLUTE] = {.of_one = scalar_absolute},
        [CLR_OP_BIT_AND] = {.of_two = scalar_bit_and},
        [CLR_OP_BIT_OR] = {.of_two = scalar_bit_or},
        [CLR_OP_BIT_NOT] = {.of_one = scalar_bit_not},
        [CLR_OP_SHIFT_LEFT] = {.of_two = scalar_shift_left},
        [CLR_OP_SHIFT_RIGHT] = {.of_two = scalar_shift_right},
        [CLR_OP_TO_INTEGER] = {.of_one = scalar_cast_to_integer},
        [CLR_OP_TO_REAL] = {.of_one = scalar_cast_to_real},
        [CLR_OP_ROUND] = {.of_one = scalar_round},
        [CLR_OP_FLOOR] = {.of_one = scalar_floor},
        [CLR_OP_CEILING] = {.of_one = scalar_ceiling},
        [CLR_OP_TRUNCATE] = {.of_one = scalar_truncate},
        [CLR_OP_SIGN] = {.of_one = scalar_sign},
    };

    if (operators[opcode].of_one != NULL)
        return operators[opcode].of_one(a);
    if (operators[opcode].of_two != NULL)
        return operators[opcode].of_two(a, b);
    TAP_NEED(operators[opcode].of_three != NULL, "there is no opcode %d", (int)opcode);
    return operators[opcode].of_three(a, b, c);
}

static scalar load(const struct clr_column *column, size_t row)
{
    int tag = column->kind == CLR_TAG_MIXED ? column->tags[row] : column->kind;
    return scalar_of(tag, clr_column_value(column, row));
}

static scalar look_up(const struct clr_column *column, const struct clr_lookup *lookup, size_t row)
{
    const uint32_t code = clr_column_code(column, row);
    int tag = lookup->kind == CLR_TAG_MIXED ? lookup->tags[code] : lookup->kind;

    return scalar_of(tag, lookup->values[code]);
}

/* The value of an operand; of one that an operator does not have, any. */
static scalar operand(const scalar *values, int number)
{
    return number < 0 ? scalar_of(VALUE_UNSURE, 0) : values[number];
}

void reference_row(const struct clr_scan *scan, size_t row, scalar *values)
{
    int i;

    for (i = 0; i < scan->instruction_count; i++) {
        const struct clr_instruction *in = &scan->instructions[i];
        if (in->opcode == CLR_OP_COLUMN)
            values[i] = load(scan->columns[in->a], row);
        else if (in->opcode == CLR_OP_LOOKUP)
            values[i] = look_up(scan->columns[in->a], &scan->lookups[in->b], row);
        else if (in->opcode == CLR_OP_CONSTANT)
            values[i] = scalar_of(scan->constants[in->a].tag, scan->constants[in->a].bits);
        else
            values[i] = reference_operate(in->opcode, operand(values, in->a),
                                          operand(values, in->b), operand(values, in->c));
    }
}

static void take_extreme(struct clr_state *state, scalar x)
{
    if (x.tag == CLR_TAG_INTEGER)
        clr_range_add(&state->integers, x.bits);
    else
        clr_range_add(&state->reals, clr_real_to_key(x.bits));
}

static void take_sum(struct clr_sum *sum, scalar x)
{
    if (x.tag == CLR_TAG_INTEGER)
        clr_sum_add_integer(sum, x.bits, 1);
    else
        clr_sum_add(sum, value_real_of(x.bits), 1);
}

static void take_product(struct clr_sum *sum, scalar x, scalar y)
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
static bool is_unsure(const struct clr_tally *tally, scalar x)
{
    return x.tag == CLR_TAG_UNSURE || (x.tag == CLR_TAG_BYTES && tally->operations != 0);
}

/* What a device leaves to the host: an INTEGER times a REAL, and not exact as one. */
static bool is_inexact(const struct clr_tally *tally, scalar x, scalar y)
{
    const int64_t most = (int64_t)1 << 53;

    return (tally->operations & 1u << CLR_DOT) && x.tag != y.tag &&
           ((x.tag == CLR_TAG_INTEGER && (x.bits > most || x.bits < -most)) ||
            (y.tag == CLR_TAG_INTEGER && (y.bits > most || y.bits < -most)));
}

static enum clr_scan_outcome take(const struct clr_tally *tally, const scalar *values,
                                  struct clr_state *state, bool *inexact)
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
    if (is_unsure(tally, x))
        return CLR_SCAN_UNSURE;
    if (x.tag == CLR_TAG_NULL)
        return CLR_SCAN_DONE;
    if (tally->y >= 0)
        y = values[tally->y];
    if (is_unsure(tally, y))
        return CLR_SCAN_UNSURE;
    if (y.tag == CLR_TAG_NULL)
        return CLR_SCAN_DONE;
    *inexact = *inexact || is_inexact(tally, x, y);
    state->count++;
    state->non_integers += x.tag != CLR_TAG_INTEGER || y.tag != CLR_TAG_INTEGER;
    if (tally->operations & 1 << CLR_SUM)
        take_sum(&state->sum, x);
    if (tally->operations & 1 << CLR_DOT)
        take_product(&state->sum, x, y);
    if (tally->operations & 1 << CLR_EXTREMES)
        take_extreme(state, x);
    return CLR_SCAN_DONE;
}

static enum clr_scan_outcome scan_rows(const struct clr_scan *scan, struct clr_state *states,
                                       bool *inexact)
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
            if (take(&scan->tallies[i], values, &states[i], inexact) != CLR_SCAN_DONE)
                return CLR_SCAN_UNSURE;
    }
    return CLR_SCAN_DONE;
}

enum clr_scan_outcome reference_scan(const struct clr_scan *scan, struct clr_state *states)
{
    bool inexact = false;

    return scan_rows(scan, states, &inexact);
}

enum clr_scan_outcome reference_expect(struct clr_scan *scan)
{
    struct clr_state states[CLR_MOST_TALLIES];
    bool inexact = false;
    const enum clr_scan_outcome outcome = scan_rows(scan, states, &inexact);
    int i;

    for (i = 0; i < scan->tally_count; i++)
        scan->tallies[i].state = states[i];
    return outcome == CLR_SCAN_DONE && inexact ? CLR_SCAN_NOT_NOW : outcome;
}

bool reference_same_range(const struct clr_range *a, const struct clr_range *b)
{
    return a->seen == b->seen && (!a->seen || (a->least == b->least && a->greatest == b->greatest));
}

bool reference_same_answer(struct clr_state *a, struct clr_state *b)
{
    double x = clr_sum_round(&a->sum, 1), y = clr_sum_round(&b->sum, 1);
    double x_third = clr_sum_round(&a->sum, 3), y_third = clr_sum_round(&b->sum, 3);

    return a->count == b->count && a->non_integers == b->non_integers &&
           ((x != x && y != y) || (value_bits_of(x) == value_bits_of(y) &&
                                   value_bits_of(x_third) == value_bits_of(y_third))) &&
           (a->non_integers > 0 ||
            memcmp(&a->sum.integer, &b->sum.integer, sizeof a->sum.integer) == 0) &&
           reference_same_range(&a->integers, &b->integers) &&
           reference_same_range(&a->reals, &b->reals);
}

bool reference_same(struct clr_state *a, struct clr_state *b)
{
    return reference_same_answer(a, b) &&
           memcmp(&a->sum.integer, &b->sum.integer, sizeof a->sum.integer) == 0;
}

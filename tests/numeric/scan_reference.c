#include "numeric/scan_reference.h"

#include "numeric/data.h"

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

bool reference_same_answer(struct clr_state *a, struct clr_state *b)
{
    double x = clr_sum_round(&a->sum, 1), y = clr_sum_round(&b->sum, 1);
    double x_third = clr_sum_round(&a->sum, 3), y_third = clr_sum_round(&b->sum, 3);

    return a->count == b->count && a->non_integers == b->non_integers &&
           ((x != x && y != y) || (value_bits_of(x) == value_bits_of(y) &&
                                   value_bits_of(x_third) == value_bits_of(y_third))) &&
           (a->non_integers > 0 ||
            memcmp(&a->sum.integer, &b->sum.integer, sizeof a->sum.integer) == 0) &&
           data_same_range(&a->integers, &b->integers) && data_same_range(&a->reals, &b->reals);
}

bool reference_same(struct clr_state *a, struct clr_state *b)
{
    return reference_same_answer(a, b) &&
           memcmp(&a->sum.integer, &b->sum.integer, sizeof a->sum.integer) == 0;
}

#include "numeric/generic.h"

#include "../../kernels/values.cl"

typedef void loop_function(const struct clr_register *a, const struct clr_register *b,
                           const struct clr_register *c, struct clr_register *result);

#define VALUE(r) scalar_of((r)->tags[i], (r)->values[i])
#define LOOP(name, ...)                                                                            \
    static void generic_##name(const struct clr_register *a, const struct clr_register *b,         \
                               const struct clr_register *c, struct clr_register *result)          \
    {                                                                                              \
        size_t i;                                                                                  \
        (void)b, (void)c;                                                                          \
        for (i = 0; i < CLR_BLOCK; i++) {                                                          \
            scalar value = scalar_##name(__VA_ARGS__);                                             \
            result->own_values[i] = value.bits;                                                    \
            result->own_tags[i] = (uint8_t)value.tag;                                              \
        }                                                                                          \
    }
#define LOOP_1(name) LOOP(name, VALUE(a))
#define LOOP_2(name) LOOP(name, VALUE(a), VALUE(b))
#define LOOP_3(name) LOOP(name, VALUE(a), VALUE(b), VALUE(c))

LOOP_2(add)
LOOP_2(subtract)
LOOP_2(multiply)
LOOP_2(divide)
LOOP_2(remainder)
LOOP_2(equal)
LOOP_2(unequal)
LOOP_2(less)
LOOP_2(less_equal)
LOOP_2(greater)
LOOP_2(greater_equal)
LOOP_2(is)
LOOP_2(is_not)
LOOP_1(is_null)
LOOP_1(not_null)
LOOP_2(and)
LOOP_2(or)
LOOP_1(not )
LOOP_3(if)
LOOP_2(coalesce)
LOOP_2(least)
LOOP_2(greatest)
LOOP_1(absolute)

static const struct {
    int operands;
    loop_function *loop;
} operators[CLR_OPCODES] = {
    [CLR_OP_ADD] = {2, generic_add},
    [CLR_OP_SUBTRACT] = {2, generic_subtract},
    [CLR_OP_MULTIPLY] = {2, generic_multiply},
    [CLR_OP_DIVIDE] = {2, generic_divide},
    [CLR_OP_REMAINDER] = {2, generic_remainder},
    [CLR_OP_EQUAL] = {2, generic_equal},
    [CLR_OP_UNEQUAL] = {2, generic_unequal},
    [CLR_OP_LESS] = {2, generic_less},
    [CLR_OP_LESS_EQUAL] = {2, generic_less_equal},
    [CLR_OP_GREATER] = {2, generic_greater},
    [CLR_OP_GREATER_EQUAL] = {2, generic_greater_equal},
    [CLR_OP_IS] = {2, generic_is},
    [CLR_OP_IS_NOT] = {2, generic_is_not},
    [CLR_OP_IS_NULL] = {1, generic_is_null},
    [CLR_OP_NOT_NULL] = {1, generic_not_null},
    [CLR_OP_AND] = {2, generic_and},
    [CLR_OP_OR] = {2, generic_or},
    [CLR_OP_NOT] = {1, generic_not},
    [CLR_OP_IF] = {3, generic_if},
    [CLR_OP_COALESCE] = {2, generic_coalesce},
    [CLR_OP_LEAST] = {2, generic_least},
    [CLR_OP_GREATEST] = {2, generic_greatest},
    [CLR_OP_ABSOLUTE] = {1, generic_absolute},
};

int clr_opcode_operands(enum clr_opcode opcode)
{
    return operators[opcode].operands;
}

void clr_run_generic(enum clr_opcode opcode, const struct clr_register *a,
                     const struct clr_register *b, const struct clr_register *c,
                     struct clr_register *result)
{
    operators[opcode].loop(a, b, c, result);
    result->values = result->own_values;
    result->tags = result->own_tags;
}

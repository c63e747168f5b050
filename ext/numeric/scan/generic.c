#include "numeric/scan/generic.h"

#include "numeric/scan/loops.h"

#include "../../../kernels/values.cl"

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

static loop_function *const operators[CLR_OPCODES] = {
    [CLR_OP_ADD] = generic_add,
    [CLR_OP_SUBTRACT] = generic_subtract,
    [CLR_OP_MULTIPLY] = generic_multiply,
    [CLR_OP_DIVIDE] = generic_divide,
    [CLR_OP_REMAINDER] = generic_remainder,
    [CLR_OP_EQUAL] = generic_equal,
    [CLR_OP_UNEQUAL] = generic_unequal,
    [CLR_OP_LESS] = generic_less,
    [CLR_OP_LESS_EQUAL] = generic_less_equal,
    [CLR_OP_GREATER] = generic_greater,
    [CLR_OP_GREATER_EQUAL] = generic_greater_equal,
    [CLR_OP_IS] = generic_is,
    [CLR_OP_IS_NOT] = generic_is_not,
    [CLR_OP_IS_NULL] = generic_is_null,
    [CLR_OP_NOT_NULL] = generic_not_null,
    [CLR_OP_AND] = generic_and,
    [CLR_OP_OR] = generic_or,
    [CLR_OP_NOT] = generic_not,
    [CLR_OP_IF] = generic_if,
    [CLR_OP_COALESCE] = generic_coalesce,
    [CLR_OP_LEAST] = generic_least,
    [CLR_OP_GREATEST] = generic_greatest,
    [CLR_OP_ABSOLUTE] = generic_absolute,
};

void clr_run_generic(enum clr_opcode opcode, const struct clr_register *a,
                     const struct clr_register *b, const struct clr_register *c,
                     struct clr_register *result)
{
    operators[opcode](a, b, c, result);
    result->values = result->own_values;
    result->tags = result->own_tags;
}

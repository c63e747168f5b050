#include "numeric/scan/by_value.h"

#include "numeric/scan/loops.h"

#include "../../../kernels/arithmetic/reals.cl"
#include "../../../kernels/scan/values.cl"
#include "../../../kernels/scan/values_logic.cl"

typedef void loop_function(const struct clr_register *a, const struct clr_register *b,
                           const struct clr_register *c, struct clr_register *result);

#define VALUE(r) scalar_of((r)->tags[i], (r)->values[i])
#define LOOP(name, ...)                                                                            \
    static void each_##name(const struct clr_register *a, const struct clr_register *b,            \
                            const struct clr_register *c, struct clr_register *result)             \
    {                                                                                              \
        size_t i;                                                                                  \
        (void)b, (void)c;                                                                          \
        for (i = 0; i < CLR_BLOCK; i++) {                                                          \
            scalar value = scalar_##name(__VA_ARGS__);                                             \
            result->own_values[i] = value.bits;                                                    \
            result->own_tags[i] = (uint8_t)value.tag;                                              \
        }                                                                                          \
    }
#define LOOP_1(opcode, name) LOOP(name, VALUE(a))
#define LOOP_2(opcode, name) LOOP(name, VALUE(a), VALUE(b))
#define LOOP_3(opcode, name) LOOP(name, VALUE(a), VALUE(b), VALUE(c))

/* Every operator with its opcode and how many operands it takes. */
#define OPERATORS(ONE, TWO, THREE)                                                                 \
    TWO(ADD, add)                                                                                  \
    TWO(SUBTRACT, subtract)                                                                        \
    TWO(MULTIPLY, multiply)                                                                        \
    TWO(DIVIDE, divide)                                                                            \
    TWO(REMAINDER, remainder)                                                                      \
    TWO(EQUAL, equal)                                                                              \
    TWO(UNEQUAL, unequal)                                                                          \
    TWO(LESS, less)                                                                                \
    TWO(LESS_EQUAL, less_equal)                                                                    \
    TWO(GREATER, greater)                                                                          \
    TWO(GREATER_EQUAL, greater_equal)                                                              \
    TWO(IS, is)                                                                                    \
    TWO(IS_NOT, is_not)                                                                            \
    ONE(IS_NULL, is_null)                                                                          \
    ONE(NOT_NULL, not_null)                                                                        \
    TWO(AND, and)                                                                                  \
    TWO(OR, or)                                                                                    \
    ONE(NOT, not )                                                                                 \
    THREE(IF, if)                                                                                  \
    TWO(COALESCE, coalesce)                                                                        \
    TWO(LEAST, least)                                                                              \
    TWO(GREATEST, greatest)                                                                        \
    ONE(ABSOLUTE, absolute)                                                                        \
    TWO(BIT_AND, bit_and)                                                                          \
    TWO(BIT_OR, bit_or)                                                                            \
    ONE(BIT_NOT, bit_not)                                                                          \
    TWO(SHIFT_LEFT, shift_left)                                                                    \
    TWO(SHIFT_RIGHT, shift_right)                                                                  \
    ONE(TO_INTEGER, cast_to_integer)                                                               \
    ONE(TO_REAL, cast_to_real)                                                                     \
    ONE(ROUND, round)                                                                              \
    ONE(FLOOR, floor)                                                                              \
    ONE(CEILING, ceiling)                                                                          \
    ONE(TRUNCATE, truncate)                                                                        \
    ONE(SIGN, sign)

OPERATORS(LOOP_1, LOOP_2, LOOP_3)

#define ENTRY(opcode, name) [CLR_OP_##opcode] = each_##name,
static loop_function *const operators[CLR_OPCODES] = {OPERATORS(ENTRY, ENTRY, ENTRY)};

void clr_run_by_value(enum clr_opcode opcode, const struct clr_register *a,
                      const struct clr_register *b, const struct clr_register *c,
                      struct clr_register *result)
{
    operators[opcode](a, b, c, result);
    result->values = result->own_values;
    result->tags = result->own_tags;
}

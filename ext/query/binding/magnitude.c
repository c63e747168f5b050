#include "query/binding/magnitude.h"

#include "query/syntax/grammar.h"

#include <math.h>
#include <string.h>

/* What a parameter is in an operand that is computed, which is no more than
   CLR_MOST_OF_A_PARAMETER. */
#define PARAMETER (0x1p52 - 1)

/* Of results that are INTEGERs the truth values. */
static bool is_truth(const struct clr_node *node)
{
    return node->kind == CLR_N_BETWEEN || node->kind == CLR_N_IN ||
           ((node->kind == CLR_N_FOLD || node->kind == CLR_N_UNARY) &&
            node->opcode >= CLR_OP_EQUAL && node->opcode <= CLR_OP_NOT);
}

static double real_of(const struct clr_scalar *value)
{
    double real;

    memcpy(&real, &value->bits, sizeof real);
    return real;
}

/* The magnitude of an INTEGER, or if a REAL can't have its value twice that. */
static double magnitude_of(int64_t integer)
{
    double magnitude = fabs((double)integer);

    return magnitude == CLR_EXACT_INTEGERS && integer % 2 != 0 ? 2 * CLR_EXACT_INTEGERS : magnitude;
}

/* The most that the quotient of two operands can be: of a literal divisor that is known. */
static double divide(double first, const struct clr_node *divisor, double last)
{
    return divisor->kind == CLR_N_LITERAL && last > 0 ? fmax(first, first / last) : INFINITY;
}

static bool has_parameter(const struct clr_node *node)
{
    const struct clr_node *child = node->first;

    while (child != NULL && !has_parameter(child))
        child = child->next;
    return child != NULL || node->kind == CLR_N_PARAMETER;
}

/* Whether the operator makes INTEGERs of REALs. */
static bool makes_integers(const struct clr_node *node)
{
    return (node->kind == CLR_N_CAST && node->cast == CLR_CAST_TO_INTEGER) ||
           ((node->kind == CLR_N_FOLD || node->kind == CLR_N_UNARY) &&
            node->opcode >= CLR_OP_BIT_AND && node->opcode <= CLR_OP_SHIFT_RIGHT);
}

/* The most of what such an operator makes; any REAL may be given for a parameter. */
static double find_integers_magnitude(const struct clr_node *node, double first, double last)
{
    if (has_parameter(node))
        return INFINITY;
    switch (node->kind == CLR_N_CAST ? CLR_OPCODES : node->opcode) {
    case CLR_OP_BIT_AND: /* of two negative numbers it may be more than either */
    case CLR_OP_BIT_OR:
        return first + last;
    case CLR_OP_BIT_NOT:
        return first + 1.0;
    case CLR_OP_SHIFT_LEFT:
    case CLR_OP_SHIFT_RIGHT:
        return ldexp(first, (int)fmin(last, 64.0));
    default:
        return first;
    }
}

bool clr_magnitude_find(struct clr_binder *binder, struct clr_node *node, double *most)
{
    struct clr_node *child;
    double first = 0.0, last = 0.0;

    *most = 0.0;
    if (node->kind == CLR_N_LITERAL) {
        if (node->names[0].kind != CLR_T_NUMBER)
            return true;
        if (!clr_bind_literal(binder, node))
            return false;
        *most = node->value.tag == CLR_TAG_INTEGER ? magnitude_of(node->value.bits)
                                                   : fabs(real_of(&node->value));
        return true;
    }
    if (node->kind == CLR_N_PARAMETER || is_truth(node)) {
        *most = node->kind == CLR_N_PARAMETER ? PARAMETER : 1.0;
        return true;
    }
    for (child = node->first; child != NULL; child = child->next) {
        if (!clr_magnitude_find(binder, child, &last))
            return false;
        if (node->opcode == CLR_OP_DIVIDE && node->kind == CLR_N_FOLD && child != node->first)
            last = divide(first, child, last);
        if (child == node->first)
            first = last;
        *most = fmax(*most, last);
    }
    if (node->kind == CLR_N_FOLD || makes_integers(node)) {
        if (makes_integers(node))
            *most = find_integers_magnitude(node, first, last);
        else if (node->opcode == CLR_OP_ADD || node->opcode == CLR_OP_SUBTRACT)
            *most = first + last;
        else if (node->opcode == CLR_OP_MULTIPLY)
            *most = first * last;
        /* What is computed here may have been rounded down. */
        if (*most == CLR_EXACT_INTEGERS)
            *most *= 2;
    }
    return true;
}

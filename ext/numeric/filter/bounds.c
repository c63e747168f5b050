#include "numeric/filter/bounds.h"

#include <math.h>

/* Returns the comparison that is the same with its operands the other way round. */
static enum clr_opcode turn(enum clr_opcode opcode)
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
        *opcode = turn(*opcode);
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

#include "query/binding/lower.h"

#include "base/memory.h"
#include "query/binding/content.h"
#include "query/binding/emit.h"
#include "query/binding/lookup.h"
#include "query/syntax/grammar.h"

#include <math.h>

/* ---- How large the numbers can be that expressions without columns have. */

/* Up to here every INTEGER is a REAL. */
#define CLR_EXACT_INTEGERS 0x1p53

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

/* Stores the most that a number of an operand without columns, or a part of it, can be, in
   magnitude: of parameters as much as CLR_MOST_OF_A_PARAMETER. Returns false once it has failed. */
static bool magnitude_find(struct clr_binder *binder, struct clr_node *node, double *most)
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
                                                   : fabs(clr_real_of(node->value.bits));
        return true;
    }
    if (node->kind == CLR_N_PARAMETER || is_truth(node)) {
        *most = node->kind == CLR_N_PARAMETER ? PARAMETER : 1.0;
        return true;
    }
    for (child = node->first; child != NULL; child = child->next) {
        if (!magnitude_find(binder, child, &last))
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

/* ---- Operators. */

/* An operation on operands of which any may have failed. */
static int emit_unary(struct clr_binder *binder, enum clr_opcode opcode, int a)
{
    return a < 0 ? -1 : clr_emit(binder, opcode, a, 0, 0);
}

static int emit_binary(struct clr_binder *binder, enum clr_opcode opcode, int a, int b)
{
    return a < 0 || b < 0 ? -1 : clr_emit(binder, opcode, a, b, 0);
}

static int emit_integer(struct clr_binder *binder, int64_t integer)
{
    return clr_emit_constant(binder, (struct clr_scalar){.tag = CLR_TAG_INTEGER, .bits = integer},
                             0);
}

/* ---- Comparisons. */

/* Takes note of the parameters of an operand that is computed, once it is lowered. */
static void bound_parameters(struct clr_query *query, const struct clr_node *node)
{
    const struct clr_node *child;
    int i;

    for (i = 0; i < query->constant_count && node->kind == CLR_N_PARAMETER; i++) {
        if (query->parameters[i] == node->number)
            query->is_bounded[i] = true;
    }
    for (child = node->first; child != NULL; child = child->next)
        bound_parameters(query, child);
}

/* An operand that is computed and has no columns: it is refused if it may be 2^63 or -2^63
   as a REAL. */
static int lower_computed(struct clr_binder *binder, struct clr_node *node)
{
    double most;
    int value;

    if (!node->is_foreign && !magnitude_find(binder, node, &most))
        return -1;
    if (!node->is_foreign && !(most <= CLR_EXACT_INTEGERS))
        return clr_bind_refuse(binder, CLR_WHY_PAST_INTEGERS);
    value = clr_lower(binder, node);
    bound_parameters(binder->query, node);
    return value;
}

/*
 * An operand of a comparison. If something in the comparison is foreign, it reads several columns,
 * for it would be a lookup else. Where one operand has TEXT affinity, SQLite would make TEXT of the
 * other one's numbers: that is refused. Any other affinity changes TEXT and BLOBs alone, which are
 * BYTES and so make the result UNSURE, and with them the collating sequence.
 *
 * Numbers compare exactly, and so do those in indexes: with one exception. Many versions of SQLite
 * do not find the rowid -2^63 by that number as a REAL, and take 2^63 for the greatest rowid.
 */
static int lower_compared(struct clr_binder *binder, struct clr_node *node)
{
    if (node->is_foreign && (clr_content_is_text(node) || clr_content_is_column(node)))
        return clr_bind_refuse(binder, CLR_WHY_TWO_COLUMNS);
    if (node->kind == CLR_N_LITERAL && node->names[0].kind == CLR_T_NUMBER) {
        if (!clr_bind_literal(binder, node))
            return -1;
        if (clr_scalar_is_past_integers(&node->value))
            return clr_bind_refuse(binder, CLR_WHY_PAST_INTEGERS);
    } else if (node->kind != CLR_N_LITERAL && node->kind != CLR_N_PARAMETER &&
               !(node->has & CLR_HAS_COLUMN)) {
        return lower_computed(binder, node);
    }
    return clr_lower(binder, node);
}

static bool compares(enum clr_opcode opcode)
{
    return opcode >= CLR_OP_EQUAL && opcode <= CLR_OP_IS_NOT;
}

static int lower_fold(struct clr_binder *binder, struct clr_node *node)
{
    int (*lower)(struct clr_binder *, struct clr_node *) =
        compares(node->opcode) ? lower_compared : clr_lower;
    struct clr_node *child = node->first;
    int value = lower(binder, child);

    while (value >= 0 && (child = child->next) != NULL)
        value = emit_binary(binder, node->opcode, value, lower(binder, child));
    return value;
}

static int lower_between(struct clr_binder *binder, struct clr_node *node)
{
    struct clr_node *low = node->first->next;
    int x = lower_compared(binder, node->first), a, b;

    if (x < 0)
        return -1;
    a = emit_binary(binder, CLR_OP_GREATER_EQUAL, x, lower_compared(binder, low));
    if (a < 0)
        return -1;
    b = emit_binary(binder, CLR_OP_LESS_EQUAL, x, lower_compared(binder, low->next));
    return emit_binary(binder, CLR_OP_AND, a, b);
}

/* Nothing is in an empty list, not even NULL is unknown to be. */
static int lower_in(struct clr_binder *binder, struct clr_node *node)
{
    struct clr_node *child = node->first->next;
    int x = lower_compared(binder, node->first), value = -1, equal;

    if (x < 0)
        return -1;
    /* SQLite's parser makes FALSE of it, which IS then takes for a test of truth. */
    if (child == NULL)
        return clr_bind_refuse(binder, CLR_WHY_EMPTY_IN);
    for (; child != NULL; child = child->next) {
        equal = emit_binary(binder, CLR_OP_EQUAL, x, lower_compared(binder, child));
        if (equal < 0)
            return -1;
        value = value < 0 ? equal : emit_binary(binder, CLR_OP_OR, value, equal);
        if (value < 0)
            return -1;
    }
    return value;
}

/*
 * Whether a CASE is at a choice. The two are compared as by "=", and may be a lookup together
 * though the CASE reads more. With COLLATE SQLite alone knows which sequence is that of a base that
 * was computed before. *value is that of the base, and found once: -1 until then.
 */
static int lower_choice(struct clr_binder *binder, struct clr_node *base, int *value,
                        struct clr_node *choice)
{
    const int reads = clr_content_together(base->reads, choice->reads);

    if ((base->is_foreign || choice->is_foreign) && reads >= 0 &&
        ((base->has | choice->has) & CLR_HAS_COLLATE) == 0)
        return clr_lookup_emit(binder, base, choice);
    if (*value < 0)
        *value = lower_compared(binder, base);
    return *value < 0 ? -1
                      : emit_binary(binder, CLR_OP_EQUAL, *value, lower_compared(binder, choice));
}

/* The value of a CASE whose pairs begin at child; base may be NULL, and parts has room for two
   numbers a pair. */
static int lower_pairs(struct clr_binder *binder, struct clr_node *base, struct clr_node *child,
                       bool has_else, int *parts)
{
    int compared = -1, value, count = 0;

    for (; child != NULL && child->next != NULL; child = child->next->next) {
        value =
            base == NULL ? clr_lower(binder, child) : lower_choice(binder, base, &compared, child);
        if (value < 0)
            return -1;
        parts[count++] = value;
        parts[count] = clr_lower(binder, child->next);
        if (parts[count++] < 0)
            return -1;
    }
    value = has_else ? clr_lower(binder, child)
                     : clr_emit_constant(binder, (struct clr_scalar){.tag = CLR_TAG_NULL}, 0);
    /* From the last choice to the first: each needs the next. */
    for (; value >= 0 && count > 0; count -= 2)
        value = clr_emit(binder, CLR_OP_IF, parts[count - 2], parts[count - 1], value);
    return value;
}

static int lower_case(struct clr_binder *binder, struct clr_node *node)
{
    struct clr_node *base = node->has_base ? node->first : NULL;
    struct clr_node *const first = base != NULL ? base->next : node->first, *child;
    size_t children = 0;
    int value, *parts;

    for (child = first; child != NULL; child = child->next)
        children++;
    parts = clr_memory_alloc(children * sizeof *parts);
    if (parts == NULL)
        return clr_bind_no_memory(binder);
    value = lower_pairs(binder, base, first, node->has_else, parts);
    clr_memory_free(parts);
    return value;
}

/* No index is searched for what nullif() compares, and no affinity is applied. */
static int lower_nullif(struct clr_binder *binder, struct clr_node *node)
{
    const int value = clr_lower(binder, node->first);
    int equal, null;

    if (value < 0)
        return -1;
    equal = emit_binary(binder, CLR_OP_EQUAL, value, clr_lower(binder, node->first->next));
    if (equal < 0)
        return -1;
    null = clr_emit_constant(binder, (struct clr_scalar){.tag = CLR_TAG_NULL}, 0);
    return null < 0 ? -1 : clr_emit(binder, CLR_OP_IF, equal, null, value);
}

/* A cast of numbers. One to NUMERIC leaves them as they are, as the least of a number and itself
   is, but not what is BYTES. */
static int lower_cast(struct clr_binder *binder, struct clr_node *node)
{
    int value;

    if (node->cast == CLR_CAST_TO_TEXT || node->cast == CLR_CAST_TO_BLOB)
        return clr_bind_refuse(binder, CLR_WHY_TWO_COLUMNS);
    value = clr_lower(binder, node->first);
    if (node->cast == CLR_CAST_TO_NUMERIC)
        return emit_binary(binder, CLR_OP_LEAST, value, value);
    return emit_unary(binder, node->cast == CLR_CAST_TO_REAL ? CLR_OP_TO_REAL : CLR_OP_TO_INTEGER,
                      value);
}

int clr_lower(struct clr_binder *binder, struct clr_node *node)
{
    /* The largest expression over one column that has something foreign. A column by itself is
       none: as TEXT it would be of use to no one. */
    if (node->is_foreign && !clr_content_is_column(node)) {
        if (node->reads >= 0)
            return clr_lookup_emit(binder, node, NULL);
        if (node->reads == CLR_READS_NONE)
            return clr_bind_refuse(binder, CLR_WHY_NO_COLUMN_IN_IT);
    }
    switch (node->kind) {
    case CLR_N_COLUMN:
        return clr_emit_column(binder, node, false);
    case CLR_N_LITERAL:
        if (node->names[0].kind == CLR_T_TRUE || node->names[0].kind == CLR_T_FALSE)
            return clr_bind_refuse(binder, node->names[0].kind == CLR_T_TRUE ? CLR_WHY_TRUE
                                                                             : CLR_WHY_FALSE);
        return clr_bind_literal(binder, node) ? clr_emit_constant(binder, node->value, 0) : -1;
    case CLR_N_PARAMETER:
        return clr_emit_constant(binder, (struct clr_scalar){.tag = CLR_TAG_NULL}, node->number);
    case CLR_N_PLUS:
        return clr_lower(binder, node->first);
    case CLR_N_MINUS:
        return emit_binary(binder, CLR_OP_SUBTRACT, emit_integer(binder, 0),
                           clr_lower(binder, node->first));
    case CLR_N_UNARY:
        return emit_unary(binder, node->opcode,
                          node->opcode == CLR_OP_IS_NULL || node->opcode == CLR_OP_NOT_NULL
                              ? clr_lower_presence(binder, node->first)
                              : clr_lower(binder, node->first));
    case CLR_N_FOLD:
        return lower_fold(binder, node);
    case CLR_N_BETWEEN:
        return lower_between(binder, node);
    case CLR_N_IN:
        return lower_in(binder, node);
    case CLR_N_CASE:
        return lower_case(binder, node);
    case CLR_N_NULLIF:
        return lower_nullif(binder, node);
    case CLR_N_HINT:
        return clr_lower(binder, node->first);
    case CLR_N_CAST:
        return lower_cast(binder, node);
    case CLR_N_FUNCTION:
    case CLR_N_OPERATOR:
    case CLR_N_COLLATE:
        return clr_bind_refuse(binder, CLR_WHY_TWO_COLUMNS);
    case CLR_N_AGGREGATE:
    case CLR_N_SUBQUERY:
    case CLR_N_STAR:
    case CLR_N_ITEM:
    case CLR_N_TERM:
        break;
    }
    return clr_bind_refuse(binder, CLR_WHY_AGGREGATE_IN_EXPRESSION);
}

int clr_lower_presence(struct clr_binder *binder, struct clr_node *node)
{
    return node->kind == CLR_N_COLUMN ? clr_emit_column(binder, node, true)
                                      : clr_lower(binder, node);
}

#include "query/binding/lower.h"

#include "base/memory.h"
#include "query/binding/derived.h"
#include "query/binding/lookups.h"
#include "query/names/times.h"
#include "query/syntax/grammar.h"

#include <math.h>

static int lower(struct clr_binder *binder, struct clr_node *node);

static int refuse(struct clr_binder *binder, enum clr_reason_code why)
{
    return clr_refuse(binder->syntax, why);
}

/* Whether a literal that is NULL or a number has a value; returns false once it has failed. */
static bool check_literal(struct clr_binder *binder, const struct clr_node *node)
{
    return node->is_known || node->names[0].kind == CLR_T_NULL ||
           clr_refuse_token(binder->syntax, CLR_WHY_NUMBER, &node->names[0]) >= 0;
}

int clr_lower_ranks(struct clr_binder *binder, struct clr_node *node)
{
    const struct clr_query_size before = clr_query_size_of(binder->query);
    int value;

    if (binder->syntax->code != CLR_OK)
        return -1;
    if (clr_times_has_counts(node))
        return clr_emit_times(binder, node);
    value = node->reads == CLR_READS_SEVERAL ? refuse(binder, CLR_WHY_TWO_COLUMNS)
            : node->reads == CLR_READS_NONE  ? refuse(binder, CLR_WHY_NO_COLUMN_IN_IT)
                                             : clr_lookup_emit(binder, &node, 1, NULL, true);
    value = clr_derive_instead(binder, node, &before, value, true);
    return clr_derive_part(binder, node, &before, value, true);
}

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

static bool is_parameter(const struct clr_node *node)
{
    return node->kind == CLR_N_PARAMETER;
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
    if (clr_node_find(node, is_parameter) != NULL)
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
        if (node->names[0].kind != CLR_T_NUMBER && !clr_node_is_truth(node))
            return true;
        if (!check_literal(binder, node))
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

    if (node->is_momentary)
        return clr_emit_null(binder, clr_place_operand(binder, node));
    if (!node->is_foreign && !magnitude_find(binder, node, &most))
        return -1;
    if (!node->is_foreign && !(most <= CLR_EXACT_INTEGERS))
        return refuse(binder, CLR_WHY_PAST_INTEGERS);
    value = lower(binder, node);
    bound_parameters(binder->query, node);
    return value;
}

/* Goes past a number, or a call of an aggregate of SQLite's with one argument or a star. Returns
   false if something else comes. */
static bool pass_computed(const char **at)
{
    struct clr_token token;
    struct clr_reason reason;
    int depth = 0;
    bool is_aggregate;

    if (clr_lexer_next_raw(at, &token, &reason) != CLR_OK || token.kind == CLR_T_NUMBER)
        return token.kind == CLR_T_NUMBER;
    is_aggregate = CLR_TOKEN_IN(&token, "AVG", "COUNT", "MAX", "MIN", "SUM", "TOTAL");
    do {
        if (clr_lexer_next_raw(at, &token, &reason) != CLR_OK || token.kind == 0 ||
            (depth == 0 && token.kind != CLR_T_LP) || (depth == 1 && token.kind == CLR_T_COMMA))
            return false;
        depth += (token.kind == CLR_T_LP) - (token.kind == CLR_T_RP);
    } while (depth > 0 && is_aggregate);
    return is_aggregate;
}

/* Whether a subquery's column is computed of numbers and calls of SQLite's aggregates alone, and so
   has no affinity, by its text: see sqlite3ExprAffinity() in SQLite's expr.c. */
static bool is_computed(const struct clr_node *subquery)
{
    const char *at = subquery->names[0].text;
    struct clr_token token;
    struct clr_reason reason;

    if (clr_lexer_next_raw(&at, &token, &reason) != CLR_OK || token.kind != CLR_T_LP ||
        clr_lexer_next_raw(&at, &token, &reason) != CLR_OK || !clr_token_is(&token, "SELECT"))
        return false;
    do {
        if (!pass_computed(&at) || clr_lexer_next_raw(&at, &token, &reason) != CLR_OK)
            return false;
    } while (token.kind == CLR_T_PLUS || token.kind == CLR_T_MINUS || token.kind == CLR_T_STAR ||
             token.kind == CLR_T_SLASH);
    return clr_token_is(&token, "FROM");
}

/*
 * An operand of a comparison. If something in the comparison is foreign, it reads several columns,
 * for it would be a lookup else. Where one operand has TEXT affinity, SQLite would make TEXT of the
 * other one's numbers: that is refused. Any other affinity changes TEXT and BLOBs alone, which are
 * BYTES and so make the result UNSURE, and with them the collating sequence. Of a subquery the
 * affinity is that of its column, which is known where it is computed alone.
 *
 * Numbers compare exactly, and so do those in indexes: with one exception. Many versions of SQLite
 * do not find the rowid -2^63 by that number as a REAL, and take 2^63 for the greatest rowid.
 */
static int lower_compared(struct clr_binder *binder, struct clr_node *node)
{
    if (clr_content_is_subquery(node) && !(node->kind == CLR_N_SUBQUERY && is_computed(node)))
        return refuse(binder, CLR_WHY_TWO_COLUMNS);
    if (binder->groups != NULL)
        return clr_content_is_text(node) ? refuse(binder, CLR_WHY_TWO_COLUMNS)
                                         : lower(binder, node);
    if ((node->is_foreign || node->is_momentary) &&
        (clr_content_is_text(node) || clr_content_is_signed_column(node)))
        return refuse(binder, CLR_WHY_TWO_COLUMNS);
    if (node->kind == CLR_N_LITERAL && node->names[0].kind == CLR_T_NUMBER) {
        if (!check_literal(binder, node))
            return -1;
        if (clr_scalar_is_past_integers(&node->value))
            return refuse(binder, CLR_WHY_PAST_INTEGERS);
    } else if (node->kind != CLR_N_LITERAL && node->kind != CLR_N_PARAMETER &&
               !(node->has & CLR_HAS_COLUMN)) {
        return lower_computed(binder, node);
    }
    return lower(binder, node);
}

static int emit_integer(struct clr_binder *binder, int64_t integer)
{
    return clr_emit_constant(binder, (struct clr_scalar){.tag = CLR_TAG_INTEGER, .bits = integer},
                             0, NULL);
}

/* Returns the truth that IS or IS NOT tests its first operand for, as resolveExprStep() in SQLite's
   resolve.c has it: TRUE or FALSE, or an item of the select list that is one; NULL: they compare.
 */
static const struct clr_node *find_tested_truth(const struct clr_node *node)
{
    const struct clr_node *truth = node->first->next;

    if (node->opcode != CLR_OP_IS && node->opcode != CLR_OP_IS_NOT)
        return NULL;
    while (truth->kind == CLR_N_COLLATE || truth->kind == CLR_N_HINT || truth->item != NULL)
        truth = truth->item != NULL ? truth->item->first : truth->first;
    return clr_node_is_truth(truth) && truth->written == NULL ? truth : NULL;
}

/* NULL is neither true nor false. */
static int lower_truth_test(struct clr_binder *binder, const struct clr_node *node,
                            const struct clr_node *truth)
{
    const bool negated = node->opcode == CLR_OP_IS_NOT;
    int is = lower(binder, node->first);

    if (truth->names[0].kind == CLR_T_FALSE)
        is = clr_emit(binder, CLR_OP_NOT, is, 0, 0);
    return clr_emit(binder, CLR_OP_IF, is, emit_integer(binder, !negated),
                    emit_integer(binder, negated));
}

static int lower_fold(struct clr_binder *binder, struct clr_node *node)
{
    const struct clr_node *truth = find_tested_truth(node);
    int (*lower_operand)(struct clr_binder *, struct clr_node *) =
        clr_opcode_compares(node->opcode) ? lower_compared : lower;
    struct clr_node *child = node->first;
    int value;

    if (truth != NULL)
        return lower_truth_test(binder, node, truth);
    value = lower_operand(binder, child);
    while (value >= 0 && (child = child->next) != NULL)
        value = clr_emit(binder, node->opcode, value, lower_operand(binder, child), 0);
    return value;
}

static int lower_between(struct clr_binder *binder, struct clr_node *node)
{
    struct clr_node *low = node->first->next;
    const int x = lower_compared(binder, node->first);
    const int a = clr_emit(binder, CLR_OP_GREATER_EQUAL, x, lower_compared(binder, low), 0);
    const int b = clr_emit(binder, CLR_OP_LESS_EQUAL, x, lower_compared(binder, low->next), 0);

    return clr_emit(binder, CLR_OP_AND, a, b, 0);
}

/* Nothing is in an empty list, not even NULL is unknown to be. */
static int lower_in(struct clr_binder *binder, struct clr_node *node)
{
    struct clr_node *child = node->first->next;
    const int x = lower_compared(binder, node->first);
    int value = -1, equal;

    /* SQLite's parser makes FALSE of it, which IS then takes for a test of truth. */
    if (child == NULL)
        return refuse(binder, CLR_WHY_EMPTY_IN);
    for (; child != NULL; child = child->next) {
        equal = clr_emit(binder, CLR_OP_EQUAL, x, lower_compared(binder, child), 0);
        value = value < 0 ? equal : clr_emit(binder, CLR_OP_OR, value, equal, 0);
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

    if ((base->is_foreign || choice->is_foreign) && reads >= 0 && binder->groups == NULL &&
        ((base->has | choice->has) & CLR_HAS_COLLATE) == 0)
        return clr_lookup_emit(binder, (struct clr_node *[]){base, choice}, 2, "=", false);
    if (*value < 0)
        *value = lower_compared(binder, base);
    return clr_emit(binder, CLR_OP_EQUAL, *value, lower_compared(binder, choice), 0);
}

/* The value of a CASE whose pairs begin at child; base may be NULL, and parts has room for two
   numbers a pair. */
static int lower_pairs(struct clr_binder *binder, struct clr_node *base, struct clr_node *child,
                       bool has_else, int *parts)
{
    int compared = -1, value, count = 0;

    for (; child != NULL && child->next != NULL; child = child->next->next) {
        parts[count++] =
            base == NULL ? lower(binder, child) : lower_choice(binder, base, &compared, child);
        parts[count++] = lower(binder, child->next);
        if (binder->syntax->code != CLR_OK)
            return -1;
    }
    value = has_else ? lower(binder, child) : clr_emit_null(binder, 0);
    /* From the last choice to the first: each needs the next. */
    for (; count > 0; count -= 2)
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
        return clr_syntax_no_memory(binder->syntax);
    value = lower_pairs(binder, base, first, node->has_else, parts);
    clr_memory_free(parts);
    return value;
}

/* No index is searched for what nullif() compares, and no affinity is applied. */
static int lower_nullif(struct clr_binder *binder, struct clr_node *node)
{
    const int value = lower(binder, node->first);
    const int other = lower(binder, node->first->next);
    const int equal = clr_emit(binder, CLR_OP_EQUAL, value, other, 0);

    return clr_emit(binder, CLR_OP_IF, equal, clr_emit_null(binder, 0), value);
}

/* A cast of numbers. One to NUMERIC leaves them as they are, as the least of a number and itself
   is, but not what is BYTES. */
static int lower_cast(struct clr_binder *binder, struct clr_node *node)
{
    int value;

    if (node->cast == CLR_CAST_TO_TEXT || node->cast == CLR_CAST_TO_BLOB)
        return refuse(binder, CLR_WHY_TWO_COLUMNS);
    value = lower(binder, node->first);
    if (node->cast == CLR_CAST_TO_NUMERIC)
        return clr_emit(binder, CLR_OP_LEAST, value, value, 0);
    return clr_emit(binder, node->cast == CLR_CAST_TO_REAL ? CLR_OP_TO_REAL : CLR_OP_TO_INTEGER,
                    value, 0, 0);
}

/* ---- Comparisons of timestamps. */

/* The bound that a value is for a column. */
static int emit_bound(struct clr_binder *binder, const struct clr_node *column,
                      struct clr_node *value, enum clr_bound_kind kind)
{
    const struct clr_bound bound = {kind, column->column.times, column->column.is_text,
                                    column->column.is_numeric};

    return clr_emit_constant(binder, (struct clr_scalar){.tag = CLR_TAG_NULL},
                             clr_place_operand(binder, value), &bound);
}

/* A comparison of a column of times with a value. */
static int emit_compared(struct clr_binder *binder, const struct clr_node *column,
                         enum clr_opcode opcode, struct clr_node *value)
{
    const bool is_below = opcode == CLR_OP_LESS || opcode == CLR_OP_GREATER_EQUAL;
    const bool is_upto = opcode == CLR_OP_LESS_EQUAL || opcode == CLR_OP_GREATER;
    const int bound = emit_bound(binder, column, value,
                                 is_below  ? CLR_BOUND_BELOW
                                 : is_upto ? CLR_BOUND_UPTO
                                           : CLR_BOUND_EQUAL);

    return clr_emit(binder, opcode, clr_emit_times(binder, column), bound, 0);
}

static int lower_times(struct clr_binder *binder, struct clr_node *node)
{
    struct clr_node *first = node->first, *other = first->next;
    int value, equal;

    if (node->kind == CLR_N_FOLD)
        return clr_times_has_counts(first)
                   ? emit_compared(binder, first, node->opcode, other)
                   : emit_compared(binder, other, clr_opcode_turn(node->opcode), first);
    if (node->kind == CLR_N_BETWEEN) {
        value = emit_compared(binder, first, CLR_OP_GREATER_EQUAL, other);
        return clr_emit(binder, CLR_OP_AND, value,
                        emit_compared(binder, first, CLR_OP_LESS_EQUAL, other->next), 0);
    }
    value = emit_compared(binder, first, CLR_OP_EQUAL, other);
    while ((other = other->next) != NULL) {
        equal = emit_compared(binder, first, CLR_OP_EQUAL, other);
        value = clr_emit(binder, CLR_OP_OR, value, equal, 0);
    }
    return value;
}

/* ---- Numbers of timestamps. */

/* Seconds from 0000-01-01 to 1970-01-01, and milliseconds to there from the first Julian day. */
#define UNIX_SECONDS INT64_C(62167219200)
#define JULIAN_MILLISECONDS INT64_C(148699540800000)
#define DAY_MILLISECONDS 86400000.0

/* A function of a column's timestamp as SQLite computes it of milliseconds; NULL of empty TEXT. */
static int lower_time_number(struct clr_binder *binder, const struct clr_node *node,
                             enum clr_time_number number)
{
    const struct clr_node *column =
        number == CLR_TIME_SECONDS_TEXT ? node->first->next : node->first;
    const int64_t step = CLR_DAY_SECONDS / clr_timestamp_steps(column->column.times);
    const bool is_julian = number == CLR_TIME_JULIAN;
    const int count = clr_emit_times(binder, column);
    const int is_there = clr_emit(binder, CLR_OP_GREATER_EQUAL, count, emit_integer(binder, 0), 0);
    int value = clr_emit(binder, CLR_OP_MULTIPLY, count,
                         emit_integer(binder, is_julian ? step * 1000 : step), 0);

    value = clr_emit(binder, CLR_OP_ADD, value,
                     emit_integer(binder, is_julian ? JULIAN_MILLISECONDS : -UNIX_SECONDS), 0);
    if (is_julian)
        value =
            clr_emit(binder, CLR_OP_DIVIDE, value,
                     clr_emit_constant(binder,
                                       (struct clr_scalar){.tag = CLR_TAG_REAL,
                                                           .bits = clr_bits_of(DAY_MILLISECONDS)},
                                       0, NULL),
                     0);
    return clr_emit(binder, CLR_OP_IF, is_there, value, clr_emit_null(binder, 0));
}

/* Whether an operand is the same for all rows, and has no affinity. */
static bool is_bound(const struct clr_node *node)
{
    switch (node->kind) {
    case CLR_N_LITERAL:
        return !clr_node_is_truth(node); /* IS may test a truth */
    case CLR_N_PARAMETER:
        return true;
    case CLR_N_FUNCTION:
    case CLR_N_OPERATOR:
        return node->has == 0;
    default:
        return false;
    }
}

/* Whether an expression is a comparison of a column, whose values are taken for timestamps, with
   others that have no columns: then bounds of the column's times will do. */
static bool compare_times(const struct clr_node *node)
{
    const struct clr_node *first = node->first, *other;

    if (node->kind == CLR_N_FOLD) {
        if (!clr_opcode_compares(node->opcode) || first->next->next != NULL)
            return false;
        return (clr_times_has_counts(first) && is_bound(first->next)) ||
               (clr_times_has_counts(first->next) && is_bound(first));
    }
    if ((node->kind != CLR_N_BETWEEN && node->kind != CLR_N_IN) || !clr_times_has_counts(first) ||
        first->next == NULL)
        return false;
    for (other = first->next; other != NULL; other = other->next) {
        if (!is_bound(other))
            return false;
    }
    return true;
}

/* Whether an expression is one of comparisons of timestamps, and maybe others: then it is no lookup
   as a whole. */
static bool joins_times(const struct clr_node *node)
{
    const bool joins =
        node->kind == CLR_N_CASE || node->kind == CLR_N_HINT ||
        (node->kind == CLR_N_FOLD && (node->opcode == CLR_OP_AND || node->opcode == CLR_OP_OR)) ||
        (node->kind == CLR_N_UNARY && node->opcode == CLR_OP_NOT);

    return joins && clr_node_find(node, compare_times) != NULL;
}

/* Whether an expression over one column is no lookup as a whole, as parts of it may be derived: of
   a dimension's column there are none. */
static bool is_divided(const struct clr_binder *binder, const struct clr_node *node)
{
    return binder->derives && !clr_node_is_dimension(node) &&
           clr_tables_number(binder, node->reads)->is_varied &&
           clr_times_unit(node) == CLR_TIME_NONE;
}

/* An expression by its operator, whose operands are lowered for themselves. */
static int lower_operator(struct clr_binder *binder, struct clr_node *node)
{
    int zero;

    switch (node->kind) {
    case CLR_N_COLUMN:
        return node->is_foreign ? clr_refuse_name(binder->syntax, CLR_WHY_TEXT_COLUMN,
                                                  node->names[node->name_count - 1].name)
                                : clr_emit_column(binder, node->reads, false);
    case CLR_N_LITERAL:
        return check_literal(binder, node) ? clr_emit_constant(binder, node->value, 0, NULL) : -1;
    case CLR_N_PARAMETER:
        return clr_emit_null(binder, node->number);
    case CLR_N_PLUS:
        return lower(binder, node->first);
    case CLR_N_MINUS:
        zero = clr_emit_constant(binder, (struct clr_scalar){.tag = CLR_TAG_INTEGER}, 0, NULL);
        return clr_emit(binder, CLR_OP_SUBTRACT, zero, lower(binder, node->first), 0);
    case CLR_N_UNARY:
        /* Any column will do where no more is asked than whether a value is NULL. */
        return clr_emit(binder, node->opcode,
                        (node->opcode == CLR_OP_IS_NULL || node->opcode == CLR_OP_NOT_NULL) &&
                                clr_node_is_scanned(node->first) && binder->groups == NULL
                            ? clr_emit_any(binder, node->first)
                            : lower(binder, node->first),
                        0, 0);
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
        return lower(binder, node->first);
    case CLR_N_CAST:
        return lower_cast(binder, node);
    case CLR_N_FUNCTION:
    case CLR_N_OPERATOR:
    case CLR_N_COLLATE:
        return refuse(binder, CLR_WHY_TWO_COLUMNS);
    case CLR_N_AGGREGATE:
    case CLR_N_SUBQUERY:
    case CLR_N_STAR:
    case CLR_N_WINDOW:
    case CLR_N_ITEM:
    case CLR_N_TERM:
        break;
    }
    return refuse(binder, CLR_WHY_AGGREGATE_IN_EXPRESSION);
}

static int lower_as_is(struct clr_binder *binder, struct clr_node *node)
{
    if (node->is_momentary)
        return clr_emit_null(binder, clr_place_operand(binder, node));
    if (compare_times(node))
        return lower_times(binder, node);
    if (!node->is_foreign && clr_times_number(node) != CLR_TIME_NO_NUMBER)
        return lower_time_number(binder, node, clr_times_number(node));
    /* The largest expression over one column that has something foreign. A column by itself is
       none: as TEXT it would be of use to no one. */
    if (node->is_foreign && !clr_content_is_signed_column(node) && !joins_times(node)) {
        if (node->reads >= 0 && !is_divided(binder, node))
            return clr_lookup_emit(binder, &node, 1, NULL, false);
        if (node->reads == CLR_READS_NONE)
            return refuse(binder, CLR_WHY_NO_COLUMN_IN_IT);
    }
    return lower_operator(binder, node);
}

/* Whether an application may have a function of its own in the place of one that lower_operator()
   has, while all else is accelerated: around aggregates it is for SQLite to call. */
static bool may_be_own(const struct clr_node *node)
{
    return node->function != NULL && node->opcode != CLR_OP_COALESCE &&
           node->opcode != CLR_OP_LEAST && node->opcode != CLR_OP_GREATEST &&
           node->opcode != CLR_OP_ABSOLUTE;
}

/* An expression over keys and calls of groups. */
static int lower_of_group(struct clr_binder *binder, struct clr_node *node)
{
    const int column = clr_names_group_column(binder->groups, node);

    if (column >= 0)
        return clr_emit_column(binder, column, false);
    if (node->item != NULL || may_be_own(node) || node->kind == CLR_N_COLUMN ||
        node->kind == CLR_N_PARAMETER)
        return refuse(binder, CLR_WHY_AGGREGATE_IN_EXPRESSION);
    return lower_operator(binder, node);
}

/* The smallest expressions that give numbers are derived, where they have to be: what is around
   them a scan computes. */
static int lower(struct clr_binder *binder, struct clr_node *node)
{
    const struct clr_query_size before = clr_query_size_of(binder->query);
    int value;

    if (binder->syntax->code != CLR_OK)
        return -1;
    if (binder->groups != NULL)
        return lower_of_group(binder, node);
    value = lower_as_is(binder, node);
    if (!clr_derive_gives_numbers(node))
        return value;
    value = clr_derive_instead(binder, node, &before, value, false);
    return clr_derive_part(binder, node, &before, value, false);
}

/* Whether its results are TEXT or BLOBs, or NULL. */
static bool gives_text(const struct clr_node *node)
{
    return (node->kind == CLR_N_OPERATOR && node->names[0].kind == CLR_T_CONCAT) ||
           (node->kind == CLR_N_CAST && !clr_derive_gives_numbers(node));
}

int clr_lower(struct clr_binder *binder, struct clr_node *node)
{
    const struct clr_query_size before = clr_query_size_of(binder->query);
    int value;

    if (binder->syntax->code != CLR_OK)
        return -1;
    value = lower(binder, node);
    return gives_text(node) ? value : clr_derive_instead(binder, node, &before, value, false);
}

/* The operators of scans. */
#ifndef CLR_TESTS_OPERATORS_H
#define CLR_TESTS_OPERATORS_H

#include "numeric/scan/scan.h"

/* Each as it is dumped, and as SQL: 1, 2 and 3 are its operands. */
static const struct operator
{
    const char *name, *sql;
}
operators[CLR_OPCODES] = {
    [CLR_OP_ADD] = {"+", "(1 + 2)"},
    [CLR_OP_SUBTRACT] = {"-", "(1 - 2)"},
    [CLR_OP_MULTIPLY] = {"*", "(1 * 2)"},
    [CLR_OP_DIVIDE] = {"/", "(1 / 2)"},
    [CLR_OP_REMAINDER] = {"%", "(1 % 2)"},
    [CLR_OP_EQUAL] = {"=", "(1 = 2)"},
    [CLR_OP_UNEQUAL] = {"<>", "(1 <> 2)"},
    [CLR_OP_LESS] = {"<", "(1 < 2)"},
    [CLR_OP_LESS_EQUAL] = {"<=", "(1 <= 2)"},
    [CLR_OP_GREATER] = {">", "(1 > 2)"},
    [CLR_OP_GREATER_EQUAL] = {">=", "(1 >= 2)"},
    [CLR_OP_IS] = {"is", "(1 IS (2))"},
    [CLR_OP_IS_NOT] = {"isnot", "(1 IS NOT (2))"},
    [CLR_OP_IS_NULL] = {"null", "(1 ISNULL)"},
    [CLR_OP_NOT_NULL] = {"there", "(1 NOTNULL)"},
    [CLR_OP_AND] = {"and", "(1 AND 2)"},
    [CLR_OP_OR] = {"or", "(1 OR 2)"},
    [CLR_OP_NOT] = {"not", "(NOT 1)"},
    [CLR_OP_IF] = {"if", "(CASE WHEN 1 THEN 2 ELSE 3 END)"},
    [CLR_OP_COALESCE] = {"coalesce", "coalesce(1, 2)"},
    [CLR_OP_LEAST] = {"least", "min(1, 2)"},
    [CLR_OP_GREATEST] = {"greatest", "max(1, 2)"},
    [CLR_OP_ABSOLUTE] = {"abs", "abs(1)"},
    [CLR_OP_BIT_AND] = {"&", "(1 & 2)"},
    [CLR_OP_BIT_OR] = {"|", "(1 | 2)"},
    [CLR_OP_BIT_NOT] = {"~", "(~1)"},
    [CLR_OP_SHIFT_LEFT] = {"<<", "(1 << 2)"},
    [CLR_OP_SHIFT_RIGHT] = {">>", "(1 >> 2)"},
    [CLR_OP_TO_INTEGER] = {"integer", "CAST(1 AS INT)"},
    [CLR_OP_TO_REAL] = {"real", "CAST(1 AS REAL)"},
    [CLR_OP_ROUND] = {"round", "round(1)"},
    [CLR_OP_FLOOR] = {"floor", "floor(1)"},
    [CLR_OP_CEILING] = {"ceiling", "ceil(1)"},
    [CLR_OP_TRUNCATE] = {"truncate", "trunc(1)"},
    [CLR_OP_SIGN] = {"sign", "sign(1)"},
};

#endif

#include "numeric/scan/scan.h"

#include <string.h>

int clr_opcode_operands(enum clr_opcode opcode)
{
    switch (opcode) {
    case CLR_OP_COLUMN:
    case CLR_OP_LOOKUP:
    case CLR_OP_CONSTANT:
        return 0;
    case CLR_OP_IS_NULL:
    case CLR_OP_NOT_NULL:
    case CLR_OP_NOT:
    case CLR_OP_ABSOLUTE:
    case CLR_OP_BIT_NOT:
    case CLR_OP_TO_INTEGER:
    case CLR_OP_TO_REAL:
    case CLR_OP_ROUND:
    case CLR_OP_FLOOR:
    case CLR_OP_CEILING:
    case CLR_OP_TRUNCATE:
    case CLR_OP_SIGN:
        return 1;
    case CLR_OP_IF:
        return 3;
    default:
        return 2;
    }
}

void clr_scan_find_used(const struct clr_scan *scan, const struct clr_tally *tally,
                        bool used[CLR_MOST_INSTRUCTIONS])
{
    const int roots[] = {scan->filter, tally->filter, tally->x, tally->y};
    int i;

    memset(used, 0, (size_t)scan->instruction_count * sizeof *used);
    for (i = 0; i < 4; i++) {
        if (roots[i] >= 0)
            used[roots[i]] = true;
    }
    for (i = scan->instruction_count - 1; i >= 0; i--) {
        const struct clr_instruction *instruction = &scan->instructions[i];
        int operands = clr_opcode_operands(instruction->opcode);
        if (!used[i])
            continue;
        if (operands > 0)
            used[instruction->a] = true;
        if (operands > 1)
            used[instruction->b] = true;
        if (operands > 2)
            used[instruction->c] = true;
    }
}

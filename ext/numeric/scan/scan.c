#include "numeric/scan/scan.h"

#include <string.h>

enum clr_opcode clr_opcode_turn(enum clr_opcode opcode)
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

int clr_opcode_operands(enum clr_opcode opcode)
{
#define ONE(name, function) [CLR_OP_##name] = 1,
#define TWO(name, function) [CLR_OP_##name] = 2,
#define THREE(name, function) [CLR_OP_##name] = 3,
    static const uint8_t operands[CLR_OPCODES] = {CLR_OPERATORS(ONE, TWO, THREE)};

    return operands[opcode];
}

int clr_instruction_operands(const struct clr_instruction *instruction, int operands[3])
{
    operands[0] = instruction->a;
    operands[1] = instruction->b;
    operands[2] = instruction->c;
    return clr_opcode_operands(instruction->opcode);
}

void clr_scan_find_used(const struct clr_scan *scan, const struct clr_tally *tally,
                        bool used[CLR_MOST_INSTRUCTIONS])
{
    const int roots[] = {scan->filter, tally->filter, tally->x, tally->y};
    int operands[3], count, i;

    memset(used, 0, (size_t)scan->instruction_count * sizeof *used);
    for (i = 0; i < 4; i++) {
        if (roots[i] >= 0)
            used[roots[i]] = true;
    }
    for (i = scan->instruction_count - 1; i >= 0; i--) {
        count = used[i] ? clr_instruction_operands(&scan->instructions[i], operands) : 0;
        while (count > 0)
            used[operands[--count]] = true;
    }
}

/* Returns the column that an instruction is, if all its rows have one type, else -1. */
static int find_column(const struct clr_scan *scan, const uint8_t *kinds, int number)
{
    const struct clr_instruction *instruction = &scan->instructions[number];

    return instruction->opcode == CLR_OP_COLUMN && kinds[instruction->a] != CLR_TAG_MIXED
               ? instruction->a
               : -1;
}

/* Whether the condition, an instruction or -1, is true for all rows. */
static bool is_always_true(const struct clr_scan *scan, const uint8_t *kinds, int condition)
{
    int column;

    if (condition < 0)
        return true;
    if (scan->instructions[condition].opcode != CLR_OP_NOT_NULL)
        return false;
    column = find_column(scan, kinds, scan->instructions[condition].a);
    return column >= 0 && kinds[column] != CLR_TAG_NULL;
}

bool clr_tally_takes_whole_columns(const struct clr_scan *scan, const uint8_t *kinds,
                                   const struct clr_tally *tally, int columns[2])
{
    columns[0] = tally->x < 0 ? -1 : find_column(scan, kinds, tally->x);
    columns[1] = tally->y < 0 ? -1 : find_column(scan, kinds, tally->y);
    return scan->filter < 0 && scan->blocks == NULL && is_always_true(scan, kinds, tally->filter) &&
           (tally->x < 0 || columns[0] >= 0) && (tally->y < 0 || columns[1] >= 0);
}

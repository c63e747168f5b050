#include "numeric/scan/whole_columns.h"

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
    return scan->filter < 0 && is_always_true(scan, kinds, tally->filter) &&
           (tally->x < 0 || columns[0] >= 0) && (tally->y < 0 || columns[1] >= 0);
}

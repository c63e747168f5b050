#include "numeric/grouping/codes.h"

#include "base/memory.h"

#include <string.h>

static bool uses(const struct clr_scan *scan, int number)
{
    int i;

    for (i = 0; i < scan->instruction_count; i++) {
        const struct clr_instruction *by = &scan->instructions[i];
        const int operands = clr_opcode_operands(by->opcode);

        if ((operands > 0 && by->a == number) || (operands > 1 && by->b == number) ||
            (operands > 2 && by->c == number))
            return true;
    }
    for (i = 0; i < scan->tally_count; i++)
        if (scan->tallies[i].x == number || scan->tallies[i].y == number ||
            scan->tallies[i].filter == number)
            return true;
    return scan->filter == number;
}

static uint8_t tag_of(const struct clr_lookup *lookup, uint32_t code)
{
    return lookup->kind == CLR_TAG_MIXED ? lookup->tags[code] : lookup->kind;
}

/* Whether no two codes have the same result. seen has a zero for each rank, and one for NULL. */
static bool are_different(const struct clr_lookup *lookup, uint8_t *seen)
{
    uint32_t code;

    for (code = 0; code < lookup->count; code++) {
        const uint8_t tag = tag_of(lookup, code);
        const size_t rank =
            tag == CLR_TAG_NULL ? lookup->ranked_count : (size_t)lookup->values[code];

        if ((tag != CLR_TAG_NULL && tag != CLR_TAG_INTEGER) || seen[rank]++ != 0)
            return false;
    }
    return true;
}

bool clr_group_codes_will_do(const struct clr_scan *scan)
{
    const struct clr_lookup *lookup;
    uint8_t *seen;
    bool will;

    if (scan->grouping->key_count != 1 ||
        scan->instructions[scan->grouping->keys[0]].opcode != CLR_OP_LOOKUP ||
        uses(scan, scan->grouping->keys[0]))
        return false;
    lookup = clr_group_codes_lookup(scan);
    if (lookup->ranked == NULL || lookup->count == 0 || lookup->ranked_count > lookup->count)
        return false;
    seen = clr_memory_alloc_zero(lookup->ranked_count + 1);
    will = seen != NULL && are_different(lookup, seen);
    clr_memory_free(seen);
    return will;
}

void clr_group_codes_order(const struct clr_scan *scan, uint32_t *ranks, uint32_t *codes)
{
    const struct clr_lookup *lookup = clr_group_codes_lookup(scan);
    const bool descends = scan->grouping->descending[0] && !scan->grouping->by_first;
    uint32_t code, number;

    memset(codes, -1, (lookup->ranked_count + 1) * sizeof *codes);
    for (code = 0; code < lookup->count; code++) {
        number = tag_of(lookup, code) == CLR_TAG_NULL ? 0 : (uint32_t)lookup->values[code] + 1;
        ranks[code] = number;
        codes[descends ? lookup->ranked_count - number : number] = code;
    }
}

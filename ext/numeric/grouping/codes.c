#include "numeric/grouping/codes.h"

#include "base/memory.h"

#include <string.h>

/* Whether the scan's filter, or a tally, needs an instruction. */
static bool uses(const struct clr_scan *scan, int number)
{
    const struct clr_tally none = {.x = -1, .y = -1, .filter = -1};
    bool used[CLR_MOST_INSTRUCTIONS];
    int i;

    clr_scan_find_used(scan, &none, used);
    for (i = 0; i < scan->tally_count && !used[number]; i++)
        clr_scan_find_used(scan, &scan->tallies[i], used);
    return used[number];
}

/* Whether no two codes have the same result. seen has a zero for each rank, and one for NULL. */
static bool are_different(const struct clr_lookup *lookup, uint8_t *seen)
{
    uint32_t code;

    for (code = 0; code < lookup->count; code++) {
        const uint8_t tag = clr_lookup_tag(lookup, code);
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
        number =
            clr_lookup_tag(lookup, code) == CLR_TAG_NULL ? 0 : (uint32_t)lookup->values[code] + 1;
        ranks[code] = number;
        codes[descends ? lookup->ranked_count - number : number] = code;
    }
}

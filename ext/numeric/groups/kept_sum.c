#include "numeric/groups/groups_private.h"

#include "base/memory.h"

#include <string.h>

enum clr_scan_outcome clr_kept_sum_store(struct clr_kept_sum *kept, struct clr_group_memory *memory,
                                         struct clr_sum *sum)
{
    const bool integer = !clr_int192_is_zero(&sum->integer);
    const bool terms = sum->term[0] != 0.0 || sum->term[1] != 0.0 || sum->term[2] != 0.0;

    if (!sum->wide_used && !clr_sum_is_unusual(sum) && !(integer && terms)) {
        kept->form = integer ? CLR_KEPT_INTEGER : CLR_KEPT_TERMS;
        if (integer)
            kept->as.integer = sum->integer;
        else
            memcpy(kept->as.term, sum->term, sizeof sum->term);
        return CLR_SCAN_DONE;
    }
    if (!clr_group_memory_take(memory, sizeof *sum))
        return CLR_SCAN_LIMIT;
    kept->as.full = clr_memory_alloc(sizeof *sum);
    if (kept->as.full == NULL) {
        clr_group_memory_return(memory, sizeof *sum);
        return CLR_SCAN_FAILED;
    }
    kept->form = CLR_KEPT_FULL;
    clr_sum_clear(kept->as.full);
    clr_sum_merge(kept->as.full, sum);
    return CLR_SCAN_DONE;
}

void clr_kept_sum_load(const struct clr_kept_sum *kept, struct clr_sum *sum)
{
    int i;

    switch (kept->form) {
    case CLR_KEPT_TERMS:
        for (i = 0; i < CLR_EXPANSION_TERMS; i++)
            clr_sum_add(sum, kept->as.term[i], 1);
        break;
    case CLR_KEPT_INTEGER:
        clr_int192_add(&sum->integer, &kept->as.integer);
        break;
    case CLR_KEPT_FULL:
        clr_sum_merge(sum, kept->as.full);
        break;
    }
}

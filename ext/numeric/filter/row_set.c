#include "numeric/filter/row_set.h"

#include <string.h>

bool clr_row_set_find(const struct clr_loops *loops, const struct clr_register *values,
                      enum clr_tag tag, const uint64_t *restrict rows, uint64_t *restrict found)
{
    uint64_t any = 0;
    size_t i;

    if (!(values->types & CLR_TYPE(tag)))
        return false;
    if (values->types == CLR_TYPE(tag)) {
        memcpy(found, rows, CLR_BLOCK_WORDS * sizeof *found);
    } else {
        loops->select_tag(values->tags, (uint8_t)tag, found);
        for (i = 0; i < CLR_BLOCK_WORDS; i++)
            found[i] &= rows[i];
    }
    for (i = 0; i < CLR_BLOCK_WORDS; i++)
        any |= found[i];
    return any != 0;
}

void clr_row_set_find_true(const struct clr_loops *loops, const struct clr_register *values,
                           const uint64_t *restrict rows, uint64_t *restrict found)
{
    static const int64_t masks[] = {[CLR_TAG_INTEGER] = -1, [CLR_TAG_REAL] = INT64_MAX};
    uint64_t numbers[CLR_BLOCK_WORDS], set[CLR_BLOCK_WORDS];
    int tag;
    size_t i;

    memset(found, 0, CLR_BLOCK_WORDS * sizeof *found);
    for (tag = CLR_TAG_INTEGER; tag <= CLR_TAG_REAL; tag++) {
        if (!clr_row_set_find(loops, values, (enum clr_tag)tag, rows, numbers))
            continue;
        loops->select(values->values, masks[tag], set);
        for (i = 0; i < CLR_BLOCK_WORDS; i++)
            found[i] |= numbers[i] & set[i];
    }
}

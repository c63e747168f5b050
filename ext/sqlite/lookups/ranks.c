#include "sqlite/lookups/ranks.h"

#include "base/memory.h"

#include <stdlib.h>

/* A value, and where it came from. */
struct ranked {
    struct clr_value value;
    struct clr_scalar *from;
};

/* A total order, in which what SQL takes for equal is together: 0, -0.0 and 0.0 are three values
   here. */
static int compare(const void *a, const void *b)
{
    const struct clr_value *x = &((const struct ranked *)a)->value;
    const struct clr_value *y = &((const struct ranked *)b)->value;
    const int order = clr_value_compare(x, y, 0);

    return order != 0 ? order : (int)x->kind - (int)y->kind;
}

/* Whether SQL takes two values for equal. */
static bool are_equal(const struct clr_value *a, const struct clr_value *b)
{
    if (a->kind == CLR_KIND_REAL && b->kind == CLR_KIND_REAL)
        return a->as.real == b->as.real;
    return clr_value_compare(a, b, 0) == 0;
}

/* Ranks those from `first` up to `last`, which are equal to SQL: if they are not the same, they are
   UNSURE. */
static void set_rank(struct ranked *order, size_t first, size_t last, size_t number)
{
    struct clr_scalar result = {.tag = CLR_TAG_INTEGER, .bits = (int64_t)number};
    size_t i;

    if (compare(&order[first], &order[last - 1]) != 0)
        result = (struct clr_scalar){.tag = CLR_TAG_UNSURE};
    for (i = first; i < last; i++)
        *order[i].from = result;
}

/* Replaces count values, of BYTES by their addresses, by their ranks, and stores the value of each
   rank, to be freed with clr_memory_free(): bytes stay where they are. Returns CLR_OK or CLR_NOMEM.
 */
static enum clr_code replace_by_ranks(struct clr_scalar *values, size_t count,
                                      struct clr_value **ranked, size_t *ranked_count)
{
    struct ranked *order = clr_memory_alloc((count + 1) * sizeof *order);
    size_t known = 0, ranks = 0, i, first;

    *ranked = clr_memory_alloc((count + 1) * sizeof **ranked);
    if (order == NULL || *ranked == NULL) {
        clr_memory_free(order);
        clr_memory_free(*ranked);
        *ranked = NULL;
        return CLR_NOMEM;
    }
    for (i = 0; i < count; i++) {
        if (values[i].tag != CLR_TAG_NULL && values[i].tag != CLR_TAG_UNSURE)
            order[known++] = (struct ranked){clr_scalar_value(&values[i]), &values[i]};
    }
    qsort(order, known, sizeof *order, compare);
    for (first = 0; first < known; first = i, ranks++) {
        for (i = first + 1; i < known && are_equal(&order[first].value, &order[i].value); i++)
            ;
        (*ranked)[ranks] = order[first].value;
        set_rank(order, first, i, ranks);
    }
    *ranked_count = ranks;
    clr_memory_free(order);
    return CLR_OK;
}

enum clr_code clr_results_rank(struct clr_lookup_results *results, uint32_t count,
                               struct clr_dictionary *distinct)
{
    struct clr_scalar *ranks = clr_memory_alloc((distinct->count + (size_t)1) * sizeof *ranks);
    enum clr_code code = CLR_NOMEM;
    uint32_t i;

    if (ranks != NULL) {
        /* Those that no entry has any more get none. */
        for (i = 0; i < distinct->count; i++)
            ranks[i] = (struct clr_scalar){.tag = CLR_TAG_NULL};
        for (i = 0; i < count; i++) {
            if (results->tags[i] != CLR_TAG_UNSURE)
                ranks[results->values[i]] = distinct->entries[results->values[i]];
        }
        code = replace_by_ranks(ranks, distinct->count, &results->ranked, &results->ranked_count);
    }
    for (i = 0; i < count && code == CLR_OK; i++) {
        const struct clr_scalar *from = &ranks[results->values[i]];

        if (results->tags[i] == CLR_TAG_UNSURE)
            continue;
        results->tags[i] = from->tag;
        results->values[i] = from->bits;
    }
    clr_memory_free(ranks);
    if (code != CLR_OK)
        return code;
    results->bytes = distinct->bytes;
    distinct->bytes = (struct clr_bytes){.blocks = NULL};
    return CLR_OK;
}

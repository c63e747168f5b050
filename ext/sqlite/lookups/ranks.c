#include "sqlite/lookups/ranks.h"

#include "base/memory.h"
#include "numeric/values/bytes.h"

#include <stdbool.h>
#include <stdlib.h>

/* A value, and where it came from. start: the first 8 bytes of TEXT or a BLOB behind those that all
   have in common, then zeros, as a number of that order, and 0 for a number: most comparisons end
   there, without waiting for the bytes themselves. */
struct ranked {
    struct clr_value value;
    struct clr_scalar *from;
    uint64_t start;
};

static struct clr_value value_of(const struct clr_scalar *scalar)
{
    return scalar->tag == CLR_TAG_BYTES ? clr_bytes_value(scalar->bits) : clr_number_value(*scalar);
}

/* A total order, in which what SQL takes for equal is together: 0, -0.0 and 0.0 are three values
   here. */
static int compare(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    int order;

    if (x->start != y->start && x->value.kind == y->value.kind)
        return x->start < y->start ? -1 : 1;
    order = clr_value_compare(&x->value, &y->value, 0);
    return order != 0 ? order : (int)x->value.kind - (int)y->value.kind;
}

/* Whether SQL takes two values for equal. */
static bool are_equal(const struct ranked *a, const struct ranked *b)
{
    if (a->start != b->start)
        return false;
    if (a->value.kind == CLR_KIND_REAL && b->value.kind == CLR_KIND_REAL)
        return a->value.as.real == b->value.as.real;
    return clr_value_compare(&a->value, &b->value, 0) == 0;
}

static bool has_bytes(const struct clr_value *value)
{
    return value->kind == CLR_KIND_TEXT || value->kind == CLR_KIND_BLOB;
}

static unsigned char byte_of(const struct clr_value *value, size_t i)
{
    return ((const unsigned char *)value->bytes)[i];
}

/* Returns how many bytes all TEXTs and BLOBs begin with that are the same. */
static size_t count_common(const struct ranked *order, size_t count)
{
    const struct clr_value *first = NULL;
    size_t common = 0, i, k;

    for (i = 0; i < count; i++) {
        const struct clr_value *value = &order[i].value;

        if (!has_bytes(value))
            continue;
        if (first == NULL) {
            first = value;
            common = value->as.size;
        }
        for (k = 0; k < common && k < value->as.size && byte_of(value, k) == byte_of(first, k); k++)
            ;
        common = k;
    }
    return common;
}

static void set_starts(struct ranked *order, size_t count)
{
    const size_t common = count_common(order, count);
    size_t i, k;

    for (i = 0; i < count; i++) {
        const struct clr_value *value = &order[i].value;

        order[i].start = 0;
        for (k = 0; has_bytes(value) && k < sizeof order[i].start; k++)
            order[i].start = order[i].start << 8 |
                             (common + k < value->as.size ? byte_of(value, common + k) : 0);
    }
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

enum clr_code clr_ranks_make(struct clr_scalar *values, size_t count, struct clr_value **ranked,
                             size_t *ranked_count)
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
            order[known++] = (struct ranked){value_of(&values[i]), &values[i], 0};
    }
    set_starts(order, known);
    qsort(order, known, sizeof *order, compare);
    for (first = 0; first < known; first = i, ranks++) {
        for (i = first + 1; i < known && are_equal(&order[first], &order[i]); i++)
            ;
        (*ranked)[ranks] = order[first].value;
        set_rank(order, first, i, ranks);
    }
    *ranked_count = ranks;
    clr_memory_free(order);
    return CLR_OK;
}

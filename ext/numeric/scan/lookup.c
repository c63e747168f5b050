#include "numeric/scan/lookup.h"

#include "base/memory.h"

#include <string.h>

struct clr_lookup_results *clr_lookup_results_new(uint32_t count)
{
    static atomic_uint_least64_t ids;
    const size_t values_size = count * sizeof(int64_t);
    const uint32_t truths = count > CLR_LEAST_TRUTHS ? count : CLR_LEAST_TRUTHS;
    const size_t truths_size = (truths / 32 + (size_t)1) * sizeof(uint32_t);
    const size_t size = sizeof(struct clr_lookup_results) + values_size + 2 * truths_size + count;
    struct clr_lookup_results *results = clr_memory_alloc(size);

    if (results == NULL)
        return NULL;
    memset(results, 0, sizeof *results);
    atomic_init(&results->references, 1);
    results->id = atomic_fetch_add(&ids, 1) + 1;
    results->size = size;
    results->truths = (uint32_t *)(results->values + count);
    results->truth_counts = results->truths + truths_size / sizeof(uint32_t);
    results->tags = (uint8_t *)results->truth_counts + truths_size;
    memset(results->values, 0, values_size);
    memset(results->truths, 0, truths_size);
    memset(results->tags, CLR_TAG_UNSURE, count);
    return results;
}

struct clr_lookup_results *clr_lookup_results_retain(struct clr_lookup_results *results)
{
    if (results != NULL)
        atomic_fetch_add(&results->references, 1);
    return results;
}

void clr_lookup_results_release(struct clr_lookup_results *results)
{
    if (results == NULL || atomic_fetch_sub(&results->references, 1) > 1)
        return;
    clr_row_truths_release(&results->rows.latest);
    clr_memory_free(results->ranked);
    clr_bytes_free(&results->bytes);
    clr_memory_free(results);
}

static bool is_true(uint8_t tag, int64_t bits)
{
    return (tag == CLR_TAG_INTEGER && bits != 0) ||
           (tag == CLR_TAG_REAL && (bits & INT64_MAX) != 0);
}

/* Returns the tag whose bit alone is set, or CLR_TAG_MIXED; of none NULL's. */
static uint8_t kind_of(unsigned types)
{
    uint8_t tag;

    for (tag = CLR_TAG_NULL; tag < CLR_TAG_UNSURE && types != 1u << tag; tag++)
        ;
    return types == 0 ? (uint8_t)CLR_TAG_NULL : types == 1u << tag ? tag : (uint8_t)CLR_TAG_MIXED;
}

void clr_lookup_set(struct clr_lookup *lookup, struct clr_lookup_results *results, uint32_t count)
{
    unsigned types = 0;
    uint64_t beyond = 0;
    uint32_t truth, last_true = 0, i;

    *lookup = (struct clr_lookup){.count = count, .results = results};
    for (i = 0; i < count; i++) {
        types |= 1u << results->tags[i];
        truth = is_true(results->tags[i], results->values[i]);
        results->truths[i / 32] |= truth << i % 32;
        if (truth != 0 && lookup->true_count++ == 0)
            lookup->first_true = i;
        last_true = truth != 0 ? i : last_true;
        beyond |= ((uint64_t)results->values[i] + INT8_MAX + 1) & ~(uint64_t)UINT8_MAX;
    }
    results->truth_counts[0] = 0;
    for (i = 0; i < count / 32; i++)
        results->truth_counts[i + 1] = results->truth_counts[i] + (results->truths[i] != 0);
    lookup->are_beside =
        lookup->true_count > 0 && last_true - lookup->first_true == lookup->true_count - 1;
    lookup->kind = kind_of(types);
    lookup->types = (uint8_t)types;
    lookup->is_short = beyond == 0 && (types & 1u << CLR_TAG_REAL) == 0;
    lookup->tags = results->tags;
    lookup->truths = results->truths;
    lookup->truth_counts = results->truth_counts;
    lookup->values = results->values;
    lookup->ranked = results->ranked;
    lookup->ranked_count = results->ranked_count;
}

void clr_lookup_copy(struct clr_lookup *copy, const struct clr_lookup *lookup)
{
    *copy = *lookup;
    copy->rows = (struct clr_row_truths){.bits = NULL};
    clr_lookup_results_retain(copy->results);
}

void clr_lookup_take_truths(struct clr_lookup *lookup)
{
    clr_row_truths_take(&lookup->results->rows, &lookup->rows);
}

size_t clr_lookup_size(const struct clr_lookup *lookup)
{
    const struct clr_lookup_results *results = lookup->results;

    return results->size + results->ranked_count * sizeof *results->ranked + results->bytes.size;
}

void clr_lookup_free(struct clr_lookup *lookup)
{
    clr_row_truths_release(&lookup->rows);
    clr_lookup_results_release(lookup->results);
    memset(lookup, 0, sizeof *lookup);
}

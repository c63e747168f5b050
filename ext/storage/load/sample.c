#include "storage/load/sample.h"

#include "base/memory.h"

#include <math.h>

/*
 * Of LEAST_LEAVES leaves or more SAMPLED times the root of their number are decoded, one in PART at
 * most, each from another stretch of the table. Where each value of a table is there four times, as
 * far apart as can be, some 3 * SAMPLED^2 pairs of such leaves have values in common.
 */
enum { LEAST_LEAVES = 256, SAMPLED = 4, PART = 16 };

/* What is taken for too many is more than that by one in MARGIN. */
enum { MARGIN = 2 };

/* What a sample's values and the records that they are in may take. */
enum { MOST_BYTES = 64 << 20 };

struct sample {
    const struct clr_units *units;
    struct clr_field *fields; /* those of the units with codes that may have too many values */
    int count;
    size_t leaves, most_cells;            /* in the sample; of a leaf */
    size_t rows;                          /* decoded */
    struct clr_dictionary **dictionaries; /* of each field */
    uint8_t **times; /* likewise, of each entry: how often it was met, 3 if more often */
    uint32_t *codes; /* of a leaf's rows: most_cells of each field */
    atomic_int_least64_t left;
};

static void find_fields(struct sample *sample)
{
    int k;

    for (k = 0; k < sample->units->field_count; k++) {
        if (sample->units->fields[k].with_codes && !sample->units->fields[k].is_joined)
            sample->fields[sample->count++] = sample->units->fields[k];
    }
}

/* Free in any case. */
static bool sample_init(struct sample *sample, const struct clr_units *units, uint64_t seed,
                        size_t memory)
{
    const size_t leaves = units->leaves.count, fields = (size_t)units->field_count + 1;
    int k;

    *sample = (struct sample){.units = units, .most_cells = clr_page_most_cells(units->source)};
    atomic_init(&sample->left, (int64_t)(memory < MOST_BYTES ? memory : MOST_BYTES));
    sample->leaves = (size_t)((double)SAMPLED * sqrt((double)leaves));
    if (sample->leaves > leaves / PART)
        sample->leaves = leaves / PART;
    sample->fields = clr_memory_alloc(fields * sizeof *sample->fields);
    if (sample->fields == NULL)
        return false;
    find_fields(sample);
    sample->dictionaries = clr_memory_alloc_zero(fields * sizeof(struct clr_dictionary *));
    sample->times = clr_memory_alloc_zero(fields * sizeof(uint8_t *));
    sample->codes = clr_memory_alloc(fields * sample->most_cells * sizeof *sample->codes);
    if (sample->dictionaries == NULL || sample->times == NULL || sample->codes == NULL)
        return false;
    for (k = 0; k < sample->count; k++) {
        sample->dictionaries[k] = clr_dictionary_new(seed, &sample->left);
        sample->times[k] = clr_memory_alloc_zero(sample->leaves * sample->most_cells);
        if (sample->dictionaries[k] == NULL || sample->times[k] == NULL)
            return false;
    }
    return true;
}

static void sample_free(struct sample *sample)
{
    int k;

    for (k = 0; k < sample->count; k++) {
        if (sample->dictionaries != NULL)
            clr_dictionary_release(sample->dictionaries[k]);
        if (sample->times != NULL)
            clr_memory_free(sample->times[k]);
    }
    clr_memory_free((void *)sample->dictionaries);
    clr_memory_free((void *)sample->times);
    clr_memory_free(sample->codes);
    clr_memory_free(sample->fields);
}

/* Decodes one leaf, and counts its values. */
static enum clr_load_outcome take_leaf(struct sample *sample, struct clr_leaf_reader *reader,
                                       size_t leaf)
{
    struct clr_decoder *decoder = &reader->decoder;
    enum clr_load_outcome outcome;
    size_t rows, row;
    int k;

    outcome = clr_leaf_reader_read(reader, &sample->units->leaves.numbers[leaf], 1, false, &rows);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    clr_decoder_begin(decoder);
    for (k = 0; k < sample->count; k++)
        decoder->targets[k] =
            (struct clr_target){.codes = sample->codes + (size_t)k * sample->most_cells,
                                .dictionary = sample->dictionaries[k],
                                .cache = decoder->caches[k],
                                .kind = CLR_TAG_MIXED};
    outcome = clr_leaf_reader_decode(reader);
    for (k = 0; k < sample->count && outcome == CLR_LOAD_DONE; k++) {
        const uint32_t *codes = sample->codes + (size_t)k * sample->most_cells;
        uint8_t *times = sample->times[k];

        for (row = 0; row < rows; row++) {
            if (times[codes[row]] < 3)
                times[codes[row]]++;
        }
    }
    sample->rows += rows;
    return outcome;
}

static enum clr_load_outcome take_leaves(struct sample *sample, struct clr_leaf_reader *reader,
                                         uint64_t seed)
{
    const size_t all = sample->units->leaves.count;
    enum clr_load_outcome outcome = CLR_LOAD_DONE;
    size_t i, first, count;

    reader->decoder.passing.left = &sample->left;
    for (i = 0; i < sample->leaves && outcome == CLR_LOAD_DONE; i++) {
        first = all * i / sample->leaves;
        count = all * (i + 1) / sample->leaves - first;
        seed = clr_bytes_fold(seed + i, UINT64_C(0x9e3779b97f4a7c15));
        outcome = take_leaf(sample, reader, first + seed % count);
    }
    return outcome;
}

/*
 * Whether the table has too many values of a field. There are no fewer than d + f1^2 / 2 f2, where
 * d are in the sample, f1 of them once and f2 twice (Chao, Nonparametric estimation of the number
 * of classes in a population, Scandinavian Journal of Statistics 11, 1984; here without its bias
 * where f2 is small).
 */
static bool has_many_values(const struct sample *sample, int k)
{
    const struct clr_layout *layout = sample->units->layout;
    const double leaves = (double)sample->units->leaves.count / (double)sample->leaves;
    const double rows = layout != NULL ? (double)layout->rows : (double)sample->rows * leaves;
    double met[4] = {0}, least;
    uint32_t code;

    for (code = 0; code < sample->dictionaries[k]->count; code++)
        met[sample->times[k][code]]++;
    least = (double)code + met[1] * (met[1] - 1) / (2 * (met[2] + 1));
    least = least < rows ? least : rows;
    least -= least / (MARGIN + 1);
    return least > (int)CLR_DICTIONARY_FEW && least > rows / (int)CLR_DICTIONARY_PART;
}

/* Decodes the sample, by a reader of its own. */
static enum clr_load_outcome take(struct sample *sample, struct clr_pages *pages, uint64_t seed)
{
    struct clr_leaf_reader reader;
    enum clr_load_outcome outcome =
        clr_leaf_reader_init(&reader, pages, sample->fields, sample->count, 1);

    if (outcome == CLR_LOAD_DONE)
        outcome = take_leaves(sample, &reader, seed);
    clr_leaf_reader_free(&reader);
    return outcome;
}

enum clr_load_outcome clr_sample_many_values(struct clr_units *units, uint64_t seed, size_t memory,
                                             const struct clr_watch *watch, int *position)
{
    struct clr_pages pages = clr_units_pages(units);
    enum clr_load_outcome outcome = CLR_LOAD_FAILED;
    struct sample sample;
    int k;

    if (units->leaves.count < LEAST_LEAVES)
        return CLR_LOAD_DONE;
    pages.visited = clr_page_set_copy(units->visited); /* what is met now is met again */
    pages.watch = watch;
    if (sample_init(&sample, units, seed, memory) && pages.visited != NULL)
        outcome = sample.count == 0 ? CLR_LOAD_DONE : take(&sample, &pages, seed);
    for (k = 0; k < sample.count && outcome == CLR_LOAD_DONE; k++) {
        if (has_many_values(&sample, k)) {
            *position = sample.fields[k].position;
            outcome = CLR_LOAD_MANY_VALUES;
        }
    }
    /* The sample is not the whole table, and a load says by itself what is too large for it. */
    if (outcome == CLR_LOAD_TOO_LARGE || outcome == CLR_LOAD_UNSURE)
        outcome = CLR_LOAD_DONE;
    clr_page_set_free(pages.visited);
    sample_free(&sample);
    return clr_units_note(units, outcome, &pages);
}

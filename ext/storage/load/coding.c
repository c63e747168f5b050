#include "storage/load/coding.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- A sample of a table's leaves, which tells of columns that have far too many different values
   for a dictionary, and of INTEGERs that are close to each other: before the whole table is decoded
   for that. */

/*
 * Of LEAST_LEAVES leaves or more SAMPLED times the root of their number are decoded, one in PART at
 * most, each from another stretch of the table. Where each value of a table is there four times, as
 * far apart as can be, some 3 * SAMPLED^2 pairs of such leaves have values in common.
 */
enum { LEAST_LEAVES = 256, SAMPLED = 4, PART = 16 };

/* Leaves that are enough for ranges: fields that are joined may have any number of values. */
enum { RANGE_LEAVES = 64 };

/* What is taken for too many is more than that by one in MARGIN. */
enum { MARGIN = 2 };

/* A range leaves out a part of the INTEGERs at either end, and has a part of its size more there
   than without them. */
enum { RANGE_LEFT = 16, RANGE_ROOM = 4 };

/* What a sample's values and the records that they are in may take. */
enum { MOST_BYTES = 64 << 20 };

struct sample {
    const struct clr_units *units;
    struct clr_field *fields; /* those of the units with codes */
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
        if (sample->units->fields[k].with_codes)
            sample->fields[sample->count++] = sample->units->fields[k];
    }
}

/* Returns of how many leaves there is a sample. */
static size_t count_leaves(const struct sample *sample)
{
    const size_t all = sample->units->leaves.count;
    size_t leaves = RANGE_LEAVES;
    int k;

    for (k = 0; k < sample->count; k++)
        if (!sample->fields[k].is_joined)
            leaves = (size_t)((double)SAMPLED * sqrt((double)all));
    return leaves < all / PART ? leaves : all / PART;
}

/* Free in any case. */
static bool sample_init(struct sample *sample, const struct clr_units *units, uint64_t seed,
                        size_t memory)
{
    const size_t fields = (size_t)units->field_count + 1;
    int k;

    *sample = (struct sample){.units = units, .most_cells = clr_page_most_cells(units->source)};
    atomic_init(&sample->left, (int64_t)(memory < MOST_BYTES ? memory : MOST_BYTES));
    sample->fields = clr_memory_alloc(fields * sizeof *sample->fields);
    if (sample->fields == NULL)
        return false;
    find_fields(sample);
    sample->leaves = count_leaves(sample);
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

/* Returns about how many rows the table has. */
static double guess_rows(const struct sample *sample)
{
    const struct clr_layout *layout = sample->units->layout;
    const double leaves = (double)sample->units->leaves.count / (double)sample->leaves;

    return layout != NULL ? (double)layout->rows : (double)sample->rows * leaves;
}

static int compare_integers(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Returns the range of a field's INTEGERs, but few that are far from the others, with some room at
   either end for those that the sample has not met; none if they are few, or so far apart that most
   of it might be of no use, or without memory. */
static struct clr_code_range find_range(const struct sample *sample, int k)
{
    const struct clr_dictionary *dictionary = sample->dictionaries[k];
    int64_t *integers = clr_memory_alloc((dictionary->count + (size_t)1) * sizeof *integers);
    struct clr_code_range range = {.count = 0};
    size_t count = 0, least;
    uint64_t size, room;
    uint32_t code;

    for (code = 0; code < dictionary->count && integers != NULL; code++)
        if (dictionary->entries[code].tag == CLR_TAG_INTEGER)
            integers[count++] = dictionary->entries[code].bits;
    if (count > dictionary->count / 2) {
        qsort(integers, count, sizeof *integers, compare_integers);
        least = count / RANGE_LEFT;
        size = (uint64_t)integers[count - 1 - least] - (uint64_t)integers[least];
        room = size / RANGE_ROOM + 1;
        if ((double)size + 2.0 * (double)room < guess_rows(sample) &&
            size < CLR_DICTIONARY_MOST / 2)
            range = (struct clr_code_range){.least = (uint64_t)integers[least] - room,
                                            .count = (uint32_t)(size + 2 * room + 1)};
    }
    clr_memory_free(integers);
    return range;
}

/*
 * Whether the table has too many values of a field. There are no fewer than d + f1^2 / 2 f2, where
 * d are in the sample, f1 of them once and f2 twice (Chao, Nonparametric estimation of the number
 * of classes in a population, Scandinavian Journal of Statistics 11, 1984; here without its bias
 * where f2 is small).
 */
static bool has_many_values(const struct sample *sample, int k)
{
    const double rows = guess_rows(sample);
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

/*
 * Looks, in the calling thread, at some leaves of units that have been found. Returns
 * CLR_LOAD_MANY_VALUES, with the position of a field with codes that has too many values
 * (clr_field_has_many_values()); CLR_LOAD_DONE, if none is known to have, as where the table is
 * small; CLR_LOAD_STOPPED, CLR_LOAD_MALFORMED or CLR_LOAD_FAILED. The units have taken note of it.
 * seed: any number that who chooses the values does not know. memory: bytes that the sample may
 * take at most. watch may be NULL. ranges: of each of the units' fields, zeros; they become those
 * of fields with codes, without bits.
 */
static enum clr_load_outcome sample_codes(struct clr_units *units, uint64_t seed, size_t memory,
                                          const struct clr_watch *watch,
                                          struct clr_code_range *ranges, int *position)
{
    struct clr_pages pages = clr_units_pages(units);
    enum clr_load_outcome outcome = CLR_LOAD_FAILED;
    struct sample sample;
    int k, field = 0;

    if (units->leaves.count < LEAST_LEAVES)
        return CLR_LOAD_DONE;
    pages.visited = clr_page_set_copy(units->visited); /* what is met now is met again */
    pages.watch = watch;
    if (sample_init(&sample, units, seed, memory) && pages.visited != NULL)
        outcome = sample.count == 0 ? CLR_LOAD_DONE : take(&sample, &pages, seed);
    for (k = 0; k < sample.count && outcome == CLR_LOAD_DONE; k++) {
        if (!sample.fields[k].is_joined && has_many_values(&sample, k)) {
            *position = sample.fields[k].position;
            outcome = CLR_LOAD_MANY_VALUES;
        }
        while (!units->fields[field].with_codes)
            field++;
        ranges[field++] = find_range(&sample, k);
    }
    /* The sample is not the whole table, and a load says by itself what is too large for it. */
    if (outcome == CLR_LOAD_TOO_LARGE || outcome == CLR_LOAD_UNSURE)
        outcome = CLR_LOAD_DONE;
    clr_page_set_free(pages.visited);
    sample_free(&sample);
    return clr_units_note(units, outcome, &pages);
}

/* ---- The codes of all rows. */

/* Returns a thread's place for the dictionary of field k. Threads' places are apart, so that no two
   share a cache line. */
static struct clr_dictionary **dictionary_of(const struct clr_coding *coding, int thread, int k)
{
    return coding->dictionaries + (size_t)thread * (size_t)coding->units->field_count + (size_t)k;
}

/* The same of the range. */
static struct clr_code_range *range_of(const struct clr_coding *coding, int thread, int k)
{
    return coding->ranges + (size_t)thread * (size_t)coding->units->field_count + (size_t)k;
}

/* Returns how many words the bits of a range take. */
static size_t words_of(const struct clr_code_range *range)
{
    return ((size_t)range->count + 63) / 64;
}

static bool is_wanted(const struct clr_units *units)
{
    int k;

    for (k = 0; k < units->field_count && !units->fields[k].with_codes; k++)
        ;
    return k < units->field_count;
}

/* Makes what each thread has of each field with codes. Returns false without memory. */
static bool make(struct clr_coding *coding, const struct clr_code_range *ranges, uint64_t seed)
{
    const struct clr_units *units = coding->units;
    const size_t count = (size_t)units->threads * (size_t)units->field_count;
    int thread, k;

    coding->dictionaries = clr_memory_alloc_zero(count * sizeof(struct clr_dictionary *));
    coding->ranges = clr_memory_alloc_zero(count * sizeof *coding->ranges);
    if (coding->dictionaries == NULL || coding->ranges == NULL)
        return false;
    for (thread = 0; thread < units->threads; thread++) {
        for (k = 0; k < units->field_count; k++) {
            if (!units->fields[k].with_codes)
                continue;
            *dictionary_of(coding, thread, k) = clr_dictionary_new(seed, coding->left);
            *range_of(coding, thread, k) = ranges[k];
            range_of(coding, thread, k)->met =
                clr_memory_alloc_zero(words_of(&ranges[k]) * sizeof(uint64_t) + 1);
            if (*dictionary_of(coding, thread, k) == NULL ||
                range_of(coding, thread, k)->met == NULL)
                return false;
        }
    }
    return true;
}

/* A range needs as much memory as so many bytes for each INTEGER are a small part of. */
enum { RANGE_BYTES = 64 };

/* Has a sample tell of fields with too many values for codes, and of the ranges of others. */
static enum clr_load_outcome find_ranges(struct clr_coding *coding, struct clr_units *units,
                                         const struct clr_layout *layout,
                                         const struct clr_watch *watch,
                                         struct clr_code_range *ranges)
{
    const size_t memory = layout->most_bytes > 0 ? layout->most_bytes : SIZE_MAX;
    int position = 0, k;
    enum clr_load_outcome outcome =
        sample_codes(units, layout->seed, memory, watch, ranges, &position);

    if (outcome == CLR_LOAD_MANY_VALUES)
        atomic_store(&coding->full, position);
    for (k = 0; k < units->field_count; k++)
        if (ranges[k].count > memory / RANGE_BYTES)
            ranges[k].count = 0;
    return outcome;
}

enum clr_load_outcome clr_coding_begin(struct clr_coding *coding, struct clr_units *units,
                                       const struct clr_layout *layout, atomic_int_least64_t *left,
                                       const struct clr_watch *watch)
{
    struct clr_code_range *ranges;
    enum clr_load_outcome outcome = CLR_LOAD_FAILED;

    if (!is_wanted(units))
        return CLR_LOAD_DONE;
    coding->units = units;
    coding->left = left;
    ranges = clr_memory_alloc_zero((size_t)units->field_count * sizeof *ranges);
    if (ranges != NULL)
        outcome = find_ranges(coding, units, layout, watch, ranges);
    if (ranges == NULL || (outcome == CLR_LOAD_DONE && !make(coding, ranges, layout->seed)))
        outcome = clr_units_fail(units, CLR_LOAD_FAILED, 0, 0);
    clr_memory_free(ranges);
    return outcome;
}

void clr_coding_free(struct clr_coding *coding)
{
    const size_t count = coding->units == NULL
                             ? 0
                             : (size_t)coding->units->threads * (size_t)coding->units->field_count;
    size_t i;

    for (i = 0; i < count && coding->dictionaries != NULL; i++)
        clr_dictionary_release(coding->dictionaries[i]);
    for (i = 0; i < count && coding->ranges != NULL; i++)
        clr_memory_free(coding->ranges[i].met);
    clr_memory_free((void *)coding->dictionaries);
    clr_memory_free(coding->ranges);
}

void clr_coding_aim(const struct clr_coding *coding, int thread, struct clr_decoder *decoder)
{
    int k;

    if (coding->dictionaries == NULL)
        return;
    decoder->passing.left = coding->left;
    for (k = 0; k < decoder->count; k++) {
        if (coding->units->fields[k].with_codes) {
            decoder->targets[k].dictionary = *dictionary_of(coding, thread, k);
            decoder->targets[k].range = *range_of(coding, thread, k);
            decoder->targets[k].cache = decoder->caches[k];
        }
    }
}

/* What becomes of the codes of a column. */
struct narrowing {
    const struct clr_units *units;
    int parts;
    struct clr_dictionary *dictionary; /* the one of all */
    uint32_t *of_range; /* the new code of each INTEGER of the range; NULL: there is no range */
    uint32_t **maps;    /* of each thread: the same of each old one; NULL: it has those of the range
                           alone, or they are the same */
    struct clr_column *from, *to;
};

/* Returns which of the 64 INTEGERs of a word of bits any thread has met. */
static uint64_t met_by_any(const struct clr_coding *coding, int k, size_t word)
{
    uint64_t met = 0;
    int thread;

    for (thread = 0; thread < coding->units->threads; thread++)
        met |= range_of(coding, thread, k)->met[word];
    return met;
}

/* Gives the INTEGERs of the range that any thread has met the first codes of a dictionary, in their
   order. */
static enum clr_code take_range(struct narrowing *narrowing, const struct clr_coding *coding, int k)
{
    const struct clr_code_range *range = range_of(coding, 0, k);
    const size_t words = words_of(range);
    struct clr_scalar values[64];
    uint32_t count = 0, codes[64], i;
    enum clr_code code;
    uint64_t met, left;
    size_t word;

    narrowing->of_range = clr_memory_alloc_zero((range->count + (size_t)1) * sizeof(uint32_t));
    narrowing->dictionary = clr_dictionary_new((*dictionary_of(coding, 0, k))->seed, coding->left);
    if (narrowing->of_range == NULL || narrowing->dictionary == NULL)
        return CLR_NOMEM;
    for (word = 0; word < words; word++)
        count += (uint32_t)__builtin_popcountll(met_by_any(coding, k, word));
    code = clr_dictionary_reserve(narrowing->dictionary, count);
    for (word = 0; word < words && code == CLR_OK; word++) {
        const uint64_t first = range->least + word * 64;

        met = met_by_any(coding, k, word);
        for (left = met, count = 0; left != 0; left &= left - 1)
            values[count++] = (struct clr_scalar){
                .tag = CLR_TAG_INTEGER, .bits = (int64_t)(first + (size_t)__builtin_ctzll(left))};
        code = clr_dictionary_add_all(narrowing->dictionary, values, count, codes);
        for (left = met, i = 0; left != 0 && code == CLR_OK; left &= left - 1)
            narrowing->of_range[word * 64 + (size_t)__builtin_ctzll(left)] = codes[i++];
    }
    return code;
}

/* Begins the one dictionary with the range. Without one it is that of the thread that has most. */
static enum clr_code begin_dictionary(struct narrowing *narrowing, struct clr_coding *coding, int k)
{
    int thread, most = 0;

    if (range_of(coding, 0, k)->count > 0)
        return take_range(narrowing, coding, k);
    for (thread = 1; thread < coding->units->threads; thread++) {
        if ((*dictionary_of(coding, thread, k))->count > (*dictionary_of(coding, most, k))->count)
            most = thread;
    }
    narrowing->dictionary = *dictionary_of(coding, most, k);
    *dictionary_of(coding, most, k) = NULL;
    return CLR_OK;
}

/* Adds what the threads have to the one dictionary: until that shows that the column, of so many
   rows, has too many values. */
static enum clr_code merge(struct narrowing *narrowing, struct clr_coding *coding, int k,
                           size_t rows)
{
    const size_t range = range_of(coding, 0, k)->count;
    enum clr_code code = begin_dictionary(narrowing, coding, k);
    int thread;

    for (thread = 0; thread < coding->units->threads && code == CLR_OK; thread++) {
        struct clr_dictionary **from = dictionary_of(coding, thread, k);

        if (*from == NULL || (range > 0 && (*from)->count == 0) ||
            clr_field_has_many_values(&coding->units->fields[k], narrowing->dictionary, rows))
            continue;
        narrowing->maps[thread] =
            clr_memory_alloc((range + (*from)->count + 1) * sizeof *narrowing->maps[thread]);
        if (narrowing->maps[thread] == NULL)
            return CLR_NOMEM;
        if (range > 0)
            memcpy(narrowing->maps[thread], narrowing->of_range,
                   range * sizeof *narrowing->of_range);
        code = clr_dictionary_add_all(narrowing->dictionary, (*from)->entries, (*from)->count,
                                      narrowing->maps[thread] + range);
        atomic_fetch_add(coding->left, (int64_t)clr_dictionary_size(*from));
        clr_dictionary_release(*from);
        *from = NULL;
    }
    return code;
}

static void narrow_part(void *argument, int part, const atomic_bool *stop)
{
    const struct narrowing *narrowing = argument;
    const size_t count = narrowing->units->count, parts = (size_t)narrowing->parts;
    size_t i = count * (size_t)part / parts, end = count * ((size_t)part + 1) / parts;

    (void)stop;
    for (; i < end; i++) {
        const struct clr_unit *unit = &narrowing->units->units[i];
        const uint32_t *own = narrowing->maps[unit->thread];
        const uint32_t *map = own != NULL ? own : narrowing->of_range;

        if (map != NULL || narrowing->to != narrowing->from)
            clr_column_map_codes(narrowing->to, unit->row, narrowing->from, unit->row, unit->rows,
                                 map);
    }
}

/* Gives the column the codes of the one dictionary, and that itself. */
static enum clr_load_outcome narrow(struct narrowing *narrowing, size_t rows,
                                    struct clr_column **column)
{
    struct clr_dictionary *dictionary = narrowing->dictionary;
    const uint8_t code_bytes = clr_column_code_bytes(dictionary->count);

    narrowing->from = narrowing->to = *column;
    if (code_bytes != (*column)->code_bytes)
        narrowing->to = clr_column_new_codes(NULL, (*column)->capacity, code_bytes);
    if (narrowing->to == NULL)
        return CLR_LOAD_FAILED;
    clr_team_run(narrowing->parts, narrow_part, narrowing, NULL);
    if (narrowing->to != narrowing->from)
        clr_column_release(narrowing->from);
    *column = narrowing->to;
    (*column)->dictionary = clr_dictionary_retain(dictionary);
    (*column)->entries_read = dictionary->count;
    (*column)->rows = rows;
    return CLR_LOAD_DONE;
}

/* Makes one dictionary of field k, whose dictionaries go into it, and maybe a map for each thread;
   both are to be freed whatever the outcome. */
static enum clr_load_outcome join(struct narrowing *narrowing, struct clr_coding *coding, int k,
                                  size_t rows)
{
    enum clr_code code;

    narrowing->maps = clr_memory_alloc_zero((size_t)coding->units->threads * sizeof(uint32_t *));
    if (narrowing->maps == NULL)
        return CLR_LOAD_FAILED;
    code = merge(narrowing, coding, k, rows);
    if (narrowing->dictionary == NULL)
        return CLR_LOAD_FAILED;
    if (clr_field_has_many_values(&coding->units->fields[k], narrowing->dictionary, rows) ||
        (code == CLR_LIMIT && narrowing->dictionary->count == CLR_DICTIONARY_MOST)) {
        atomic_store(&coding->full, coding->units->fields[k].position);
        return CLR_LOAD_MANY_VALUES;
    }
    if (code == CLR_LIMIT || (code == CLR_OK && atomic_load(coding->left) < 0))
        return CLR_LOAD_TOO_LARGE; /* rows may have taken what a dictionary had before them */
    return code == CLR_OK ? CLR_LOAD_DONE : CLR_LOAD_FAILED;
}

static void free_joined(struct narrowing *narrowing)
{
    int i;

    for (i = 0; i < narrowing->units->threads && narrowing->maps != NULL; i++)
        clr_memory_free(narrowing->maps[i]);
    clr_memory_free((void *)narrowing->maps);
    clr_memory_free(narrowing->of_range);
    clr_dictionary_release(narrowing->dictionary);
}

enum clr_load_outcome clr_coding_finish(struct clr_coding *coding, int k, size_t rows,
                                        struct clr_column **column,
                                        struct clr_dictionary **dictionary)
{
    struct narrowing narrowing = {.units = coding->units, .parts = coding->units->threads};
    enum clr_load_outcome outcome = join(&narrowing, coding, k, rows);

    if (outcome == CLR_LOAD_DONE && column != NULL)
        outcome = narrow(&narrowing, rows, column);
    else if (outcome == CLR_LOAD_DONE)
        *dictionary = clr_dictionary_retain(narrowing.dictionary);
    if (outcome == CLR_LOAD_DONE)
        narrowing.dictionary->bytes.left = NULL;
    free_joined(&narrowing);
    return outcome;
}

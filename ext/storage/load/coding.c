#include "storage/load/coding.h"

#include "base/memory.h"

#include <string.h>

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
static enum clr_load_outcome sample(struct clr_coding *coding, struct clr_units *units,
                                    const struct clr_layout *layout, const struct clr_watch *watch,
                                    struct clr_code_range *ranges)
{
    const size_t memory = layout->most_bytes > 0 ? layout->most_bytes : SIZE_MAX;
    int position = 0, k;
    enum clr_load_outcome outcome =
        clr_sample_codes(units, layout->seed, memory, watch, ranges, &position);

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
        outcome = sample(coding, units, layout, watch, ranges);
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
    enum clr_code code;
    uint32_t count = 0;
    uint64_t met;
    size_t word;

    narrowing->of_range = clr_memory_alloc_zero((range->count + (size_t)1) * sizeof(uint32_t));
    narrowing->dictionary = clr_dictionary_new((*dictionary_of(coding, 0, k))->seed, coding->left);
    if (narrowing->of_range == NULL || narrowing->dictionary == NULL)
        return CLR_NOMEM;
    for (word = 0; word < words; word++)
        count += (uint32_t)__builtin_popcountll(met_by_any(coding, k, word));
    code = clr_dictionary_reserve(narrowing->dictionary, count);
    for (word = 0; word < words; word++) {
        for (met = met_by_any(coding, k, word); met != 0 && code == CLR_OK; met &= met - 1) {
            const size_t place = word * 64 + (size_t)__builtin_ctzll(met);
            const struct clr_scalar value = {.tag = CLR_TAG_INTEGER,
                                             .bits = (int64_t)(range->least + place)};

            code = clr_dictionary_add(narrowing->dictionary, value, &narrowing->of_range[place]);
        }
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
        code = clr_dictionary_merge(narrowing->dictionary, *from, narrowing->maps[thread] + range);
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

#include "storage/load/coding.h"

#include "base/memory.h"

/* Returns a thread's place for the dictionary of field k. Threads' places are apart, so that no two
   share a cache line. */
static struct clr_dictionary **place_of(const struct clr_coding *coding, int thread, int k)
{
    return coding->dictionaries + (size_t)thread * (size_t)coding->units->field_count + (size_t)k;
}

static bool is_wanted(const struct clr_units *units)
{
    int k;

    for (k = 0; k < units->field_count && !units->fields[k].with_codes; k++)
        ;
    return k < units->field_count;
}

bool clr_coding_init(struct clr_coding *coding, const struct clr_units *units, uint64_t seed,
                     atomic_int_least64_t *left)
{
    const size_t threads = (size_t)units->threads, count = (size_t)units->field_count;
    int thread, k;

    if (!is_wanted(units))
        return true;
    coding->units = units;
    coding->left = left;
    coding->rows = clr_memory_alloc_zero(threads * sizeof *coding->rows);
    coding->taken = clr_memory_alloc_zero(threads * sizeof *coding->taken);
    coding->dictionaries = clr_memory_alloc_zero(threads * count * sizeof(struct clr_dictionary *));
    if (coding->rows == NULL || coding->taken == NULL || coding->dictionaries == NULL)
        return false;
    for (thread = 0; thread < units->threads; thread++) {
        for (k = 0; k < units->field_count; k++) {
            if (!units->fields[k].with_codes)
                continue;
            *place_of(coding, thread, k) = clr_dictionary_new(seed, left);
            if (*place_of(coding, thread, k) == NULL)
                return false;
        }
    }
    return true;
}

void clr_coding_free(struct clr_coding *coding)
{
    size_t i;

    if (coding->dictionaries != NULL) {
        for (i = 0; i < (size_t)coding->units->threads * (size_t)coding->units->field_count; i++)
            clr_dictionary_release(coding->dictionaries[i]);
    }
    clr_memory_free((void *)coding->dictionaries);
    clr_memory_free(coding->rows);
    clr_memory_free(coding->taken);
}

void clr_coding_aim(const struct clr_coding *coding, int thread, struct clr_decoder *decoder)
{
    int k;

    if (coding->dictionaries == NULL)
        return;
    decoder->passing.left = coding->left;
    for (k = 0; k < decoder->count; k++) {
        if (coding->units->fields[k].with_codes) {
            decoder->targets[k].dictionary = *place_of(coding, thread, k);
            decoder->targets[k].cache = decoder->caches[k];
        }
    }
}

/* Says that a field has too many values. */
static enum clr_load_outcome give_up(struct clr_coding *coding, int k)
{
    atomic_store(&coding->full, coding->units->fields[k].position);
    return CLR_LOAD_MANY_VALUES;
}

/*
 * Whether a thread's dictionary shows that the column has too many values: more than the whole
 * table may have, if its other units are like the thread's; or, when the thread has seen an eighth
 * of the table, most rows have brought a new one. A table often begins with values that it repeats
 * later, and one of many threads sees few of the rows that repeat a value.
 */
static bool shows_too_many(const struct clr_coding *coding, int thread,
                           const struct clr_dictionary *dictionary)
{
    const double units = (double)coding->units->count, taken = (double)coding->taken[thread];
    const double rows = (double)coding->rows[thread], all = rows * units / taken;
    const double count = (double)dictionary->count;

    return dictionary->count > CLR_DICTIONARY_FEW &&
           (count > all / (int)CLR_DICTIONARY_PART ||
            (count > rows / 2 && taken > units / (2 * CLR_DICTIONARY_PART)));
}

enum clr_load_outcome clr_coding_check(struct clr_coding *coding, int thread, size_t rows)
{
    int k;

    if (coding->dictionaries == NULL)
        return CLR_LOAD_DONE;
    coding->rows[thread] += rows;
    coding->taken[thread]++;
    for (k = 0; k < coding->units->field_count; k++) {
        const struct clr_dictionary *dictionary = *place_of(coding, thread, k);

        if (dictionary != NULL && shows_too_many(coding, thread, dictionary))
            return give_up(coding, k);
    }
    return CLR_LOAD_DONE;
}

/* ---- One dictionary, and its codes. */

/* What becomes of the codes of a column. */
struct narrowing {
    const struct clr_units *units;
    int parts;
    struct clr_dictionary *dictionary; /* the one of all */
    uint32_t **maps; /* of each thread: the new code of each old one; NULL: they are the same */
    struct clr_column *from, *to;
};

/* Adds what the threads have to the dictionary that has most, which it takes: until that shows that
   the column, of so many rows, has too many values. */
static enum clr_code merge(struct narrowing *narrowing, struct clr_coding *coding, int k,
                           size_t rows)
{
    enum clr_code code = CLR_OK;
    int thread, most = 0;

    for (thread = 1; thread < coding->units->threads; thread++) {
        if ((*place_of(coding, thread, k))->count > (*place_of(coding, most, k))->count)
            most = thread;
    }
    narrowing->dictionary = *place_of(coding, most, k);
    *place_of(coding, most, k) = NULL;
    for (thread = 0; thread < coding->units->threads && code == CLR_OK; thread++) {
        struct clr_dictionary **from = place_of(coding, thread, k);

        if (*from == NULL || clr_dictionary_is_large(narrowing->dictionary, rows))
            continue;
        narrowing->maps[thread] =
            clr_memory_alloc(((*from)->count + 1) * sizeof *narrowing->maps[thread]);
        if (narrowing->maps[thread] == NULL)
            return CLR_NOMEM;
        code = clr_dictionary_merge(narrowing->dictionary, *from, narrowing->maps[thread]);
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
        const uint32_t *map = narrowing->maps[unit->thread];

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
    dictionary->bytes.left = NULL;
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
    if (clr_dictionary_is_large(narrowing->dictionary, rows) ||
        (code == CLR_LIMIT && narrowing->dictionary->count == CLR_DICTIONARY_MOST))
        return give_up(coding, k);
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
    clr_dictionary_release(narrowing->dictionary);
}

enum clr_load_outcome clr_coding_finish(struct clr_coding *coding, int k, size_t rows,
                                        struct clr_column **column)
{
    struct narrowing narrowing = {.units = coding->units, .parts = coding->units->threads};
    enum clr_load_outcome outcome = join(&narrowing, coding, k, rows);

    if (outcome == CLR_LOAD_DONE)
        outcome = narrow(&narrowing, rows, column);
    free_joined(&narrowing);
    return outcome;
}

enum clr_load_outcome clr_coding_finish_alone(struct clr_coding *coding, int k, size_t rows,
                                              struct clr_dictionary **dictionary)
{
    struct narrowing narrowing = {.units = coding->units};
    const enum clr_load_outcome outcome = join(&narrowing, coding, k, rows);

    *dictionary = NULL;
    if (outcome == CLR_LOAD_DONE) {
        *dictionary = clr_dictionary_retain(narrowing.dictionary);
        (*dictionary)->bytes.left = NULL;
    }
    free_joined(&narrowing);
    return outcome;
}

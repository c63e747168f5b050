#include "base/memory.h"
#include "storage/load/coding.h"
#include "storage/stream/stream.h"

/* Another thread is worth it where its dictionaries may take so many bytes. */
enum { THREAD_BYTES = 256 << 10 };

/* What the threads share. */
struct collecting {
    struct clr_units units;
    struct clr_coding coding;
    atomic_int_least64_t left;   /* bytes that the dictionaries may still take */
    struct clr_column **columns; /* of each thread, for each field: the codes of a unit's rows */
    atomic_size_t rows;
};

static struct clr_column **columns_of(const struct collecting *collecting, int thread)
{
    return collecting->columns + (size_t)thread * (size_t)collecting->units.field_count;
}

static enum clr_load_outcome collect_unit(struct collecting *collecting, int thread,
                                          struct clr_leaf_reader *reader, size_t i)
{
    struct clr_decoder *decoder = &reader->decoder;
    enum clr_load_outcome outcome;
    size_t rows;

    outcome = clr_unit_read(&collecting->units, i, reader, &rows);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    atomic_fetch_add(&collecting->rows, rows);
    clr_decoder_begin_columns(decoder, columns_of(collecting, thread));
    clr_coding_aim(&collecting->coding, thread, decoder);
    outcome = clr_unit_decode(&collecting->units, i, reader);
    if (outcome == CLR_LOAD_DONE)
        outcome = clr_coding_check(&collecting->coding, thread, rows);
    else if (outcome == CLR_LOAD_MANY_VALUES)
        atomic_store(&collecting->coding.full, decoder->full);
    return outcome;
}

static enum clr_load_outcome collect_units(void *argument, int thread,
                                           struct clr_leaf_reader *reader)
{
    struct collecting *collecting = argument;
    enum clr_load_outcome outcome = CLR_LOAD_DONE;
    size_t i;

    while (outcome == CLR_LOAD_DONE && clr_units_take(&collecting->units, &i))
        outcome = collect_unit(collecting, thread, reader, i);
    return outcome;
}

static size_t column_count(const struct collecting *collecting)
{
    return (size_t)collecting->units.threads * (size_t)collecting->units.field_count;
}

static bool prepare(struct collecting *collecting, uint64_t seed)
{
    const struct clr_units *units = &collecting->units;
    const size_t rows = units->most_leaves * clr_page_most_cells(units->source);
    size_t i;

    collecting->columns =
        clr_memory_alloc_zero((column_count(collecting) + 1) * sizeof(struct clr_column *));
    for (i = 0; i < column_count(collecting) && collecting->columns != NULL; i++) {
        collecting->columns[i] = clr_column_new_codes(NULL, rows, sizeof(uint32_t));
        if (collecting->columns[i] == NULL)
            return false;
    }
    return collecting->columns != NULL &&
           clr_coding_init(&collecting->coding, units, seed, &collecting->left);
}

/* How many threads there may be, each with dictionaries of its own. */
static int most_threads(size_t memory)
{
    const size_t threads = memory / THREAD_BYTES;

    return threads < 1 ? 1 : threads < CLR_TEAM_MOST ? (int)threads : CLR_TEAM_MOST;
}

static void free_collecting(struct collecting *collecting)
{
    size_t i;

    for (i = 0; i < column_count(collecting) && collecting->columns != NULL; i++)
        clr_column_release(collecting->columns[i]);
    clr_memory_free((void *)collecting->columns);
    clr_coding_free(&collecting->coding);
    clr_units_free(&collecting->units);
}

/* Collects the dictionaries by so many threads at most, *threads, and stores how many they were. */
static enum clr_load_outcome collect(const struct clr_source *source, uint32_t root,
                                     const struct clr_field *fields, int count, size_t memory,
                                     uint64_t seed, int *threads,
                                     struct clr_dictionary **dictionaries, size_t *rows,
                                     const struct clr_watch *watch, struct clr_load_report *report,
                                     struct clr_status *status)
{
    struct collecting collecting = {.columns = NULL};
    struct clr_units *units = &collecting.units;
    enum clr_load_outcome outcome;
    int k;

    for (k = 0; k < count; k++)
        dictionaries[k] = NULL;
    atomic_init(&collecting.left, memory < INT64_MAX ? (int64_t)memory : INT64_MAX);
    atomic_init(&collecting.rows, 0);
    atomic_init(&collecting.coding.full, 0);
    outcome = clr_units_find(units, source, root, fields, count, SIZE_MAX, NULL, watch);
    *threads = units->threads = units->threads < *threads ? units->threads : *threads;
    if (outcome == CLR_LOAD_DONE && !prepare(&collecting, seed))
        outcome = clr_units_fail(units, CLR_LOAD_FAILED, 0, 0);
    if (outcome == CLR_LOAD_DONE)
        outcome = clr_units_run(units, collect_units, &collecting, watch);
    *rows = atomic_load(&collecting.rows);
    for (k = 0; k < count && outcome == CLR_LOAD_DONE; k++) {
        outcome = clr_coding_finish_alone(&collecting.coding, k, *rows,
                                          &dictionaries[units->fields[k].position]);
        clr_units_fail(units, outcome, 0, 0);
    }
    clr_units_report(units, outcome, report, status);
    report->field = atomic_load(&collecting.coding.full);
    for (k = 0; k < count && outcome != CLR_LOAD_DONE; k++) {
        clr_dictionary_release(dictionaries[k]);
        dictionaries[k] = NULL;
    }
    free_collecting(&collecting);
    return outcome;
}

enum clr_load_outcome clr_stream_dictionaries(
    const struct clr_source *source, uint32_t root, const struct clr_field *fields, int count,
    size_t memory, uint64_t seed, struct clr_dictionary **dictionaries, size_t *rows,
    const struct clr_watch *watch, struct clr_load_report *report, struct clr_status *status)
{
    int threads = most_threads(memory);
    enum clr_load_outcome outcome = collect(source, root, fields, count, memory, seed, &threads,
                                            dictionaries, rows, watch, report, status);
    int64_t bytes_read = 0;

    /* Threads may all have the same values. */
    if (outcome == CLR_LOAD_TOO_LARGE && threads > 1) {
        threads = 1;
        bytes_read = report->bytes_read;
        outcome = collect(source, root, fields, count, memory, seed, &threads, dictionaries, rows,
                          watch, report, status);
    }
    report->bytes_read += bytes_read;
    return outcome;
}

#include "storage/load/stream.h"

#include "base/memory.h"
#include "numeric/scan/evaluate.h"
#include "numeric/states/merged.h"
#include "storage/load/units.h"

#include <string.h>

/* A thread scans so many rows together: any unit has fewer, and their columns still are in a
   processor's cache. Each takes nine bytes of a column: a value and, maybe, a tag. */
enum { SEGMENT_ROWS = 65536, ROW_BYTES = 9 };

/* The bytes of TEXT and BLOBs that a thread may have together, at least; it scans its rows when
   they take one in BYTES_PART of what it may. */
enum { LEAST_BYTES = 1 << 20, BYTES_PART = 4 };

/* The rows that a thread has decoded since its last scan, and what it knows of those before. */
struct segment {
    struct clr_column *columns[CLR_MOST_COLUMNS];
    struct clr_state *states, *more; /* of each tally: of all scans, and of one */
    struct clr_share *shares;        /* of each tally: for those that merge */
    atomic_int_least64_t left;       /* bytes that TEXT and BLOBs may still take */
};

struct stream {
    struct clr_units units;
    struct clr_scan *scan;
    size_t capacity;   /* rows of a segment; a unit has no more */
    size_t most_bytes; /* of TEXT and BLOBs in a segment; 0: none are wanted */
    struct segment *segments;
    struct clr_state *states;
    struct clr_share *shares;
    struct clr_merged *merged; /* of each thread, for each tally that merges */
    atomic_size_t rows;
};

static bool wants_bytes(const struct clr_field *fields, int count)
{
    while (count > 0 && !fields[count - 1].with_bytes)
        count--;
    return count > 0;
}

/* Divides the memory among threads. Returns how many leaves a unit may have, and stores how many
   threads there may be. */
static size_t plan_segments(struct stream *stream, const struct clr_source *source,
                            const struct clr_field *fields, size_t memory, size_t *threads)
{
    const bool with_bytes = wants_bytes(fields, stream->scan->column_count);
    size_t row = ROW_BYTES * (size_t)(stream->scan->column_count + 1);
    size_t least = clr_page_most_cells(source), team = (size_t)clr_team_size();

    if (with_bytes)
        memory /= 2;
    *threads = memory / (least * row);
    if (*threads > team)
        *threads = team;
    if (*threads < 1)
        *threads = 1;
    if (with_bytes)
        stream->most_bytes = memory / *threads > LEAST_BYTES ? memory / *threads : LEAST_BYTES;
    stream->capacity = memory / (*threads * row);
    if (stream->capacity > SEGMENT_ROWS)
        stream->capacity = SEGMENT_ROWS;
    if (stream->capacity < least)
        stream->capacity = least;
    return stream->capacity / least;
}

/* Scans the rows that the thread has, and begins again without any. */
static enum clr_load_outcome scan_segment(const struct stream *stream, struct segment *segment,
                                          struct clr_decoder *decoder)
{
    struct clr_pages *pages = decoder->reader.pages;
    struct clr_scan scan = *stream->scan;
    int i;

    scan.columns = segment->columns;
    scan.rows = decoder->rows;
    clr_decoder_end_columns(decoder, segment->columns);
    switch (clr_evaluate(&scan, 0, scan.rows, segment->more, segment->shares, pages->stop)) {
    case CLR_SCAN_DONE:
        break;
    case CLR_SCAN_UNSURE:
        return CLR_LOAD_UNSURE;
    case CLR_SCAN_STOPPED:
        return CLR_LOAD_STOPPED;
    case CLR_SCAN_LIMIT:
        return CLR_LOAD_TOO_LARGE;
    default:
        return clr_pages_no_memory(pages);
    }
    for (i = 0; i < scan.tally_count; i++)
        clr_state_merge(&segment->states[i], &segment->more[i]);
    for (i = 0; i < scan.column_count; i++)
        clr_bytes_clear(&segment->columns[i]->bytes);
    clr_decoder_begin_columns(decoder, segment->columns);
    return CLR_LOAD_DONE;
}

/* Whether the segment has to be scanned before there are so many rows. */
static bool is_full(const struct stream *stream, const struct segment *segment, size_t rows)
{
    const int64_t most = (int64_t)stream->most_bytes;

    return rows > stream->capacity || most - atomic_load(&segment->left) > most / BYTES_PART;
}

static enum clr_load_outcome stream_unit(struct stream *stream, struct segment *segment,
                                         struct clr_leaf_reader *reader, size_t i)
{
    struct clr_decoder *decoder = &reader->decoder;
    enum clr_load_outcome outcome;
    size_t rows;

    outcome = clr_unit_read(&stream->units, i, reader, &rows);
    atomic_fetch_add(&stream->rows, rows);
    if (outcome == CLR_LOAD_DONE && decoder->rows > 0 &&
        is_full(stream, segment, decoder->rows + rows))
        outcome = scan_segment(stream, segment, decoder);
    return outcome == CLR_LOAD_DONE ? clr_unit_decode(&stream->units, i, reader) : outcome;
}

static enum clr_load_outcome stream_units(void *argument, int thread,
                                          struct clr_leaf_reader *reader)
{
    struct stream *stream = argument;
    struct segment *segment = &stream->segments[thread];
    enum clr_load_outcome outcome = CLR_LOAD_DONE;
    size_t i;

    clr_decoder_begin_columns(&reader->decoder, segment->columns);
    while (outcome == CLR_LOAD_DONE && clr_units_take(&stream->units, &i))
        outcome = stream_unit(stream, segment, reader, i);
    if (outcome == CLR_LOAD_DONE && reader->decoder.rows > 0)
        outcome = scan_segment(stream, segment, &reader->decoder);
    return outcome;
}

static bool init_segment(const struct stream *stream, struct segment *segment,
                         struct clr_state *states)
{
    const struct clr_scan *scan = stream->scan;
    int i;

    segment->states = states;
    segment->more = states + scan->tally_count;
    atomic_init(&segment->left, (int64_t)stream->most_bytes);
    for (i = 0; i < scan->tally_count; i++)
        clr_state_clear(&segment->states[i]);
    for (i = 0; i < scan->column_count; i++) {
        segment->columns[i] = clr_column_new(stream->capacity);
        if (segment->columns[i] == NULL)
            return false;
        segment->columns[i]->bytes.left = &segment->left;
    }
    return true;
}

/* Makes what the threads merge states into, if some tallies do. */
static bool prepare_merged(struct stream *stream)
{
    const struct clr_scan *scan = stream->scan;
    size_t threads = (size_t)stream->units.threads, count = threads * (size_t)scan->tally_count, i;
    size_t merges = (size_t)clr_scan_merges(scan), next = 0;

    if (merges == 0)
        return true;
    stream->shares = clr_memory_alloc_zero(count * sizeof *stream->shares);
    stream->merged = clr_memory_alloc(threads * merges * sizeof *stream->merged);
    if (stream->shares == NULL || stream->merged == NULL)
        return false;
    for (i = 0; i < count; i++) {
        const struct clr_tally *tally = &scan->tallies[i % (size_t)scan->tally_count];
        if (tally->merge == 0)
            continue;
        stream->shares[i].merged = &stream->merged[next++];
        clr_merged_init(stream->shares[i].merged, tally->merge, scan->values_memory / threads);
    }
    for (i = 0; i < threads; i++)
        stream->segments[i].shares = stream->shares + i * (size_t)scan->tally_count;
    return true;
}

/* Makes a segment for each thread. */
static bool prepare(struct stream *stream)
{
    size_t threads = (size_t)stream->units.threads, tallies = (size_t)stream->scan->tally_count, i;

    stream->segments = clr_memory_alloc(threads * sizeof *stream->segments);
    if (stream->segments == NULL)
        return false;
    memset(stream->segments, 0, threads * sizeof *stream->segments);
    stream->states = clr_memory_alloc(threads * tallies * 2 * sizeof *stream->states + 1);
    if (stream->states == NULL)
        return false;
    for (i = 0; i < threads; i++) {
        if (!init_segment(stream, &stream->segments[i], stream->states + i * tallies * 2))
            return false;
    }
    return prepare_merged(stream);
}

static enum clr_load_outcome merge_states(const struct stream *stream)
{
    struct clr_scan *scan = stream->scan;
    enum clr_code code = CLR_OK;
    int thread, i;

    for (i = 0; i < scan->tally_count; i++) {
        clr_state_clear(&scan->tallies[i].state);
        for (thread = 0; thread < stream->units.threads; thread++)
            clr_state_merge(&scan->tallies[i].state, &stream->segments[thread].states[i]);
        for (thread = 0; thread < stream->units.threads && code == CLR_OK; thread++) {
            if (scan->tallies[i].merge != 0)
                code = clr_merged_join(scan->tallies[i].merged,
                                       stream->segments[thread].shares[i].merged);
        }
    }
    if (code == CLR_OK)
        return CLR_LOAD_DONE;
    if (code == CLR_INVALID)
        return CLR_LOAD_UNSURE;
    return code == CLR_LIMIT ? CLR_LOAD_TOO_LARGE : CLR_LOAD_FAILED;
}

/* All of it, but for the report. */
static enum clr_load_outcome stream_table(struct stream *stream, const struct clr_source *source,
                                          uint32_t root, const struct clr_field *fields,
                                          size_t memory, const struct clr_watch *watch)
{
    struct clr_units *units = &stream->units;
    size_t threads, most_leaves = plan_segments(stream, source, fields, memory, &threads);
    enum clr_load_outcome outcome;
    int i;

    outcome = clr_units_find(units, source, root, fields, stream->scan->column_count, most_leaves,
                             NULL, watch);
    for (i = 0; i < stream->scan->column_count && outcome == CLR_LOAD_DONE; i++) {
        if (fields[i].with_codes)
            outcome = clr_units_fail(units, CLR_LOAD_TOO_LARGE, 0, 0);
    }
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    if ((size_t)units->threads > threads)
        units->threads = (int)threads;
    if (!prepare(stream))
        return clr_units_fail(units, CLR_LOAD_FAILED, 0, 0);
    outcome = clr_units_run(units, stream_units, stream, watch);
    if (outcome == CLR_LOAD_DONE)
        outcome = clr_units_fail(units, merge_states(stream), 0, 0);
    return outcome;
}

static void free_segments(struct stream *stream)
{
    const size_t merges = (size_t)stream->units.threads * (size_t)clr_scan_merges(stream->scan);
    int thread, i;
    size_t m;

    for (m = 0; m < merges && stream->merged != NULL && stream->shares != NULL; m++)
        clr_merged_free(&stream->merged[m]);
    clr_memory_free(stream->merged);
    clr_memory_free(stream->shares);
    for (thread = 0; thread < stream->units.threads && stream->segments != NULL; thread++) {
        for (i = 0; i < stream->scan->column_count; i++)
            clr_column_release(stream->segments[thread].columns[i]);
    }
    clr_memory_free(stream->segments);
    clr_memory_free(stream->states);
}

enum clr_load_outcome clr_stream(const struct clr_source *source, uint32_t root,
                                 const struct clr_field *fields, struct clr_scan *scan,
                                 size_t memory, size_t *rows, const struct clr_watch *watch,
                                 struct clr_load_report *report, struct clr_status *status)
{
    struct stream stream = {.scan = scan};
    enum clr_load_outcome outcome;

    atomic_init(&stream.rows, 0);
    outcome = stream_table(&stream, source, root, fields, memory, watch);
    clr_units_report(&stream.units, outcome, report, status);
    *rows = atomic_load(&stream.rows);
    free_segments(&stream);
    clr_units_free(&stream.units);
    return outcome;
}

#include "storage/stream/stream.h"

#include "base/memory.h"
#include "engine/host/host_groups.h"
#include "numeric/scan/evaluate.h"
#include "storage/leaves/units.h"

#include <string.h>

/* A thread scans so many rows together: any unit has fewer, and their columns still are in a
   processor's cache. Each takes nine bytes of a column: a value and, maybe, a tag. */
enum { SEGMENT_ROWS = 65536, ROW_BYTES = 9 };

/* Units that a sample is made of, at most. */
enum { SAMPLED_UNITS = 16 };

/* Plans of groups that take into account what has been found out; then one does that doubts all. */
enum { DOUBTFUL = 2 };

/* What a thread has: the rows that it has decoded since its last scan, and what it knows of those
   that it has scanned. */
struct segment {
    struct clr_column *columns[CLR_MOST_COLUMNS];
    struct clr_state *states, *more; /* without groups, of each tally: of all scans, and of one */
    size_t next, end;                /* with groups: its own units */
};

struct stream {
    struct clr_units units;
    struct clr_scan *scan;
    size_t capacity;          /* rows of a segment; a unit has no more */
    struct segment *segments; /* of each thread, */
    int team;                 /* so many */
    struct clr_state *states; /* of all of them */
    /* With groups: a thread's rows follow those of the threads before, so that groups know them in
       the order of the table. */
    struct clr_groups *groups;
    atomic_size_t rows;
};

static enum clr_load_outcome outcome_of(enum clr_scan_outcome outcome)
{
    switch (outcome) {
    case CLR_SCAN_DONE:
        return CLR_LOAD_DONE;
    case CLR_SCAN_UNSURE:
    case CLR_SCAN_NOT_NOW:
        return CLR_LOAD_UNSURE;
    case CLR_SCAN_LIMIT:
        return CLR_LOAD_TOO_LARGE;
    case CLR_SCAN_STOPPED:
        return CLR_LOAD_STOPPED;
    default:
        return CLR_LOAD_FAILED;
    }
}

/* ---- Segments. */

/* Divides the memory among threads. Returns how many leaves a unit may have, and stores how many
   threads there may be. */
static size_t plan_segments(struct stream *stream, const struct clr_source *source, size_t memory,
                            size_t *threads)
{
    size_t row = ROW_BYTES * (size_t)(stream->scan->column_count + 1);
    size_t least = clr_page_most_cells(source), team = (size_t)clr_team_size();

    *threads = memory / (least * row);
    if (*threads > team)
        *threads = team;
    if (*threads < 1)
        *threads = 1;
    stream->capacity = memory / (*threads * row);
    if (stream->capacity > SEGMENT_ROWS)
        stream->capacity = SEGMENT_ROWS;
    if (stream->capacity < least)
        stream->capacity = least;
    return stream->capacity / least;
}

/* Returns a column for rows of a field, or NULL without memory. Each thread has a view of its own
   of a dictionary. */
static struct clr_column *new_column(const struct stream *stream, const struct clr_field *field)
{
    struct clr_dictionary *view;
    struct clr_column *column;

    if (!field->with_codes)
        return clr_column_new(stream->capacity);
    view = clr_dictionary_new_view(stream->scan->columns[field->position]->dictionary);
    column = view == NULL ? NULL : clr_column_new_codes(view, stream->capacity, sizeof(uint32_t));
    clr_dictionary_release(view);
    return column;
}

static bool init_segment(const struct stream *stream, int thread)
{
    const struct clr_units *units = &stream->units;
    struct segment *segment = &stream->segments[thread];
    int i;

    segment->states = stream->states + (size_t)thread * (size_t)stream->scan->tally_count * 2;
    segment->more = segment->states + stream->scan->tally_count;
    for (i = 0; i < stream->scan->tally_count; i++)
        clr_state_clear(&segment->states[i]);

    for (i = 0; i < units->field_count; i++) {
        struct clr_column *column = new_column(stream, &units->fields[i]);

        segment->columns[units->fields[i].position] = column;
        if (column == NULL)
            return false;
    }
    return true;
}

static bool init_segments(struct stream *stream)
{
    const size_t threads = (size_t)stream->units.threads;
    const size_t tallies = (size_t)stream->scan->tally_count;
    int i;

    stream->segments = clr_memory_alloc_zero(threads * sizeof *stream->segments);
    stream->states = clr_memory_alloc(threads * tallies * 2 * sizeof *stream->states + 1);
    if (stream->segments == NULL || stream->states == NULL)
        return false;
    for (i = 0; i < stream->units.threads; i++) {
        if (!init_segment(stream, i))
            return false;
    }
    return true;
}

/* Begins, for the table whose root page is root. Whatever the outcome, stream_free() has to
   follow. */
static enum clr_load_outcome begin(struct stream *stream, const struct clr_source *source,
                                   uint32_t root, const struct clr_field *fields,
                                   struct clr_scan *scan, size_t memory,
                                   const struct clr_watch *watch)
{
    enum clr_load_outcome outcome;
    size_t threads, most_leaves;

    *stream = (struct stream){.scan = scan};
    atomic_init(&stream->rows, 0);
    most_leaves = plan_segments(stream, source, memory, &threads);
    outcome = clr_units_find(&stream->units, source, root, fields, scan->column_count, most_leaves,
                             NULL, watch);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    if ((size_t)stream->units.threads > threads)
        stream->units.threads = (int)threads;
    stream->team = stream->units.threads;
    return init_segments(stream) ? CLR_LOAD_DONE
                                 : clr_units_fail(&stream->units, CLR_LOAD_FAILED, 0, 0);
}

static void stream_free(struct stream *stream)
{
    int i, k;

    for (i = 0; i < stream->team && stream->segments != NULL; i++) {
        for (k = 0; k < stream->scan->column_count; k++)
            clr_column_release(stream->segments[i].columns[k]);
    }
    clr_memory_free(stream->segments);
    clr_memory_free(stream->states);
    clr_units_free(&stream->units);
}

/* ---- A sample. */

static enum clr_load_outcome decode_sample(const struct stream *stream,
                                           struct clr_leaf_reader *reader)
{
    const struct clr_units *units = &stream->units;
    const size_t looks = units->count < SAMPLED_UNITS ? units->count : SAMPLED_UNITS;
    enum clr_load_outcome outcome = CLR_LOAD_DONE;
    size_t i, rows;

    clr_decoder_begin_columns(&reader->decoder, stream->segments[0].columns);
    for (i = 0; i < looks && outcome == CLR_LOAD_DONE; i++) {
        const size_t unit = looks == 1 ? 0 : (units->count - 1) * i / (looks - 1);

        outcome = clr_unit_read(units, unit, reader, &rows);
        if (outcome == CLR_LOAD_DONE && reader->decoder.rows + rows > stream->capacity)
            break;
        if (outcome == CLR_LOAD_DONE)
            outcome = clr_unit_decode(units, unit, reader);
    }
    clr_decoder_end_columns(&reader->decoder, stream->segments[0].columns);
    return outcome;
}

/* Decodes some rows from all over the table, in the calling thread, and makes *sample the scan of
   these: their columns are those of the first segment, until the stream runs. No rows: the table
   has none. */
static enum clr_load_outcome sample_rows(struct stream *stream, const struct clr_watch *watch,
                                         struct clr_scan *sample)
{
    struct clr_units *units = &stream->units;
    struct clr_pages pages = clr_units_pages(units);
    struct clr_leaf_reader reader;
    enum clr_load_outcome outcome;

    pages.visited = clr_page_set_copy(units->visited); /* what is met now is met again */
    if (pages.visited == NULL)
        return clr_units_fail(units, CLR_LOAD_FAILED, 0, 0);
    pages.watch = watch;
    outcome = clr_leaf_reader_init(&reader, &pages, units->fields, units->field_count,
                                   units->most_leaves);
    if (outcome == CLR_LOAD_DONE)
        outcome = decode_sample(stream, &reader);
    *sample = *stream->scan;
    sample->columns = stream->segments[0].columns;
    sample->rows = reader.decoder.rows;
    clr_units_note(units, outcome, &pages);
    clr_leaf_reader_free(&reader);
    clr_page_set_free(pages.visited);
    return outcome;
}

/* ---- All rows. */

/* Scans rows that a thread has decoded. */
static enum clr_scan_outcome scan_rows(const struct stream *stream, int thread,
                                       const struct clr_scan *portion, const atomic_bool *stop)
{
    const struct segment *segment = &stream->segments[thread];
    enum clr_scan_outcome outcome;
    int i;

    if (stream->groups != NULL) {
        struct clr_group_part *part = stream->groups->parts[thread];
        clr_group_part_take(part, portion, 0, portion->rows, stop);
        return part->outcome;
    }
    outcome = clr_evaluate(portion, 0, portion->rows, segment->more, NULL, stop);
    for (i = 0; i < portion->tally_count && outcome == CLR_SCAN_DONE; i++)
        clr_state_merge(&segment->states[i], &segment->more[i]);
    return outcome;
}

/* Scans the rows that the thread has, and begins again without any. */
static enum clr_load_outcome scan_segment(const struct stream *stream, int thread,
                                          struct clr_decoder *decoder)
{
    struct segment *segment = &stream->segments[thread];
    struct clr_pages *pages = decoder->reader.pages;
    struct clr_scan portion = *stream->scan;
    enum clr_load_outcome outcome;

    portion.columns = segment->columns;
    portion.rows = decoder->rows;
    clr_decoder_end_columns(decoder, segment->columns);
    outcome = outcome_of(scan_rows(stream, thread, &portion, pages->stop));
    if (outcome == CLR_LOAD_FAILED)
        return clr_pages_no_memory(pages);
    if (outcome == CLR_LOAD_DONE)
        clr_decoder_begin_columns(decoder, segment->columns);
    return outcome;
}

static enum clr_load_outcome stream_unit(struct stream *stream, int thread,
                                         struct clr_leaf_reader *reader, size_t i)
{
    struct clr_decoder *decoder = &reader->decoder;
    enum clr_load_outcome outcome;
    size_t rows;

    outcome = clr_unit_read(&stream->units, i, reader, &rows);
    atomic_fetch_add(&stream->rows, rows);
    if (outcome == CLR_LOAD_DONE && decoder->rows > 0 && decoder->rows + rows > stream->capacity)
        outcome = scan_segment(stream, thread, decoder);
    return outcome == CLR_LOAD_DONE ? clr_unit_decode(&stream->units, i, reader) : outcome;
}

/* As clr_units_take(); or of the thread's own units. */
static bool take(struct stream *stream, struct segment *segment, size_t *i)
{
    if (stream->groups == NULL)
        return clr_units_take(&stream->units, i);
    *i = segment->next++;
    return *i < segment->end && !atomic_load(&stream->units.failed);
}

static enum clr_load_outcome stream_units(void *argument, int thread,
                                          struct clr_leaf_reader *reader)
{
    struct stream *stream = argument;
    struct segment *segment = &stream->segments[thread];
    const size_t count = stream->units.count, threads = (size_t)stream->units.threads;
    enum clr_load_outcome outcome = CLR_LOAD_DONE;
    size_t i;

    segment->next = count * (size_t)thread / threads;
    segment->end = count * ((size_t)thread + 1) / threads;
    clr_decoder_begin_columns(&reader->decoder, segment->columns);
    while (outcome == CLR_LOAD_DONE && take(stream, segment, &i))
        outcome = stream_unit(stream, thread, reader, i);
    if (outcome == CLR_LOAD_DONE && reader->decoder.rows > 0)
        outcome = scan_segment(stream, thread, &reader->decoder);
    return outcome;
}

/* ---- The end. */

static void merge_states(const struct stream *stream)
{
    struct clr_scan *scan = stream->scan;
    int thread, i;

    for (i = 0; i < scan->tally_count; i++) {
        clr_state_clear(&scan->tallies[i].state);
        for (thread = 0; thread < stream->units.threads; thread++)
            clr_state_merge(&scan->tallies[i].state, &stream->segments[thread].states[i]);
    }
}

static enum clr_load_outcome tally_rows(struct stream *stream, const struct clr_watch *watch)
{
    const enum clr_load_outcome outcome =
        clr_units_run(&stream->units, stream_units, stream, watch);

    if (outcome == CLR_LOAD_DONE)
        merge_states(stream);
    return outcome;
}

/* Goes through the rows by a plan that a sample suggests. *again: that plan will not do. A table
   without rows has no groups. */
static enum clr_load_outcome group_rows(struct stream *stream, const struct clr_watch *watch,
                                        struct clr_group_doubts *doubts, bool *again)
{
    struct clr_units *units = &stream->units;
    const size_t most = units->leaves.count * clr_page_most_cells(units->source);
    struct clr_scan sample;
    enum clr_load_outcome outcome = sample_rows(stream, watch, &sample);
    enum clr_scan_outcome scanned;

    if (outcome != CLR_LOAD_DONE || sample.rows == 0)
        return outcome;
    scanned = clr_groups_begin(&sample, most, units->threads, doubts, &stream->groups);
    if (scanned != CLR_SCAN_DONE)
        return clr_units_fail(units, outcome_of(scanned), 0, 0);
    units->threads = stream->groups->part_count;
    outcome = clr_units_run(units, stream_units, stream, watch);
    if (outcome != CLR_LOAD_DONE && outcome != CLR_LOAD_UNSURE)
        return outcome;
    scanned = clr_host_groups_end(stream->groups, atomic_load(&stream->rows), watch, doubts);
    *again = scanned == CLR_SCAN_NOT_NOW;
    if (outcome == CLR_LOAD_UNSURE || *again)
        return CLR_LOAD_UNSURE;
    return clr_units_fail(units, outcome_of(scanned), 0, 0);
}

enum clr_load_outcome clr_stream(const struct clr_source *source, uint32_t root,
                                 const struct clr_field *fields, struct clr_scan *scan,
                                 size_t memory, struct clr_groups **groups, size_t *rows,
                                 const struct clr_watch *watch, struct clr_load_report *report,
                                 struct clr_status *status)
{
    struct clr_group_doubts doubts;
    enum clr_load_outcome outcome;
    int64_t bytes_read = 0;
    bool again = true;
    int i;

    *groups = NULL;
    memset(&doubts, 0, sizeof doubts);
    for (i = 0; i <= DOUBTFUL && again; i++) {
        struct stream stream;

        again = false;
        if (i == DOUBTFUL)
            clr_group_doubt_all(&doubts);
        outcome = begin(&stream, source, root, fields, scan, memory, watch);
        if (outcome == CLR_LOAD_DONE)
            outcome = scan->grouping == NULL ? tally_rows(&stream, watch)
                                             : group_rows(&stream, watch, &doubts, &again);
        clr_units_report(&stream.units, outcome, report, status);
        bytes_read += report->bytes_read;
        *rows = atomic_load(&stream.rows);
        if (outcome == CLR_LOAD_DONE)
            *groups = stream.groups;
        else
            clr_groups_free(stream.groups);
        stream_free(&stream);
    }
    report->bytes_read = bytes_read;
    return outcome;
}

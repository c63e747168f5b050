#include "storage/stream/segments.h"

#include "base/memory.h"

#include <string.h>

/* A thread scans so many rows together: any unit has fewer, and their columns still are in a
   processor's cache. Each takes nine bytes of a column: a value and, maybe, a tag. */
enum { SEGMENT_ROWS = 65536, ROW_BYTES = 9 };

/* Units that a sample is made of, at most. */
enum { SAMPLED_UNITS = 16 };

/* Divides the memory among threads. Returns how many leaves a unit may have, and stores how many
   threads there may be. */
static size_t plan_segments(struct clr_segments *segments, const struct clr_source *source,
                            size_t memory, size_t *threads)
{
    size_t row = ROW_BYTES * (size_t)(segments->scan->column_count + 1);
    size_t least = clr_page_most_cells(source), team = (size_t)clr_team_size();

    *threads = memory / (least * row);
    if (*threads > team)
        *threads = team;
    if (*threads < 1)
        *threads = 1;
    segments->capacity = memory / (*threads * row);
    if (segments->capacity > SEGMENT_ROWS)
        segments->capacity = SEGMENT_ROWS;
    if (segments->capacity < least)
        segments->capacity = least;
    return segments->capacity / least;
}

/* Returns a column for rows of a field, or NULL without memory. Each thread has a view of its own
   of a dictionary. */
static struct clr_column *new_column(const struct clr_segments *segments,
                                     const struct clr_field *field)
{
    struct clr_dictionary *view;
    struct clr_column *column;

    if (!field->with_codes)
        return clr_column_new(segments->capacity);
    view = clr_dictionary_new_view(segments->scan->columns[field->position]->dictionary);
    column = view == NULL ? NULL : clr_column_new_codes(view, segments->capacity, sizeof(uint32_t));
    clr_dictionary_release(view);
    return column;
}

static bool init_segment(const struct clr_segments *segments, struct clr_segment *segment)
{
    const struct clr_units *units = &segments->units;
    int i;

    for (i = 0; i < units->field_count; i++) {
        struct clr_column *column = new_column(segments, &units->fields[i]);

        segment->columns[units->fields[i].position] = column;
        if (column == NULL)
            return false;
    }
    return true;
}

static bool init_segments(struct clr_segments *segments)
{
    const size_t threads = (size_t)segments->units.threads;
    size_t i;

    segments->segments = clr_memory_alloc(threads * sizeof *segments->segments);
    if (segments->segments == NULL)
        return false;
    memset(segments->segments, 0, threads * sizeof *segments->segments);
    for (i = 0; i < threads; i++) {
        if (!init_segment(segments, &segments->segments[i]))
            return false;
    }
    return true;
}

enum clr_load_outcome clr_segments_begin(struct clr_segments *segments,
                                         const struct clr_source *source, uint32_t root,
                                         const struct clr_field *fields,
                                         const struct clr_scan *scan, size_t memory,
                                         const struct clr_watch *watch)
{
    enum clr_load_outcome outcome;
    size_t threads, most_leaves;

    *segments = (struct clr_segments){.scan = scan};
    atomic_init(&segments->rows, 0);
    most_leaves = plan_segments(segments, source, memory, &threads);
    outcome = clr_units_find(&segments->units, source, root, fields, scan->column_count,
                             most_leaves, NULL, watch);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    if ((size_t)segments->units.threads > threads)
        segments->units.threads = (int)threads;
    segments->team = segments->units.threads;
    return init_segments(segments) ? CLR_LOAD_DONE
                                   : clr_units_fail(&segments->units, CLR_LOAD_FAILED, 0, 0);
}

void clr_segments_free(struct clr_segments *segments)
{
    int i, k;

    for (i = 0; i < segments->team && segments->segments != NULL; i++) {
        for (k = 0; k < segments->scan->column_count; k++)
            clr_column_release(segments->segments[i].columns[k]);
    }
    clr_memory_free(segments->segments);
    clr_units_free(&segments->units);
}

/* ---- A sample. */

static enum clr_load_outcome decode_sample(const struct clr_segments *segments,
                                           struct clr_leaf_reader *reader)
{
    const struct clr_units *units = &segments->units;
    const size_t looks = units->count < SAMPLED_UNITS ? units->count : SAMPLED_UNITS;
    enum clr_load_outcome outcome = CLR_LOAD_DONE;
    size_t i, rows;

    clr_decoder_begin_columns(&reader->decoder, segments->segments[0].columns);
    for (i = 0; i < looks && outcome == CLR_LOAD_DONE; i++) {
        const size_t unit = looks == 1 ? 0 : (units->count - 1) * i / (looks - 1);

        outcome = clr_unit_read(units, unit, reader, &rows);
        if (outcome == CLR_LOAD_DONE && reader->decoder.rows + rows > segments->capacity)
            break;
        if (outcome == CLR_LOAD_DONE)
            outcome = clr_unit_decode(units, unit, reader);
    }
    clr_decoder_end_columns(&reader->decoder, segments->segments[0].columns);
    return outcome;
}

enum clr_load_outcome clr_segments_sample(struct clr_segments *segments,
                                          const struct clr_watch *watch, struct clr_scan *sample)
{
    struct clr_units *units = &segments->units;
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
        outcome = decode_sample(segments, &reader);
    *sample = *segments->scan;
    sample->columns = segments->segments[0].columns;
    sample->rows = reader.decoder.rows;
    clr_units_note(units, outcome, &pages);
    clr_leaf_reader_free(&reader);
    clr_page_set_free(pages.visited);
    return outcome;
}

size_t clr_segments_most_rows(const struct clr_segments *segments)
{
    return segments->units.leaves.count * clr_page_most_cells(segments->units.source);
}

/* ---- All rows. */

/* Scans the rows that the thread has, and begins again without any. */
static enum clr_load_outcome scan_segment(const struct clr_segments *segments, int thread,
                                          struct clr_decoder *decoder)
{
    struct clr_segment *segment = &segments->segments[thread];
    struct clr_pages *pages = decoder->reader.pages;
    struct clr_scan portion = *segments->scan;

    portion.columns = segment->columns;
    portion.rows = decoder->rows;
    clr_decoder_end_columns(decoder, segment->columns);
    switch (segments->run(segments->context, thread, &portion, pages->stop)) {
    case CLR_SCAN_DONE:
        break;
    case CLR_SCAN_UNSURE:
    case CLR_SCAN_NOT_NOW:
        return CLR_LOAD_UNSURE;
    case CLR_SCAN_STOPPED:
        return CLR_LOAD_STOPPED;
    case CLR_SCAN_LIMIT:
        return CLR_LOAD_TOO_LARGE;
    default:
        return clr_pages_no_memory(pages);
    }
    clr_decoder_begin_columns(decoder, segment->columns);
    return CLR_LOAD_DONE;
}

static enum clr_load_outcome stream_unit(struct clr_segments *segments, int thread,
                                         struct clr_leaf_reader *reader, size_t i)
{
    struct clr_decoder *decoder = &reader->decoder;
    enum clr_load_outcome outcome;
    size_t rows;

    outcome = clr_unit_read(&segments->units, i, reader, &rows);
    atomic_fetch_add(&segments->rows, rows);
    if (outcome == CLR_LOAD_DONE && decoder->rows > 0 && decoder->rows + rows > segments->capacity)
        outcome = scan_segment(segments, thread, decoder);
    return outcome == CLR_LOAD_DONE ? clr_unit_decode(&segments->units, i, reader) : outcome;
}

/* As clr_units_take(); or of the thread's own units. */
static bool take(struct clr_segments *segments, struct clr_segment *segment, size_t *i)
{
    if (!segments->in_order)
        return clr_units_take(&segments->units, i);
    *i = segment->next++;
    return *i < segment->end && !atomic_load(&segments->units.failed);
}

static enum clr_load_outcome stream_units(void *argument, int thread,
                                          struct clr_leaf_reader *reader)
{
    struct clr_segments *segments = argument;
    struct clr_segment *segment = &segments->segments[thread];
    const size_t count = segments->units.count, threads = (size_t)segments->units.threads;
    enum clr_load_outcome outcome = CLR_LOAD_DONE;
    size_t i;

    segment->next = count * (size_t)thread / threads;
    segment->end = count * ((size_t)thread + 1) / threads;
    clr_decoder_begin_columns(&reader->decoder, segment->columns);
    while (outcome == CLR_LOAD_DONE && take(segments, segment, &i))
        outcome = stream_unit(segments, thread, reader, i);
    if (outcome == CLR_LOAD_DONE && reader->decoder.rows > 0)
        outcome = scan_segment(segments, thread, &reader->decoder);
    return outcome;
}

enum clr_load_outcome clr_segments_run(struct clr_segments *segments, const struct clr_watch *watch)
{
    return clr_units_run(&segments->units, stream_units, segments, watch);
}

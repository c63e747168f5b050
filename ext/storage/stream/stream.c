#include "storage/stream/stream.h"

#include "base/memory.h"
#include "numeric/scan/evaluate.h"
#include "storage/stream/segments.h"

/* What a thread knows of the rows that it has scanned. */
struct known {
    struct clr_state *states, *more; /* of each tally: of all scans, and of one */
};

struct stream {
    struct clr_segments segments;
    struct clr_scan *scan;
    struct known *known; /* of each thread */
    struct clr_state *states;
};

static enum clr_scan_outcome scan_rows(void *context, int thread, const struct clr_scan *portion,
                                       const atomic_bool *stop)
{
    const struct known *known = &((const struct stream *)context)->known[thread];
    const enum clr_scan_outcome outcome =
        clr_evaluate(portion, 0, portion->rows, known->more, NULL, stop);
    int i;

    for (i = 0; i < portion->tally_count && outcome == CLR_SCAN_DONE; i++)
        clr_state_merge(&known->states[i], &known->more[i]);
    return outcome;
}

/* Makes what each thread needs. */
static bool prepare(struct stream *stream)
{
    size_t threads = (size_t)stream->segments.units.threads;
    size_t tallies = (size_t)stream->scan->tally_count, i, t;

    stream->known = clr_memory_alloc_zero(threads * sizeof *stream->known);
    stream->states = clr_memory_alloc(threads * tallies * 2 * sizeof *stream->states + 1);
    if (stream->known == NULL || stream->states == NULL)
        return false;
    for (i = 0; i < threads; i++) {
        stream->known[i].states = stream->states + i * tallies * 2;
        stream->known[i].more = stream->known[i].states + tallies;
        for (t = 0; t < tallies; t++)
            clr_state_clear(&stream->known[i].states[t]);
    }
    return true;
}

static void merge_states(const struct stream *stream)
{
    const int threads = stream->segments.units.threads;
    struct clr_scan *scan = stream->scan;
    int thread, i;

    for (i = 0; i < scan->tally_count; i++) {
        clr_state_clear(&scan->tallies[i].state);
        for (thread = 0; thread < threads; thread++)
            clr_state_merge(&scan->tallies[i].state, &stream->known[thread].states[i]);
    }
}

static void free_known(struct stream *stream)
{
    clr_memory_free(stream->known);
    clr_memory_free(stream->states);
}

enum clr_load_outcome clr_stream(const struct clr_source *source, uint32_t root,
                                 const struct clr_field *fields, struct clr_scan *scan,
                                 size_t memory, size_t *rows, const struct clr_watch *watch,
                                 struct clr_load_report *report, struct clr_status *status)
{
    struct stream stream = {.scan = scan};
    struct clr_segments *segments = &stream.segments;
    enum clr_load_outcome outcome =
        clr_segments_begin(segments, source, root, fields, scan, memory, watch);

    if (outcome == CLR_LOAD_DONE && !prepare(&stream))
        outcome = clr_units_fail(&segments->units, CLR_LOAD_FAILED, 0, 0);
    segments->run = scan_rows;
    segments->context = &stream;
    if (outcome == CLR_LOAD_DONE)
        outcome = clr_segments_run(segments, watch);
    if (outcome == CLR_LOAD_DONE)
        merge_states(&stream);
    clr_units_report(&segments->units, outcome, report, status);
    *rows = atomic_load(&segments->rows);
    free_known(&stream);
    clr_segments_free(segments);
    return outcome;
}

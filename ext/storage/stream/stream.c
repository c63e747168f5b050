#include "storage/stream/stream.h"

#include "base/memory.h"
#include "numeric/scan/evaluate.h"
#include "numeric/states/merged.h"
#include "storage/stream/segments.h"

/* What a thread knows of the rows that it has scanned. */
struct known {
    struct clr_state *states, *more; /* of each tally: of all scans, and of one */
    struct clr_share *shares;        /* of each tally: for those that merge */
};

struct stream {
    struct clr_segments segments;
    struct clr_scan *scan;
    struct known *known; /* of each thread */
    struct clr_state *states;
    struct clr_share *shares;
    struct clr_merged *merged; /* of each thread, for each tally that merges */
};

static enum clr_scan_outcome scan_rows(void *context, int thread, const struct clr_scan *portion,
                                       const atomic_bool *stop)
{
    const struct known *known = &((const struct stream *)context)->known[thread];
    const enum clr_scan_outcome outcome =
        clr_evaluate(portion, 0, portion->rows, known->more, known->shares, stop);
    int i;

    for (i = 0; i < portion->tally_count && outcome == CLR_SCAN_DONE; i++)
        clr_state_merge(&known->states[i], &known->more[i]);
    return outcome;
}

/* Makes what the threads merge states into, if some tallies do. */
static bool prepare_merged(struct stream *stream)
{
    const struct clr_scan *scan = stream->scan;
    size_t threads = (size_t)stream->segments.units.threads;
    size_t count = threads * (size_t)scan->tally_count, i;
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
        stream->known[i].shares = stream->shares + i * (size_t)scan->tally_count;
    return true;
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
    return prepare_merged(stream);
}

static enum clr_load_outcome merge_states(const struct stream *stream)
{
    const int threads = stream->segments.units.threads;
    struct clr_scan *scan = stream->scan;
    enum clr_code code = CLR_OK;
    int thread, i;

    for (i = 0; i < scan->tally_count; i++) {
        clr_state_clear(&scan->tallies[i].state);
        for (thread = 0; thread < threads; thread++)
            clr_state_merge(&scan->tallies[i].state, &stream->known[thread].states[i]);
        for (thread = 0; thread < threads && code == CLR_OK; thread++) {
            if (scan->tallies[i].merge != 0)
                code = clr_merged_join(scan->tallies[i].merged,
                                       stream->known[thread].shares[i].merged);
        }
    }
    if (code == CLR_OK)
        return CLR_LOAD_DONE;
    if (code == CLR_INVALID)
        return CLR_LOAD_UNSURE;
    return code == CLR_LIMIT ? CLR_LOAD_TOO_LARGE : CLR_LOAD_FAILED;
}

static void free_known(struct stream *stream)
{
    const size_t threads = (size_t)stream->segments.units.threads;
    const size_t merges = threads * (size_t)clr_scan_merges(stream->scan);
    size_t m;

    for (m = 0; m < merges && stream->merged != NULL && stream->shares != NULL; m++)
        clr_merged_free(&stream->merged[m]);
    clr_memory_free(stream->merged);
    clr_memory_free(stream->shares);
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
        outcome = clr_units_fail(&segments->units, merge_states(&stream), 0, 0);
    clr_units_report(&segments->units, outcome, report, status);
    *rows = atomic_load(&segments->rows);
    free_known(&stream);
    clr_segments_free(segments);
    return outcome;
}

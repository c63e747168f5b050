#include "engine/host/host_groups.h"
#include "storage/stream/segments.h"
#include "storage/stream/stream.h"

#include <string.h>

/* Plans that take into account what has been found out; then one does that doubts all. */
enum { DOUBTFUL = 2 };

static enum clr_scan_outcome take_rows(void *context, int thread, const struct clr_scan *portion,
                                       const atomic_bool *stop)
{
    return clr_groups_take(context, thread, portion, stop);
}

static enum clr_load_outcome outcome_of(enum clr_scan_outcome outcome)
{
    switch (outcome) {
    case CLR_SCAN_DONE:
        return CLR_LOAD_DONE;
    case CLR_SCAN_UNSURE:
        return CLR_LOAD_UNSURE;
    case CLR_SCAN_LIMIT:
        return CLR_LOAD_TOO_LARGE;
    case CLR_SCAN_STOPPED:
        return CLR_LOAD_STOPPED;
    default:
        return CLR_LOAD_FAILED;
    }
}

/* Goes through the rows, by a plan that the sample suggests, in the order of the table: a part's
   rows follow those of the parts before. *again: that plan will not do. */
static enum clr_load_outcome group_rows(struct clr_segments *segments,
                                        const struct clr_scan *sample,
                                        const struct clr_watch *watch,
                                        struct clr_group_doubts *doubts, bool *again,
                                        struct clr_groups **groups)
{
    struct clr_units *units = &segments->units;
    enum clr_scan_outcome scanned =
        clr_groups_begin(sample, clr_segments_most_rows(segments), units->threads, doubts, groups);
    enum clr_load_outcome outcome;

    if (scanned != CLR_SCAN_DONE)
        return clr_units_fail(units, outcome_of(scanned), 0, 0);
    units->threads = clr_groups_parts(*groups);
    segments->in_order = true;
    segments->run = take_rows;
    segments->context = *groups;
    outcome = clr_segments_run(segments, watch);
    if (outcome != CLR_LOAD_DONE && outcome != CLR_LOAD_UNSURE)
        return outcome;
    scanned = clr_host_groups_end(*groups, atomic_load(&segments->rows), watch, doubts);
    *again = scanned == CLR_SCAN_NOT_NOW;
    if (outcome == CLR_LOAD_UNSURE || *again)
        return CLR_LOAD_UNSURE;
    return clr_units_fail(units, outcome_of(scanned), 0, 0);
}

/* Streams once. A table without rows has no groups. */
static enum clr_load_outcome attempt(const struct clr_source *source, uint32_t root,
                                     const struct clr_field *fields, const struct clr_scan *scan,
                                     size_t memory, const struct clr_watch *watch,
                                     struct clr_group_doubts *doubts, bool *again, size_t *rows,
                                     struct clr_groups **groups, struct clr_load_report *report,
                                     struct clr_status *status)
{
    struct clr_segments segments;
    struct clr_scan sample;
    enum clr_load_outcome outcome =
        clr_segments_begin(&segments, source, root, fields, scan, memory, watch);

    *again = false;
    if (outcome == CLR_LOAD_DONE)
        outcome = clr_segments_sample(&segments, watch, &sample);
    if (outcome == CLR_LOAD_DONE && sample.rows > 0)
        outcome = group_rows(&segments, &sample, watch, doubts, again, groups);
    clr_units_report(&segments.units, outcome, report, status);
    *rows = atomic_load(&segments.rows);
    clr_segments_free(&segments);
    if (outcome != CLR_LOAD_DONE) {
        clr_groups_free(*groups);
        *groups = NULL;
    }
    return outcome;
}

enum clr_load_outcome clr_stream_groups(const struct clr_source *source, uint32_t root,
                                        const struct clr_field *fields, const struct clr_scan *scan,
                                        size_t memory, struct clr_groups **groups, size_t *rows,
                                        const struct clr_watch *watch,
                                        struct clr_load_report *report, struct clr_status *status)
{
    struct clr_group_doubts doubts;
    enum clr_load_outcome outcome = CLR_LOAD_UNSURE;
    int64_t bytes_read = 0;
    bool again = true;
    int i;

    *groups = NULL;
    memset(&doubts, 0, sizeof doubts);
    for (i = 0; i <= DOUBTFUL && again; i++) {
        if (i == DOUBTFUL)
            clr_group_doubt_all(&doubts);
        outcome = attempt(source, root, fields, scan, memory, watch, &doubts, &again, rows, groups,
                          report, status);
        bytes_read += report->bytes_read;
    }
    report->bytes_read = bytes_read;
    return outcome;
}

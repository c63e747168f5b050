#include "numeric/distinct/distinct_counting.h"

#include "base/memory.h"
#include "numeric/values/column.h"

#include <string.h>

enum { LEAST_GROUPS = 64 };

static size_t all_groups(const struct clr_counting *counting)
{
    return (size_t)counting->kind->domains * (size_t)counting->groups;
}

static size_t *places_of(const struct clr_counting *counting, int portion)
{
    return counting->places + (size_t)portion * all_groups(counting);
}

/* Sets up a counter for each portion, which together may take so many bytes. */
static void begin_counters(struct clr_counting *counting, uint64_t memory)
{
    const int count = counting->portions->count;
    int i;

    for (i = 0; i < count; i++) {
        struct clr_counter *counter = &counting->counters[i];

        memset(counter, 0, sizeof *counter);
        counter->budget.limit = memory / (uint64_t)count;
        counting->kind->begin(counter, counting->seed);
    }
}

static void end_counters(struct clr_counting *counting)
{
    int i;

    for (i = 0; i < counting->portions->count; i++)
        counting->kind->end(&counting->counters[i]);
}

/* Runs work on all portions. Returns the first code of a counter that is not CLR_OK, or
   CLR_STOPPED. */
static enum clr_code run(struct clr_counting *counting, clr_portion_work *work)
{
    enum clr_code code = CLR_OK;
    int i;

    if (!clr_portions_run(counting->portions, work, counting))
        return CLR_STOPPED;
    for (i = 0; i < counting->portions->count && code == CLR_OK; i++)
        code = counting->counters[i].code;
    return code;
}

static void count_portion(void *argument, int portion, const atomic_bool *stop)
{
    struct clr_counting *counting = argument;

    counting->kind->count(counting, portion, stop);
}

/* Counts them, unless there are many. */
static enum clr_code count_few(struct clr_counting *counting, struct clr_distinct_result *result)
{
    struct clr_counter *first = &counting->counters[0];
    enum clr_code code = run(counting, count_portion);
    int i;

    if (atomic_load(&counting->many))
        return code;
    for (i = 1; i < counting->portions->count && code == CLR_OK; i++)
        code = counting->kind->merge(first, &counting->counters[i]);
    if (code == CLR_OK)
        counting->kind->conclude(counting, first, result);
    return code;
}

static void measure_portion(void *argument, int portion, const atomic_bool *stop)
{
    const struct clr_counting *counting = argument;
    size_t *places = places_of(counting, portion);

    memset(places, 0, all_groups(counting) * sizeof *places);
    counting->kind->spread(counting, portion, places, false, stop);
}

/* Makes places of the counts: each group together, in it each portion. */
static void place_groups(const struct clr_counting *counting)
{
    size_t place = 0, group, count;
    int i;

    for (group = 0; group < all_groups(counting); group++) {
        for (i = 0; i < counting->portions->count; i++) {
            size_t *here = places_of(counting, i) + group;
            count = *here;
            *here = place;
            place += count;
        }
        counting->ends[group] = place;
    }
}

static void scatter_portion(void *argument, int portion, const atomic_bool *stop)
{
    const struct clr_counting *counting = argument;

    counting->kind->spread(counting, portion, places_of(counting, portion), true, stop);
}

/* Not of a portion: each thread takes groups as long as there are some. */
static void count_groups(void *argument, int portion, const atomic_bool *stop)
{
    struct clr_counting *counting = argument;
    struct clr_counter *counter = &counting->counters[portion];
    int group;

    while (counter->code == CLR_OK && !clr_portion_stops(stop)) {
        group = atomic_fetch_add(&counting->next, 1);
        if ((size_t)group >= all_groups(counting))
            break;
        counting->kind->count_group(counting, group, group == 0 ? 0 : counting->ends[group - 1],
                                    counting->ends[group], counter, stop);
    }
}

static enum clr_code run_groups(struct clr_counting *counting, struct clr_distinct_result *result)
{
    enum clr_code code = run(counting, measure_portion);
    int i;

    if (code != CLR_OK)
        return code;
    place_groups(counting);
    code = run(counting, scatter_portion);
    if (code == CLR_OK)
        code = run(counting, count_groups);
    for (i = 0; i < counting->portions->count; i++) {
        const struct clr_distinct_result *part = &counting->counters[i].result;
        result->size += part->size;
        if (part->count > 0)
            clr_distinct_consider(result, part->count, &part->mode);
    }
    return code;
}

static enum clr_code count_many(struct clr_counting *counting, struct clr_distinct_result *result)
{
    const struct clr_counting_kind *kind = counting->kind;
    const uint64_t total = counting->total;
    enum clr_code code = CLR_NOMEM;
    struct clr_column *room;
    size_t groups;

    counting->groups = LEAST_GROUPS;
    while (counting->groups < kind->most_groups &&
           total / (uint64_t)counting->groups > kind->group_values)
        counting->groups *= 2;
    groups = all_groups(counting);
    if (counting->memory / kind->item_size < total)
        return CLR_LIMIT;
    begin_counters(counting, counting->memory - total * kind->item_size);
    atomic_init(&counting->next, 0);
    /* A column, for its large pages. */
    room = clr_column_new(total * (kind->item_size / sizeof(int64_t)));
    counting->ends = clr_memory_alloc(groups * sizeof *counting->ends);
    counting->places =
        clr_memory_alloc(groups * (size_t)counting->portions->count * sizeof *counting->places);
    if (room != NULL && counting->ends != NULL && counting->places != NULL) {
        counting->items = room->values;
        code = run_groups(counting, result);
    }
    end_counters(counting);
    clr_memory_free(counting->places);
    clr_memory_free(counting->ends);
    clr_column_release(room);
    return code;
}

enum clr_code clr_counting_run(struct clr_counting *counting, struct clr_distinct_result *result)
{
    enum clr_code code;

    memset(result, 0, sizeof *result);
    atomic_init(&counting->many, false);
    counting->counters =
        clr_memory_alloc((size_t)counting->portions->count * sizeof *counting->counters);
    if (counting->counters == NULL)
        return CLR_NOMEM;
    begin_counters(counting, counting->memory);
    code = count_few(counting, result);
    end_counters(counting);
    if (code == CLR_OK && atomic_load(&counting->many)) {
        memset(result, 0, sizeof *result);
        code = count_many(counting, result);
    }
    clr_memory_free(counting->counters);
    return code;
}

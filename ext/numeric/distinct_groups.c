#include "base/memory.h"
#include "numeric/column.h"
#include "numeric/distinct_counting.h"

/* A group has about GROUP_KEYS numbers, as far as the most groups allow. */
enum { GROUP_KEYS = 32768, LEAST_GROUPS = 64, MOST_GROUPS = 512 };

/* Not the tables' hash: numbers of one group are to differ in that. */
static inline size_t group_of(const struct clr_counting *counting, uint64_t key)
{
    uint64_t hash = (key ^ counting->seed) * UINT64_C(0xd6e8feb86659fd93);
    hash ^= hash >> 32;
    hash *= UINT64_C(0xd6e8feb86659fd93);
    return hash >> 32 & (size_t)(counting->groups - 1);
}

static size_t *places_of(const struct clr_counting *counting, int portion)
{
    return counting->places + (size_t)portion * CLR_DOMAINS * (size_t)counting->groups;
}

static void count_groups(void *argument, int portion, const atomic_bool *stop)
{
    const struct clr_counting *counting = argument;
    size_t *places = places_of(counting, portion), i;
    struct clr_key_reader reader;
    int domain;

    memset(places, 0, CLR_DOMAINS * (size_t)counting->groups * sizeof *places);
    clr_key_reader_begin(&reader, counting, portion, stop);
    while (clr_key_reader_next(&reader)) {
        for (domain = 0; domain < CLR_DOMAINS; domain++) {
            size_t *of_domain = places + (size_t)domain * (size_t)counting->groups;
            for (i = 0; i < reader.count[domain]; i++)
                of_domain[group_of(counting, reader.keys[domain][i])]++;
        }
    }
}

/* Makes places of the counts: each group together, in it each portion. */
static void place_groups(const struct clr_counting *counting)
{
    const size_t groups = CLR_DOMAINS * (size_t)counting->groups;
    size_t place = 0, group, count;
    int i;

    for (group = 0; group < groups; group++) {
        for (i = 0; i < counting->portions->count; i++) {
            size_t *here = places_of(counting, i) + group;
            count = *here;
            *here = place;
            place += count;
        }
        counting->ends[group] = place;
    }
}

static void scatter(void *argument, int portion, const atomic_bool *stop)
{
    const struct clr_counting *counting = argument;
    size_t *places = places_of(counting, portion), i;
    struct clr_key_reader reader;
    int domain;

    clr_key_reader_begin(&reader, counting, portion, stop);
    while (clr_key_reader_next(&reader)) {
        for (domain = 0; domain < CLR_DOMAINS; domain++) {
            size_t *of_domain = places + (size_t)domain * (size_t)counting->groups;
            for (i = 0; i < reader.count[domain]; i++) {
                uint64_t key = reader.keys[domain][i];
                counting->keys[of_domain[group_of(counting, key)]++] = key;
            }
        }
    }
}

static void count_group(const struct clr_counting *counting, int group,
                        struct clr_key_counter *counter, const atomic_bool *stop)
{
    const int domain = group / counting->groups;
    struct clr_number_table *table = &counter->tables[domain];
    size_t first = group == 0 ? 0 : counting->ends[group - 1], last = counting->ends[group], n;

    if (!counting->with_mode)
        counter->code = clr_number_table_forget_counts(table);
    if (counter->code == CLR_OK)
        counter->code = clr_number_table_reserve(table, last - first);
    for (; first < last && counter->code == CLR_OK && !clr_portion_stops(stop); first += n) {
        n = last - first < CLR_KEY_BLOCK ? last - first : CLR_KEY_BLOCK;
        counter->code = clr_number_table_add(table, counting->keys + first, n);
    }
    if (counter->code == CLR_OK)
        clr_counting_conclude(counting, table, domain, &counter->result);
    clr_number_table_clear(table);
}

/* Not of a portion: each thread takes groups as long as there are some. */
static void count_next(void *argument, int portion, const atomic_bool *stop)
{
    struct clr_counting *counting = argument;
    struct clr_key_counter *counter = &counting->counters[portion];
    int group;

    while (counter->code == CLR_OK && !clr_portion_stops(stop)) {
        group = atomic_fetch_add(&counting->next, 1);
        if (group >= CLR_DOMAINS * counting->groups)
            break;
        count_group(counting, group, counter, stop);
    }
}

static enum clr_code run_groups(struct clr_counting *counting, struct clr_distinct_result *result)
{
    enum clr_code code = clr_counting_run(counting, count_groups);
    int i;

    if (code != CLR_OK)
        return code;
    place_groups(counting);
    code = clr_counting_run(counting, scatter);
    if (code == CLR_OK)
        code = clr_counting_run(counting, count_next);
    for (i = 0; i < counting->portions->count; i++) {
        const struct clr_distinct_result *part = &counting->counters[i].result;
        result->size += part->size;
        if (part->count > 0)
            clr_distinct_consider(result, part->count, &part->mode);
    }
    return code;
}

enum clr_code clr_counting_many(struct clr_counting *counting, uint64_t memory,
                                struct clr_distinct_result *result)
{
    const uint64_t total = counting->total;
    struct clr_column *room;
    enum clr_code code = CLR_NOMEM;
    size_t groups;

    counting->groups = LEAST_GROUPS;
    while (counting->groups < MOST_GROUPS && total / (uint64_t)counting->groups > GROUP_KEYS)
        counting->groups *= 2;
    groups = CLR_DOMAINS * (size_t)counting->groups;
    if (memory / sizeof(uint64_t) < total)
        return CLR_LIMIT;
    clr_counting_begin(counting, memory - total * sizeof(uint64_t));
    atomic_init(&counting->next, 0);
    /* A column, for its large pages. */
    room = clr_column_new(total);
    counting->ends = clr_memory_alloc(groups * sizeof *counting->ends);
    counting->places =
        clr_memory_alloc(groups * (size_t)counting->portions->count * sizeof *counting->places);
    if (room != NULL && counting->ends != NULL && counting->places != NULL) {
        counting->keys = (uint64_t *)room->values;
        code = run_groups(counting, result);
    }
    clr_counting_end(counting);
    clr_memory_free(counting->places);
    clr_memory_free(counting->ends);
    clr_column_release(room);
    return code;
}

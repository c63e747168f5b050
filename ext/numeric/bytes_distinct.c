#include "numeric/bytes_distinct.h"

#include "base/memory.h"
#include "numeric/address_table.h"
#include "numeric/bytes.h"
#include "numeric/column.h"

/*
 * FEW: different values that a portion counts for itself at the most. Else a group has about
 * GROUP_VALUES values, as far as the most groups allow, so that its table stays in a processor's
 * cache. BLOCK: values that are hashed together, and looked at between two looks at whether to
 * stop.
 */
enum { FEW = 16384, GROUP_VALUES = 8192, LEAST_GROUPS = 64, MOST_GROUPS = 4096, BLOCK = 256 };

/* A value on its way to a group. */
struct item {
    uint64_t hash;
    int64_t address;
};

/* What a thread counts for itself. */
struct counter {
    struct clr_budget budget;
    struct clr_address_table table;
    enum clr_code code;
    struct clr_distinct_result result;
};

struct counting {
    const struct clr_portions *portions;
    const struct clr_bytes_run *runs;
    bool with_mode;
    uint64_t seed;
    struct counter *counters; /* one for each portion */
    atomic_bool many;         /* more different values than FEW were found */
    int groups;               /* a power of two */
    int shift;                /* takes the group's number out of a hash */
    size_t *places;           /* groups for each portion: where it puts its next item */
    size_t *ends;             /* where a group ends in items */
    struct item *items;       /* all, by group */
    atomic_int next;          /* group to count */
};

/* Adds what is in a table to the result. */
static void conclude(const struct counting *counting, const struct clr_address_table *table,
                     struct clr_distinct_result *result)
{
    size_t i;

    result->size += table->used;
    for (i = 0; i < table->capacity && counting->with_mode; i++) {
        const struct clr_address_slot *slot = &table->slots[i];
        struct clr_value value;

        if (slot->address == 0 || slot->count < result->count)
            continue;
        value = clr_bytes_value(slot->address);
        clr_distinct_consider(result, slot->count, &value);
    }
}

/* Stores the hashes of the next values of a run, from first on. Returns how many. */
static size_t hash_block(const struct counting *counting, const struct clr_bytes_run *run,
                         size_t first, uint64_t *hashes)
{
    size_t n = run->count - first < BLOCK ? run->count - first : BLOCK, i;

    for (i = 0; i < n; i++) {
        const struct clr_value value = clr_bytes_value(run->addresses[first + i]);
        hashes[i] = clr_bytes_hash(&value, counting->seed);
    }
    return n;
}

static void count_portion(void *argument, int portion, const atomic_bool *stop)
{
    struct counting *counting = argument;
    struct counter *counter = &counting->counters[portion];
    const struct clr_bytes_run *run = &counting->runs[portion];
    uint64_t hashes[BLOCK];
    size_t first, n, i;

    for (first = 0; first < run->count && !clr_portion_stops(stop); first += n) {
        n = hash_block(counting, run, first, hashes);
        for (i = 0; i < n && counter->code == CLR_OK; i++)
            counter->code =
                clr_address_table_add(&counter->table, hashes[i], run->addresses[first + i], 1);
        if (counter->table.used > FEW)
            atomic_store(&counting->many, true);
        if (counter->code != CLR_OK || atomic_load(&counting->many))
            break;
    }
}

static int group_of(const struct counting *counting, uint64_t hash)
{
    return (int)(hash >> counting->shift);
}

static size_t *places_of(const struct counting *counting, int portion)
{
    return counting->places + (size_t)portion * (size_t)counting->groups;
}

static void count_groups(void *argument, int portion, const atomic_bool *stop)
{
    const struct counting *counting = argument;
    const struct clr_bytes_run *run = &counting->runs[portion];
    size_t *places = places_of(counting, portion), first, n, i;
    uint64_t hashes[BLOCK];

    memset(places, 0, (size_t)counting->groups * sizeof *places);
    for (first = 0; first < run->count && !clr_portion_stops(stop); first += n) {
        n = hash_block(counting, run, first, hashes);
        for (i = 0; i < n; i++)
            places[group_of(counting, hashes[i])]++;
    }
}

/* Makes places of the counts: each group together, in it each portion. */
static void place_groups(const struct counting *counting)
{
    size_t place = 0, count;
    int group, i;

    for (group = 0; group < counting->groups; group++) {
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
    const struct counting *counting = argument;
    const struct clr_bytes_run *run = &counting->runs[portion];
    size_t *places = places_of(counting, portion), first, n, i;
    uint64_t hashes[BLOCK];

    for (first = 0; first < run->count && !clr_portion_stops(stop); first += n) {
        n = hash_block(counting, run, first, hashes);
        for (i = 0; i < n; i++)
            counting->items[places[group_of(counting, hashes[i])]++] =
                (struct item){hashes[i], run->addresses[first + i]};
    }
}

static void count_group(const struct counting *counting, int group, struct counter *counter,
                        const atomic_bool *stop)
{
    size_t first = group == 0 ? 0 : counting->ends[group - 1], last = counting->ends[group];

    clr_address_table_clear(&counter->table);
    for (; first < last && counter->code == CLR_OK; first++) {
        const struct item *item = &counting->items[first];
        counter->code = clr_address_table_add(&counter->table, item->hash, item->address, 1);
        if (first % BLOCK == 0 && clr_portion_stops(stop))
            return;
    }
    if (counter->code == CLR_OK)
        conclude(counting, &counter->table, &counter->result);
}

/* Not of a portion: each thread takes groups as long as there are some. */
static void count_next(void *argument, int portion, const atomic_bool *stop)
{
    struct counting *counting = argument;
    struct counter *counter = &counting->counters[portion];
    int group;

    while (counter->code == CLR_OK && !clr_portion_stops(stop)) {
        group = atomic_fetch_add(&counting->next, 1);
        if (group >= counting->groups)
            break;
        count_group(counting, group, counter, stop);
    }
}

static void begin(struct counting *counting, uint64_t memory)
{
    const int count = counting->portions->count;
    int i;

    for (i = 0; i < count; i++) {
        struct counter *counter = &counting->counters[i];

        *counter = (struct counter){.budget = {.limit = memory / (uint64_t)count}};
        clr_address_table_init(&counter->table, &counter->budget);
    }
}

static void end(struct counting *counting)
{
    int i;

    for (i = 0; i < counting->portions->count; i++)
        clr_address_table_free(&counting->counters[i].table);
}

/* Runs work on all portions. Returns the first code that is not CLR_OK, or CLR_STOPPED. */
static enum clr_code run(struct counting *counting, clr_portion_work *work)
{
    enum clr_code code = CLR_OK;
    int i;

    if (!clr_portions_run(counting->portions, work, counting))
        return CLR_STOPPED;
    for (i = 0; i < counting->portions->count && code == CLR_OK; i++)
        code = counting->counters[i].code;
    return code;
}

/* Counts them, unless there are many. */
static enum clr_code count_few(struct counting *counting, struct clr_distinct_result *result)
{
    struct counter *first = &counting->counters[0];
    enum clr_code code = run(counting, count_portion);
    size_t slot;
    int i;

    if (atomic_load(&counting->many))
        return code;
    for (i = 1; i < counting->portions->count; i++) {
        const struct clr_address_table *table = &counting->counters[i].table;
        for (slot = 0; slot < table->capacity && code == CLR_OK; slot++) {
            if (table->slots[slot].address != 0)
                code = clr_address_table_add(&first->table, table->slots[slot].hash,
                                             table->slots[slot].address, table->slots[slot].count);
        }
    }
    if (code == CLR_OK)
        conclude(counting, &first->table, result);
    return code;
}

static enum clr_code run_groups(struct counting *counting, struct clr_distinct_result *result)
{
    enum clr_code code = run(counting, count_groups);
    int i;

    if (code != CLR_OK)
        return code;
    place_groups(counting);
    code = run(counting, scatter);
    if (code == CLR_OK)
        code = run(counting, count_next);
    for (i = 0; i < counting->portions->count; i++) {
        const struct clr_distinct_result *part = &counting->counters[i].result;
        result->size += part->size;
        if (part->count > 0)
            clr_distinct_consider(result, part->count, &part->mode);
    }
    return code;
}

static enum clr_code count_many(struct counting *counting, uint64_t total, uint64_t memory,
                                struct clr_distinct_result *result)
{
    const size_t item = sizeof *counting->items;
    enum clr_code code = CLR_NOMEM;
    struct clr_column *room;
    size_t groups;

    counting->groups = LEAST_GROUPS;
    counting->shift = 64 - __builtin_ctz(LEAST_GROUPS);
    while (counting->groups < MOST_GROUPS && total / (uint64_t)counting->groups > GROUP_VALUES) {
        counting->groups *= 2;
        counting->shift--;
    }
    groups = (size_t)counting->groups;
    if (memory / item < total)
        return CLR_LIMIT;
    begin(counting, memory - total * item);
    atomic_init(&counting->next, 0);
    /* A column, for its large pages. */
    room = clr_column_new(total * (item / sizeof(int64_t)));
    counting->ends = clr_memory_alloc(groups * sizeof *counting->ends);
    counting->places =
        clr_memory_alloc(groups * (size_t)counting->portions->count * sizeof *counting->places);
    if (room != NULL && counting->ends != NULL && counting->places != NULL) {
        counting->items = (struct item *)(void *)room->values;
        code = run_groups(counting, result);
    }
    end(counting);
    clr_memory_free(counting->places);
    clr_memory_free(counting->ends);
    clr_column_release(room);
    return code;
}

enum clr_code clr_bytes_distinct(const struct clr_portions *portions,
                                 const struct clr_bytes_run *runs, bool with_mode, uint64_t memory,
                                 uint64_t seed, struct clr_distinct_result *result)
{
    struct counting counting = {
        .portions = portions, .runs = runs, .with_mode = with_mode, .seed = seed};
    uint64_t total = 0;
    enum clr_code code;
    int i;

    memset(result, 0, sizeof *result);
    for (i = 0; i < portions->count; i++)
        total += runs[i].count;
    atomic_init(&counting.many, false);
    counting.counters = clr_memory_alloc((size_t)portions->count * sizeof *counting.counters);
    if (counting.counters == NULL)
        return CLR_NOMEM;
    begin(&counting, memory);
    code = count_few(&counting, result);
    end(&counting);
    if (code == CLR_OK && atomic_load(&counting.many)) {
        memset(result, 0, sizeof *result);
        code = count_many(&counting, total, memory, result);
    }
    clr_memory_free(counting.counters);
    return code;
}

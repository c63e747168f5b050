#include "numeric/distinct/distinct_portions.h"

#include "numeric/distinct/distinct.h"
#include "numeric/distinct/distinct_counting.h"

#include <string.h>

/* A look at all keys of a portion, block by block. */
struct key_reader {
    struct clr_portion_reader numbers;
    size_t count[CLR_DOMAINS];
    uint64_t keys[CLR_DOMAINS][CLR_COUNTING_BLOCK];
};

/* Fills the reader's keys; returns false at the end. */
static bool read_keys(struct key_reader *reader)
{
    const size_t count = clr_portion_next(&reader->numbers, CLR_COUNTING_BLOCK);
    const struct clr_run *run = reader->numbers.run;
    int64_t room[CLR_COUNTING_BLOCK];
    const void *values;
    size_t whole = count;

    if (count == 0)
        return false;
    values = clr_run_values(run, reader->numbers.position - count, count, room);
    if (run->kind == CLR_KIND_INTEGER)
        memcpy(reader->keys[CLR_DOMAIN_WHOLE], values, count * sizeof(int64_t));
    else
        whole = clr_distinct_keys(values, count, reader->keys[CLR_DOMAIN_WHOLE],
                                  reader->keys[CLR_DOMAIN_FRACTIONAL]);
    reader->count[CLR_DOMAIN_WHOLE] = whole;
    reader->count[CLR_DOMAIN_FRACTIONAL] = count - whole;
    return true;
}

static void begin(struct clr_counter *counter, uint64_t seed)
{
    int domain;

    for (domain = 0; domain < CLR_DOMAINS; domain++)
        clr_number_table_init(&counter->tables.numbers[domain], &counter->budget, seed);
}

static void end(struct clr_counter *counter)
{
    int domain;

    for (domain = 0; domain < CLR_DOMAINS; domain++)
        clr_number_table_free(&counter->tables.numbers[domain]);
}

static void count(struct clr_counting *counting, int portion, const atomic_bool *stop)
{
    struct clr_counter *counter = &counting->counters[portion];
    struct clr_number_table *tables = counter->tables.numbers;
    struct key_reader reader;
    int domain;

    /* Searches in a table that is nearly empty end at once. */
    for (domain = 0; domain < CLR_DOMAINS && counter->code == CLR_OK; domain++)
        if (counting->total > CLR_COUNTING_FEW)
            counter->code = clr_number_table_reserve(&tables[domain], CLR_COUNTING_FEW);
    clr_portion_begin(&reader.numbers, counting->portions, portion, stop);
    while (counter->code == CLR_OK && !atomic_load(&counting->many) && read_keys(&reader)) {
        for (domain = 0; domain < CLR_DOMAINS && counter->code == CLR_OK; domain++)
            counter->code =
                clr_number_table_add(&tables[domain], reader.keys[domain], reader.count[domain]);
        if (clr_number_table_size(&tables[CLR_DOMAIN_WHOLE]) +
                clr_number_table_size(&tables[CLR_DOMAIN_FRACTIONAL]) >
            CLR_COUNTING_FEW)
            atomic_store(&counting->many, true);
    }
}

static enum clr_code merge(struct clr_counter *counter, const struct clr_counter *other)
{
    enum clr_code code = CLR_OK;
    int domain;

    for (domain = 0; domain < CLR_DOMAINS && code == CLR_OK; domain++)
        code = clr_number_table_merge(&counter->tables.numbers[domain],
                                      &other->tables.numbers[domain]);
    return code;
}

/* The type of a whole number is of no account here. */
static struct clr_value value_of(int domain, uint64_t key)
{
    struct clr_value value = {.kind = CLR_KIND_INTEGER, .as.integer = (int64_t)key};

    if (domain == CLR_DOMAIN_FRACTIONAL) {
        value.kind = CLR_KIND_REAL;
        memcpy(&value.as.real, &key, sizeof key);
    }
    return value;
}

static void conclude_table(const struct clr_counting *counting,
                           const struct clr_number_table *table, int domain,
                           struct clr_distinct_result *result)
{
    uint64_t key, times;
    size_t position = 0;

    result->size += clr_number_table_size(table);
    while (counting->with_mode && clr_number_table_next(table, &position, &key, &times)) {
        /* Few are frequent enough to be worth more than this look. */
        if (times >= result->count) {
            struct clr_value value = value_of(domain, key);
            clr_distinct_consider(result, times, &value);
        }
    }
}

static void conclude(const struct clr_counting *counting, const struct clr_counter *counter,
                     struct clr_distinct_result *result)
{
    int domain;

    for (domain = 0; domain < CLR_DOMAINS; domain++)
        conclude_table(counting, &counter->tables.numbers[domain], domain, result);
}

/* Not the tables' hash: numbers of one group are to differ in that. */
static inline size_t group_of(const struct clr_counting *counting, uint64_t key)
{
    uint64_t hash = (key ^ counting->seed) * UINT64_C(0xd6e8feb86659fd93);
    hash ^= hash >> 32;
    hash *= UINT64_C(0xd6e8feb86659fd93);
    return hash >> 32 & (size_t)(counting->groups - 1);
}

/* stores is a constant where this is inlined. */
static inline __attribute__((always_inline)) void spread_keys(const struct clr_counting *counting,
                                                              int portion, size_t *places,
                                                              bool stores, const atomic_bool *stop)
{
    uint64_t *items = counting->items;
    struct key_reader reader;
    int domain;
    size_t i;

    clr_portion_begin(&reader.numbers, counting->portions, portion, stop);
    while (read_keys(&reader)) {
        for (domain = 0; domain < CLR_DOMAINS; domain++) {
            size_t *of_domain = places + (size_t)domain * (size_t)counting->groups;
            for (i = 0; i < reader.count[domain]; i++) {
                const uint64_t key = reader.keys[domain][i];
                const size_t place = of_domain[group_of(counting, key)]++;
                if (stores)
                    items[place] = key;
            }
        }
    }
}

static void spread(const struct clr_counting *counting, int portion, size_t *places, bool stores,
                   const atomic_bool *stop)
{
    if (stores)
        spread_keys(counting, portion, places, true, stop);
    else
        spread_keys(counting, portion, places, false, stop);
}

static void count_group(const struct clr_counting *counting, int group, size_t first, size_t last,
                        struct clr_counter *counter, const atomic_bool *stop)
{
    const int domain = group / counting->groups;
    struct clr_number_table *table = &counter->tables.numbers[domain];
    const uint64_t *items = counting->items;
    size_t n;

    if (!counting->with_mode)
        counter->code = clr_number_table_forget_counts(table);
    if (counter->code == CLR_OK)
        counter->code = clr_number_table_reserve(table, last - first);
    for (; first < last && counter->code == CLR_OK && !clr_portion_stops(stop); first += n) {
        n = last - first < CLR_COUNTING_BLOCK ? last - first : CLR_COUNTING_BLOCK;
        counter->code = clr_number_table_add(table, items + first, n);
    }
    if (counter->code == CLR_OK)
        conclude_table(counting, table, domain, &counter->result);
    clr_number_table_clear(table);
}

static const struct clr_counting_kind numbers = {.item_size = sizeof(uint64_t),
                                                 .group_values = 32768,
                                                 .most_groups = 512,
                                                 .domains = CLR_DOMAINS,
                                                 .begin = begin,
                                                 .end = end,
                                                 .count = count,
                                                 .merge = merge,
                                                 .conclude = conclude,
                                                 .spread = spread,
                                                 .count_group = count_group};

/* A search for an INTEGER among all portions. */
struct search {
    const struct clr_portions *portions;
    int64_t sought;
    atomic_bool found;
};

static void look_for_integer(void *argument, int portion, const atomic_bool *stop)
{
    struct search *search = argument;
    struct clr_portion_reader reader;
    int64_t room[CLR_COUNTING_BLOCK];
    bool found = false;
    size_t count, i;

    clr_portion_begin(&reader, search->portions, portion, stop);
    while (!atomic_load(&search->found) &&
           (count = clr_portion_next(&reader, CLR_COUNTING_BLOCK)) > 0) {
        const int64_t *integers = clr_run_values(reader.run, reader.position - count, count, room);
        for (i = 0; i < count && reader.run->kind == CLR_KIND_INTEGER; i++)
            found |= integers[i] == search->sought;
        if (found)
            atomic_store(&search->found, true);
    }
}

/* A whole number is REAL if none of those equal to it is an INTEGER. */
static enum clr_code find_type(const struct clr_portions *portions, struct clr_value *mode)
{
    struct search search = {.portions = portions, .sought = mode->as.integer};

    if (mode->kind != CLR_KIND_INTEGER)
        return CLR_OK;
    atomic_init(&search.found, false);
    if (!clr_portions_run(portions, look_for_integer, &search))
        return CLR_STOPPED;
    if (!atomic_load(&search.found)) {
        mode->kind = CLR_KIND_REAL;
        mode->as.real = (double)search.sought;
    }
    return CLR_OK;
}

enum clr_code clr_portions_distinct(const struct clr_portions *portions, bool with_mode,
                                    uint64_t memory, uint64_t seed,
                                    struct clr_distinct_result *result)
{
    struct clr_counting counting = {.kind = &numbers,
                                    .portions = portions,
                                    .total = clr_runs_count(portions->starts[0]),
                                    .with_mode = with_mode,
                                    .memory = memory,
                                    .seed = seed};
    enum clr_code code = clr_counting_run(&counting, result);

    return code == CLR_OK && result->count > 0 ? find_type(portions, &result->mode) : code;
}

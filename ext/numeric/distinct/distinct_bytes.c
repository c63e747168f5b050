#include "numeric/distinct/distinct_portions.h"

#include "numeric/distinct/distinct_counting.h"
#include "numeric/values/bytes.h"

/* A value on its way to a group. */
struct item {
    uint64_t hash;
    int64_t address;
};

static void begin(struct clr_counter *counter, uint64_t seed)
{
    (void)seed; /* of the hashes, which the table is handed */
    clr_address_table_init(&counter->tables.addresses, &counter->budget);
}

static void end(struct clr_counter *counter)
{
    clr_address_table_free(&counter->tables.addresses);
}

static const struct clr_bytes_run *run_of(const struct clr_counting *counting, int portion)
{
    return (const struct clr_bytes_run *)counting->values + portion;
}

/* Stores the hashes of the next values of a run, from first on. Returns how many: 0 at its end, or
   where the work is to stop. */
static size_t hash_block(const struct clr_counting *counting, const struct clr_bytes_run *run,
                         size_t first, uint64_t *hashes, const atomic_bool *stop)
{
    size_t n = run->count - first < CLR_COUNTING_BLOCK ? run->count - first : CLR_COUNTING_BLOCK, i;

    if (clr_portion_stops(stop))
        return 0;
    for (i = 0; i < n; i++) {
        const struct clr_value value = clr_bytes_value(run->addresses[first + i]);
        hashes[i] = clr_bytes_hash(&value, counting->seed);
    }
    return n;
}

static void count(struct clr_counting *counting, int portion, const atomic_bool *stop)
{
    struct clr_counter *counter = &counting->counters[portion];
    struct clr_address_table *table = &counter->tables.addresses;
    const struct clr_bytes_run *run = run_of(counting, portion);
    uint64_t hashes[CLR_COUNTING_BLOCK];
    size_t first, n, i;

    for (first = 0; (n = hash_block(counting, run, first, hashes, stop)) > 0; first += n) {
        for (i = 0; i < n && counter->code == CLR_OK; i++)
            counter->code = clr_address_table_add(table, hashes[i], run->addresses[first + i], 1);
        if (table->used > CLR_COUNTING_FEW)
            atomic_store(&counting->many, true);
        if (counter->code != CLR_OK || atomic_load(&counting->many))
            break;
    }
}

static enum clr_code merge(struct clr_counter *counter, const struct clr_counter *other)
{
    const struct clr_address_table *table = &other->tables.addresses;
    enum clr_code code = CLR_OK;
    size_t i;

    for (i = 0; i < table->capacity && code == CLR_OK; i++) {
        const struct clr_address_slot *slot = &table->slots[i];
        if (slot->address != 0)
            code = clr_address_table_add(&counter->tables.addresses, slot->hash, slot->address,
                                         slot->count);
    }
    return code;
}

static void conclude(const struct clr_counting *counting, const struct clr_counter *counter,
                     struct clr_distinct_result *result)
{
    const struct clr_address_table *table = &counter->tables.addresses;
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

/* By the upper bits, since the table takes the lower ones. */
static size_t group_of(const struct clr_counting *counting, uint64_t hash)
{
    return hash >> (64 - __builtin_ctz((unsigned)counting->groups));
}

static void spread(const struct clr_counting *counting, int portion, size_t *places, bool stores,
                   const atomic_bool *stop)
{
    const struct clr_bytes_run *run = run_of(counting, portion);
    struct item *items = counting->items;
    uint64_t hashes[CLR_COUNTING_BLOCK];
    size_t first, n, i;

    for (first = 0; (n = hash_block(counting, run, first, hashes, stop)) > 0; first += n) {
        for (i = 0; i < n; i++) {
            const size_t place = places[group_of(counting, hashes[i])]++;
            if (stores)
                items[place] = (struct item){hashes[i], run->addresses[first + i]};
        }
    }
}

static void count_group(const struct clr_counting *counting, int group, size_t first, size_t last,
                        struct clr_counter *counter, const atomic_bool *stop)
{
    struct clr_address_table *table = &counter->tables.addresses;
    const struct item *items = counting->items;

    (void)group;
    clr_address_table_clear(table);
    for (; first < last && counter->code == CLR_OK; first++) {
        counter->code = clr_address_table_add(table, items[first].hash, items[first].address, 1);
        if (first % CLR_COUNTING_BLOCK == 0 && clr_portion_stops(stop))
            return;
    }
    if (counter->code == CLR_OK)
        conclude(counting, counter, &counter->result);
}

static const struct clr_counting_kind bytes = {.item_size = sizeof(struct item),
                                               .group_values = 8192,
                                               .most_groups = 4096,
                                               .domains = 1,
                                               .begin = begin,
                                               .end = end,
                                               .count = count,
                                               .merge = merge,
                                               .conclude = conclude,
                                               .spread = spread,
                                               .count_group = count_group};

enum clr_code clr_portions_distinct_bytes(const struct clr_portions *portions,
                                          const struct clr_bytes_run *runs, bool with_mode,
                                          uint64_t memory, uint64_t seed,
                                          struct clr_distinct_result *result)
{
    struct clr_counting counting = {.kind = &bytes,
                                    .portions = portions,
                                    .values = runs,
                                    .with_mode = with_mode,
                                    .memory = memory,
                                    .seed = seed};
    int i;

    for (i = 0; i < portions->count; i++)
        counting.total += runs[i].count;
    return clr_counting_run(&counting, result);
}

#include "numeric/distinct/distinct_counting.h"

#include "base/memory.h"
#include "numeric/values/bytes.h"
#include "numeric/values/column.h"

#include <string.h>

/*
 * Few different values are counted by each portion for itself, and the counts added. Many are
 * scattered by a hash first, so that equal ones come together, into groups whose tables stay in a
 * processor's cache: radix partitioning, as of hash joins (Manegold, Boncz, Kersten, "Optimizing
 * main-memory join on modern hardware", 2002). All but the values themselves comes first: numbers
 * and bytes are described to it below.
 */

/* A different value: how often it is there, and one of the places where it is. */
struct address_slot {
    uint64_t hash;
    int64_t address; /* 0: the slot is free */
    uint64_t count;
};

/*
 * A set of TEXT and BLOBs by their addresses (numeric/values/bytes.h): an open-addressing hash
 * table with linear probing (Knuth, TAOCP 3, 6.4) from which none leaves.
 */
struct address_table {
    struct clr_budget *budget;
    struct address_slot *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t used;
};

/* Values that are taken out of a portion at a time, between two looks at whether to stop. */
enum { BLOCK_VALUES = 256 };

/* Different values that a portion counts for itself at the most. */
enum { FEW_DIFFERENT = 16384 };

/* Numbers that are whole have keys apart from those of the others. */
enum { DOMAIN_WHOLE, DOMAIN_FRACTIONAL, DOMAINS };

/* What a thread counts for itself. */
struct counter {
    struct clr_budget budget;
    union {
        struct clr_number_table numbers[DOMAINS];
        struct address_table addresses;
    } tables;
    enum clr_code code;
    struct clr_distinct_result result;
};

struct counting;

/* What values are. Each function works for one portion, in the thread of its counter. */
struct counting_kind {
    size_t item_size;      /* bytes of a value on its way to its group, a multiple of 8 */
    uint64_t group_values; /* a group has about so many values, as far as most_groups allows */
    int most_groups;       /* of each domain; a power of two */
    int domains;           /* values of different domains are never equal */

    /* Set up and free a counter's tables, which take their memory from its budget. */
    void (*begin)(struct counter *counter, uint64_t seed);
    void (*end)(struct counter *counter);

    /* Counts a portion's values. Sets counting->many and may stop when there are more than
       FEW_DIFFERENT different ones. */
    void (*count)(struct counting *counting, int portion, const atomic_bool *stop);

    /* Adds what another counter has. */
    enum clr_code (*merge)(struct counter *counter, const struct counter *other);

    /* Adds what is in the tables to a result, the mode only if counting->with_mode. */
    void (*conclude)(const struct counting *counting, const struct counter *counter,
                     struct clr_distinct_result *result);

    /* Goes through a portion's values, each of which advances places[g] by one, g being its group
       of all domains' groups; if it stores, it puts the value as an item where that was. */
    void (*spread)(const struct counting *counting, int portion, size_t *places, bool stores,
                   const atomic_bool *stop);

    /* Counts the items of a group, from first up to last, and adds them to the counter's result. */
    void (*count_group)(const struct counting *counting, int group, size_t first, size_t last,
                        struct counter *counter, const atomic_bool *stop);
};

struct counting {
    /* The caller's. */
    const struct counting_kind *kind;
    const struct clr_portions *portions;
    const void *values; /* the kind's own, beside the portions */
    uint64_t total;     /* how many values there are */
    bool with_mode;
    uint64_t memory; /* bytes that it may take */
    uint64_t seed;   /* as for clr_distinct_init() */

    struct counter *counters; /* one for each portion */
    atomic_bool many;
    int groups;      /* of each domain; a power of two */
    size_t *places;  /* for each portion and group: where it puts its next item */
    size_t *ends;    /* where a group ends among the items */
    void *items;     /* all, by group */
    atomic_int next; /* group to count */
};

enum { FIRST_CAPACITY = 256 };

/* Sets up an empty table without memory. */
static void address_table_init(struct address_table *table, struct clr_budget *budget)
{
    *table = (struct address_table){.budget = budget};
}

/* Empties the table, and keeps its memory. */
static void address_table_clear(struct address_table *table)
{
    if (table->capacity > 0)
        memset(table->slots, 0, table->capacity * sizeof *table->slots);
    table->used = 0;
}

/* Frees the table's memory; it is empty then. */
static void address_table_free(struct address_table *table)
{
    clr_budget_free(table->budget, table->slots, table->capacity * sizeof *table->slots);
    address_table_init(table, table->budget);
}

/* Gives the table so many slots, and keeps what it has. */
static enum clr_code grow(struct address_table *table, size_t capacity)
{
    const struct address_table old = *table;
    size_t i, slot;
    void *block;
    enum clr_code code;

    code = clr_budget_alloc_zero(table->budget, capacity * sizeof *table->slots, &block);
    if (code != CLR_OK)
        return code;
    table->slots = block;
    table->capacity = capacity;
    for (i = 0; i < old.capacity; i++) {
        if (old.slots[i].address == 0)
            continue;
        slot = old.slots[i].hash & (capacity - 1);
        while (table->slots[slot].address != 0)
            slot = (slot + 1) & (capacity - 1);
        table->slots[slot] = old.slots[i];
    }
    clr_budget_free(table->budget, old.slots, old.capacity * sizeof *old.slots);
    return CLR_OK;
}

static bool are_equal(int64_t a, int64_t b)
{
    const struct clr_value first = clr_bytes_value(a), second = clr_bytes_value(b);

    return a == b || clr_bytes_equal(&first, &second);
}

/* Adds a value, whose hash is that of clr_bytes_hash(), count times. Returns CLR_OK, or CLR_NOMEM
   or CLR_LIMIT and has not added it. */
static enum clr_code address_table_add(struct address_table *table, uint64_t hash, int64_t address,
                                       uint64_t count)
{
    enum clr_code code = CLR_OK;
    struct address_slot *slot;
    size_t i;

    if (table->used >= table->capacity / 2)
        code = grow(table, table->capacity == 0 ? FIRST_CAPACITY : 2 * table->capacity);
    if (code != CLR_OK)
        return code;
    for (i = hash & (table->capacity - 1);; i = (i + 1) & (table->capacity - 1)) {
        slot = &table->slots[i];
        if (slot->address == 0)
            break;
        if (slot->hash == hash && are_equal(slot->address, address)) {
            slot->count += count;
            return CLR_OK;
        }
    }
    *slot = (struct address_slot){hash, address, count};
    table->used++;
    return CLR_OK;
}

enum { LEAST_GROUPS = 64 };

static size_t all_groups(const struct counting *counting)
{
    return (size_t)counting->kind->domains * (size_t)counting->groups;
}

static size_t *places_of(const struct counting *counting, int portion)
{
    return counting->places + (size_t)portion * all_groups(counting);
}

/* Sets up a counter for each portion, which together may take so many bytes. */
static void begin_counters(struct counting *counting, uint64_t memory)
{
    const int count = counting->portions->count;
    int i;

    for (i = 0; i < count; i++) {
        struct counter *counter = &counting->counters[i];

        memset(counter, 0, sizeof *counter);
        counter->budget.limit = memory / (uint64_t)count;
        counting->kind->begin(counter, counting->seed);
    }
}

static void end_counters(struct counting *counting)
{
    int i;

    for (i = 0; i < counting->portions->count; i++)
        counting->kind->end(&counting->counters[i]);
}

/* Runs work on all portions. Returns the first code of a counter that is not CLR_OK, or
   CLR_STOPPED. */
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

static void count_portion(void *argument, int portion, const atomic_bool *stop)
{
    struct counting *counting = argument;

    counting->kind->count(counting, portion, stop);
}

/* Counts them, unless there are many. */
static enum clr_code count_few(struct counting *counting, struct clr_distinct_result *result)
{
    struct counter *first = &counting->counters[0];
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
    const struct counting *counting = argument;
    size_t *places = places_of(counting, portion);

    memset(places, 0, all_groups(counting) * sizeof *places);
    counting->kind->spread(counting, portion, places, false, stop);
}

/* Makes places of the counts: each group together, in it each portion. */
static void place_groups(const struct counting *counting)
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
    const struct counting *counting = argument;

    counting->kind->spread(counting, portion, places_of(counting, portion), true, stop);
}

/* Not of a portion: each thread takes groups as long as there are some. */
static void count_groups(void *argument, int portion, const atomic_bool *stop)
{
    struct counting *counting = argument;
    struct counter *counter = &counting->counters[portion];
    int group;

    while (counter->code == CLR_OK && !clr_portion_stops(stop)) {
        group = atomic_fetch_add(&counting->next, 1);
        if ((size_t)group >= all_groups(counting))
            break;
        counting->kind->count_group(counting, group, group == 0 ? 0 : counting->ends[group - 1],
                                    counting->ends[group], counter, stop);
    }
}

static enum clr_code run_groups(struct counting *counting, struct clr_distinct_result *result)
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

static enum clr_code count_many(struct counting *counting, struct clr_distinct_result *result)
{
    const struct counting_kind *kind = counting->kind;
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

/* Stores the result. Returns CLR_OK, CLR_NOMEM, CLR_LIMIT or CLR_STOPPED. */
static enum clr_code run_counting(struct counting *counting, struct clr_distinct_result *result)
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

/* ---- Numbers. */

/* A look at all keys of a portion, block by block. */
struct key_reader {
    struct clr_portion_reader numbers;
    size_t count[DOMAINS];
    uint64_t keys[DOMAINS][BLOCK_VALUES];
};

/* Fills the reader's keys; returns false at the end. */
static bool read_keys(struct key_reader *reader)
{
    const size_t count = clr_portion_next(&reader->numbers, BLOCK_VALUES);
    const struct clr_run *run = reader->numbers.run;
    int64_t room[BLOCK_VALUES];
    const void *values;
    size_t whole = count;

    if (count == 0)
        return false;
    values = clr_run_values(run, reader->numbers.position - count, count, room);
    if (run->kind == CLR_KIND_INTEGER)
        memcpy(reader->keys[DOMAIN_WHOLE], values, count * sizeof(int64_t));
    else
        whole = clr_distinct_keys(values, count, reader->keys[DOMAIN_WHOLE],
                                  reader->keys[DOMAIN_FRACTIONAL]);
    reader->count[DOMAIN_WHOLE] = whole;
    reader->count[DOMAIN_FRACTIONAL] = count - whole;
    return true;
}

static void begin_numbers(struct counter *counter, uint64_t seed)
{
    int domain;

    for (domain = 0; domain < DOMAINS; domain++)
        clr_number_table_init(&counter->tables.numbers[domain], &counter->budget, seed);
}

static void end_numbers(struct counter *counter)
{
    int domain;

    for (domain = 0; domain < DOMAINS; domain++)
        clr_number_table_free(&counter->tables.numbers[domain]);
}

static void count_numbers(struct counting *counting, int portion, const atomic_bool *stop)
{
    struct counter *counter = &counting->counters[portion];
    struct clr_number_table *tables = counter->tables.numbers;
    struct key_reader reader;
    int domain;

    /* Searches in a table that is nearly empty end at once. */
    for (domain = 0; domain < DOMAINS && counter->code == CLR_OK; domain++)
        if (counting->total > FEW_DIFFERENT)
            counter->code = clr_number_table_reserve(&tables[domain], FEW_DIFFERENT);
    clr_portion_begin(&reader.numbers, counting->portions, portion, stop);
    while (counter->code == CLR_OK && !atomic_load(&counting->many) && read_keys(&reader)) {
        for (domain = 0; domain < DOMAINS && counter->code == CLR_OK; domain++)
            counter->code =
                clr_number_table_add(&tables[domain], reader.keys[domain], reader.count[domain]);
        if (clr_number_table_size(&tables[DOMAIN_WHOLE]) +
                clr_number_table_size(&tables[DOMAIN_FRACTIONAL]) >
            FEW_DIFFERENT)
            atomic_store(&counting->many, true);
    }
}

static enum clr_code merge_numbers(struct counter *counter, const struct counter *other)
{
    enum clr_code code = CLR_OK;
    int domain;

    for (domain = 0; domain < DOMAINS && code == CLR_OK; domain++)
        code = clr_number_table_merge(&counter->tables.numbers[domain],
                                      &other->tables.numbers[domain]);
    return code;
}

/* The type of a whole number is of no account here. */
static struct clr_value value_of(int domain, uint64_t key)
{
    const uint8_t tag = domain == DOMAIN_FRACTIONAL ? CLR_TAG_REAL : CLR_TAG_INTEGER;

    return clr_number_value((struct clr_scalar){tag, (int64_t)key});
}

static void conclude_table(const struct counting *counting, const struct clr_number_table *table,
                           int domain, struct clr_distinct_result *result)
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

static void conclude_numbers(const struct counting *counting, const struct counter *counter,
                             struct clr_distinct_result *result)
{
    int domain;

    for (domain = 0; domain < DOMAINS; domain++)
        conclude_table(counting, &counter->tables.numbers[domain], domain, result);
}

/* Not the tables' hash: numbers of one group are to differ in that. */
static inline size_t group_of_number(const struct counting *counting, uint64_t key)
{
    uint64_t hash = (key ^ counting->seed) * UINT64_C(0xd6e8feb86659fd93);
    hash ^= hash >> 32;
    hash *= UINT64_C(0xd6e8feb86659fd93);
    return hash >> 32 & (size_t)(counting->groups - 1);
}

/* stores is a constant where this is inlined. */
static inline __attribute__((always_inline)) void spread_keys(const struct counting *counting,
                                                              int portion, size_t *places,
                                                              bool stores, const atomic_bool *stop)
{
    uint64_t *items = counting->items;
    struct key_reader reader;
    int domain;
    size_t i;

    clr_portion_begin(&reader.numbers, counting->portions, portion, stop);
    while (read_keys(&reader)) {
        for (domain = 0; domain < DOMAINS; domain++) {
            size_t *of_domain = places + (size_t)domain * (size_t)counting->groups;
            for (i = 0; i < reader.count[domain]; i++) {
                const uint64_t key = reader.keys[domain][i];
                const size_t place = of_domain[group_of_number(counting, key)]++;
                if (stores)
                    items[place] = key;
            }
        }
    }
}

static void spread_numbers(const struct counting *counting, int portion, size_t *places,
                           bool stores, const atomic_bool *stop)
{
    if (stores)
        spread_keys(counting, portion, places, true, stop);
    else
        spread_keys(counting, portion, places, false, stop);
}

static void count_number_group(const struct counting *counting, int group, size_t first,
                               size_t last, struct counter *counter, const atomic_bool *stop)
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
        n = last - first < BLOCK_VALUES ? last - first : BLOCK_VALUES;
        counter->code = clr_number_table_add(table, items + first, n);
    }
    if (counter->code == CLR_OK)
        conclude_table(counting, table, domain, &counter->result);
    clr_number_table_free(table);
}

static const struct counting_kind numbers = {.item_size = sizeof(uint64_t),
                                             .group_values = 32768,
                                             .most_groups = 512,
                                             .domains = DOMAINS,
                                             .begin = begin_numbers,
                                             .end = end_numbers,
                                             .count = count_numbers,
                                             .merge = merge_numbers,
                                             .conclude = conclude_numbers,
                                             .spread = spread_numbers,
                                             .count_group = count_number_group};

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
    int64_t room[BLOCK_VALUES];
    bool found = false;
    size_t count, i;

    clr_portion_begin(&reader, search->portions, portion, stop);
    while (!atomic_load(&search->found) && (count = clr_portion_next(&reader, BLOCK_VALUES)) > 0) {
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
    struct counting counting = {.kind = &numbers,
                                .portions = portions,
                                .total = clr_runs_count(portions->starts[0]),
                                .with_mode = with_mode,
                                .memory = memory,
                                .seed = seed};
    enum clr_code code = run_counting(&counting, result);

    return code == CLR_OK && result->count > 0 ? find_type(portions, &result->mode) : code;
}

/* ---- TEXT and BLOBs. */

/* A value on its way to a group. */
struct item {
    uint64_t hash;
    int64_t address;
};

static void begin_bytes(struct counter *counter, uint64_t seed)
{
    (void)seed; /* of the hashes, which the table is handed */
    address_table_init(&counter->tables.addresses, &counter->budget);
}

static void end_bytes(struct counter *counter)
{
    address_table_free(&counter->tables.addresses);
}

static const struct clr_bytes_run *run_of(const struct counting *counting, int portion)
{
    return (const struct clr_bytes_run *)counting->values + portion;
}

/* Stores the hashes of the next values of a run, from first on. Returns how many: 0 at its end, or
   where the work is to stop. */
static size_t hash_block(const struct counting *counting, const struct clr_bytes_run *run,
                         size_t first, uint64_t *hashes, const atomic_bool *stop)
{
    size_t n = run->count - first < BLOCK_VALUES ? run->count - first : BLOCK_VALUES, i;

    if (clr_portion_stops(stop))
        return 0;
    for (i = 0; i < n; i++) {
        const struct clr_value value = clr_bytes_value(run->addresses[first + i]);
        hashes[i] = clr_bytes_hash(&value, counting->seed);
    }
    return n;
}

static void count_bytes(struct counting *counting, int portion, const atomic_bool *stop)
{
    struct counter *counter = &counting->counters[portion];
    struct address_table *table = &counter->tables.addresses;
    const struct clr_bytes_run *run = run_of(counting, portion);
    uint64_t hashes[BLOCK_VALUES];
    size_t first, n, i;

    for (first = 0; (n = hash_block(counting, run, first, hashes, stop)) > 0; first += n) {
        for (i = 0; i < n && counter->code == CLR_OK; i++)
            counter->code = address_table_add(table, hashes[i], run->addresses[first + i], 1);
        if (table->used > FEW_DIFFERENT)
            atomic_store(&counting->many, true);
        if (counter->code != CLR_OK || atomic_load(&counting->many))
            break;
    }
}

static enum clr_code merge_bytes(struct counter *counter, const struct counter *other)
{
    const struct address_table *table = &other->tables.addresses;
    enum clr_code code = CLR_OK;
    size_t i;

    for (i = 0; i < table->capacity && code == CLR_OK; i++) {
        const struct address_slot *slot = &table->slots[i];
        if (slot->address != 0)
            code = address_table_add(&counter->tables.addresses, slot->hash, slot->address,
                                     slot->count);
    }
    return code;
}

static void conclude_bytes(const struct counting *counting, const struct counter *counter,
                           struct clr_distinct_result *result)
{
    const struct address_table *table = &counter->tables.addresses;
    size_t i;

    result->size += table->used;
    for (i = 0; i < table->capacity && counting->with_mode; i++) {
        const struct address_slot *slot = &table->slots[i];
        struct clr_value value;

        if (slot->address == 0 || slot->count < result->count)
            continue;
        value = clr_bytes_value(slot->address);
        clr_distinct_consider(result, slot->count, &value);
    }
}

/* By the upper bits, since the table takes the lower ones. */
static size_t group_of_hash(const struct counting *counting, uint64_t hash)
{
    return hash >> (64 - __builtin_ctz((unsigned)counting->groups));
}

static void spread_bytes(const struct counting *counting, int portion, size_t *places, bool stores,
                         const atomic_bool *stop)
{
    const struct clr_bytes_run *run = run_of(counting, portion);
    struct item *items = counting->items;
    uint64_t hashes[BLOCK_VALUES];
    size_t first, n, i;

    for (first = 0; (n = hash_block(counting, run, first, hashes, stop)) > 0; first += n) {
        for (i = 0; i < n; i++) {
            const size_t place = places[group_of_hash(counting, hashes[i])]++;
            if (stores)
                items[place] = (struct item){hashes[i], run->addresses[first + i]};
        }
    }
}

static void count_byte_group(const struct counting *counting, int group, size_t first, size_t last,
                             struct counter *counter, const atomic_bool *stop)
{
    struct address_table *table = &counter->tables.addresses;
    const struct item *items = counting->items;

    (void)group;
    address_table_clear(table);
    for (; first < last && counter->code == CLR_OK; first++) {
        counter->code = address_table_add(table, items[first].hash, items[first].address, 1);
        if (first % BLOCK_VALUES == 0 && clr_portion_stops(stop))
            return;
    }
    if (counter->code == CLR_OK)
        conclude_bytes(counting, counter, &counter->result);
}

static const struct counting_kind bytes = {.item_size = sizeof(struct item),
                                           .group_values = 8192,
                                           .most_groups = 4096,
                                           .domains = 1,
                                           .begin = begin_bytes,
                                           .end = end_bytes,
                                           .count = count_bytes,
                                           .merge = merge_bytes,
                                           .conclude = conclude_bytes,
                                           .spread = spread_bytes,
                                           .count_group = count_byte_group};

enum clr_code clr_portions_distinct_bytes(const struct clr_portions *portions,
                                          const struct clr_bytes_run *runs, bool with_mode,
                                          uint64_t memory, uint64_t seed,
                                          struct clr_distinct_result *result)
{
    struct counting counting = {.kind = &bytes,
                                .portions = portions,
                                .values = runs,
                                .with_mode = with_mode,
                                .memory = memory,
                                .seed = seed};
    int i;

    for (i = 0; i < portions->count; i++)
        counting.total += runs[i].count;
    return run_counting(&counting, result);
}

#include "numeric/distinct_counting.h"

void clr_key_reader_begin(struct clr_key_reader *reader, const struct clr_counting *counting,
                          int portion, const atomic_bool *stop)
{
    reader->run = counting->portions->starts[portion];
    reader->end = counting->portions->starts[portion + 1];
    reader->position = 0;
    reader->stop = stop;
}

bool clr_key_reader_next(struct clr_key_reader *reader)
{
    size_t count, whole = 0, i;

    while (reader->run != reader->end && reader->position == reader->run->count) {
        reader->run = reader->run->next;
        reader->position = 0;
    }
    if (reader->run == reader->end || clr_portion_stops(reader->stop))
        return false;
    count = reader->run->count - reader->position;
    count = count < CLR_KEY_BLOCK ? count : CLR_KEY_BLOCK;
    if (reader->run->kind == CLR_KIND_INTEGER) {
        memcpy(reader->keys[CLR_DOMAIN_WHOLE],
               (const int64_t *)reader->run->values + reader->position, count * sizeof(int64_t));
        whole = count;
    } else {
        const clr_stored_real *reals =
            (const clr_stored_real *)reader->run->values + reader->position;
        for (i = 0; i < count; i++) {
            uint64_t key;
            bool is_whole = clr_distinct_key(reals[i], &key);
            reader->keys[CLR_DOMAIN_WHOLE][whole] = key;
            reader->keys[CLR_DOMAIN_FRACTIONAL][i - whole] = key;
            whole += is_whole;
        }
    }
    reader->count[CLR_DOMAIN_WHOLE] = whole;
    reader->count[CLR_DOMAIN_FRACTIONAL] = count - whole;
    reader->position += count;
    return true;
}

static void begin_counter(struct clr_key_counter *counter, uint64_t memory, uint64_t seed)
{
    int domain;

    memset(counter, 0, sizeof *counter);
    counter->budget.limit = memory;
    for (domain = 0; domain < CLR_DOMAINS; domain++)
        clr_number_table_init(&counter->tables[domain], &counter->budget, seed);
}

static void end_counter(struct clr_key_counter *counter)
{
    int domain;

    for (domain = 0; domain < CLR_DOMAINS; domain++)
        clr_number_table_free(&counter->tables[domain]);
}

void clr_counting_begin(struct clr_counting *counting, uint64_t memory)
{
    const int count = counting->portions->count;
    int i;

    for (i = 0; i < count; i++)
        begin_counter(&counting->counters[i], memory / (uint64_t)count, counting->seed);
}

void clr_counting_end(struct clr_counting *counting)
{
    int i;

    for (i = 0; i < counting->portions->count; i++)
        end_counter(&counting->counters[i]);
}

enum clr_code clr_counting_run(struct clr_counting *counting, clr_portion_work *work)
{
    enum clr_code code = CLR_OK;
    int i;

    if (!clr_portions_run(counting->portions, work, counting))
        return CLR_STOPPED;
    for (i = 0; i < counting->portions->count && code == CLR_OK; i++)
        code = counting->counters[i].code;
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

void clr_counting_conclude(const struct clr_counting *counting,
                           const struct clr_number_table *table, int domain,
                           struct clr_distinct_result *result)
{
    uint64_t key, count;
    size_t position = 0;

    result->size += clr_number_table_size(table);
    while (counting->with_mode && clr_number_table_next(table, &position, &key, &count)) {
        /* Few are frequent enough to be worth more than this look. */
        if (count >= result->count) {
            struct clr_value value = value_of(domain, key);
            clr_distinct_consider(result, count, &value);
        }
    }
}

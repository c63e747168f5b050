#include "numeric/distinct_portions.h"

#include "base/memory.h"
#include "numeric/distinct_counting.h"

/* Different numbers that a portion counts for itself at the most. */
enum { FEW = 16384 };

static uint64_t counter_size(const struct clr_key_counter *counter)
{
    return clr_number_table_size(&counter->tables[CLR_DOMAIN_WHOLE]) +
           clr_number_table_size(&counter->tables[CLR_DOMAIN_FRACTIONAL]);
}

static void count_portion(void *argument, int portion, const atomic_bool *stop)
{
    struct clr_counting *counting = argument;
    struct clr_key_counter *counter = &counting->counters[portion];
    struct clr_key_reader reader;
    int domain;

    /* Searches in a table that is nearly empty end at once. */
    for (domain = 0; domain < CLR_DOMAINS && counter->code == CLR_OK; domain++)
        if (counting->total > FEW)
            counter->code = clr_number_table_reserve(&counter->tables[domain], FEW);
    clr_key_reader_begin(&reader, counting, portion, stop);
    while (counter->code == CLR_OK && !atomic_load(&counting->many) &&
           clr_key_reader_next(&reader)) {
        for (domain = 0; domain < CLR_DOMAINS && counter->code == CLR_OK; domain++)
            counter->code = clr_number_table_add(&counter->tables[domain], reader.keys[domain],
                                                 reader.count[domain]);
        if (counter_size(counter) > FEW)
            atomic_store(&counting->many, true);
    }
}

/* Counts them, unless there are many. */
static enum clr_code count_few(struct clr_counting *counting, struct clr_distinct_result *result)
{
    struct clr_key_counter *first = &counting->counters[0];
    enum clr_code code = clr_counting_run(counting, count_portion);
    int domain, i;

    for (domain = 0; domain < CLR_DOMAINS && !atomic_load(&counting->many); domain++) {
        for (i = 1; i < counting->portions->count && code == CLR_OK; i++)
            code = clr_number_table_merge(&first->tables[domain],
                                          &counting->counters[i].tables[domain]);
        if (code == CLR_OK)
            clr_counting_conclude(counting, &first->tables[domain], domain, result);
    }
    return code;
}

static void look_for_integer(void *argument, int portion, const atomic_bool *stop)
{
    struct clr_counting *counting = argument;
    const struct clr_run *run = counting->portions->starts[portion];
    const struct clr_run *end = counting->portions->starts[portion + 1];
    size_t position, i, n;
    bool found = false;

    for (; run != end; run = run->next) {
        const int64_t *integers = run->values;
        if (run->kind != CLR_KIND_INTEGER)
            continue;
        for (position = 0; position < run->count; position += n) {
            n = run->count - position < CLR_KEY_BLOCK ? run->count - position : CLR_KEY_BLOCK;
            for (i = position; i < position + n; i++)
                found |= integers[i] == counting->sought;
            if (found || atomic_load(&counting->found) || clr_portion_stops(stop))
                break;
        }
    }
    if (found)
        atomic_store(&counting->found, true);
}

/* A whole number is REAL if none of those equal to it is an INTEGER. */
static enum clr_code find_type(struct clr_counting *counting, struct clr_value *mode)
{
    if (mode->kind != CLR_KIND_INTEGER)
        return CLR_OK;
    counting->sought = mode->as.integer;
    atomic_init(&counting->found, false);
    if (!clr_portions_run(counting->portions, look_for_integer, counting))
        return CLR_STOPPED;
    if (!atomic_load(&counting->found)) {
        mode->kind = CLR_KIND_REAL;
        mode->as.real = (double)counting->sought;
    }
    return CLR_OK;
}

enum clr_code clr_portions_distinct(const struct clr_portions *portions, bool with_mode,
                                    uint64_t memory, uint64_t seed,
                                    struct clr_distinct_result *result)
{
    struct clr_counting counting = {.portions = portions, .with_mode = with_mode, .seed = seed};
    enum clr_code code;

    memset(result, 0, sizeof *result);
    counting.total = clr_runs_count(portions->starts[0]);
    atomic_init(&counting.many, false);
    counting.counters = clr_memory_alloc((size_t)portions->count * sizeof *counting.counters);
    if (counting.counters == NULL)
        return CLR_NOMEM;
    clr_counting_begin(&counting, memory);
    code = count_few(&counting, result);
    clr_counting_end(&counting);
    if (code == CLR_OK && atomic_load(&counting.many)) {
        memset(result, 0, sizeof *result);
        code = clr_counting_many(&counting, memory, result);
    }
    if (code == CLR_OK && result->count > 0)
        code = find_type(&counting, &result->mode);
    clr_memory_free(counting.counters);
    return code;
}

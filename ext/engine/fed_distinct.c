#include "engine/fed_distinct.h"

#include "engine/choice.h"

#include <string.h>

/* How many different values make it worth a look whether a device is to count them. */
enum { FIRST_LOOK = 16384 };

void clr_fed_distinct_init(struct clr_fed_distinct *fed, struct clr_distinct *distinct,
                           struct clr_budget *budget, const struct clr_settings *settings)
{
    fed->distinct = distinct;
    fed->settings = settings;
    fed->keeping = fed->reals = fed->integers = false;
    fed->count = 0;
    fed->look = FIRST_LOOK;
    clr_kept_init(&fed->kept, budget);
    memset(&fed->feed, 0, sizeof fed->feed);
    memset(&fed->order, 0, sizeof fed->order);
}

void clr_fed_distinct_end(struct clr_fed_distinct *fed)
{
    clr_fed_order_end(&fed->order);
    clr_kept_clear(&fed->kept);
    clr_fed_distinct_init(fed, fed->distinct, fed->kept.budget, fed->settings);
}

/* How many numbers of the kind there is room for. */
static size_t room_for(const struct clr_kept_feed *feed, enum clr_kind kind)
{
    return kind == CLR_KIND_REAL ? (size_t)(feed->real_end - feed->real)
                                 : (size_t)(feed->integer_end - feed->integer);
}

/* Keeps numbers for as long as there is memory: *numbers and *count are what is left. */
static enum clr_code keep(struct clr_fed_distinct *fed, enum clr_kind kind, const char **numbers,
                          size_t *count)
{
    struct clr_kept_feed *feed = &fed->feed;
    enum clr_code code = CLR_OK;

    while (*count > 0 && code == CLR_OK) {
        size_t room = room_for(feed, kind), part = *count < room ? *count : room;

        if (room == 0) {
            clr_fed_order_offer(&fed->order, &fed->kept, feed, fed->settings);
            code = clr_kept_make_room(&fed->kept, feed, kind);
            continue;
        }
        if (kind == CLR_KIND_REAL) {
            memcpy(feed->real, *numbers, part * sizeof *feed->real);
            feed->real += part;
        } else {
            memcpy(feed->integer, *numbers, part * sizeof *feed->integer);
            feed->integer += part;
        }
        *numbers += part * sizeof(int64_t);
        *count -= part;
    }
    return code;
}

static enum clr_code count_numbers(struct clr_fed_distinct *fed, enum clr_kind kind,
                                   const void *numbers, size_t count)
{
    return kind == CLR_KIND_REAL ? clr_distinct_add_reals(fed->distinct, numbers, count)
                                 : clr_distinct_add_integers(fed->distinct, numbers, count);
}

enum clr_code clr_fed_distinct_add(struct clr_fed_distinct *fed, enum clr_kind kind,
                                   const void *numbers, size_t count)
{
    const char *left = numbers;
    enum clr_code code = CLR_OK;

    if (count == 0)
        return CLR_OK;
    fed->count += count;
    *(kind == CLR_KIND_REAL ? &fed->reals : &fed->integers) = true;
    /* Numbers of two types have no order on a device; and if memory is short, the tables may take
       less. */
    if (fed->keeping && ((fed->reals && fed->integers) || keep(fed, kind, &left, &count) != CLR_OK))
        code = clr_fed_distinct_fold(fed);
    return code == CLR_OK && !fed->keeping ? count_numbers(fed, kind, left, count) : code;
}

/* From the tables to the store: each number as often as it is there, if that is known. */
static enum clr_code take_out(struct clr_fed_distinct *fed)
{
    struct clr_distinct_cursor cursor = {0};
    enum clr_code code = CLR_OK;

    while (code == CLR_OK && clr_distinct_next(fed->distinct, &cursor)) {
        const enum clr_kind kind = fed->reals ? CLR_KIND_REAL : CLR_KIND_INTEGER;
        struct clr_value value = cursor.value;

        /* Whole numbers are all the same in the tables. */
        if (fed->reals && value.kind == CLR_KIND_INTEGER)
            value.as.real = (double)value.as.integer;
        for (; cursor.count > 0 && code == CLR_OK; cursor.count--) {
            const char *number = (const char *)&value.as;
            size_t one = 1;
            code = keep(fed, kind, &number, &one);
        }
    }
    return code;
}

void clr_fed_distinct_consider(struct clr_fed_distinct *fed)
{
    const uint64_t size = clr_distinct_size(fed->distinct);
    const struct clr_device_info *info;

    if (fed->keeping || size < fed->look)
        return;
    fed->look *= 2;
    if ((fed->reals && fed->integers) || fed->distinct->bytes.used > 0 || size < fed->count / 2 ||
        clr_choose_device(fed->settings, fed->count, &info) == NULL)
        return;
    if (take_out(fed) != CLR_OK) {
        /* All numbers are in the tables still. */
        clr_fed_order_end(&fed->order);
        clr_kept_clear(&fed->kept);
        memset(&fed->feed, 0, sizeof fed->feed);
        fed->look = UINT64_MAX;
        return;
    }
    clr_distinct_clear(fed->distinct, fed->distinct->typed);
    fed->keeping = true;
}

enum clr_code clr_fed_distinct_fold(struct clr_fed_distinct *fed)
{
    const struct clr_run *run;
    enum clr_code code = CLR_OK;

    clr_fed_order_end(&fed->order);
    clr_kept_runs(&fed->kept, &fed->feed);
    if (!fed->distinct->typed)
        code = clr_distinct_forget_counts(fed->distinct);
    while (code == CLR_OK && fed->kept.blocks != NULL) {
        struct clr_kept_block *block = clr_kept_block_retain(fed->kept.blocks);
        /* First, so that the tables can have what it took of the budget. */
        clr_kept_drop_newest(&fed->kept);
        code = count_numbers(fed, block->run.kind, block->run.values, block->run.count);
        clr_kept_block_release(block);
    }
    /* The two that are not in blocks. */
    for (run = &fed->kept.first_reals; run != NULL && code == CLR_OK; run = run->next)
        code = count_numbers(fed, run->kind, run->values, run->count);
    clr_kept_clear(&fed->kept);
    memset(&fed->feed, 0, sizeof fed->feed);
    fed->keeping = false;
    fed->look = UINT64_MAX;
    return code;
}

bool clr_fed_distinct_ask(struct clr_fed_distinct *fed, struct clr_stats *stats,
                          struct clr_runs *runs, struct clr_value *mode)
{
    struct clr_order order = {.rank_count = 0};

    if (!fed->keeping ||
        !clr_fed_order_ask(&fed->order, &fed->kept, &fed->feed, fed->settings, stats, &order))
        return false;
    *runs = order.runs;
    *mode = clr_sort_key_to_value(fed->reals ? CLR_KIND_REAL : CLR_KIND_INTEGER, order.runs.mode);
    return true;
}

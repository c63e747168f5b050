#include "engine/rows/fed_distinct.h"

#include "base/memory.h"
#include "engine/worker/runtime.h"

#include <string.h>

/*
 * Numbers are kept if there are many of them (clr_choice_are_many()), and FIRST_LOOK different
 * ones, which make up half of them or more. Whether that is still so is looked at when RECOUNT
 * times as many have come, and so on. MEMORY_SHARE: what they take at the most of the memory that
 * is allowed, as counting takes as much again, and the tables come after it.
 */
enum { FIRST_LOOK = 16384, RECOUNT = 8, MEMORY_SHARE = 4 };

void clr_fed_distinct_init(struct clr_fed_distinct *fed, struct clr_distinct *distinct,
                           struct clr_budget *budget, const struct clr_settings *settings)
{
    fed->distinct = distinct;
    fed->settings = settings;
    fed->keeping = false;
    fed->count = 0;
    fed->look = FIRST_LOOK;
    clr_kept_init(&fed->kept, budget);
    memset(&fed->feed, 0, sizeof fed->feed);
}

void clr_fed_distinct_end(struct clr_fed_distinct *fed)
{
    clr_kept_clear(&fed->kept);
    clr_fed_distinct_init(fed, fed->distinct, fed->kept.budget, fed->settings);
}

/* How many numbers of the kind there is room for. */
static size_t room_for(const struct clr_feed *feed, enum clr_kind kind)
{
    return kind == CLR_KIND_REAL ? (size_t)(feed->real_end - feed->real)
                                 : (size_t)(feed->integer_end - feed->integer);
}

/* Keeps numbers for as long as there is memory: *numbers and *count are what is left. */
static enum clr_code keep(struct clr_fed_distinct *fed, enum clr_kind kind, const char **numbers,
                          size_t *count)
{
    struct clr_feed *feed = &fed->feed;
    enum clr_code code = CLR_OK;

    while (*count > 0 && code == CLR_OK) {
        size_t room = room_for(feed, kind), part = *count < room ? *count : room;

        if (room == 0) {
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

static bool takes_too_much(const struct clr_fed_distinct *fed)
{
    return fed->count > fed->kept.budget->limit / (MEMORY_SHARE * sizeof(int64_t));
}

enum clr_code clr_fed_distinct_add(struct clr_fed_distinct *fed, enum clr_kind kind,
                                   const void *numbers, size_t count)
{
    const char *left = numbers;
    enum clr_code code = CLR_OK;

    if (count == 0)
        return CLR_OK;
    fed->count += count;
    /* If many are equal, the tables take less. */
    if (fed->keeping && (takes_too_much(fed) || keep(fed, kind, &left, &count) != CLR_OK))
        code = clr_fed_distinct_fold(fed, NULL);
    return code == CLR_OK && !fed->keeping
               ? clr_distinct_add_numbers(fed->distinct, kind, left, count)
               : code;
}

/* From the tables to the store: each number as often as it is there. */
static enum clr_code take_out(struct clr_fed_distinct *fed)
{
    struct clr_distinct_cursor cursor = {0};
    enum clr_code code = CLR_OK;

    while (code == CLR_OK && clr_distinct_next(fed->distinct, &cursor)) {
        for (; cursor.count > 0 && code == CLR_OK; cursor.count--) {
            const char *number = (const char *)&cursor.value.as;
            size_t one = 1;
            code = keep(fed, cursor.value.kind, &number, &one);
        }
    }
    return code;
}

static void drop_kept(struct clr_fed_distinct *fed)
{
    clr_kept_clear(&fed->kept);
    memset(&fed->feed, 0, sizeof fed->feed);
}

static void begin_keeping(struct clr_fed_distinct *fed)
{
    if (take_out(fed) != CLR_OK) {
        /* All numbers are in the tables still. */
        drop_kept(fed);
        fed->look = UINT64_MAX;
        return;
    }
    clr_distinct_free(fed->distinct);
    fed->keeping = true;
    fed->look = RECOUNT * fed->count;
}

enum clr_code clr_fed_distinct_count(struct clr_fed_distinct *fed, bool with_mode,
                                     const struct clr_watch *watch,
                                     struct clr_distinct_result *result)
{
    const struct clr_budget *budget = fed->kept.budget;
    struct clr_team_portions team;

    clr_team_portions_divide(&team, clr_kept_runs(&fed->kept, &fed->feed), watch);
    return clr_portions_distinct(&team.portions, with_mode,
                                 budget->limit > budget->used ? budget->limit - budget->used : 0,
                                 fed->distinct->whole.seed, result);
}

/* Whether what is kept is still worth it. */
static enum clr_code recount(struct clr_fed_distinct *fed, const struct clr_watch *watch)
{
    struct clr_distinct_result result;
    enum clr_code code = clr_fed_distinct_count(fed, false, watch, &result);

    fed->look *= RECOUNT;
    if (code == CLR_STOPPED || (code == CLR_OK && result.size >= fed->count / 2))
        return code;
    return clr_fed_distinct_fold(fed, watch);
}

enum clr_code clr_fed_distinct_consider(struct clr_fed_distinct *fed, const struct clr_watch *watch)
{
    const uint64_t size = clr_distinct_size(fed->distinct);

    if (fed->keeping)
        return fed->count >= fed->look ? recount(fed, watch) : CLR_OK;
    if (size < fed->look)
        return CLR_OK;
    fed->look *= 2;
    if (clr_choice_are_many(fed->settings, fed->count) && size >= fed->count / 2 &&
        fed->distinct->bytes.used == 0 && !takes_too_much(fed))
        begin_keeping(fed);
    return CLR_OK;
}

enum clr_code clr_fed_distinct_fold(struct clr_fed_distinct *fed, const struct clr_watch *watch)
{
    struct clr_kept_block *block, *next;
    enum clr_code code = CLR_OK;

    clr_kept_runs(&fed->kept, &fed->feed);
    /* Out of the budget first: the tables get what they would have had without them. */
    block = clr_kept_take_blocks(&fed->kept);
    for (; block != NULL; block = next) {
        next = block->next;
        if (code == CLR_OK && watch != NULL && watch->wants_stop(watch->context))
            code = CLR_STOPPED;
        if (code == CLR_OK)
            code = clr_distinct_add_numbers(fed->distinct, block->run.kind, block->run.values,
                                            block->run.count);
        clr_memory_free(block);
    }
    drop_kept(fed);
    fed->keeping = false;
    fed->look = UINT64_MAX;
    return code;
}

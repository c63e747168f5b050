#include "numeric/groups/groups_private.h"

#include "base/memory.h"
#include "numeric/groups/order.h"
#include "numeric/groups/sorted.h"

#include <string.h>

/* WORTH: groups that are worth a thread. PIECE: between two looks at whether to stop. AHEAD: keys
   that are looked for together. NEAR: places that are merged together. */
enum { WORTH = 8192, PIECE = 4096, AHEAD = 64, NEAR = 512 };

/* What the workers of a merge share. */
struct merge {
    struct clr_groups *groups;
    int workers;
    size_t counts[CLR_GROUP_PARTS]; /* of each worker's groups */
    enum clr_scan_outcome outcomes[CLR_GROUP_PARTS];
    struct clr_room firsts[CLR_GROUP_PARTS]; /* uint64_t: part and number of each group's record */
    /* The hashes and numbers of a part's keys, struct clr_group_item, those of each worker
       together; and where its begin. */
    struct clr_room keys[CLR_GROUP_PARTS];
    uint32_t starts[CLR_GROUP_PARTS][CLR_GROUP_PARTS + 1];
    bool maps;
};

static enum clr_scan_outcome worst(const struct merge *merge, bool finished)
{
    int i;

    for (i = 0; i < merge->workers; i++)
        if (merge->outcomes[i] != CLR_SCAN_DONE)
            return merge->outcomes[i];
    return finished ? CLR_SCAN_DONE : CLR_SCAN_STOPPED;
}

/* ---- Places: each worker has some. */

static void find_bounds(const struct merge *merge, int worker, size_t *first, size_t *last)
{
    const uint64_t places = merge->groups->plan.places;

    *first = (size_t)(places * (uint64_t)worker / (uint64_t)merge->workers);
    *last = (size_t)(places * ((uint64_t)worker + 1) / (uint64_t)merge->workers);
}

/* Adds the records of a part at these places to those of the first part. */
static void merge_some_places(const struct clr_groups *groups, int part, size_t first, size_t last)
{
    const struct clr_group_part *from = groups->parts[part];
    const uint64_t *others = from->first_rows.start;
    uint64_t *first_rows = groups->parts[0]->first_rows.start;
    size_t i;

    for (i = first; i < last; i++) {
        const int64_t *other = clr_group_part_record(from, i);

        if (other[0] == 0)
            continue;
        clr_group_record_add(&groups->plan, other, clr_group_part_record(groups->parts[0], i));
        if (others != NULL && others[i] < first_rows[i])
            first_rows[i] = others[i];
    }
}

/* One part after the other, for so many places that the first part's records stay in a cache. */
static void merge_places(void *argument, int worker, const atomic_bool *stop)
{
    struct merge *merge = argument;
    struct clr_groups *groups = merge->groups;
    size_t first, last, end, count = 0;
    int part;

    find_bounds(merge, worker, &first, &last);
    while (first < last) {
        if (clr_portion_stops(stop)) {
            merge->outcomes[worker] = CLR_SCAN_STOPPED;
            return;
        }
        end = last - first < NEAR ? last : first + NEAR;
        for (part = 1; part < groups->part_count; part++)
            merge_some_places(groups, part, first, end);
        for (; first < end; first++)
            count += clr_group_part_record(groups->parts[0], first)[0] != 0;
    }
    merge->counts[worker] = count;
}

static void list_places(void *argument, int worker, const atomic_bool *stop)
{
    struct merge *merge = argument;
    uint32_t *places = merge->groups->places.start;
    size_t first, last, next = 0, i;
    int w;

    for (w = 0; w < worker; w++)
        next += merge->counts[w];
    find_bounds(merge, worker, &first, &last);
    for (i = first; i < last; i++) {
        if (i % PIECE == 0 && clr_portion_stops(stop)) {
            merge->outcomes[worker] = CLR_SCAN_STOPPED;
            return;
        }
        if (clr_group_part_record(merge->groups->parts[0], i)[0] != 0)
            places[next++] = (uint32_t)i;
    }
}

static enum clr_scan_outcome merge_directly(struct merge *merge, const struct clr_group_team *team)
{
    struct clr_groups *groups = merge->groups;
    enum clr_scan_outcome outcome;
    int w;

    outcome = worst(merge, team->run(team->context, merge->workers, merge_places, merge));
    for (w = 0; w < merge->workers; w++)
        groups->count += merge->counts[w];
    if (outcome == CLR_SCAN_DONE)
        outcome = clr_room_make(&groups->places, &groups->memory, groups->count * sizeof(uint32_t));
    if (outcome == CLR_SCAN_DONE)
        outcome = worst(merge, team->run(team->context, merge->workers, list_places, merge));
    return outcome;
}

/* ---- Tables: each worker has the keys of some hashes. Of several records of a group the first
   part's becomes the group's, and others are added to it. */

static inline int worker_of(const struct merge *merge, uint64_t hash)
{
    return (int)((uint32_t)hash % (uint32_t)merge->workers);
}

/* Lists the keys of a part for the workers: none of them looks at those of the others. */
static void list_keys(void *argument, int part, const atomic_bool *stop)
{
    struct merge *merge = argument;
    const struct clr_groups *groups = merge->groups;
    const struct clr_group_table *from = &groups->parts[part]->numbers.table;
    struct clr_group_item *items = merge->keys[part].start;
    uint32_t *starts = merge->starts[part], next[CLR_GROUP_PARTS] = {0};
    size_t i;
    int pass, w;

    for (pass = 0; pass < 2; pass++) {
        for (i = 0; i < from->count; i++) {
            const uint64_t hash = clr_group_hash_key(&groups->plan, clr_group_table_key(from, i));

            if (i % PIECE == 0 && clr_portion_stops(stop))
                return;
            w = worker_of(merge, hash);
            if (pass == 1)
                items[next[w]] = (struct clr_group_item){hash, (uint32_t)i, 0};
            next[w]++;
        }
        for (w = 0; w < merge->workers && pass == 0; w++) {
            starts[w + 1] = starts[w] + next[w];
            next[w] = starts[w];
        }
    }
}

static enum clr_scan_outcome make_room(struct merge *merge, int worker, size_t more)
{
    struct clr_group_table *table = &merge->groups->tables[worker];
    enum clr_scan_outcome outcome = clr_group_table_make_room(table, more);

    if (outcome == CLR_SCAN_DONE)
        outcome = clr_room_take(&merge->firsts[worker], &merge->groups->memory,
                                table->key_capacity * sizeof(uint64_t));
    return outcome;
}

/* Fetches what the keys are likely to be looked for in, one thing after the other. */
static void fetch_batch(const struct merge *merge, int worker, const struct clr_group_item *batch,
                        size_t count)
{
    const struct clr_group_table *table = &merge->groups->tables[worker];
    const uint64_t *firsts = merge->firsts[worker].start;
    uint32_t guess;
    size_t i;

    for (i = 0; i < count; i++)
        clr_group_table_fetch(table, batch[i].key);
    for (i = 0; i < count; i++) {
        guess = clr_group_table_guess(table, batch[i].key);
        if (guess == 0)
            continue;
        __builtin_prefetch(clr_group_table_key(table, guess - 1));
        __builtin_prefetch(&firsts[guess - 1]);
    }
    for (i = 0; i < count; i++) {
        guess = clr_group_table_guess(table, batch[i].key);
        if (guess != 0)
            __builtin_prefetch(clr_groups_first_record(merge->groups, firsts[guess - 1]), 1);
    }
}

static enum clr_scan_outcome merge_batch(struct merge *merge, int worker, int part,
                                         const struct clr_group_item *batch, size_t batch_count)
{
    struct clr_groups *groups = merge->groups;
    struct clr_group_table *table = &groups->tables[worker];
    const struct clr_group_part *from = groups->parts[part];
    enum clr_scan_outcome outcome = make_room(merge, worker, batch_count);
    uint64_t *firsts = merge->firsts[worker].start;
    size_t i;

    if (outcome == CLR_SCAN_DONE)
        fetch_batch(merge, worker, batch, batch_count);
    for (i = 0; i < batch_count && outcome == CLR_SCAN_DONE; i++) {
        const size_t count = table->count;
        const uint64_t *key = clr_group_table_key(&from->numbers.table, batch[i].number);
        const uint32_t number = clr_group_table_find(table, batch[i].key, key, table->width);
        const int64_t *record = clr_group_part_record(from, batch[i].number);

        if (table->count > count) {
            firsts[number] = (uint64_t)part << 32 | batch[i].number;
        } else {
            clr_group_record_add(&groups->plan, record,
                                 clr_groups_first_record(groups, firsts[number]));
        }
        if (merge->maps)
            ((uint32_t *)groups->merged[part].start)[batch[i].number] =
                number * (uint32_t)merge->workers + (uint32_t)worker;
    }
    return outcome;
}

static enum clr_scan_outcome merge_part(struct merge *merge, int worker, int part,
                                        const atomic_bool *stop)
{
    const struct clr_group_item *items = merge->keys[part].start;
    const size_t last = merge->starts[part][worker + 1];
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    size_t first = merge->starts[part][worker], count;

    for (; first < last && outcome == CLR_SCAN_DONE; first += count) {
        if (clr_portion_stops(stop))
            return CLR_SCAN_STOPPED;
        count = last - first < AHEAD ? last - first : AHEAD;
        outcome = merge_batch(merge, worker, part, items + first, count);
    }
    return outcome;
}

static void merge_tables(void *argument, int worker, const atomic_bool *stop)
{
    struct merge *merge = argument;
    struct clr_groups *groups = merge->groups;
    struct clr_group_table *table = &groups->tables[worker];
    enum clr_scan_outcome outcome;
    size_t most = 0, largest = 0;
    int part;

    for (part = 0; part < groups->part_count; part++) {
        const size_t count = clr_group_part_count(groups->parts[part]);
        most += count;
        largest = count > largest ? count : largest;
    }
    outcome =
        clr_group_table_init(table, &groups->memory, most, groups->parts[0]->numbers.table.width);
    if (outcome == CLR_SCAN_DONE)
        outcome = clr_room_reserve(&merge->firsts[worker], most * sizeof(uint64_t));
    if (outcome == CLR_SCAN_DONE)
        clr_group_table_expect(table, largest / (size_t)merge->workers);
    for (part = 0; part < groups->part_count && outcome == CLR_SCAN_DONE; part++)
        outcome = merge_part(merge, worker, part, stop);
    merge->counts[worker] = table->count;
    clr_room_free(&table->slots, &groups->memory);
    if (outcome == CLR_SCAN_DONE && table->count >= UINT32_MAX / CLR_GROUP_PARTS)
        outcome = CLR_SCAN_LIMIT;
    merge->outcomes[worker] = outcome;
}

static enum clr_scan_outcome merge_by_hash(struct merge *merge, const struct clr_group_team *team)
{
    struct clr_groups *groups = merge->groups;
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int i;

    groups->tables = clr_memory_alloc_zero(CLR_GROUP_PARTS * sizeof *groups->tables);
    if (groups->tables == NULL)
        return CLR_SCAN_FAILED;
    for (i = 0; i < groups->part_count && merge->maps && outcome == CLR_SCAN_DONE; i++)
        outcome = clr_room_make(&groups->merged[i], &groups->memory,
                                clr_group_part_count(groups->parts[i]) * sizeof(uint32_t));
    for (i = 0; i < groups->part_count && outcome == CLR_SCAN_DONE; i++)
        outcome =
            clr_room_make(&merge->keys[i], &groups->memory,
                          clr_group_part_count(groups->parts[i]) * sizeof(struct clr_group_item));
    if (outcome == CLR_SCAN_DONE && !team->run(team->context, groups->part_count, list_keys, merge))
        outcome = CLR_SCAN_STOPPED;
    if (outcome == CLR_SCAN_DONE)
        outcome = worst(merge, team->run(team->context, merge->workers, merge_tables, merge));
    for (i = 0; i < groups->part_count; i++)
        clr_room_free(&merge->keys[i], &groups->memory);
    return outcome;
}

/* ---- All. */

bool clr_groups_have_lists(const struct clr_groups *groups)
{
    int part, i;

    for (part = 0; part < groups->part_count; part++)
        if (groups->parts[part]->addends.spills.count > 0)
            return true;
    for (i = 0; i < groups->plan.tally_count; i++)
        if (groups->plan.tallies[i].gathers)
            return true;
    return false;
}

static void free_keys(struct clr_groups *groups)
{
    int part;

    for (part = 0; part < groups->part_count && groups->part_count > 1; part++)
        clr_room_free(&groups->parts[part]->numbers.table.keys, &groups->memory);
}

enum clr_scan_outcome clr_groups_merge(struct clr_groups *groups, const struct clr_group_team *team)
{
    struct merge merge = {.groups = groups, .maps = clr_groups_have_lists(groups)};
    struct clr_group_found found[CLR_GROUP_PARTS];
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    size_t most = 0;
    int i;

    for (i = 0; i < groups->part_count; i++)
        if (clr_group_part_count(groups->parts[i]) > most)
            most = clr_group_part_count(groups->parts[i]);
    merge.workers = most / WORTH + 1 < (size_t)team->size ? (int)(most / WORTH) + 1 : team->size;
    if (groups->plan.numbering == CLR_NUMBERED_DIRECTLY) {
        outcome = merge_directly(&merge, team);
        if (outcome == CLR_SCAN_DONE)
            outcome = clr_group_order_places(groups, team);
        return outcome;
    }
    if (clr_group_plan_sorts(&groups->plan))
        return clr_groups_merge_sorted(groups, team);
    if (groups->part_count == 1) {
        found[0] = (struct clr_group_found){&groups->parts[0]->numbers.table, NULL};
        merge.workers = 1;
    } else {
        outcome = merge_by_hash(&merge, team);
        for (i = 0; i < merge.workers && outcome == CLR_SCAN_DONE; i++)
            found[i] = (struct clr_group_found){&groups->tables[i], merge.firsts[i].start};
    }
    if (outcome == CLR_SCAN_DONE) {
        free_keys(groups);
        outcome = clr_group_order_found(groups, found, merge.workers, team);
    }
    for (i = 0; i < CLR_GROUP_PARTS; i++)
        clr_room_free(&merge.firsts[i], &groups->memory);
    return outcome;
}

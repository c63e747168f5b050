#include "numeric/groups/sorted.h"

#include "base/memory.h"

/* IN_BUCKET: items that a bucket is to have, so that a cache holds them and their copies.
   MOST_BUCKETS: more are slower to scatter to. PIECE: items between two looks at whether to stop.
   AHEAD: how many items ahead records are fetched. */
enum { IN_BUCKET = 8192, MOST_BUCKETS = 4096, PIECE = 1 << 16, AHEAD = 16 };

/* What the workers share. A bucket has the items of consecutive places. */
struct sorting {
    struct clr_groups *groups;
    struct clr_group_item *items, *scratch;
    int shift; /* of a place to its bucket */
    size_t bucket_count;
    uint32_t *next;   /* for each part and bucket: how many items, then where the next one goes */
    uint32_t *starts; /* of each bucket's items, and where the last one's end */
    uint32_t *firsts; /* for each bucket: how many groups, then the number of its first one */
    bool maps;
    atomic_size_t bucket; /* the next one that nobody has */
};

/* ---- Buckets. */

static const struct clr_group_table *table_of(const struct sorting *sorting, int part)
{
    return &sorting->groups->parts[part]->numbers.table;
}

static uint32_t *next_of(const struct sorting *sorting, int part)
{
    return sorting->next + (size_t)part * sorting->bucket_count;
}

static void count_items(void *argument, int part, const atomic_bool *stop)
{
    struct sorting *sorting = argument;
    const uint64_t *places = table_of(sorting, part)->keys.start;
    const size_t count = table_of(sorting, part)->count;
    uint32_t *next = next_of(sorting, part);
    size_t i;

    for (i = 0; i < count; i++) {
        if (i % PIECE == 0 && clr_portion_stops(stop))
            return;
        next[places[i] >> sorting->shift]++;
    }
}

/* Makes of the counts where each part puts its items: those of the first part come first. */
static void find_starts(const struct sorting *sorting)
{
    uint32_t next = 0;
    size_t bucket;
    int part;

    for (bucket = 0; bucket < sorting->bucket_count; bucket++) {
        sorting->starts[bucket] = next;
        for (part = 0; part < sorting->groups->part_count; part++) {
            uint32_t *of_part = next_of(sorting, part) + bucket;
            const uint32_t here = *of_part;

            *of_part = next;
            next += here;
        }
    }
    sorting->starts[bucket] = next;
}

static void scatter_items(void *argument, int part, const atomic_bool *stop)
{
    struct sorting *sorting = argument;
    const uint64_t *places = table_of(sorting, part)->keys.start;
    const size_t count = table_of(sorting, part)->count;
    uint32_t *next = next_of(sorting, part);
    size_t i;

    for (i = 0; i < count; i++) {
        if (i % PIECE == 0 && clr_portion_stops(stop))
            return;
        sorting->items[next[places[i] >> sorting->shift]++] =
            (struct clr_group_item){places[i], (uint32_t)i, (uint32_t)part};
    }
}

/* Sorts the items of buckets, and counts their groups. */
static void sort_buckets(void *argument, int worker, const atomic_bool *stop)
{
    struct sorting *sorting = argument;
    size_t bucket, i;

    (void)worker;
    while ((bucket = atomic_fetch_add(&sorting->bucket, 1)) < sorting->bucket_count) {
        const size_t start = sorting->starts[bucket], end = sorting->starts[bucket + 1];

        if (clr_group_sort(sorting->items + start, sorting->scratch + start, end - start, stop) !=
            CLR_SCAN_DONE)
            return;
        for (i = start; i < end; i++)
            sorting->firsts[bucket] +=
                i == start || sorting->items[i].key != sorting->items[i - 1].key;
    }
}

static void number_groups(const struct sorting *sorting)
{
    uint32_t next = 0;
    size_t bucket;

    for (bucket = 0; bucket < sorting->bucket_count; bucket++) {
        const uint32_t here = sorting->firsts[bucket];

        sorting->firsts[bucket] = next;
        next += here;
    }
    sorting->groups->count = next;
}

/* ---- Groups. */

static int64_t *record_of(const struct sorting *sorting, const struct clr_group_item *item)
{
    return clr_group_part_record(sorting->groups->parts[item->part], item->number);
}

/* Makes entries of buckets, in the place of the scratch. Of several records of a group the first
   becomes the group's, and others are added to it. */
static void make_entries(void *argument, int worker, const atomic_bool *stop)
{
    struct sorting *sorting = argument;
    struct clr_groups *groups = sorting->groups;
    struct clr_group_entry *entries = groups->entries.start;
    size_t bucket;

    (void)worker;
    while ((bucket = atomic_fetch_add(&sorting->bucket, 1)) < sorting->bucket_count &&
           !clr_portion_stops(stop)) {
        const struct clr_group_item *item = sorting->items + sorting->starts[bucket];
        const struct clr_group_item *first = item;
        const struct clr_group_item *end = sorting->items + sorting->starts[bucket + 1];
        uint32_t next = sorting->firsts[bucket];

        for (; item < end; item++) {
            if (end - item > AHEAD && item[AHEAD].key == item[AHEAD - 1].key) {
                __builtin_prefetch(record_of(sorting, &item[AHEAD - 1]), 1);
                __builtin_prefetch(record_of(sorting, &item[AHEAD]));
            }
            if (item == first || item->key != item[-1].key)
                entries[next++] = (struct clr_group_entry){record_of(sorting, item), item->key};
            else
                clr_group_record_add(&groups->plan, record_of(sorting, item),
                                     entries[next - 1].record);
            if (sorting->maps)
                ((uint32_t *)groups->merged[item->part].start)[item->number] = next - 1;
        }
    }
}

/* ---- All. */

/* Has so many workers do some work, a bucket after the other. */
static enum clr_scan_outcome run(struct sorting *sorting, const struct clr_group_team *team,
                                 int workers, clr_portion_work *work)
{
    atomic_store(&sorting->bucket, 0);
    return team->run(team->context, workers, work, sorting) ? CLR_SCAN_DONE : CLR_SCAN_STOPPED;
}

/* The rooms are there. */
static enum clr_scan_outcome sort(struct sorting *sorting, const struct clr_group_team *team)
{
    struct clr_groups *groups = sorting->groups;
    const int workers =
        sorting->bucket_count < (size_t)team->size ? (int)sorting->bucket_count : team->size;
    enum clr_scan_outcome outcome = run(sorting, team, groups->part_count, count_items);
    int part;

    if (outcome == CLR_SCAN_DONE) {
        find_starts(sorting);
        outcome = run(sorting, team, groups->part_count, scatter_items);
    }
    for (part = 0; part < groups->part_count; part++)
        clr_room_free(&groups->parts[part]->numbers.table.keys, &groups->memory);
    if (outcome == CLR_SCAN_DONE)
        outcome = run(sorting, team, workers, sort_buckets);
    if (outcome != CLR_SCAN_DONE)
        return outcome;
    number_groups(sorting);
    return run(sorting, team, workers, make_entries);
}

static enum clr_scan_outcome make_maps(struct clr_groups *groups)
{
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int part;

    for (part = 0; part < groups->part_count && outcome == CLR_SCAN_DONE; part++)
        outcome = clr_room_make(&groups->merged[part], &groups->memory,
                                clr_group_part_count(groups->parts[part]) * sizeof(uint32_t));
    return outcome;
}

/* Lays out buckets for so many items: the upper bits of a place say which one it is in. */
static void lay_buckets(struct sorting *sorting, size_t total)
{
    const uint64_t last = sorting->groups->plan.places - 1;
    size_t wanted = 1;

    while (wanted < MOST_BUCKETS && wanted < total / IN_BUCKET)
        wanted *= 2;
    while (last >> sorting->shift >= wanted)
        sorting->shift++;
    sorting->bucket_count = (size_t)(last >> sorting->shift) + 1;
}

enum clr_scan_outcome clr_groups_merge_sorted(struct clr_groups *groups,
                                              const struct clr_group_team *team)
{
    struct sorting sorting = {.groups = groups, .maps = clr_groups_have_lists(groups)};
    const size_t parts = (size_t)groups->part_count;
    struct clr_room items = {NULL, 0, NULL, NULL};
    enum clr_scan_outcome outcome;
    size_t total = 0, part;

    for (part = 0; part < parts; part++)
        total += clr_group_part_count(groups->parts[part]);
    lay_buckets(&sorting, total);
    sorting.next =
        clr_memory_alloc_zero(((parts + 2) * sorting.bucket_count + 1) * sizeof *sorting.next);
    outcome = sorting.next == NULL
                  ? CLR_SCAN_FAILED
                  : clr_room_make(&items, &groups->memory, total * sizeof(struct clr_group_item));
    if (outcome == CLR_SCAN_DONE)
        outcome =
            clr_room_make(&groups->entries, &groups->memory, total * sizeof(struct clr_group_item));
    if (outcome == CLR_SCAN_DONE && sorting.maps)
        outcome = make_maps(groups);
    if (outcome == CLR_SCAN_DONE) {
        sorting.items = items.start;
        sorting.scratch = groups->entries.start;
        sorting.firsts = sorting.next + parts * sorting.bucket_count;
        sorting.starts = sorting.firsts + sorting.bucket_count;
        outcome = sort(&sorting, team);
    }
    clr_memory_free(sorting.next);
    clr_room_free(&items, &groups->memory);
    return outcome;
}

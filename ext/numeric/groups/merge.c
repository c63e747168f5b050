#include "numeric/groups/group_scan.h"

#include "base/memory.h"
#include "numeric/order/keys.h"

#include <string.h>

/* WORTH: groups that are worth a thread, where they are sorted; RECORDS: where they are looked at,
   or added. PIECE: between two looks at whether to stop. NEAR: places that are merged together.
   AHEAD: how many items ahead what they stand for is fetched. */
enum { WORTH = 8192, RECORDS = 65536, PIECE = 4096, NEAR = 512, AHEAD = 16 };

_Static_assert(sizeof(struct clr_group_entry) == sizeof(struct clr_group_item),
               "entries lie where items are sorted");

/* ---- Places that are the groups' numbers: each worker has some. */

/* What the workers share. */
struct placing {
    struct clr_groups *groups;
    int workers;
    size_t counts[CLR_GROUP_PARTS]; /* of each worker's groups */
};

static void find_bounds(const struct placing *placing, int worker, size_t *first, size_t *last)
{
    const uint64_t places = placing->groups->plan.places;

    *first = (size_t)(places * (uint64_t)worker / (uint64_t)placing->workers);
    *last = (size_t)(places * ((uint64_t)worker + 1) / (uint64_t)placing->workers);
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
    struct placing *placing = argument;
    struct clr_groups *groups = placing->groups;
    size_t first, last, end, count = 0;
    int part;

    find_bounds(placing, worker, &first, &last);
    while (first < last && !clr_portion_stops(stop)) {
        end = last - first < NEAR ? last : first + NEAR;
        for (part = 1; part < groups->part_count; part++)
            merge_some_places(groups, part, first, end);
        for (; first < end; first++)
            count += clr_group_part_record(groups->parts[0], first)[0] != 0;
    }
    placing->counts[worker] = count;
}

static void list_places(void *argument, int worker, const atomic_bool *stop)
{
    struct placing *placing = argument;
    uint32_t *places = placing->groups->places.start;
    size_t first, last, next = 0, i;
    int w;

    for (w = 0; w < worker; w++)
        next += placing->counts[w];
    find_bounds(placing, worker, &first, &last);
    for (i = first; i < last; i++) {
        if (i % PIECE == 0 && clr_portion_stops(stop))
            return;
        if (clr_group_part_record(placing->groups->parts[0], i)[0] != 0)
            places[next++] = (uint32_t)i;
    }
}

static enum clr_scan_outcome merge_directly(struct clr_groups *groups,
                                            const struct clr_group_team *team)
{
    const size_t records = (size_t)groups->plan.places * (size_t)groups->part_count;
    const size_t worth = records / RECORDS + 1;
    struct placing placing = {.groups = groups,
                              .workers = worth < (size_t)team->size ? (int)worth : team->size};
    enum clr_scan_outcome outcome;
    int w;

    if (!team->run(team->context, placing.workers, merge_places, &placing))
        return CLR_SCAN_STOPPED;
    for (w = 0; w < placing.workers; w++)
        groups->count += placing.counts[w];
    outcome = clr_room_make(&groups->places, &groups->memory, groups->count * sizeof(uint32_t));
    if (outcome == CLR_SCAN_DONE &&
        !team->run(team->context, placing.workers, list_places, &placing))
        outcome = CLR_SCAN_STOPPED;
    return outcome;
}

/* ---- Tables: a group may have a number in each part, and several in one. First all threads
   scatter the numbers to buckets by the upper bits of their places, or of their keys' hashes, then
   each sorts buckets that fit in its cache (Satish et al., "Fast sort on CPUs and GPUs", 2010). */

/* IN_BUCKET: items that a bucket is to have, so that a cache holds them and their copies.
   MOST_BUCKETS: more are slower to scatter to. HASH_BITS: of a hash that are sorted by. */
enum { IN_BUCKET = 8192, MOST_BUCKETS = 4096, HASH_BITS = 32 };

/* What the workers share. A bucket has the items of consecutive places or hashes. */
struct folding {
    struct clr_groups *groups;
    bool by_place;
    struct clr_group_item *items, *scratch;
    int shift; /* of a place or hash to its bucket */
    size_t bucket_count;
    uint32_t *next;   /* for each part and bucket: how many items, then where the next one goes */
    uint32_t *starts; /* of each bucket's items, and where the last one's end */
    uint32_t *firsts; /* for each bucket: how many groups, then the number of its first one */
    bool maps;
    atomic_size_t bucket; /* the next one that nobody has */
};

static const struct clr_group_table *table_of(const struct folding *folding, int part)
{
    return &folding->groups->parts[part]->numbers.table;
}

static const uint64_t *words_of(const struct folding *folding, const struct clr_group_item *item)
{
    return clr_group_table_key(table_of(folding, (int)item->part), item->number);
}

static int64_t *record_of(const struct folding *folding, const struct clr_group_item *item)
{
    return clr_group_part_record(folding->groups->parts[item->part], item->number);
}

/* Counts a part's items in each bucket, or puts them there. */
static inline __attribute__((always_inline)) void
go_through(struct folding *folding, int part, bool by_place, bool puts, const atomic_bool *stop)
{
    const struct clr_group_table *table = table_of(folding, part);
    const uint64_t *places = table->keys.start;
    const size_t count = table->count;
    uint32_t *next = folding->next + (size_t)part * folding->bucket_count;
    struct clr_group_item *items = folding->items;
    const int shift = folding->shift;
    size_t i;

    for (i = 0; i < count; i++) {
        const uint64_t key =
            by_place ? places[i]
                     : clr_group_hash_key(&folding->groups->plan, clr_group_table_key(table, i)) >>
                           (64 - HASH_BITS);

        if (i % PIECE == 0 && clr_portion_stops(stop))
            return;
        if (puts)
            items[next[key >> shift]++] = (struct clr_group_item){key, (uint32_t)i, (uint32_t)part};
        else
            next[key >> shift]++;
    }
}

static void count_items(void *argument, int part, const atomic_bool *stop)
{
    struct folding *folding = argument;

    if (folding->by_place)
        go_through(folding, part, true, false, stop);
    else
        go_through(folding, part, false, false, stop);
}

static void scatter_items(void *argument, int part, const atomic_bool *stop)
{
    struct folding *folding = argument;

    if (folding->by_place)
        go_through(folding, part, true, true, stop);
    else
        go_through(folding, part, false, true, stop);
}

/* Makes of the counts where each part puts its items: those of the first part come first. */
static void find_starts(const struct folding *folding)
{
    uint32_t next = 0;
    size_t bucket;
    int part;

    for (bucket = 0; bucket < folding->bucket_count; bucket++) {
        folding->starts[bucket] = next;
        for (part = 0; part < folding->groups->part_count; part++) {
            uint32_t *of_part = folding->next + (size_t)part * folding->bucket_count + bucket;
            const uint32_t here = *of_part;

            *of_part = next;
            next += here;
        }
    }
    folding->starts[bucket] = next;
}

/* Whether two items of one hash, or place, are of one group. */
static bool is_same(const struct folding *folding, const struct clr_group_item *a,
                    const struct clr_group_item *b)
{
    return folding->by_place || clr_group_same_key(words_of(folding, a), words_of(folding, b),
                                                   table_of(folding, 0)->width);
}

/* Whether a bucket's item is the first of its group, where a group's items follow each other. */
static bool begins_group(const struct folding *folding, const struct clr_group_item *first,
                         const struct clr_group_item *item)
{
    return item == first || item->key != item[-1].key || !is_same(folding, item, item - 1);
}

/* Brings an item whose hash others have as well to the end of its group. Returns whether there is
   such a group. Different keys seldom have one hash. */
static bool join_group(const struct folding *folding, const struct clr_group_item *first,
                       struct clr_group_item *item)
{
    const struct clr_group_item own = *item;
    struct clr_group_item *at = item - 1;

    for (; at > first && at[-1].key == own.key; at--) {
        if (!is_same(folding, &own, at - 1))
            continue;
        memmove(at + 1, at, (size_t)(item - at) * sizeof *at);
        *at = own;
        return true;
    }
    return false;
}

/* Sorts the items of buckets, and counts their groups. */
static void sort_buckets(void *argument, int worker, const atomic_bool *stop)
{
    struct folding *folding = argument;
    size_t bucket;

    (void)worker;
    while ((bucket = atomic_fetch_add(&folding->bucket, 1)) < folding->bucket_count) {
        const size_t start = folding->starts[bucket];
        struct clr_group_item *first = folding->items + start, *item = first;
        const struct clr_group_item *end = folding->items + folding->starts[bucket + 1];

        if (clr_group_sort(first, folding->scratch + start, (size_t)(end - first), stop) !=
            CLR_SCAN_DONE)
            return;
        for (; item < end; item++)
            folding->firsts[bucket] +=
                begins_group(folding, first, item) &&
                (item == first || item->key != item[-1].key || !join_group(folding, first, item));
    }
}

static void number_groups(const struct folding *folding)
{
    uint32_t next = 0;
    size_t bucket;

    for (bucket = 0; bucket < folding->bucket_count; bucket++) {
        const uint32_t here = folding->firsts[bucket];

        folding->firsts[bucket] = next;
        next += here;
    }
    folding->groups->count = next;
}

static struct clr_group_entry entry_of(const struct folding *folding,
                                       const struct clr_group_item *item)
{
    return (struct clr_group_entry){
        record_of(folding, item),
        folding->by_place ? item->key : (uint64_t)(uintptr_t)words_of(folding, item)};
}

/* Makes entries of buckets, in the place of the scratch. Of several records of a group the first
   becomes the group's, and others are added to it. */
static void fold_buckets(void *argument, int worker, const atomic_bool *stop)
{
    struct folding *folding = argument;
    struct clr_groups *groups = folding->groups;
    struct clr_group_entry *entries = groups->entries.start;
    size_t bucket;

    (void)worker;
    while ((bucket = atomic_fetch_add(&folding->bucket, 1)) < folding->bucket_count &&
           !clr_portion_stops(stop)) {
        const struct clr_group_item *item = folding->items + folding->starts[bucket];
        const struct clr_group_item *first = item;
        const struct clr_group_item *end = folding->items + folding->starts[bucket + 1];
        uint32_t next = folding->firsts[bucket];

        for (; item < end; item++) {
            if (end - item > AHEAD && item[AHEAD].key == item[AHEAD - 1].key) {
                __builtin_prefetch(record_of(folding, &item[AHEAD - 1]), 1);
                __builtin_prefetch(record_of(folding, &item[AHEAD]));
            }
            if (begins_group(folding, first, item))
                entries[next++] = entry_of(folding, item);
            else
                clr_group_record_add(&groups->plan, record_of(folding, item),
                                     entries[next - 1].record);
            if (folding->maps)
                ((uint32_t *)groups->merged[item->part].start)[item->number] = next - 1;
        }
    }
}

/* Has so many workers do some work, a bucket after the other. */
static enum clr_scan_outcome work(struct folding *folding, const struct clr_group_team *team,
                                  int workers, clr_portion_work *some)
{
    atomic_store(&folding->bucket, 0);
    return team->run(team->context, workers, some, folding) ? CLR_SCAN_DONE : CLR_SCAN_STOPPED;
}

/* The rooms are there. */
static enum clr_scan_outcome fold(struct folding *folding, const struct clr_group_team *team)
{
    struct clr_groups *groups = folding->groups;
    const int workers =
        folding->bucket_count < (size_t)team->size ? (int)folding->bucket_count : team->size;
    enum clr_scan_outcome outcome = work(folding, team, groups->part_count, count_items);
    int part;

    if (outcome == CLR_SCAN_DONE) {
        find_starts(folding);
        outcome = work(folding, team, groups->part_count, scatter_items);
    }
    for (part = 0; part < groups->part_count && folding->by_place; part++)
        clr_room_free(&groups->parts[part]->numbers.table.keys, &groups->memory);
    if (outcome == CLR_SCAN_DONE)
        outcome = work(folding, team, workers, sort_buckets);
    if (outcome != CLR_SCAN_DONE)
        return outcome;
    number_groups(folding);
    return work(folding, team, workers, fold_buckets);
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

/* Lays out buckets for so many items. */
static void lay_buckets(struct folding *folding, size_t total)
{
    const uint64_t last =
        folding->by_place ? folding->groups->plan.places - 1 : ((uint64_t)1 << HASH_BITS) - 1;
    size_t wanted = 1;

    while (wanted < MOST_BUCKETS && wanted < total / IN_BUCKET)
        wanted *= 2;
    while (last >> folding->shift >= wanted)
        folding->shift++;
    folding->bucket_count = (size_t)(last >> folding->shift) + 1;
}

/* Makes an entry of each group, in the order of their places, or in any. */
static enum clr_scan_outcome merge_tables(struct clr_groups *groups, bool maps,
                                          const struct clr_group_team *team)
{
    struct folding folding = {.groups = groups,
                              .by_place = groups->plan.numbering == CLR_NUMBERED_BY_PLACE,
                              .maps = maps};
    const size_t parts = (size_t)groups->part_count;
    struct clr_room items = {NULL, 0, NULL, NULL};
    enum clr_scan_outcome outcome;
    size_t total = 0, part;

    for (part = 0; part < parts; part++)
        total += clr_group_part_count(groups->parts[part]);
    lay_buckets(&folding, total);
    folding.next =
        clr_memory_alloc_zero(((parts + 2) * folding.bucket_count + 1) * sizeof *folding.next);
    outcome = folding.next == NULL
                  ? CLR_SCAN_FAILED
                  : clr_room_make(&items, &groups->memory, total * sizeof(struct clr_group_item));
    if (outcome == CLR_SCAN_DONE)
        outcome =
            clr_room_make(&groups->entries, &groups->memory, total * sizeof(struct clr_group_item));
    if (outcome == CLR_SCAN_DONE && maps)
        outcome = make_maps(groups);
    if (outcome == CLR_SCAN_DONE) {
        folding.items = items.start;
        folding.scratch = groups->entries.start;
        folding.firsts = folding.next + parts * folding.bucket_count;
        folding.starts = folding.firsts + folding.bucket_count;
        outcome = fold(&folding, team);
    }
    clr_memory_free(folding.next);
    clr_room_free(&items, &groups->memory);
    return outcome;
}

/* ---- The order. */

/* No code. */
#define NO_CODE UINT32_MAX

struct ordering {
    struct clr_groups *groups;
    struct clr_group_item *items, *scratch;
    enum clr_scan_outcome outcome;
    int workers;
    uint32_t *codes; /* of places that are codes: in the order of the keys */
};

static const struct clr_group_entry *entries_of(const struct ordering *ordering)
{
    return ordering->groups->entries.start;
}

/* Returns the value of a key of a group that is numbered by keys. */
static struct clr_scalar key_of(const struct ordering *ordering, size_t group, int key)
{
    return clr_group_key_of_words((const uint64_t *)(uintptr_t)entries_of(ordering)[group].key,
                                  ordering->groups->plan.grouping.key_count, key);
}

/* Whether equal keys are two. */
static bool is_ambiguous(const struct ordering *ordering, int key)
{
    bool plus = false, minus = false;
    unsigned types = 0;
    size_t i;

    for (i = 0; i < ordering->groups->count; i++) {
        const struct clr_scalar value = key_of(ordering, i, key);

        types |= CLR_TYPE(value.tag);
        plus = plus || (value.tag == CLR_TAG_REAL && value.bits == 0);
        minus = minus || (value.tag == CLR_TAG_REAL && value.bits == INT64_MIN);
    }
    return (types & CLR_NUMBER_TYPES) == CLR_NUMBER_TYPES || (plus && minus);
}

/* The keys of one number, whose order is that of the values; NULL is the first, whose place others
   may have as well. */
static uint64_t order_of(struct clr_scalar value, bool descending)
{
    const uint64_t key = value.tag == CLR_TAG_REAL
                             ? (uint64_t)clr_real_to_key(value.bits) ^ CLR_KEY_SIGN
                             : clr_integer_to_key(value.bits);

    if (value.tag == CLR_TAG_NULL)
        return 0;
    return descending ? ~key : key;
}

static enum clr_scan_outcome sort_by_key(struct ordering *ordering, int key,
                                         const atomic_bool *stop)
{
    const size_t count = ordering->groups->count;
    const bool descending = ordering->groups->plan.grouping.descending[key];
    enum clr_scan_outcome outcome;
    bool nulls = false;
    size_t i;
    int pass;

    for (pass = 0; pass < 2; pass++) {
        for (i = 0; i < count; i++) {
            struct clr_group_item *item = &ordering->items[i];
            const struct clr_scalar value = key_of(ordering, item->number, key);
            const bool null = value.tag == CLR_TAG_NULL;

            nulls = nulls || null;
            item->key = pass == 0 ? order_of(value, descending) : null == descending;
        }
        outcome = clr_group_sort(ordering->items, ordering->scratch, count, stop);
        if (outcome != CLR_SCAN_DONE || !nulls)
            return outcome;
    }
    return CLR_SCAN_DONE;
}

/* Returns the part that a record is of times 2^32, and its number there: that is in the order of
   the groups' first rows. */
static uint64_t find_first(const struct clr_groups *groups, const int64_t *record)
{
    uint64_t part = 0;

    for (;; part++) {
        const struct clr_group_part *of = groups->parts[part];
        const int64_t *start = of->records.start;

        if (record >= start && record < start + of->capacity * groups->plan.stride)
            return part << 32 | (uint64_t)(record - start) / groups->plan.stride;
    }
}

static void sort_entries(void *argument, int worker, const atomic_bool *stop)
{
    struct ordering *ordering = argument;
    const struct clr_groups *groups = ordering->groups;
    const bool by_first = groups->plan.grouping.by_first;
    size_t n;
    int key;

    (void)worker;
    for (key = 0; key < groups->plan.grouping.key_count; key++) {
        if (groups->plan.numbering == CLR_NUMBERED_BY_KEYS && is_ambiguous(ordering, key)) {
            ordering->outcome = CLR_SCAN_UNSURE;
            return;
        }
    }
    for (n = 0; n < groups->count; n++)
        ordering->items[n] = (struct clr_group_item){
            by_first ? find_first(groups, entries_of(ordering)[n].record) : 0, (uint32_t)n, 0};
    if (by_first)
        ordering->outcome = clr_group_sort(ordering->items, ordering->scratch, groups->count, stop);
    for (key = groups->plan.grouping.key_count - 1;
         key >= 0 && !by_first && ordering->outcome == CLR_SCAN_DONE; key--)
        ordering->outcome = sort_by_key(ordering, key, stop);
}

/* Puts entries where the sorted items say, in the place of the scratch. */
static void move_entries(void *argument, int worker, const atomic_bool *stop)
{
    struct ordering *ordering = argument;
    const struct clr_groups *groups = ordering->groups;
    const uint64_t count = groups->count, workers = (uint64_t)ordering->workers;
    const size_t last = (size_t)(count * ((uint64_t)worker + 1) / workers);
    struct clr_group_entry *to = (struct clr_group_entry *)(void *)ordering->scratch;
    uint32_t *finals = groups->finals.start;
    size_t n;

    for (n = (size_t)(count * (uint64_t)worker / workers); n < last; n++) {
        const struct clr_group_item *item = &ordering->items[n];

        if (n % PIECE == 0 && clr_portion_stops(stop))
            return;
        if (n + AHEAD < last)
            __builtin_prefetch(&entries_of(ordering)[item[AHEAD].number]);
        to[n] = entries_of(ordering)[item->number];
        if (finals != NULL)
            finals[item->number] = (uint32_t)n;
    }
}

/* Runs work that takes items and scratch, by one thread that can be stopped, and then by all of
   them, if there is any, work whose entries take the place of those that are there. */
static enum clr_scan_outcome sort_alone(struct ordering *ordering, clr_portion_work *sorting,
                                        clr_portion_work *then, const struct clr_group_team *team)
{
    struct clr_groups *groups = ordering->groups;
    const size_t bytes = groups->count * sizeof(struct clr_group_item);
    const size_t worth = groups->count / WORTH + 1;
    struct clr_room items, scratch = {NULL, 0, NULL, NULL};

    ordering->outcome = clr_room_make(&items, &groups->memory, bytes);
    if (ordering->outcome == CLR_SCAN_DONE)
        ordering->outcome = clr_room_make(&scratch, &groups->memory, bytes);
    ordering->items = items.start;
    ordering->scratch = scratch.start;
    ordering->workers = worth < (size_t)team->size ? (int)worth : team->size;
    if (ordering->outcome == CLR_SCAN_DONE && !team->run(team->context, 1, sorting, ordering))
        ordering->outcome = CLR_SCAN_STOPPED;
    if (ordering->outcome == CLR_SCAN_DONE && then != NULL) {
        if (!team->run(team->context, ordering->workers, then, ordering))
            ordering->outcome = CLR_SCAN_STOPPED;
        clr_room_free(&groups->entries, &groups->memory);
        groups->entries = scratch;
        scratch = (struct clr_room){NULL, 0, NULL, NULL};
    }
    clr_room_free(&items, &groups->memory);
    clr_room_free(&scratch, &groups->memory);
    return ordering->outcome;
}

static enum clr_scan_outcome order_entries(struct clr_groups *groups, bool maps,
                                           const struct clr_group_team *team)
{
    struct ordering ordering = {.groups = groups};
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;

    if (maps)
        outcome = clr_room_make(&groups->finals, &groups->memory, groups->count * sizeof(uint32_t));
    return outcome == CLR_SCAN_DONE ? sort_alone(&ordering, sort_entries, move_entries, team)
                                    : outcome;
}

/* Places are in the order of the keys, unless they are codes. */

static void order_by_first_rows(void *argument, int worker, const atomic_bool *stop)
{
    struct ordering *ordering = argument;
    struct clr_groups *groups = ordering->groups;
    const uint64_t *first_rows = groups->parts[0]->first_rows.start;
    uint32_t *places = groups->places.start;
    size_t n;

    (void)worker;
    for (n = 0; n < groups->count; n++)
        ordering->items[n] = (struct clr_group_item){first_rows[places[n]], places[n], 0};
    ordering->outcome = clr_group_sort(ordering->items, ordering->scratch, groups->count, stop);
    for (n = 0; n < groups->count && ordering->outcome == CLR_SCAN_DONE; n++)
        places[n] = ordering->items[n].number;
}

/* Adds the record of a code to that of another one of the same group. */
static void join_codes(const struct clr_groups *groups, uint32_t code, uint32_t kept)
{
    uint64_t *first_rows = groups->parts[0]->first_rows.start;

    clr_group_record_add(&groups->plan, clr_group_part_record(groups->parts[0], code),
                         clr_group_part_record(groups->parts[0], kept));
    if (first_rows != NULL && first_rows[code] < first_rows[kept])
        first_rows[kept] = first_rows[code];
}

/* Stores the rank of each code plus 1, or 0 for NULL; and one code of each group, which has all of
   its rows, in the order of the groups, ranked_count + 1 of them, where some are NO_CODE. */
static void order_by_ranks(const struct clr_groups *groups, uint32_t *codes)
{
    const struct clr_scan *scan = groups->plan.scan;
    const struct clr_lookup *lookup = clr_group_codes_lookup(scan);
    const bool descends = scan->grouping->descending[0] && !scan->grouping->by_first;
    uint32_t *ranks = groups->ranks.start, code, number, *kept;

    memset(codes, -1, (lookup->ranked_count + 1) * sizeof *codes);
    for (code = 0; code < lookup->count; code++) {
        number =
            clr_lookup_tag(lookup, code) == CLR_TAG_NULL ? 0 : (uint32_t)lookup->values[code] + 1;
        ranks[code] = number;
        if (clr_group_part_record(groups->parts[0], code)[0] == 0)
            continue;
        kept = &codes[descends ? lookup->ranked_count - number : number];
        if (*kept == NO_CODE)
            *kept = code;
        else
            join_codes(groups, code, *kept);
    }
}

/* Lists one code of each group, in the place of all that have rows. */
static void list_codes(void *argument, int worker, const atomic_bool *stop)
{
    struct ordering *ordering = argument;
    struct clr_groups *groups = ordering->groups;
    const size_t most = clr_group_codes_lookup(groups->plan.scan)->ranked_count + 1;
    uint32_t *places = groups->places.start;
    size_t i;

    (void)worker;
    order_by_ranks(groups, ordering->codes);
    groups->count = 0;
    for (i = 0; i < most; i++) {
        if (i % PIECE == 0 && clr_portion_stops(stop))
            return;
        if (ordering->codes[i] != NO_CODE)
            places[groups->count++] = ordering->codes[i];
    }
}

static enum clr_scan_outcome order_codes(struct ordering *ordering,
                                         const struct clr_group_team *team)
{
    struct clr_groups *groups = ordering->groups;
    const struct clr_lookup *lookup = clr_group_codes_lookup(groups->plan.scan);
    struct clr_room codes = {NULL, 0, NULL, NULL};
    enum clr_scan_outcome outcome =
        clr_room_make(&groups->ranks, &groups->memory, lookup->count * sizeof(uint32_t));

    if (outcome == CLR_SCAN_DONE)
        outcome =
            clr_room_make(&codes, &groups->memory, (lookup->ranked_count + 1) * sizeof(uint32_t));
    ordering->codes = codes.start;
    if (outcome == CLR_SCAN_DONE && !team->run(team->context, 1, list_codes, ordering))
        outcome = CLR_SCAN_STOPPED;
    clr_room_free(&codes, &groups->memory);
    return outcome;
}

/* Stores of which group, by its number, each place is. Of codes all those of one rank are of one.
 */
static enum clr_scan_outcome map_places(struct clr_groups *groups)
{
    const uint32_t *places = groups->places.start, *ranks = groups->ranks.start;
    struct clr_room of_ranks = {NULL, 0, NULL, NULL};
    enum clr_scan_outcome outcome = clr_room_make(&groups->finals, &groups->memory,
                                                  (size_t)groups->plan.places * sizeof(uint32_t));
    uint32_t *finals = groups->finals.start, *numbers = finals;
    size_t n;

    if (outcome == CLR_SCAN_DONE && groups->plan.by_codes) {
        outcome = clr_room_make(&of_ranks, &groups->memory,
                                (clr_group_codes_lookup(groups->plan.scan)->ranked_count + 1) *
                                    sizeof(uint32_t));
        numbers = of_ranks.start;
    }
    for (n = 0; n < groups->count && outcome == CLR_SCAN_DONE; n++)
        numbers[groups->plan.by_codes ? ranks[places[n]] : places[n]] = (uint32_t)n;
    for (n = 0; n < groups->plan.places && outcome == CLR_SCAN_DONE && groups->plan.by_codes; n++)
        finals[n] = numbers[ranks[n]];
    clr_room_free(&of_ranks, &groups->memory);
    return outcome;
}

static enum clr_scan_outcome order_places(struct clr_groups *groups, bool maps,
                                          const struct clr_group_team *team)
{
    struct ordering ordering = {.groups = groups};
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;

    if (groups->plan.by_codes)
        outcome = order_codes(&ordering, team);
    if (outcome == CLR_SCAN_DONE && groups->plan.grouping.by_first)
        outcome = sort_alone(&ordering, order_by_first_rows, NULL, team);
    return outcome == CLR_SCAN_DONE && maps ? map_places(groups) : outcome;
}

/* ---- All. */

/* Whether anything is listed or spilled, so that finals are needed. */
static bool have_lists(const struct clr_groups *groups)
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

enum clr_scan_outcome clr_groups_merge(struct clr_groups *groups, const struct clr_group_team *team)
{
    const bool maps = have_lists(groups), sorts = clr_group_plan_sorts(&groups->plan);
    enum clr_scan_outcome outcome;

    if (groups->plan.numbering == CLR_NUMBERED_DIRECTLY) {
        outcome = merge_directly(groups, team);
        return outcome == CLR_SCAN_DONE ? order_places(groups, maps, team) : outcome;
    }
    outcome = merge_tables(groups, maps, team);
    return outcome == CLR_SCAN_DONE && !sorts ? order_entries(groups, maps, team) : outcome;
}

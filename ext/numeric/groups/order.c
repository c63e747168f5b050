#include "numeric/groups/order.h"

#include "numeric/order/keys.h"

#include <string.h>

/* PIECE: groups between two looks at whether to stop. WORTH: that are worth threads. AHEAD: how
   many are fetched ahead. */
enum { PIECE = 1 << 16, WORTH = 1 << 16, AHEAD = 16 };

_Static_assert(sizeof(struct clr_group_entry) == sizeof(struct clr_group_item),
               "entries lie where items are sorted");

/* No code. */
#define NO_CODE UINT32_MAX

struct ordering {
    struct clr_groups *groups;
    const struct clr_group_found *found;
    int tables;
    size_t starts[CLR_GROUP_PARTS + 1]; /* of each table's groups among all */
    struct clr_group_item *items, *scratch;
    enum clr_scan_outcome outcome;
    int workers;
    uint32_t *codes; /* of places that are codes: in the order of the keys */
};

/* ---- Equal keys that are two. */

static bool is_ambiguous(const struct ordering *ordering, int key)
{
    const int key_count = ordering->groups->plan.grouping.key_count;
    bool plus = false, minus = false;
    unsigned types = 0;
    size_t i;
    int t;

    for (t = 0; t < ordering->tables; t++) {
        const struct clr_group_table *table = ordering->found[t].table;
        for (i = 0; i < table->count; i++) {
            const struct clr_scalar value =
                clr_group_key_of_words(clr_group_table_key(table, i), key_count, key);
            types |= CLR_TYPE(value.tag);
            plus = plus || (value.tag == CLR_TAG_REAL && value.bits == 0);
            minus = minus || (value.tag == CLR_TAG_REAL && value.bits == INT64_MIN);
        }
    }
    return (types & CLR_NUMBER_TYPES) == CLR_NUMBER_TYPES || (plus && minus);
}

/* ---- Sorting. */

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

/* Returns the table that a group is of, and stores its number there. */
static int find_table(const struct ordering *ordering, uint32_t group, size_t *number)
{
    int t = 0;

    while (group >= ordering->starts[t + 1])
        t++;
    *number = group - ordering->starts[t];
    return t;
}

static enum clr_scan_outcome sort_by_key(struct ordering *ordering, int key,
                                         const atomic_bool *stop)
{
    const struct clr_grouping *grouping = &ordering->groups->plan.grouping;
    const size_t count = ordering->groups->count;
    const bool descending = grouping->descending[key];
    enum clr_scan_outcome outcome;
    bool nulls = false;
    size_t i, place;
    int pass;

    for (pass = 0; pass < 2; pass++) {
        for (i = 0; i < count; i++) {
            struct clr_group_item *item = &ordering->items[i];
            const int t = find_table(ordering, item->number, &place);
            const struct clr_scalar value = clr_group_key_of_words(
                clr_group_table_key(ordering->found[t].table, place), grouping->key_count, key);
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

/* The items are there, in the order of the tables. */
static enum clr_scan_outcome sort_items(struct ordering *ordering, const atomic_bool *stop)
{
    const struct clr_groups *groups = ordering->groups;
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    size_t i, n = 0;
    int t, key;

    if (!groups->plan.grouping.by_first) {
        for (key = groups->plan.grouping.key_count - 1; key >= 0 && outcome == CLR_SCAN_DONE; key--)
            outcome = sort_by_key(ordering, key, stop);
        return outcome;
    }
    for (t = 0; t < ordering->tables; t++) {
        const struct clr_group_found *found = &ordering->found[t];
        for (i = 0; i < found->table->count; i++, n++) {
            ordering->items[n].key = found->firsts == NULL ? i : found->firsts[i];
        }
    }
    return clr_group_sort(ordering->items, ordering->scratch, groups->count, stop);
}

static void sort_found(void *argument, int worker, const atomic_bool *stop)
{
    struct ordering *ordering = argument;
    struct clr_groups *groups = ordering->groups;
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
        ordering->items[n].number = (uint32_t)n;
    ordering->outcome = sort_items(ordering, stop);
}

/* The first group of a worker, in order. */
static size_t first_group(const struct ordering *ordering, int worker)
{
    return (size_t)((uint64_t)ordering->groups->count * (uint64_t)worker /
                    (uint64_t)ordering->workers);
}

/* Makes entries of sorted items. */
static void make_entries(void *argument, int worker, const atomic_bool *stop)
{
    struct ordering *ordering = argument;
    struct clr_groups *groups = ordering->groups;
    const bool by_place = groups->plan.numbering == CLR_NUMBERED_BY_PLACE;
    const size_t last = first_group(ordering, worker + 1);
    struct clr_group_entry *entries = groups->entries.start;
    uint32_t *finals = groups->finals.start;
    size_t n, place;

    for (n = first_group(ordering, worker); n < last; n++) {
        const struct clr_group_item *item = &ordering->items[n];
        const int t = find_table(ordering, item->number, &place);
        const struct clr_group_found *found = &ordering->found[t];
        const uint64_t *words = clr_group_table_key(found->table, place);

        if (n % PIECE == 0 && clr_portion_stops(stop))
            return;
        if (found->firsts != NULL && n + AHEAD < last) {
            size_t next;
            const int of = find_table(ordering, item[AHEAD].number, &next);
            __builtin_prefetch(&ordering->found[of].firsts[next]);
        }
        if (by_place)
            entries[n].key = *words;
        else
            entries[n].key = (uint64_t)(uintptr_t)words;
        entries[n].record =
            clr_groups_first_record(groups, found->firsts == NULL ? place : found->firsts[place]);
        if (finals != NULL)
            finals[place * (size_t)ordering->tables + (size_t)t] = (uint32_t)n;
    }
}

/* Runs work that takes items and scratch, by one thread that can be stopped, and then, by all of
   them, what makes entries, if there are any. The scratch becomes the entries: they are of one
   size. */
static enum clr_scan_outcome run(struct ordering *ordering, clr_portion_work *work,
                                 clr_portion_work *then, const struct clr_group_team *team)
{
    struct clr_groups *groups = ordering->groups;
    const size_t bytes = groups->count * sizeof(struct clr_group_item);
    struct clr_room items, scratch = {NULL, 0, NULL, NULL};

    ordering->outcome = clr_room_make(&items, &groups->memory, bytes);
    if (ordering->outcome == CLR_SCAN_DONE)
        ordering->outcome = clr_room_make(&scratch, &groups->memory, bytes);
    ordering->items = items.start;
    ordering->scratch = scratch.start;
    if (then != NULL) {
        groups->entries = scratch;
        scratch = (struct clr_room){NULL, 0, NULL, NULL};
    }
    if (ordering->outcome == CLR_SCAN_DONE && !team->run(team->context, 1, work, ordering))
        ordering->outcome = CLR_SCAN_STOPPED;
    ordering->workers = groups->count < WORTH ? 1 : team->size;
    if (ordering->outcome == CLR_SCAN_DONE && then != NULL &&
        !team->run(team->context, ordering->workers, then, ordering))
        ordering->outcome = CLR_SCAN_STOPPED;
    clr_room_free(&items, &groups->memory);
    clr_room_free(&scratch, &groups->memory);
    return ordering->outcome;
}

enum clr_scan_outcome clr_group_order_found(struct clr_groups *groups,
                                            const struct clr_group_found *found, int count,
                                            const struct clr_group_team *team)
{
    struct ordering ordering = {.groups = groups, .found = found, .tables = count};
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    size_t most = 0;
    int t;

    for (t = 0; t < count; t++) {
        ordering.starts[t + 1] = ordering.starts[t] + found[t].table->count;
        most = found[t].table->count > most ? found[t].table->count : most;
    }
    groups->count = ordering.starts[count];
    if (clr_groups_have_lists(groups))
        outcome = clr_room_make(&groups->finals, &groups->memory,
                                most * (size_t)count * sizeof(uint32_t));
    return outcome == CLR_SCAN_DONE ? run(&ordering, sort_found, make_entries, team) : outcome;
}

/* ---- Places: they are in the order of the keys, unless they are codes. */

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

/* Stores the rank of each code plus 1, or 0 for NULL; and the codes in the order of the groups,
   ranked_count + 1 of them, where some may be NO_CODE. */
static void order_by_ranks(const struct clr_scan *scan, uint32_t *ranks, uint32_t *codes)
{
    const struct clr_lookup *lookup = clr_group_codes_lookup(scan);
    const bool descends = scan->grouping->descending[0] && !scan->grouping->by_first;
    uint32_t code, number;

    memset(codes, -1, (lookup->ranked_count + 1) * sizeof *codes);
    for (code = 0; code < lookup->count; code++) {
        number =
            clr_lookup_tag(lookup, code) == CLR_TAG_NULL ? 0 : (uint32_t)lookup->values[code] + 1;
        ranks[code] = number;
        codes[descends ? lookup->ranked_count - number : number] = code;
    }
}

/* Lists the codes that have rows, all of the places, again. */
static void list_codes(void *argument, int worker, const atomic_bool *stop)
{
    struct ordering *ordering = argument;
    const struct clr_groups *groups = ordering->groups;
    uint32_t *places = groups->places.start, *end = places + groups->count;
    const uint32_t *code = ordering->codes;

    (void)worker;
    order_by_ranks(groups->plan.scan, groups->ranks.start, ordering->codes);
    for (; places < end; code++) {
        if ((code - ordering->codes) % PIECE == 0 && clr_portion_stops(stop))
            return;
        if (*code != NO_CODE && clr_group_part_record(groups->parts[0], *code)[0] != 0)
            *places++ = *code;
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

enum clr_scan_outcome clr_group_order_places(struct clr_groups *groups,
                                             const struct clr_group_team *team)
{
    struct ordering ordering = {.groups = groups};
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    const uint32_t *places = groups->places.start;
    size_t n;

    if (groups->plan.by_codes)
        outcome = order_codes(&ordering, team);
    if (outcome == CLR_SCAN_DONE && groups->plan.grouping.by_first)
        outcome = run(&ordering, order_by_first_rows, NULL, team);
    if (outcome != CLR_SCAN_DONE || !clr_groups_have_lists(groups))
        return outcome;
    outcome = clr_room_make(&groups->finals, &groups->memory,
                            (size_t)groups->plan.places * sizeof(uint32_t));
    for (n = 0; n < groups->count && outcome == CLR_SCAN_DONE; n++)
        ((uint32_t *)groups->finals.start)[places[n]] = (uint32_t)n;
    return outcome;
}

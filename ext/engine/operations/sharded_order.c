#include "engine/operations/sharded_order.h"

#include "base/memory.h"

/* Of a shard's keys, in order: those that the one of the rank may be among, and some that were
   looked at, whose ranks are within the shard. */
struct span {
    uint64_t low, high; /* the first one, and the end */
    struct clr_order looked;
};

/* A search, and what the reading of keys needs. */
struct search {
    const struct clr_sharded *copy;
    int count;
    struct span spans[CLR_MOST_SHARDS];
    int64_t timeout_ms;
    const struct clr_watch *watch;
    struct clr_device_work *work;
    struct clr_status *status;
};

static enum clr_scan_outcome ask(const struct search *search, int s, struct clr_order *order)
{
    const struct clr_shard *shard = &clr_sharded_division(search->copy)->shards[s];

    return clr_resident_order(shard->device.worker, clr_sharded_resident(search->copy, s), order,
                              search->timeout_ms, search->watch, search->work, search->status);
}

/* Has all shards sorted: whoever asks first starts that in each of them. */
static enum clr_scan_outcome sort_all(const struct search *search)
{
    enum clr_scan_outcome outcome = CLR_SCAN_DONE, one;
    struct clr_order order = {.rank_count = 0};
    int s;

    for (s = 0; s < search->count; s++) {
        one = ask(search, s, &order);
        if (outcome != CLR_SCAN_FAILED && one != CLR_SCAN_DONE)
            outcome = one;
    }
    return outcome;
}

/* Looks at keys of a span at even distances, or at all of them. */
static enum clr_scan_outcome look(const struct search *search, int s, struct span *span)
{
    const uint64_t size = span->high - span->low;
    struct clr_order *looked = &span->looked;
    uint64_t i;

    looked->rank_count = size < CLR_MOST_RANKS ? (int)size : CLR_MOST_RANKS;
    for (i = 0; i < (uint64_t)looked->rank_count; i++) {
        const uint64_t count = (uint64_t)looked->rank_count;

        looked->ranks[i] = span->low + size / count * i + size % count * i / count;
    }
    return looked->rank_count == 0 ? CLR_SCAN_DONE : ask(search, s, looked);
}

/*
 * Stores within which bounds the number of a span's keys is that come before another shard's key:
 * of equal keys those of earlier shards do. Both are cut off to the span: of what lies outside it
 * is known on which side of the rank it is, which is all that matters.
 */
static void bound(const struct span *span, bool is_earlier, int64_t key, uint64_t *least,
                  uint64_t *most)
{
    const struct clr_order *looked = &span->looked;
    int low = 0, high = looked->rank_count;

    while (low < high) {
        const int middle = (low + high) / 2;
        const int64_t other = looked->keys[middle];

        if (other < key || (other == key && is_earlier))
            low = middle + 1;
        else
            high = middle;
    }
    *least += low == 0 ? span->low : looked->ranks[low - 1] + 1;
    *most += low == looked->rank_count ? span->high : looked->ranks[low];
}

/* Narrows the shard's span by one of the keys that were looked at. Returns whether that has the
   rank. */
static bool narrow(const struct search *search, int s, int i, uint64_t rank, struct span *narrowed)
{
    const struct clr_order *looked = &search->spans[s].looked;
    uint64_t least = looked->ranks[i], most = least;
    int other;

    for (other = 0; other < search->count; other++) {
        if (other != s)
            bound(&search->spans[other], other < s, looked->keys[i], &least, &most);
    }
    if (most < rank)
        narrowed->low = looked->ranks[i] + 1;
    else if (least > rank && looked->ranks[i] < narrowed->high)
        narrowed->high = looked->ranks[i];
    return least == rank && most == rank;
}

/* Narrows all spans by what was looked at. Returns whether the key is found; *narrowed: or a span
   has become shorter. */
static bool narrow_all(struct search *search, uint64_t rank, int64_t *key, bool *narrowed)
{
    uint64_t lows[CLR_MOST_SHARDS], highs[CLR_MOST_SHARDS];
    int s, i;

    *narrowed = false;
    for (s = 0; s < search->count; s++) {
        struct span span = {.low = search->spans[s].low, .high = search->spans[s].high};

        for (i = 0; i < search->spans[s].looked.rank_count; i++) {
            if (!narrow(search, s, i, rank, &span))
                continue;
            *key = search->spans[s].looked.keys[i];
            return true;
        }
        lows[s] = span.low;
        highs[s] = span.high;
    }
    for (s = 0; s < search->count; s++) {
        *narrowed = *narrowed || lows[s] > search->spans[s].low || highs[s] < search->spans[s].high;
        search->spans[s].low = lows[s];
        search->spans[s].high = highs[s];
    }
    return false;
}

/* Finds the key of a rank among all rows. If looking does not narrow it down the host is to. */
static enum clr_scan_outcome find(struct search *search, uint64_t rank, int64_t *key)
{
    const struct clr_division *division = clr_sharded_division(search->copy);
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    bool narrowed = true;
    int s;

    for (s = 0; s < search->count; s++) {
        search->spans[s].low = 0;
        search->spans[s].high = division->shards[s].rows;
    }
    while (narrowed) {
        for (s = 0; s < search->count && outcome == CLR_SCAN_DONE; s++)
            outcome = look(search, s, &search->spans[s]);
        if (outcome != CLR_SCAN_DONE || narrow_all(search, rank, key, &narrowed))
            return outcome;
    }
    return CLR_SCAN_NOT_NOW;
}

static enum clr_scan_outcome find_all(struct search *search, struct clr_order *order)
{
    enum clr_scan_outcome outcome = sort_all(search);
    int i;

    for (i = 0; i < order->rank_count && outcome == CLR_SCAN_DONE; i++) {
        if (i > 0 && order->ranks[i] == order->ranks[i - 1])
            order->keys[i] = order->keys[i - 1];
        else
            outcome = find(search, order->ranks[i], &order->keys[i]);
    }
    return outcome;
}

enum clr_scan_outcome clr_sharded_order(const struct clr_sharded *copy, bool has_runs,
                                        struct clr_order *order, int64_t timeout_ms,
                                        const struct clr_watch *watch, struct clr_device_work *work,
                                        struct clr_status *status)
{
    const struct clr_division *division = clr_sharded_division(copy);
    enum clr_scan_outcome outcome;
    struct search *search;

    if (division->count == 1)
        return clr_resident_order(division->shards[0].device.worker, clr_sharded_resident(copy, 0),
                                  order, timeout_ms, watch, work, status);
    if (has_runs)
        return CLR_SCAN_NOT_NOW;
    search = clr_memory_alloc(sizeof *search);
    if (search == NULL) {
        clr_status_set(status, CLR_NOMEM, 0, "no memory for reading keys");
        return CLR_SCAN_FAILED;
    }
    *search = (struct search){.copy = copy,
                              .count = division->count,
                              .timeout_ms = timeout_ms,
                              .watch = watch,
                              .work = work,
                              .status = status};
    outcome = find_all(search, order);
    clr_memory_free(search);
    return outcome;
}

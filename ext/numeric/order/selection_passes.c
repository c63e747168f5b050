#include "numeric/order/selection_passes.h"

#include <string.h>

/* Keys that stay in the first-level cache. */
enum { BLOCK = 512 };

/* A pass over all keys of a portion, a block at a time. */
struct pass {
    struct clr_portion_reader reader;
    enum clr_key_order order;
    uint64_t keys[BLOCK];
};

static void begin_pass(struct pass *pass, const struct clr_selection *selection, int portion,
                       const atomic_bool *stop)
{
    clr_portion_begin(&pass->reader, selection->portions, portion, stop);
    pass->order = selection->order;
}

void clr_selection_copy_keys(const struct clr_run *run, size_t first, size_t count,
                             enum clr_key_order order, uint64_t *keys)
{
    int64_t room[BLOCK];
    const void *values = clr_run_values(run, first, count, room);
    size_t i;

    if (run->kind == CLR_KIND_REAL) {
        const clr_stored_real *reals = values;
        for (i = 0; i < count; i++)
            keys[i] = clr_double_to_key(reals[i]);
    } else if (order == CLR_ORDER_KEYS) {
        memcpy(keys, values, count * sizeof *keys);
    } else {
        const int64_t *integers = values;
        if (order == CLR_ORDER_INTEGERS) {
            for (i = 0; i < count; i++)
                keys[i] = clr_integer_to_key(integers[i]);
        } else {
            for (i = 0; i < count; i++)
                keys[i] = clr_integer_to_floor_key(integers[i]);
        }
    }
}

/* Fills pass->keys; returns how many there are, 0 at the end. */
static size_t next_block(struct pass *pass)
{
    const struct clr_portion_reader *reader = &pass->reader;
    const size_t count = clr_portion_next(&pass->reader, BLOCK);

    if (count > 0)
        clr_selection_copy_keys(reader->run, reader->position - count, count, pass->order,
                                pass->keys);
    return count;
}

/* Runs a pass over all portions. */
static enum clr_code run(struct clr_selection *selection, clr_portion_work *work)
{
    return clr_portions_run(selection->portions, work, selection) ? CLR_OK : CLR_STOPPED;
}

/* Adds up what all portions have counted below. */
static uint64_t add_below(const struct clr_selection *selection)
{
    uint64_t below = 0;
    int i;

    for (i = 0; i < selection->portions->count; i++)
        below += selection->findings[i].below;
    return below;
}

/* Adds the counts of all portions to those of the first, and returns them. */
static const uint64_t *add_counts(const struct clr_selection *selection, size_t count)
{
    uint64_t *counts = selection->findings[0].counts;
    size_t i;
    int portion;

    for (portion = 1; portion < selection->portions->count; portion++) {
        for (i = 0; i < count; i++)
            counts[i] += selection->findings[portion].counts[i];
    }
    return counts;
}

/* Finds a portion's greatest key up to first_end, and its least from second_start on; constants
   where this is inlined. */
static inline __attribute__((always_inline)) void look(const struct clr_selection *selection,
                                                       int portion, uint64_t first_end,
                                                       uint64_t second_start,
                                                       const atomic_bool *stop)
{
    uint64_t greatest = 0, least = UINT64_MAX;
    struct pass pass;
    size_t i, count;

    begin_pass(&pass, selection, portion, stop);
    while ((count = next_block(&pass)) != 0) {
        for (i = 0; i < count; i++) {
            uint64_t key = pass.keys[i];
            greatest = key <= first_end && key > greatest ? key : greatest;
            least = key >= second_start && key < least ? key : least;
        }
    }
    selection->findings[portion].greatest = greatest;
    selection->findings[portion].least = least;
}

static void look_for_range(void *argument, int portion, const atomic_bool *stop)
{
    look(argument, portion, UINT64_MAX, 0, stop);
}

static void look_for_neighbours(void *argument, int portion, const atomic_bool *stop)
{
    const struct clr_selection *selection = argument;

    look(selection, portion, selection->first_end, selection->second_start, stop);
}

/* Stores the greatest and the least of the keys that the work finds in the portions. */
static enum clr_code find(struct clr_selection *selection, clr_portion_work *work,
                          uint64_t *greatest, uint64_t *least)
{
    enum clr_code code = run(selection, work);
    int i;

    *greatest = 0;
    *least = UINT64_MAX;
    for (i = 0; i < selection->portions->count; i++) {
        const struct clr_finding *finding = &selection->findings[i];
        *greatest = finding->greatest > *greatest ? finding->greatest : *greatest;
        *least = finding->least < *least ? finding->least : *least;
    }
    return code;
}

enum clr_code clr_selection_find_range(struct clr_selection *selection)
{
    struct clr_key_range *range = &selection->range;
    enum clr_code code = find(selection, look_for_range, &range->high, &range->low);

    range->found = range->next = range->low;
    return code;
}

enum clr_code clr_selection_find_neighbours(struct clr_selection *selection)
{
    struct clr_key_range *range = &selection->range;

    return find(selection, look_for_neighbours, &range->found, &range->next);
}

static void count_parts(void *argument, int portion, const atomic_bool *stop)
{
    const struct clr_selection *selection = argument;
    const struct clr_key_range *range = &selection->range;
    const int shift = selection->shift;
    const uint64_t first = range->low >> shift, parts = (range->high >> shift) - first;
    uint64_t *counts = selection->findings[portion].counts;
    struct pass pass;
    size_t i, count;

    memset(counts, 0, CLR_KEY_PARTS * sizeof *counts);
    begin_pass(&pass, selection, portion, stop);
    while ((count = next_block(&pass)) != 0) {
        for (i = 0; i < count; i++) {
            uint64_t part = (pass.keys[i] >> shift) - first;
            if (part <= parts)
                counts[part]++;
        }
    }
}

enum clr_code clr_selection_count_parts(struct clr_selection *selection, const uint64_t **counts)
{
    enum clr_code code = run(selection, count_parts);

    if (code == CLR_OK)
        *counts = add_counts(selection, CLR_KEY_PARTS);
    return code;
}

/* Gathers the keys of a block that are in the window. Returns whether there was room for them. */
static bool gather_block(const struct pass *pass, size_t count, struct clr_window *window,
                         uint64_t *below)
{
    const uint64_t low = window->low, width = window->high - low;
    uint64_t keys[BLOCK];
    size_t i, kept, place;

    /* Kept without a branch that depends on the key. */
    for (i = kept = 0; i < count; i++) {
        *below += pass->keys[i] < low;
        keys[kept] = pass->keys[i];
        kept += pass->keys[i] - low <= width;
    }
    if (kept == 0)
        return true;
    place = atomic_fetch_add(&window->gathered, kept);
    if (place + kept > window->room)
        return false;
    memcpy(window->keys + place, keys, kept * sizeof *keys);
    return true;
}

static void gather(void *argument, int portion, const atomic_bool *stop)
{
    struct clr_selection *selection = argument;
    const int windows = selection->window_count;
    uint64_t *below = selection->findings[portion].counts;
    bool full[CLR_MOST_WINDOWS] = {false};
    int open = windows, i;
    struct pass pass;
    size_t count;

    memset(below, 0, (size_t)windows * sizeof *below);
    begin_pass(&pass, selection, portion, stop);
    while (open > 0 && (count = next_block(&pass)) != 0) {
        for (i = 0; i < windows; i++) {
            if (full[i] || gather_block(&pass, count, &selection->windows[i], &below[i]))
                continue;
            full[i] = true;
            open--;
        }
    }
}

enum clr_code clr_selection_gather(struct clr_selection *selection, struct clr_window *windows,
                                   int count)
{
    const uint64_t *below;
    enum clr_code code;
    int i;

    for (i = 0; i < count; i++)
        atomic_init(&windows[i].gathered, 0);
    selection->windows = windows;
    selection->window_count = count;
    code = run(selection, gather);
    below = add_counts(selection, (size_t)count);
    for (i = 0; i < count; i++)
        windows[i].below = below[i];
    return code;
}

static void count_tails(void *argument, int portion, const atomic_bool *stop)
{
    const struct clr_selection *selection = argument;
    struct clr_finding *finding = &selection->findings[portion];
    uint64_t key = selection->key, below = 0;
    int64_t room[BLOCK];
    struct pass pass;
    size_t i, count;

    memset(finding->counts, 0, CLR_KEY_TAILS * sizeof *finding->counts);
    begin_pass(&pass, selection, portion, stop);
    while ((count = next_block(&pass)) != 0) {
        const struct clr_run *run = pass.reader.run;
        const int64_t *integers =
            run->kind == CLR_KIND_INTEGER
                ? clr_run_values(run, pass.reader.position - count, count, room)
                : NULL;
        for (i = 0; i < count; i++) {
            below += pass.keys[i] < key;
            if (pass.keys[i] == key)
                finding->counts[integers != NULL ? clr_integer_tail(integers[i], key) : 0]++;
        }
    }
    finding->below = below;
}

enum clr_code clr_selection_count_tails(struct clr_selection *selection, const uint64_t **tails,
                                        uint64_t *below)
{
    enum clr_code code = run(selection, count_tails);

    if (code == CLR_OK)
        *tails = add_counts(selection, CLR_KEY_TAILS);
    *below = add_below(selection);
    return code;
}

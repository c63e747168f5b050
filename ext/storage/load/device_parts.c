#include "storage/load/device_parts.h"

/* The pages that the host decodes for a device each cost as much as hundreds of others do: up to so
   many, and one in so many of the part's, are few enough. */
enum { FEW_LEFT = 64, LEFT_PART = 512 };

/* Returns the first unit that begins with that leaf, or behind it, or the end. */
static size_t find_unit(const struct clr_units *units, size_t leaf)
{
    size_t i = 0;

    while (i < units->count && units->units[i].first < leaf)
        i++;
    return i;
}

static void divide(struct clr_device_parts *parts, const struct clr_units *units, int count)
{
    const size_t leaves = units->leaves.count, most = (size_t)count;
    size_t p, end = 0;

    parts->count = count;
    atomic_init(&parts->turn, 0);
    for (p = 0; p < most; p++) {
        struct clr_device_part *part = &parts->list[p];
        const size_t first = end;

        end = find_unit(units, leaves / most * (p + 1) + leaves % most * (p + 1) / most);
        *part = (struct clr_device_part){.first = first,
                                         .end = end,
                                         .leaf = units->units[first].first,
                                         .row = units->units[first].row};
        part->leaves = units->units[end - 1].first + units->units[end - 1].count - part->leaf;
        part->placed = (struct clr_placed){.units_taken = first, .places = part->leaf};
        atomic_init(&part->next, first);
    }
}

/* Returns about how many rows a part has, of so many of the whole. */
static size_t guess_rows(const struct clr_device_part *part, const struct clr_units *units,
                         size_t rows)
{
    return (size_t)((double)rows * (double)part->leaves / (double)units->leaves.count);
}

bool clr_device_parts_begin(struct clr_device_parts *parts, const struct clr_units *units,
                            bool is_layout_known, const struct clr_devices *devices,
                            const struct clr_device_decoding *decoding,
                            const struct clr_feed_setup *whole)
{
    struct clr_leaf_feed *feeds[CLR_DEVICES_LIMIT] = {NULL};
    struct clr_division division = {.count = devices->count};
    struct clr_feed_setup setups[CLR_DEVICES_LIMIT];
    size_t first = 0, rows;
    bool has_begun;
    int p;

    divide(parts, units, devices->count);
    for (p = 0; p < parts->count; p++) {
        const struct clr_device_part *part = &parts->list[p];

        rows = is_layout_known ? clr_device_part_rows(part, units)
                               : guess_rows(part, units, whole->rows);
        division.shards[p] = (struct clr_shard){devices->list[p], first, rows};
        first += rows;
        setups[p] = *whole;
        setups[p].leaves = part->leaves;
        /* Columns that turn out too short have to move. */
        setups[p].rows = is_layout_known ? rows : rows + rows / 32 + 1;
        setups[p].most_skipped = FEW_LEFT + part->leaves / LEFT_PART;
    }
    has_begun = decoding->begin(decoding->context, &division, setups, feeds);
    for (p = 0; p < parts->count; p++)
        parts->list[p].feed = feeds[p];
    return has_begun;
}

void clr_device_parts_free(struct clr_device_parts *parts)
{
    int p, k;

    for (p = 0; p < parts->count; p++) {
        for (k = 0; k < CLR_MOST_COLUMNS; k++)
            clr_resident_free(parts->list[p].columns[k].resident);
        clr_leaf_feed_free(parts->list[p].feed);
    }
}

struct clr_device_part *clr_device_parts_choose(struct clr_device_parts *parts,
                                                const struct clr_units *units)
{
    const unsigned turn = atomic_fetch_add(&parts->turn, 1), count = (unsigned)parts->count;
    unsigned i;

    for (i = 0; i < count && !atomic_load(&units->failed); i++) {
        struct clr_device_part *part = &parts->list[(turn % count + i) % count];

        if (atomic_load(&part->next) < part->end)
            return part;
    }
    return NULL;
}

bool clr_device_part_take(struct clr_device_part *part, struct clr_units *units, size_t *i)
{
    if (atomic_load(&units->failed))
        return false;
    *i = atomic_fetch_add(&part->next, 1);
    if (*i >= part->end)
        return false;
    atomic_fetch_add(&units->next, 1);
    return true;
}

size_t clr_device_part_rows(const struct clr_device_part *part, const struct clr_units *units)
{
    size_t rows = 0, i;

    for (i = part->first; i < part->end; i++)
        rows += units->units[i].rows;
    return rows;
}

#include "storage/load/placement.h"

#include "base/memory.h"
#include "storage/load/leaves.h"

/* A guess: so much of a table has been met, one in so many of its units, and all of it would have
   so many times the rows that there may be. */
enum { GUESS_PART = 16, GUESS_FACTOR = 2 };

bool clr_placement_init(struct clr_placement *placement, struct clr_units *units,
                        const struct clr_layout *layout)
{
    int64_t left = INT64_MAX;

    if (layout->most_bytes > 0 && layout->most_bytes < INT64_MAX)
        left = (int64_t)layout->most_bytes;
    if (layout->known)
        left -= (int64_t)(layout->rows * layout->row_bytes);
    *placement = (struct clr_placement){
        .layout = layout, .extents = clr_memory_alloc(units->count * sizeof *placement->extents)};
    atomic_init(&placement->rows, 0);
    atomic_init(&placement->left, left);
    return placement->extents != NULL && (!layout->keeps_leaves || clr_leaves_note(units));
}

/* Whether the table will have too many rows if the units that are still to come are like those that
   were taken, with so many rows. */
static bool seems_too_large(const struct clr_layout *layout, struct clr_units *units, size_t rows)
{
    size_t taken = atomic_load(&units->next), count = units->count;

    return layout->may_guess && taken > count / GUESS_PART &&
           (double)rows * (double)count > GUESS_FACTOR * (double)layout->most_rows * (double)taken;
}

enum clr_load_outcome clr_placement_take(struct clr_placement *placement, struct clr_units *units,
                                         struct clr_pages *pages, size_t i, size_t rows)
{
    const struct clr_layout *layout = placement->layout;
    struct clr_extent *extent = &placement->extents[i];

    if (layout->known) {
        *extent = layout->extents[i];
        return extent->rows == rows
                   ? CLR_LOAD_DONE
                   : clr_page_malformed(pages, units->leaves.numbers[i * units->unit_leaves]);
    }
    atomic_fetch_sub(&placement->left, (int64_t)(rows * layout->row_bytes));
    extent->rows = rows;
    extent->first = atomic_fetch_add(&placement->rows, rows);
    rows += extent->first;
    return layout->most_rows == 0 ||
                   (rows <= layout->most_rows && !seems_too_large(layout, units, rows))
               ? CLR_LOAD_DONE
               : CLR_LOAD_TOO_LARGE;
}

bool clr_placement_keep(struct clr_placement *placement, struct clr_units *units,
                        struct clr_layout *layout)
{
    if (layout->keeps_leaves && !clr_leaves_keep(units, placement->extents, layout))
        return false;
    if (layout->known)
        return true;
    layout->known = true;
    layout->rows = atomic_load(&placement->rows);
    layout->units = units->count;
    layout->extents = placement->extents;
    placement->extents = NULL;
    return true;
}

void clr_placement_free(struct clr_placement *placement)
{
    clr_memory_free(placement->extents);
}

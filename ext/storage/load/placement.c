#include "storage/load/placement.h"

#include "base/memory.h"

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
        .units = units,
        .layout = layout,
        .leaves = clr_memory_alloc(units->leaves.count * sizeof *placement->leaves),
        .before = clr_page_set_copy(units->visited)};
    atomic_init(&placement->left, left);
    pthread_mutex_init(&placement->lock, NULL);
    pthread_cond_init(&placement->taken, NULL);
    return placement->leaves != NULL && placement->before != NULL;
}

void clr_placement_free(struct clr_placement *placement)
{
    if (placement->units == NULL)
        return;
    pthread_mutex_destroy(&placement->lock);
    pthread_cond_destroy(&placement->taken);
    clr_memory_free(placement->leaves);
    clr_page_set_free(placement->before);
}

/* Whether the table will have too many rows if the units that are still to come are like those that
   were taken, with so many rows. */
static bool seems_too_large(const struct clr_placement *placement, size_t rows)
{
    size_t taken = atomic_load(&placement->units->next), count = placement->units->count;

    return placement->layout->may_guess && taken > count / GUESS_PART &&
           (double)rows * (double)count >
               (int)GUESS_FACTOR * (double)placement->layout->most_rows * (double)taken;
}

/* Waits, with the lock, until the units before unit i have their places. Each of them is a
   thread's, which waits for no later one: it gets its place, or gives up. */
static void wait_for_turn(struct clr_placement *placement, size_t i)
{
    while (!placement->is_given_up && placement->units_taken != i)
        pthread_cond_wait(&placement->taken, &placement->lock);
}

enum clr_load_outcome clr_placement_take(struct clr_placement *placement, struct clr_pages *pages,
                                         size_t i, size_t rows)
{
    const struct clr_layout *layout = placement->layout;
    struct clr_unit *unit = &placement->units->units[i];

    if (layout->known)
        return unit->rows == rows
                   ? CLR_LOAD_DONE
                   : clr_page_malformed(pages, placement->units->leaves.numbers[unit->first]);
    atomic_fetch_sub(&placement->left, (int64_t)(rows * layout->row_bytes));
    pthread_mutex_lock(&placement->lock);
    wait_for_turn(placement, i);
    unit->row = placement->rows;
    unit->place = placement->places;
    unit->rows = rows;
    placement->rows += rows;
    placement->places += unit->count;
    placement->units_taken++;
    rows = placement->rows;
    pthread_cond_broadcast(&placement->taken);
    pthread_mutex_unlock(&placement->lock);
    return layout->most_rows == 0 ||
                   (rows <= layout->most_rows && !seems_too_large(placement, rows))
               ? CLR_LOAD_DONE
               : CLR_LOAD_TOO_LARGE;
}

void clr_placement_give_up(struct clr_placement *placement)
{
    pthread_mutex_lock(&placement->lock);
    placement->is_given_up = true;
    pthread_cond_broadcast(&placement->taken);
    pthread_mutex_unlock(&placement->lock);
}

/* Whether the leaves are those of the layout. If not, the page of the first other one is named. */
static bool is_same(const struct clr_placement *placement)
{
    const struct clr_layout *layout = placement->layout;
    size_t i;

    for (i = 0; i < layout->leaf_count; i++) {
        const struct clr_leaf *leaf = &placement->leaves[i], *known = &layout->leaves[i];

        if (leaf->rows != known->rows || leaf->first != known->first || leaf->last != known->last) {
            clr_units_fail(placement->units, CLR_LOAD_MALFORMED, leaf->number, 0);
            return false;
        }
    }
    return true;
}

enum clr_load_outcome clr_placement_keep(struct clr_placement *placement, struct clr_layout *layout)
{
    struct clr_units *units = placement->units;
    size_t i;

    if (layout->known && !is_same(placement))
        return CLR_LOAD_MALFORMED;
    for (i = 0; layout->known && i < layout->leaf_count; i++)
        layout->leaves[i].is_chained |= placement->leaves[i].is_chained;
    if (!layout->known) {
        clr_layout_keep(layout, placement->leaves, units->leaves.count, units->source->is_index);
        clr_layout_drop_chains(layout);
        placement->leaves = NULL;
    }
    clr_layout_add_chains(layout, units->visited, placement->before);
    units->visited = NULL;
    return CLR_LOAD_DONE;
}

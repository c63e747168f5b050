/* Where the rows of a table's units go in columns, and what becomes known of the layout by that. */
#ifndef CLR_STORAGE_PLACEMENT_H
#define CLR_STORAGE_PLACEMENT_H

#include "storage/leaves/layout.h"
#include "storage/leaves/units.h"

#include <pthread.h>
#include <stdatomic.h>

/* What the threads of a load share. */
struct clr_placement {
    struct clr_units *units;
    const struct clr_layout *layout; /* the caller's */
    atomic_int_least64_t left;       /* bytes that rows and their bytes may still take */
    struct clr_leaf *leaves;         /* of the units, at their places */
    struct clr_page_set *before;     /* the pages that led to the leaves */
    pthread_mutex_t lock;
    pthread_cond_t taken; /* a unit has its place */
    bool is_given_up;     /* a unit will have no place: the load fails */
    /* What the units that have their places have taken. */
    size_t units_taken, rows;
    size_t places; /* in the layout, before the next unit's */
};

/* Begins, for units that have been found and not run. Returns false without memory. Free in any
   case; it may be zeros then. */
bool clr_placement_init(struct clr_placement *placement, struct clr_units *units,
                        const struct clr_layout *layout);
void clr_placement_free(struct clr_placement *placement);

/*
 * Gives unit i, of so many rows, its place, if the layout fits and has room. Returns CLR_LOAD_DONE,
 * CLR_LOAD_TOO_LARGE or CLR_LOAD_MALFORMED, with the page in pages. Any thread may call it, once
 * for each unit, and has to before it takes another one: this or clr_placement_give_up(). It waits
 * for the units before, as rows keep the order of the units.
 */
enum clr_load_outcome clr_placement_take(struct clr_placement *placement, struct clr_pages *pages,
                                         size_t i, size_t rows);

/* A thread's unit could not be read, and the load fails: nobody waits for its place any more. */
void clr_placement_give_up(struct clr_placement *placement);

/* Returns where the leaves of unit i are to be described, once it has its place. */
static inline struct clr_leaf *clr_placement_leaves(const struct clr_placement *placement, size_t i)
{
    return placement->leaves + placement->units->units[i].place;
}

/* Returns how many rows there are, when all units have been taken. */
static inline size_t clr_placement_rows(const struct clr_placement *placement)
{
    return placement->layout->known ? placement->layout->rows : placement->rows;
}

/* When all leaves have been described: hands them over to the layout, which then is known.
   CLR_LOAD_MALFORMED if it was, and they are not as it has them: nothing has changed then. */
enum clr_load_outcome clr_placement_keep(struct clr_placement *placement,
                                         struct clr_layout *layout);

#endif

/* Where the rows of a table's units go in columns. */
#ifndef CLR_STORAGE_PLACEMENT_H
#define CLR_STORAGE_PLACEMENT_H

#include "storage/load/layout.h"
#include "storage/load/units.h"

#include <stdatomic.h>

/* What the threads of a load share; its layout is the caller's. */
struct clr_placement {
    const struct clr_layout *layout;
    struct clr_extent *extents; /* of the units */
    atomic_size_t rows;
    atomic_int_least64_t left; /* bytes that rows and their bytes may still take */
};

/* Begins, for units that have been found and not run. Returns false without memory. Free in any
   case. */
bool clr_placement_init(struct clr_placement *placement, struct clr_units *units,
                        const struct clr_layout *layout);

/* Gives unit i, of so many rows, its extent, if the layout fits and has room. Returns
   CLR_LOAD_DONE, CLR_LOAD_TOO_LARGE or CLR_LOAD_MALFORMED, with the page in pages. Any thread may
   call it, once for each unit. */
enum clr_load_outcome clr_placement_take(struct clr_placement *placement, struct clr_units *units,
                                         struct clr_pages *pages, size_t i, size_t rows);

/* Returns how many rows there are, when all units have been taken. */
static inline size_t clr_placement_rows(struct clr_placement *placement)
{
    return placement->layout->known ? placement->layout->rows : atomic_load(&placement->rows);
}

/* When all units have been taken: hands what is known of them over to the layout, which then is
   known. Returns false without memory, and then has changed nothing. */
bool clr_placement_keep(struct clr_placement *placement, struct clr_units *units,
                        struct clr_layout *layout);

void clr_placement_free(struct clr_placement *placement);

#endif

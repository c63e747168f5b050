/* Leaf pages that are read and decoded one by one, by the calling thread: a few of a table. */
#ifndef CLR_STORAGE_LEAF_READER_H
#define CLR_STORAGE_LEAF_READER_H

#include "storage/load/units.h"

struct clr_leaf_reader {
    struct clr_pages pages;
    struct clr_decoder decoder; /* its targets have the last leaf's rows, from 0 on */
    struct clr_leaf leaf;       /* the last one */
    /* Its own. */
    struct clr_units *units;
    struct clr_target *targets; /* one for each want */
    unsigned char *page;
};

/* Begins, with the wants of units that have been found, which have no bytes. watch may be NULL.
   Returns CLR_LOAD_DONE or CLR_LOAD_FAILED. Free in any case. */
enum clr_load_outcome clr_leaf_reader_init(struct clr_leaf_reader *reader, struct clr_units *units,
                                           const struct clr_watch *watch);

/* Reads and decodes the leaf whose page has that number. Tags are set where the kind of a target is
   CLR_TAG_MIXED. */
enum clr_load_outcome clr_leaf_reader_read(struct clr_leaf_reader *reader, uint32_t number);

/* Adds what was read to that of the units. */
void clr_leaf_reader_free(struct clr_leaf_reader *reader);

#endif

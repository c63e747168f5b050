/*
 * How a load keeps values in few bytes before it knows all of them. A unit is decoded into a
 * thread's own room, which stays in the processor's cache, and goes from there into a column whose
 * frame the first unit has chosen. What does not fit goes into one of four bytes, and if there is
 * something that does not fit there either the column has all bytes: further units are decoded into
 * that at once. In the end one column takes the rows of the others. Address space for three columns
 * costs nothing: memory is only what is touched.
 */
#ifndef CLR_STORAGE_PACKING_H
#define CLR_STORAGE_PACKING_H

#include "storage/leaves/units.h"

#include <pthread.h>

/* The columns that take a field's rows, one after the other: the last one has all bytes. */
enum { CLR_PACKING_LAST = 2, CLR_PACKING_LEVELS };

struct clr_packed {
    struct clr_column *columns[CLR_PACKING_LEVELS];
    atomic_int level; /* that is used now; -1: none has been chosen */
};

/* Zeros: there is nothing to be freed. */
struct clr_packing {
    const struct clr_units *units;
    pthread_mutex_t lock;
    struct clr_packed *fields; /* in the order of the units' fields */
    struct clr_column **rooms; /* of each thread, likewise; NULL where there is none */
    struct clr_frame *bounds;  /* of each thread, likewise: of what came by its room */
    uint8_t *levels, *kinds;   /* of each unit, likewise: where its rows are, and what */
};

/*
 * Begins, for units that have been found and whose fields stay as they are. columns: those of all
 * bytes by the fields' positions, the caller's still, with room for all rows; those of codes are
 * left alone. Returns false without memory. Free in any case.
 */
bool clr_packing_init(struct clr_packing *packing, const struct clr_units *units,
                      struct clr_column *const *columns);
void clr_packing_free(struct clr_packing *packing);

/* Sets the targets of the decoder, which is the thread's, for the values of unit i. */
void clr_packing_aim(const struct clr_packing *packing, int thread, size_t i,
                     struct clr_decoder *decoder);

/* Keeps what was decoded of unit i, so many rows, by that thread. */
void clr_packing_take(struct clr_packing *packing, int thread, size_t i,
                      const struct clr_decoder *decoder, size_t rows);

/* Returns the column that takes the rows of field k just now, or NULL. */
struct clr_column *clr_packing_column(const struct clr_packing *packing, int k);

/* When all threads are done: *column, that of all bytes of field k, becomes the one that has all
   values, so many, in as few bytes as will do. It has its bytes of TEXT and BLOBs already. */
void clr_packing_finish(struct clr_packing *packing, int k, size_t rows,
                        struct clr_column **column);

#endif

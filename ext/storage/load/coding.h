/*
 * The codes of a load: each thread has a dictionary of its own for each column with codes, so that
 * none waits for another, and in the end they are made one. INTEGERs of a range that a sample has
 * told need none before that: the threads say by bits which they have met.
 */
#ifndef CLR_STORAGE_CODING_H
#define CLR_STORAGE_CODING_H

#include "storage/leaves/units.h"

#include <stdatomic.h>

/* Zeros: nothing is with codes. */
struct clr_coding {
    const struct clr_units *units;
    atomic_int_least64_t *left; /* bytes that the dictionaries may still take */
    struct clr_dictionary *
        *dictionaries;             /* of each thread, in the order of fields; NULL: no codes */
    struct clr_code_range *ranges; /* likewise, the threads with bits of their own */
    atomic_int full;               /* of CLR_LOAD_MANY_VALUES: the field's position */
};

/*
 * Begins, for units that have been found and whose fields stay as they are, after a sample of their
 * leaves. layout has the seed of the dictionaries; left are the bytes that they may take, shared
 * with others. Returns CLR_LOAD_DONE; CLR_LOAD_MANY_VALUES, if a sample tells of a field with too
 * many values; CLR_LOAD_STOPPED, CLR_LOAD_MALFORMED or CLR_LOAD_FAILED: the units have taken note
 * of it. Free in any case.
 */
enum clr_load_outcome clr_coding_begin(struct clr_coding *coding, struct clr_units *units,
                                       const struct clr_layout *layout, atomic_int_least64_t *left,
                                       const struct clr_watch *watch);
void clr_coding_free(struct clr_coding *coding);

/* Lets a decoder whose targets have been set store the codes of that thread. */
void clr_coding_aim(const struct clr_coding *coding, int thread, struct clr_decoder *decoder);

/*
 * When all threads are done: gives the column of field k, whose rows are codes of their threads'
 * dictionaries, in four bytes, one dictionary and its codes, in as few bytes as will do. *column
 * may become another one. column NULL: gives the dictionary alone, with a reference. Returns
 * CLR_LOAD_DONE, CLR_LOAD_FAILED without memory, CLR_LOAD_TOO_LARGE, or CLR_LOAD_MANY_VALUES; the
 * column is the caller's still.
 */
enum clr_load_outcome clr_coding_finish(struct clr_coding *coding, int k, size_t rows,
                                        struct clr_column **column,
                                        struct clr_dictionary **dictionary);

#endif

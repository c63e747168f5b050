/*
 * The dictionaries of a load: each thread has one of its own for each column with codes, so that
 * none waits for another, and in the end they are made one.
 */
#ifndef CLR_STORAGE_CODING_H
#define CLR_STORAGE_CODING_H

#include "storage/leaves/units.h"

/* Zeros: nothing is with codes. */
struct clr_coding {
    const struct clr_units *units;
    atomic_int_least64_t *left; /* bytes that the dictionaries may still take */
    struct clr_dictionary *
        *dictionaries;    /* of each thread, in the order of fields; NULL: no codes */
    size_t *rows, *taken; /* of each thread, and the units that had them */
    atomic_int full;      /* of CLR_LOAD_MANY_VALUES: the field's position */
};

/*
 * Begins, for units that have been found and whose fields stay as they are, with the seed of the
 * dictionaries and what they may take, shared as clr_bytes does. Returns false without memory. Free
 * in any case; it may be zeros then.
 */
bool clr_coding_init(struct clr_coding *coding, const struct clr_units *units, uint64_t seed,
                     atomic_int_least64_t *left);
void clr_coding_free(struct clr_coding *coding);

/* Lets a decoder whose targets have been set store the codes of that thread's dictionaries. */
void clr_coding_aim(const struct clr_coding *coding, int thread, struct clr_decoder *decoder);

/* Takes note of so many rows that the thread has decoded. CLR_LOAD_MANY_VALUES: one of its
   dictionaries hardly saves anything. */
enum clr_load_outcome clr_coding_check(struct clr_coding *coding, int thread, size_t rows);

/*
 * When all threads are done: gives the column of field k, whose rows are codes of their threads'
 * dictionaries, in four bytes, one dictionary and its codes, in as few bytes as will do. *column
 * may become another one. Returns CLR_LOAD_DONE, CLR_LOAD_FAILED without memory,
 * CLR_LOAD_TOO_LARGE, or CLR_LOAD_MANY_VALUES; the column is the caller's still.
 */
enum clr_load_outcome clr_coding_finish(struct clr_coding *coding, int k, size_t rows,
                                        struct clr_column **column);

/* The same, where no column is kept: gives the one dictionary, with a reference, or NULL. */
enum clr_load_outcome clr_coding_finish_alone(struct clr_coding *coding, int k, size_t rows,
                                              struct clr_dictionary **dictionary);

#endif

/*
 * What is to be found out about numbers, and the exact sums that it takes. In SQL the first
 * argument of a function of pairs is y, and the second x; of one quantity the only argument is x.
 */
#ifndef CLR_NUMERIC_OPERATION_H
#define CLR_NUMERIC_OPERATION_H

#include "numeric/exact/sum.h"

#include <stddef.h>

/* The first have a kernel each, on a device and on the host; the others take several of those over
   the same values. */
enum clr_operation {
    CLR_SUM,
    CLR_DOT,
    CLR_EXTREMES,
    CLR_OPERATIONS,               /* those with kernels */
    CLR_SQUARES = CLR_OPERATIONS, /* the sums of x and x * x */
    CLR_PAIRS                     /* the sums of x, x * x, y, y * y and x * y */
};

/* The terms of CLR_PAIRS, in their order. Those of CLR_SQUARES are the first two. */
enum clr_moment {
    CLR_MOMENT_X,
    CLR_MOMENT_XX,
    CLR_MOMENT_Y,
    CLR_MOMENT_YY,
    CLR_MOMENT_XY,
    CLR_MOST_TERMS /* of any operation */
};

/* One kernel's share of an operation: which one, and which operands it takes. Operand 0 is the
   first argument in SQL, and 1 the second. */
struct clr_term {
    enum clr_operation operation; /* below CLR_OPERATIONS */
    int first, second;            /* second matters for CLR_DOT alone, and is not before first */
};

/* Returns an operation's terms, in the order of its sums, and stores how many there are: 1 to
   CLR_MOST_TERMS. */
const struct clr_term *clr_operation_terms(enum clr_operation operation, int *count);

/* Returns how many sums an operation has beside the first: small groups ask for no more. */
static inline int clr_operation_more(enum clr_operation operation)
{
    return operation < CLR_OPERATIONS ? 0 : operation == CLR_SQUARES ? 1 : CLR_MOST_TERMS - 1;
}

/* Returns how many operands an operation takes from a row: 1 or 2. */
static inline size_t clr_operation_width(enum clr_operation operation)
{
    return operation == CLR_DOT || operation == CLR_PAIRS ? 2 : 1;
}

/* What is known of rows: how many count, how many of those have an operand that is no INTEGER, and
   the sums of an operation's terms. The sums are the owner's; one that is not needed may be NULL.
 */
struct clr_sums {
    int64_t count, non_integers;
    struct clr_sum *sums[CLR_MOST_TERMS];
};

/*
 * A chunk: a fixed number of values buffered on the host on their way to an executor. Reals and
 * integers lie apart, so that an integer is never squeezed through a double. For operations on
 * pairs each kind has a second array right behind the first.
 */

/* The element types of chunks and kernels. */
enum clr_element { CLR_REAL, CLR_INTEGER, CLR_ELEMENTS };

struct clr_chunk {
    enum clr_operation operation;
    size_t capacity;            /* values (pairs for operations on two) of each element type */
    size_t count[CLR_ELEMENTS]; /* values present of each */
    double *real;               /* operand 0 at 0 .. capacity-1; 1 at capacity .. 2 capacity-1 */
    int64_t *integer;           /* likewise */
};

/* Returns an empty chunk for capacity values of each element type, or NULL without memory. Free
   with clr_memory_free(). Pages that stay unused cost address space only. */
struct clr_chunk *clr_chunk_new(enum clr_operation operation, size_t capacity);

#endif

/*
 * A chunk: a fixed number of values buffered on the host on their way to an executor. Reals and
 * integers lie apart, so that an integer is never squeezed through a double. For operations on
 * pairs each kind has a second array right behind the first.
 */
#ifndef CLR_NUMERIC_CHUNK_H
#define CLR_NUMERIC_CHUNK_H

#include "numeric/exact/operation.h"

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
   with clr_chunk_free(). Pages that stay unused cost address space only. */
struct clr_chunk *clr_chunk_new(enum clr_operation operation, size_t capacity);

/* NULL is fine. */
void clr_chunk_free(struct clr_chunk *chunk);

#endif

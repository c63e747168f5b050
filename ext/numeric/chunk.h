/*
 * A chunk: a fixed number of values buffered on the host on their way to an executor. Reals and
 * integers lie apart, so that an integer is never squeezed through a double. For operations on
 * pairs each kind has a second array right behind the first.
 */
#ifndef CLR_NUMERIC_CHUNK_H
#define CLR_NUMERIC_CHUNK_H

#include <stddef.h>
#include <stdint.h>

/* What is to be found out about the values; the kernels have an operation for each. */
enum clr_operation { CLR_SUM, CLR_DOT, CLR_EXTREMES, CLR_OPERATIONS };

/* The element types of chunks and kernels. */
enum clr_element { CLR_REAL, CLR_INTEGER, CLR_ELEMENTS };

struct clr_chunk {
    enum clr_operation operation;
    size_t capacity;            /* values (pairs for CLR_DOT) of each element type */
    size_t count[CLR_ELEMENTS]; /* values present of each */
    double *real;               /* x at 0 .. capacity-1; y of CLR_DOT at capacity .. 2 capacity-1 */
    int64_t *integer;           /* likewise */
};

/* Returns how many operands an operation takes from a row: 1 or 2. */
static inline size_t clr_operation_width(enum clr_operation operation)
{
    return operation == CLR_DOT ? 2 : 1;
}

/* Returns an empty chunk for capacity values of each element type, or NULL without memory. Free
   with clr_chunk_free(). Pages that stay unused cost address space only. */
struct clr_chunk *clr_chunk_new(enum clr_operation operation, size_t capacity);

/* NULL is fine. */
void clr_chunk_free(struct clr_chunk *chunk);

#endif

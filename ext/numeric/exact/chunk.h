/*
 * A chunk: a fixed number of values buffered on the host on their way to an executor. Reals and
 * integers lie apart, so that an integer is never squeezed through a double. For operations on
 * pairs each kind has a second array right behind the first.
 */
#ifndef CLR_NUMERIC_CHUNK_H
#define CLR_NUMERIC_CHUNK_H

#include <stddef.h>
#include <stdint.h>

/*
 * What is to be found out about the values. The first have a kernel each, on a device and on the
 * host; the others take several of those over the same values.
 */
enum clr_operation {
    CLR_SUM,
    CLR_DOT,
    CLR_EXTREMES,
    CLR_OPERATIONS,               /* those with kernels */
    CLR_SQUARES = CLR_OPERATIONS, /* the sums of a and a * a */
    CLR_PAIRS                     /* the sums of a, b, a * a, b * b and a * b */
};

/* One kernel's share of an operation: which one, and which operands it takes. Operand 0 is a, the
   first argument in SQL, and 1 is b, the second: of pairs a is what statistics call y. */
struct clr_term {
    enum clr_operation operation; /* below CLR_OPERATIONS */
    int first, second;            /* second matters for CLR_DOT alone, and is not before first */
};

enum { CLR_MOST_TERMS = 5 };

/* Returns an operation's terms, in the order of its sums, and stores how many there are: 1 to
   CLR_MOST_TERMS. */
const struct clr_term *clr_operation_terms(enum clr_operation operation, int *count);

/* Returns how many sums an operation has beside the first: small groups ask for no more. */
static inline int clr_operation_more(enum clr_operation operation)
{
    return operation < CLR_OPERATIONS ? 0 : operation == CLR_SQUARES ? 1 : CLR_MOST_TERMS - 1;
}

/* The element types of chunks and kernels. */
enum clr_element { CLR_REAL, CLR_INTEGER, CLR_ELEMENTS };

struct clr_chunk {
    enum clr_operation operation;
    size_t capacity;            /* values (pairs for operations on two) of each element type */
    size_t count[CLR_ELEMENTS]; /* values present of each */
    double *real;               /* a at 0 .. capacity-1; b at capacity .. 2 capacity-1 */
    int64_t *integer;           /* likewise */
};

/* Returns how many operands an operation takes from a row: 1 or 2. */
static inline size_t clr_operation_width(enum clr_operation operation)
{
    return operation == CLR_DOT || operation == CLR_PAIRS ? 2 : 1;
}

/* Returns an empty chunk for capacity values of each element type, or NULL without memory. Free
   with clr_chunk_free(). Pages that stay unused cost address space only. */
struct clr_chunk *clr_chunk_new(enum clr_operation operation, size_t capacity);

/* NULL is fine. */
void clr_chunk_free(struct clr_chunk *chunk);

#endif

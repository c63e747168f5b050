/*
 * A column of a table, decoded: 8 bytes a row, and where its values are not all of one type a tag a
 * row. The columns of one image of a table have their rows in the same order.
 */
#ifndef CLR_NUMERIC_COLUMN_H
#define CLR_NUMERIC_COLUMN_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* What a value is. The kernels use the same numbers. */
enum clr_tag {
    CLR_TAG_NULL = 0,
    CLR_TAG_INTEGER = 1,
    CLR_TAG_REAL = 2,
    CLR_TAG_OTHER = 3, /* TEXT or BLOB: known to be there and not NULL, nothing else */
    CLR_TAG_UNSURE =
        4, /* of results only: SQLite alone can tell, as for an error or a TEXT operand */
    CLR_TAG_MIXED = 255 /* of columns only: see their tags */
};

/* A value of an expression; bits are those of the INTEGER or of the double, else 0. */
struct clr_scalar {
    uint8_t tag;
    int64_t bits;
};

struct clr_column {
    atomic_int references;
    size_t capacity; /* rows there is address space for; pages never touched cost nothing else */
    size_t rows;
    uint8_t kind;    /* the tag of all rows, or CLR_TAG_MIXED */
    int64_t *values; /* bits, 0 for NULL and OTHER */
    uint8_t *tags;   /* defined where kind is CLR_TAG_MIXED */
};

/* Returns a column with room for capacity rows and one reference, or NULL without memory. */
struct clr_column *clr_column_new(size_t capacity);

/*
 * Makes the system provide the memory of a block of rows, where it can be asked to. Threads that
 * fill neighbouring rows for the first time otherwise wait for the same large pages, each clearing
 * one, of which the system keeps but one.
 */
enum { CLR_COLUMN_BLOCK = 262144 };
void clr_column_populate(struct clr_column *column, size_t block);

/* Any thread may take and drop references; the last one frees. NULL is fine for the second. */
struct clr_column *clr_column_retain(struct clr_column *column);
void clr_column_release(struct clr_column *column);

/* Returns the memory that the column's rows take, in bytes. */
size_t clr_column_size(const struct clr_column *column);

#endif

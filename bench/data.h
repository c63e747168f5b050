/* The values that are measured with: the same ones on every machine. */
#ifndef CLR_BENCH_DATA_H
#define CLR_BENCH_DATA_H

#include "numeric/exact/operation.h"
#include "numeric/states/state.h"

#include <stdbool.h>
#include <stddef.h>

enum bench_data {
    BENCH_UNIFORM,  /* REAL: uniform between 0 and 1; INTEGER: any 64 bits */
    BENCH_HARD,     /* REAL: every exponent that a double has, either sign */
    BENCH_COUNTABLE /* doubles that are whole numbers from -512 to 511: any order sums exactly */
};

/* Returns bytes of memory that the caller frees with free(); ends the program without memory. */
void *bench_memory(size_t bytes);

/* Fills 8-byte values of one kind. */
void bench_fill(void *values, size_t count, enum clr_element element, enum bench_data data);

/*
 * Fills doubles of either sign whose exponents are spread over so many bits around that of 1, from
 * 0 (all between 1 and 2 in size) to 2000.
 */
void bench_fill_spread(double *values, size_t count, int spread);

/* Adds the host's exact reduction of count values (pairs: x, then y behind it) to state. */
void bench_reduce_on_host(void *values, size_t count, enum clr_operation operation,
                          enum clr_element element, struct clr_state *state);

/* Returns whether two states have the same sums and extremes, to the bit. */
bool bench_same_state(struct clr_state *a, struct clr_state *b);

extern const char *const bench_element_names[CLR_ELEMENTS];
extern const char *const bench_operation_names[CLR_OPERATIONS];

/* Bytes of main memory that it is decent to fill. */
size_t bench_memory_limit(void);

#endif

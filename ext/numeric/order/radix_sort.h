/* Sorting 64-bit keys, for order-preserving ones see keys.h. */
#ifndef CLR_NUMERIC_RADIX_SORT_H
#define CLR_NUMERIC_RADIX_SORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sorts keys[0 .. count-1] in ascending order. scratch has room for as many and is overwritten;
 * for up to CLR_INSERTION_LIMIT keys it may be NULL. A digit of 8 bits that is the same in all keys
 * costs nothing but the look at it.
 *
 * Source: Knuth, TAOCP 3, 5.2.5 (radix sort from the least significant digit).
 */
void clr_radix_sort(uint64_t *keys, uint64_t *scratch, size_t count);

enum { CLR_INSERTION_LIMIT = 32 };

#endif

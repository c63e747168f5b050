/*
 * The library's memory: malloc and free, with a point where tests make an allocation fail.
 * Floors below ext/sqlite do not use SQLite's allocator, since several copies of SQLite can share
 * this library in one process and memory outlives the call that took it.
 */
#ifndef CLR_BASE_MEMORY_H
#define CLR_BASE_MEMORY_H

#include <stddef.h>

/* Returns size bytes, uninitialised, or NULL. The caller frees them with clr_memory_free(). */
void *clr_memory_alloc(size_t size);

/* The same, all bytes zero: of a large block without touching them. */
void *clr_memory_alloc_zero(size_t size);

/* As realloc(): on NULL the old block is untouched and still the caller's. */
void *clr_memory_realloc(void *block, size_t size);

/* Frees a block of the two functions above; NULL is fine. */
void clr_memory_free(void *block);

/*
 * For tests: the allocation after the next `after` ones fails, once. A negative number turns this
 * off. Returns whether the previous request has failed an allocation since it was made.
 */
int clr_memory_fail_after(long after);

#endif

/* Ranks of keys so few that they stay in a cache. */
#ifndef CLR_NUMERIC_FEW_H
#define CLR_NUMERIC_FEW_H

#include <stddef.h>
#include <stdint.h>

/*
 * Stores the key of a rank, 0 .. count - 1, in ascending order, and the next one in that order; of
 * the last rank the key twice. keys, at least one, stay as they are; scratch has room for as many.
 * A key's place between the least and the greatest says which of some buckets it is in; what is
 * looked for is then in one or two of them.
 */
void clr_few_select(const uint64_t *keys, uint64_t *scratch, size_t count, size_t rank,
                    uint64_t found[2]);

#endif

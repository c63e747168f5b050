/* What the rows of a scan are, and how they are counted. Follows values.cl and atomics.cl. */

/* What is added to 64-bit counts, then flags: see CLR_COUNT_WORDS. */
#define COUNTED 0
#define NON_INTEGERS 1
#define UNSURE_WORD 4
#define INEXACT_WORD 5
#define COUNTS_START (2 * DIGITS + 4)

#define ROW_COUNTS 1
#define ROW_IS_NO_INTEGER 2
#define ROW_TAKEN 4
#define ROW_UNSURE 8
#define ROW_INEXACT 16

DEFINE_ATOMIC_ADD_64(count_in_group, __local)
DEFINE_ATOMIC_ADD_64(count_in_result, __global)

/* A REAL, or the INTEGER if it is one exactly: others are the host's. */
value_real take_factor(scalar value, uint *found)
{
    if (value.tag == VALUE_INTEGER && (ulong)value.bits + (1UL << 53) > 1UL << 54)
        *found = (*found & ~ROW_TAKEN) | ROW_INEXACT;
    return scalar_to_real(value);
}

typedef struct {
    ulong counted, non_integers;
    uint flags;
} row_counts;

void count_row(row_counts *counts, uint found)
{
    counts->counted += found & ROW_COUNTS;
    counts->non_integers += (found & ROW_IS_NO_INTEGER) != 0;
    counts->flags |= found;
}

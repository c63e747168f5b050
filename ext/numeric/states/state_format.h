/*
 * The states that gpu_X_state() gives as BLOBs and gpu_X_merge() takes: what an aggregate knows of
 * its rows, exact, in one canonical form. Equal multisets of rows give equal bytes, whatever their
 * order, the machine, the path and the splits on the way. Readers trust no byte of it.
 *
 * Version 1, in full:
 *
 *     state     = 'c' 'r' version kind content       four bytes; version is 1, kind is one below
 *     content   = count non_integers sum...          SUM, DOT, SQUARES, PAIRS
 *               | type value                         MIN, MAX
 *               | count [low high bins counter...]   BINS
 *     sum       = head [exponent byte...] [plus minus nan]
 *     low, high = type value
 *
 * count, non_integers, head, plus, minus, nan, bins and counter are varints: unsigned LEB128, seven
 * bits a byte, the lowest first, bit 7 set in all bytes but the last, in the fewest bytes that hold
 * the number. exponent is a signed number n as the varint of 2 n, or of -2 n - 1 if it is negative.
 *
 * count is how many rows count, non_integers how many of them have an operand that does not count
 * as an INTEGER. head is 4 size + 2 special + negative. If size is not zero, exponent and size
 * bytes follow: the finite values add up to the number that the bytes are, the lowest first, times
 * 256^exponent, negated if negative is 1. The first and the last byte are not zero; a sum of zero
 * has size 0 and negative 0. If special is 1, the sum also has infinities and NaNs, and three
 * counts follow, not all zero: of +Inf, of -Inf, of NaN (0 * Inf is one).
 *
 * The sums are those of x for SUM, of x*y for DOT, of x and x*x for SQUARES, of x, y, x*x, y*y and
 * x*y for PAIRS, whose arguments are (y, x) in SQL.
 *
 * type is 0 for no rows, and nothing follows; 1 for an INTEGER, a signed number written as exponent
 * is; 2 for a REAL, the 8 bytes of an IEEE 754 binary64, the lowest first, not a NaN; 3 for TEXT,
 * in UTF-8, and 4 for a BLOB, which take the rest of the state.
 *
 * Of BINS nothing follows a count of 0. low and high are finite, low < high, and of type 1 if they
 * are integers that fit into one, else of type 2. bins is 1 to 1,000,000, and bins + 2 counters
 * tell how many rows are below low, in each bin, and above high. Zeros are written as a counter of
 * 0 and how many more follow it, a varint, all of them at once. The last counter is the one with
 * which they add up to count.
 */
#ifndef CLR_NUMERIC_STATE_FORMAT_H
#define CLR_NUMERIC_STATE_FORMAT_H

#include "numeric/bins/bins.h"
#include "numeric/exact/operation.h"
#include "numeric/values/value.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The kinds of states, in the order of their numbers, which are in the format, and stay; the sums
 * of each, where 'x' stands for one of values, '2' for one of squares, '*' for one of other
 * products; and the functions that they serve.
 */
#define CLR_STATE_KINDS(KIND)                                                                      \
    KIND(SUM, "x", "gpu_sum, gpu_total and gpu_avg")                                               \
    KIND(DOT, "*", "gpu_dot")                                                                      \
    KIND(MIN, "", "gpu_min")                                                                       \
    KIND(MAX, "", "gpu_max")                                                                       \
    KIND(SQUARES, "x2", "variances, standard deviations and gpu_norm")                             \
    KIND(PAIRS, "xx22*", "covariances, correlations and regressions")                              \
    KIND(BINS, "", "gpu_histogram")

#define CLR_STATE_NUMBER(name, sums, functions) CLR_STATE_##name,
enum clr_state_kind { CLR_STATE_NONE, CLR_STATE_KINDS(CLR_STATE_NUMBER) CLR_STATE_END };
#undef CLR_STATE_NUMBER

/* Why bytes are no state that can be merged. */
enum clr_state_fault {
    CLR_STATE_SOUND = 0,
    CLR_STATE_TOO_SHORT,     /* it ends before its content does */
    CLR_STATE_NOT_A_STATE,   /* it does not begin as one */
    CLR_STATE_NEWER,         /* its version is one that this library does not know */
    CLR_STATE_OTHER_KIND,    /* it is of another kind than the one asked for */
    CLR_STATE_NOT_CANONICAL, /* a number in it has a shorter form */
    CLR_STATE_INCONSISTENT,  /* no rows have these counts and sums */
    CLR_STATE_TRAILING,      /* bytes follow its content */
    CLR_STATE_TOO_MANY_ROWS  /* with the rows that are there already there would be too many */
};

enum {
    /* Bytes of a state of sums, at most: its head, two counts, and for each sum a head, an
       exponent, the value and three counts. */
    CLR_STATE_LIMIT =
        4 + 2 * 9 + CLR_MOST_TERMS * (2 + 2 + 4 * (CLR_ACCUMULATOR_DIGITS + 1) + 3 * 9)
};

/* A state counts no more rows than this, merged ones neither: all bounds hold with room to spare.
 */
#define CLR_STATE_MOST_ROWS ((int64_t)1 << 62)

/* How many sums a state of the kind has; 0 for MIN, MAX and BINS. */
int clr_state_sums(enum clr_state_kind kind);

/*
 * Writes a state of sums into buffer, which has room for CLR_STATE_LIMIT bytes. Returns how many
 * were written. The sums, all that the kind has, keep their value.
 */
size_t clr_state_encode(enum clr_state_kind kind, const struct clr_sums *sums,
                        unsigned char *buffer);

/*
 * Adds the state in bytes (NULL if size is 0) to sums, all that the kind has, if weight is 1; takes
 * it away again, if weight is -1. A state of integers alone goes into the sums' integers, so that a
 * total without REALs is an integer again. Returns CLR_STATE_SOUND, or another fault and leaves
 * counts and sums as they were.
 */
enum clr_state_fault clr_state_decode(const unsigned char *bytes, size_t size,
                                      enum clr_state_kind kind, struct clr_sums *sums, int weight);

/*
 * Writes the state of MIN or MAX whose extreme is value into buffer: kind CLR_KIND_NONE for no
 * rows; a REAL is not a NaN. Returns how many bytes it takes; with buffer NULL it does no more than
 * that.
 */
size_t clr_state_encode_extreme(enum clr_state_kind kind, const struct clr_value *value,
                                unsigned char *buffer);

/*
 * Reads a state of MIN or MAX. value's bytes, of TEXT and BLOB, point into those of the state.
 * Returns CLR_STATE_SOUND, or another fault and leaves value as it was.
 */
enum clr_state_fault clr_state_decode_extreme(const unsigned char *bytes, size_t size,
                                              enum clr_state_kind kind, struct clr_value *value);

/*
 * What the fault is, to follow "this is not a state of gpu_X: ": a constant text. For
 * CLR_STATE_OTHER_KIND it names the functions whose state it is, which bytes say.
 */
const char *clr_state_fault_text(enum clr_state_fault fault, const unsigned char *bytes);

/* A state of counters that was read. They are still in its bytes, where they are known to be sound.
 */
struct clr_stored_bins {
    int64_t count; /* what they add up to; 0: there is nothing else */
    struct clr_value low, high;
    int64_t bins;
    const unsigned char *counters, *end;
};

/*
 * Writes the state of bins->count + 2 counters, which add up to CLR_STATE_MOST_ROWS
 * at most, into buffer. Returns how many bytes it takes; with buffer NULL it does no more than
 * that. bins: NULL of no rows.
 */
size_t clr_state_encode_bins(const struct clr_bins *bins, const uint64_t *counters,
                             unsigned char *buffer);

/*
 * Reads a state of counters (bytes is NULL if size is 0), into which stored points from then on.
 * Returns CLR_STATE_SOUND, or another fault and leaves stored as it was.
 */
enum clr_state_fault clr_state_decode_bins(const unsigned char *bytes, size_t size,
                                           struct clr_stored_bins *stored);

/* Adds the state's counters, stored->bins + 2 if it has rows, if weight is 1; takes them away again
   if it is -1. */
void clr_stored_bins_add(const struct clr_stored_bins *stored, int weight, uint64_t *counters);

#endif

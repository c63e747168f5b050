/*
 * What a scan over columns computes: expressions as a list of instructions, a filter, and
 * tallies, which are aggregates before their functions finish them. Host and device run the same
 * list; what an instruction does to a value is said once, in kernels/scan/values.cl and
 * values_logic.cl.
 */
#ifndef CLR_NUMERIC_SCAN_H
#define CLR_NUMERIC_SCAN_H

#include "numeric/bins/bins.h"
#include "numeric/exact/operation.h"
#include "numeric/scan/lookup.h"
#include "numeric/states/state.h"
#include "numeric/values/column.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is asked of all values of a tally together: order statistics, the mode, distinct values and
   histograms. */

enum clr_question_kind {
    CLR_ASK_BETWEEN,  /* the value at a fraction of the way, between two if need be; a REAL */
    CLR_ASK_AT,       /* the last value that is not past that; as a REAL */
    CLR_ASK_MODE,     /* the most frequent value, the least of several */
    CLR_ASK_DISTINCT, /* how many different values there are, an INTEGER */
    CLR_ASK_BINS,     /* how many values are in each bin */
    CLR_ASK_PLACE,    /* the value at a place in their order, as it is, in a scan without keys */
    CLR_ASK_VALUES    /* the values of x, INTEGERs, in a scan with keys; REALs are UNSURE */
};

/* The order of values: that of y, which is the row's number, or their own. */
enum clr_values_order { CLR_BY_ROW, CLR_ASCENDING, CLR_DESCENDING };

struct clr_question {
    enum clr_question_kind kind;
    int tally;       /* of values that are kept; for the first two kinds also of extremes */
    double fraction; /* of the first two kinds: 0 .. 1 */
    uint64_t place;  /* of CLR_ASK_PLACE: from 0 for the least, or */
    bool from_greatest;
    struct clr_bins bins;        /* of CLR_ASK_BINS */
    enum clr_values_order order; /* of CLR_ASK_VALUES, as is the next one */
    bool is_distinct;            /* of equal values the first one alone */
    /* The answer; of CLR_ASK_BINS bins.count + 2 counts, in the caller's memory. Else a value, of
     * kind CLR_KIND_NONE if there are no values, or none at that place. */
    uint64_t *counts;
    struct clr_value answer;
    const int64_t *values; /* of CLR_ASK_VALUES, count of them: the groups' */
    size_t count;
};

/*
 * SQLite's operators, with its semantics to the bit, by the operands that they take: their opcodes,
 * CLR_OP_ADD and so on, and their functions in kernels/scan/values.cl and values_logic.cl. Operands
 * BYTES and UNSURE give UNSURE, except where it says otherwise. Truth values are INTEGER 0 and 1,
 * or NULL.
 */
#define CLR_OPERATORS(ONE, TWO, THREE)                                                             \
    TWO(ADD, scalar_add) /* a + b; integers that overflow are added as REALs; NaN is NULL */       \
    TWO(SUBTRACT, scalar_subtract)                                                                 \
    TWO(MULTIPLY, scalar_multiply)                                                                 \
    TWO(DIVIDE, scalar_divide)       /* by zero: NULL */                                           \
    TWO(REMAINDER, scalar_remainder) /* by zero: NULL; of REALs: of their integers, as REAL */     \
    TWO(EQUAL, scalar_equal)         /* INTEGER against REAL exactly, as all comparisons */        \
    TWO(UNEQUAL, scalar_unequal)                                                                   \
    TWO(LESS, scalar_less)                                                                         \
    TWO(LESS_EQUAL, scalar_less_equal)                                                             \
    TWO(GREATER, scalar_greater)                                                                   \
    TWO(GREATER_EQUAL, scalar_greater_equal)                                                       \
    TWO(IS, scalar_is) /* NULLs are equal */                                                       \
    TWO(IS_NOT, scalar_is_not)                                                                     \
    ONE(IS_NULL, scalar_is_null) /* BYTES is not NULL; UNSURE is UNSURE */                         \
    ONE(NOT_NULL, scalar_not_null)                                                                 \
    TWO(AND, scalar_and) /* three-valued; anything UNSURE or BYTES in it is UNSURE */              \
    TWO(OR, scalar_or)                                                                             \
    ONE(NOT, scalar_not)                                                                           \
    THREE(IF, scalar_if) /* a is true: b, else (or NULL) c; the other branch does not matter */    \
    TWO(COALESCE, scalar_coalesce) /* a, or b where a is NULL; BYTES is passed on */               \
    TWO(LEAST, scalar_least)       /* min(a, b): NULL if either is; of equal values b */           \
    TWO(GREATEST, scalar_greatest) /* max(a, b): NULL if either is; of equal values a */           \
    ONE(ABSOLUTE, scalar_absolute) /* of the least INTEGER: UNSURE: SQLite reports an error */     \
    TWO(BIT_AND, scalar_bit_and)   /* of REALs as of CAST(... AS INTEGER), as all of bits */       \
    TWO(BIT_OR, scalar_bit_or)                                                                     \
    ONE(BIT_NOT, scalar_bit_not)                                                                   \
    TWO(SHIFT_LEFT, scalar_shift_left) /* by a negative number: the other way */                   \
    TWO(SHIFT_RIGHT, scalar_shift_right)                                                           \
    ONE(TO_INTEGER, scalar_cast_to_integer) /* cut off; out of range: the nearest */               \
    ONE(TO_REAL, scalar_cast_to_real)                                                              \
    ONE(ROUND, scalar_round) /* a REAL; halves away from 0 */                                      \
    ONE(FLOOR, scalar_floor) /* INTEGERs stay, REALs stay REALs, as for the next two */            \
    ONE(CEILING, scalar_ceiling)                                                                   \
    ONE(TRUNCATE, scalar_truncate)                                                                 \
    ONE(SIGN, scalar_sign) /* INTEGER -1, 0 or 1 */

enum clr_opcode {
    CLR_OP_CONSTANT, /* constants[a] */
    CLR_OP_COLUMN,   /* columns[a], a column of values */
    CLR_OP_LOOKUP,   /* what lookups[b] has for the code of columns[a], a column of codes */
#define CLR_OPCODE(name, function) CLR_OP_##name,
    CLR_OPERATORS(CLR_OPCODE, CLR_OPCODE, CLR_OPCODE) CLR_OPCODES
#undef CLR_OPCODE
};

/* Instruction number i leaves its value for every row in register i; operands a, b, c are numbers
   of earlier instructions, except as said above. */
struct clr_instruction {
    enum clr_opcode opcode;
    int a, b, c;
};

/*
 * What is found out for one or more aggregates of the same arguments, x and y in the order of SQL.
 * A row counts if the scan's filter and the tally's own are true for it (a number other than zero)
 * and x, and y if there is one, are not NULL.
 * state.count is the number of those rows and state.non_integers of those with an operand that is
 * no INTEGER. For the operations in the mask (bits 1 << enum clr_operation) state.sum is the
 * exact sum of x (CLR_SUM) or of x * y (CLR_DOT; never both), and state.integers and state.reals
 * the extremes of x (CLR_EXTREMES). With CLR_KEEP in the mask all values of x are kept for
 * questions.
 *
 * If the mask is 0, values BYTES count. Else the scan is unsure of a row whose x is BYTES, or whose
 * y is where x is not NULL. It is unsure of every row with an argument that is UNSURE, since SQLite
 * evaluates both.
 *
 * CLR_BYTES, with CLR_KEEP, without operations and in a scan without keys, has values BYTES kept
 * too: x is a column, with bytes (struct clr_column).
 *
 * CLR_LEAST and CLR_GREATEST, in a scan with keys, are for CLR_EXTREMES: only one of them, and the
 * other extreme need not be found.
 *
 * CLR_BOUNDS, with CLR_SUM in a scan with keys, wants the extremes of INTEGERs, or numbers that
 * these lie between and whose sizes, times the rows of the scan, are not above 2^53. It asks
 * nothing of REALs.
 */
struct clr_tally {
    unsigned operations;
    int x, y, filter; /* instructions, or -1; without x every row counts */
    struct clr_state state;
};

#define CLR_KEEP (1u << 31)
#define CLR_BYTES (1u << 30)
#define CLR_BOUNDS (1u << 28)
#define CLR_LEAST (1u << 27)
#define CLR_GREATEST (1u << 26)
#define CLR_OPERATIONS_MASK ((1u << CLR_OPERATIONS) - 1)

/* Whether the tally takes values BYTES for more than to count them. */
static inline bool clr_tally_takes_bytes(const struct clr_tally *tally)
{
    return (tally->operations & CLR_BYTES) != 0 && (tally->operations & CLR_OPERATIONS_MASK) == 0;
}

enum {
    CLR_MOST_INSTRUCTIONS = 1024,
    CLR_MOST_KEYS = 16,
    CLR_MOST_LOOKUPS = 64,
    CLR_MOST_COLUMNS = 32,
    CLR_MOST_TALLIES = 256,
    CLR_MOST_QUESTIONS = 64
};

/*
 * By what a scan's rows are grouped. Two rows are of one group if the values of all keys are the
 * same, and NULLs are. The scan is unsure of a key that is BYTES or UNSURE in a row that passes its
 * filter, and where values of one key are equal and yet two: an INTEGER and a REAL, or 0.0 and
 * -0.0.
 */
struct clr_grouping {
    int key_count;
    int keys[CLR_MOST_KEYS]; /* instructions */
    /* The groups' order: by the keys' values, NULL first, the first key above all; the other way
       round where a key is descending. Or else, by_first, in the order of their first rows. */
    bool descending[CLR_MOST_KEYS];
    bool by_first;
};

/* Rows of columns, in the order of their numbers. A scan on a device has a launch for each of its
   ranges, which are fewer. */
enum { CLR_MOST_ROW_RANGES = 64, CLR_MOST_LAUNCHED_RANGES = 8 };
struct clr_row_range {
    size_t first, rows;
};
struct clr_row_ranges {
    int count;
    struct clr_row_range ranges[CLR_MOST_ROW_RANGES];
};

struct clr_scan {
    int instruction_count, constant_count, column_count, tally_count;
    int filter; /* an instruction, or -1: all rows */
    const struct clr_instruction *instructions;
    const struct clr_scalar *constants; /* no BYTES, no UNSURE */
    struct clr_column *const *columns;  /* column_count of them, all with `rows` rows */
    size_t rows;
    /* NULL; or the scan's rows are those of some blocks of CLR_BLOCK rows alone, since its filter
       is true for no others: the numbers of these blocks, which ascend. The columns have more rows
       then. */
    const uint32_t *blocks;
    /* For devices, in the place of blocks: ranges of the columns' rows that have those of all
       blocks, and may have more; NULL: all rows. */
    const struct clr_row_ranges *ranges;
    int lookup_count;
    const struct clr_lookup *lookups; /* the caller's, of the dictionaries as they are now */
    struct clr_tally
        *tallies; /* their states are cleared, and computed, by whoever runs the scan */

    /* NULL: all rows are one group, which there is even without rows. Else states and answers are
       those of struct clr_groups, and not those here. */
    const struct clr_grouping *grouping;

    int question_count;
    struct clr_question *questions; /* answered by whoever runs the scan */
    uint64_t values_memory;         /* bytes that they may take, beyond the columns */
    uint64_t seed;                  /* any number that who chooses the values does not know */
    /* Bytes of the longest TEXT or BLOB that SQLite hands out; 0: any. Where a column with bytes
       has a longer one, all is unsure. */
    size_t longest;
};

/* Returns how many operands an operator takes: 1 to 3; 0 for a constant or a column. */
int clr_opcode_operands(enum clr_opcode opcode);

/* Stores the operands of an instruction. Returns how many there are. */
int clr_instruction_operands(const struct clr_instruction *instruction, int operands[3]);

/* Whether an operator compares two operands. */
static inline bool clr_opcode_compares(enum clr_opcode opcode)
{
    return opcode >= CLR_OP_EQUAL && opcode <= CLR_OP_IS_NOT;
}

/* Returns the comparison that is the same with its operands the other way round. */
enum clr_opcode clr_opcode_turn(enum clr_opcode opcode);

/* Stores which of the scan's instructions a tally takes part in: operands come before what uses
   them. */
void clr_scan_find_used(const struct clr_scan *scan, const struct clr_tally *tally,
                        bool used[CLR_MOST_INSTRUCTIONS]);

/* Returns the ranges of rows that a device goes over. */
static inline struct clr_row_ranges clr_scan_ranges(const struct clr_scan *scan)
{
    return scan->ranges != NULL ? *scan->ranges
                                : (struct clr_row_ranges){.count = 1, .ranges = {{0, scan->rows}}};
}

/* How a scan ended. States and answers are defined after CLR_SCAN_DONE only. */
enum clr_scan_outcome {
    CLR_SCAN_DONE,
    CLR_SCAN_UNSURE,  /* a filter or an argument was UNSURE, or BYTES where that is not counted, or
                         a value one that a question is not for */
    CLR_SCAN_LIMIT,   /* questions would take more than values_memory */
    CLR_SCAN_STOPPED, /* as the caller asked */
    CLR_SCAN_NOT_NOW, /* a device that is not ready, or does not have this: run it on the host */
    CLR_SCAN_FAILED   /* no memory, or the device failed */
};

/* How a scan ends for a code of what it has called. */
static inline enum clr_scan_outcome clr_scan_outcome_of(enum clr_code code)
{
    switch (code) {
    case CLR_OK:
        return CLR_SCAN_DONE;
    case CLR_LIMIT:
        return CLR_SCAN_LIMIT;
    case CLR_STOPPED:
        return CLR_SCAN_STOPPED;
    default:
        return CLR_SCAN_FAILED;
    }
}

/* Which tallies of a scan go through all rows of columns as they lie in memory, so that no row has
   to be looked at. */

/*
 * Returns whether all rows count for the tally, by its filters, and its arguments are columns
 * whose rows all have one type. kinds: those of the scan's columns (struct clr_column). Stores the
 * columns of x and y, or -1 where there is no argument. A filter that passes all rows, since it
 * asks of a column without NULLs whether it is NULL, is as good as none.
 */
bool clr_tally_takes_whole_columns(const struct clr_scan *scan, const uint8_t *kinds,
                                   const struct clr_tally *tally, int columns[2]);

#endif

/*
 * Columns and scans made at random, and the scan's tallies computed row by row with the functions
 * of kernels/scan/values.cl, the plainest way there is. For the tests of scans.
 */
#ifndef CLR_TESTS_SCANS_H
#define CLR_TESTS_SCANS_H

#include "numeric/scan/scan.h"
#include "numeric/scan_reference.h"
#include "random.h"

#include "tap.h"

#include <stdbool.h>
#include <string.h>

enum { SCANS_INSTRUCTIONS = 24, SCANS_CONSTANTS = 4, SCANS_COLUMNS = 6, SCANS_TALLIES = 4 };

/* A scan and the arrays that it points to. */
struct scans_made {
    struct clr_scan scan;
    struct clr_instruction instructions[SCANS_INSTRUCTIONS];
    struct clr_scalar constants[SCANS_CONSTANTS];
    struct clr_column *columns[SCANS_COLUMNS];
    struct clr_tally tallies[SCANS_TALLIES];
};

static inline int64_t scans_bits(double real)
{
    int64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

/* Mostly small numbers, so that filters are true now and then; sometimes the ends of the range. */
static inline struct clr_scalar scans_value(uint8_t tag)
{
    static const int64_t integers[] = {
        INT64_MAX, INT64_MIN, INT64_MAX - 1, (int64_t)1 << 53, ((int64_t)1 << 53) + 1, 63, -64, 0};
    static const double reals[] = {0x1p1000, -0x1p1000,  0x1p-1070,   -0.0,
                                   0x1p63,   0x1p-540,   -0x1p63,     0.5,
                                   -2.5,     0x1p52 + 1, 0x1p52 - 0.5};
    struct clr_scalar value = {.tag = tag};
    bool special = random_below(50) == 0;

    if (tag == CLR_TAG_INTEGER)
        value.bits = special ? integers[random_below(8)] : (int64_t)random_below(2000) - 1000;
    else if (tag == CLR_TAG_REAL)
        value.bits = scans_bits(special ? reals[random_below(11)]
                                        : ((double)random_below(2000000) - 1000000) / 1024 / 3);
    return value;
}

/* A column of that kind; a mixed one has BYTES in one row of `rare`, or nowhere if that is 0. */
static inline struct clr_column *scans_column(uint8_t kind, size_t rows, uint64_t rare)
{
    struct clr_column *column = clr_column_new(rows);
    size_t i;

    if (column == NULL)
        tap_bail("no memory");
    column->rows = rows;
    column->kind = kind;
    for (i = 0; i < rows; i++) {
        uint8_t tag = kind;
        if (kind == CLR_TAG_MIXED)
            tag = (uint8_t)random_below(3);
        if (kind == CLR_TAG_MIXED && rare > 0 && random_below(rare) == 0)
            tag = CLR_TAG_BYTES;
        column->values[i] = scans_value(tag).bits;
        if (kind == CLR_TAG_MIXED)
            column->tags[i] = tag;
    }
    return column;
}

/* Returns a frame of so many bytes: of INTEGERs, of REALs, which are decimals, or of both and 0. */
static inline struct clr_frame scans_frame(uint8_t kind, uint8_t bytes)
{
    static const double powers[] = {1.0, 10.0, 100.0, CLR_DECIMALS_MOST_POWER};
    const bool decimals = kind == CLR_TAG_REAL || (kind == CLR_TAG_MIXED && random_below(2) == 0);
    const int64_t most = decimals ? CLR_DECIMALS_MOST - 1 : INT64_MAX;
    const int64_t greatest = INT64_MAX >> (63 - 8 * bytes), half = greatest / 2 + 1;
    const int64_t leasts[] = {0, -half, -most - 1, most - greatest};
    const int64_t least = leasts[random_below(kind == CLR_TAG_MIXED ? 2 : 4)];

    return (struct clr_frame){.bytes = bytes,
                              .least = least,
                              .known_least = least,
                              .known_greatest = least + greatest,
                              .power = decimals ? powers[random_below(4)] : 0.0};
}

/* Has a column of numbers be one of others that is narrow, in so many bytes for each: of a frame
   with both ends, and 0 where there are NULLs. */
static inline void scans_narrow(struct clr_column **column, uint8_t bytes)
{
    const struct clr_frame frame = scans_frame((*column)->kind, bytes);
    const int64_t greatest = frame.known_greatest - frame.least;
    const bool mixed = (*column)->kind == CLR_TAG_MIXED;
    struct clr_column *narrow = clr_column_new_framed((*column)->rows, &frame);
    size_t i;

    if (narrow == NULL)
        tap_bail("no memory");
    narrow->rows = (*column)->rows;
    narrow->kind = (*column)->kind;
    for (i = 0; i < narrow->rows; i++) {
        const uint8_t tag = mixed ? (*column)->tags[i] : narrow->kind;
        const int64_t ends[] = {0, greatest, (*column)->values[i] & greatest};
        int64_t bits = frame.least + ends[random_below(20) < 18 ? 2 : random_below(2)];

        /* Among INTEGERs REALs are 0 and subnormal ones, and all others are 0 among decimals. */
        if (tag == CLR_TAG_REAL)
            bits = frame.power != 0.0 ? clr_decimal_bits(bits, frame.power)
                                      : (*column)->values[i] & INT8_MAX;
        else if (tag != CLR_TAG_INTEGER || frame.power != 0.0)
            bits = 0;
        clr_column_put_values(narrow, i, &bits, 1);
        narrow->tags[i] = tag;
    }
    clr_column_release(*column);
    *column = narrow;
}

/* One column of each kind, of which the last one has nothing but BYTES. */
static inline void scans_columns(struct clr_column *columns[SCANS_COLUMNS], size_t rows)
{
    static const uint8_t kinds[SCANS_COLUMNS] = {CLR_TAG_INTEGER, CLR_TAG_REAL, CLR_TAG_MIXED,
                                                 CLR_TAG_REAL,    CLR_TAG_NULL, CLR_TAG_BYTES};
    int i;

    for (i = 0; i < SCANS_COLUMNS; i++)
        columns[i] = scans_column(kinds[i], rows, 0);
}

/* A column of codes below count, in code_bytes bytes each. */
static inline struct clr_column *scans_codes(uint8_t code_bytes, uint32_t count, size_t rows)
{
    struct clr_column *column = clr_column_new_codes(NULL, rows, code_bytes);
    struct clr_column *codes = clr_column_new_codes(NULL, rows, sizeof(uint32_t));
    size_t i;

    if (column == NULL || codes == NULL)
        tap_bail("no memory");
    column->rows = codes->rows = rows;
    for (i = 0; i < rows; i++)
        ((uint32_t *)codes->codes)[i] = (uint32_t)random_below(count);
    clr_column_map_codes(column, 0, codes, 0, rows, NULL);
    clr_column_release(codes);
    return column;
}

/* A lookup of count entries: of one type, or of several; of bytes, or of any values. */
static inline struct clr_lookup scans_lookup(uint8_t kind, bool is_short, uint32_t count)
{
    struct clr_lookup_results *results = clr_lookup_results_new(count);
    struct clr_lookup lookup = {.ranked = NULL};
    uint32_t i;

    if (results == NULL)
        tap_bail("no memory");
    for (i = 0; i < count; i++) {
        uint8_t tag = kind;
        if (kind == CLR_TAG_MIXED)
            tag = (uint8_t)((i + random_below(2)) % (is_short ? 2 : 3));
        results->tags[i] = tag;
        results->values[i] = scans_value(tag).bits;
        if (is_short && tag == CLR_TAG_INTEGER)
            results->values[i] = (int64_t)random_below(256) - 128;
    }
    clr_lookup_set(&lookup, results, count);
    return lookup;
}

static inline int scans_earlier(int number)
{
    return (int)random_below((uint64_t)number);
}

/* Expressions over the columns but the last, and tallies of all sorts. */
static inline void scans_make(struct scans_made *made, struct clr_column *const *columns)
{
    static const unsigned masks[] = {0, 1u << CLR_SUM, 1u << CLR_DOT, 1u << CLR_EXTREMES,
                                     1u << CLR_SUM | 1u << CLR_EXTREMES};
    struct clr_scan *scan = &made->scan;
    int i, all = SCANS_INSTRUCTIONS;

    memset(made, 0, sizeof *made);
    for (i = 0; i < SCANS_CONSTANTS; i++)
        made->constants[i] = scans_value((uint8_t)(i < 3 ? 1 + i % 2 : CLR_TAG_NULL));
    for (i = 0; i < SCANS_COLUMNS; i++)
        made->columns[i] = columns[i];
    for (i = 0; i < all; i++) {
        struct clr_instruction *instruction = &made->instructions[i];
        if (i < SCANS_COLUMNS - 1) {
            *instruction = (struct clr_instruction){CLR_OP_COLUMN, i, -1, -1};
        } else if (i < SCANS_COLUMNS - 1 + SCANS_CONSTANTS) {
            *instruction = (struct clr_instruction){CLR_OP_CONSTANT, i - SCANS_COLUMNS + 1, -1, -1};
        } else {
            instruction->opcode =
                (enum clr_opcode)(CLR_OP_ADD + random_below(CLR_OPCODES - CLR_OP_ADD));
            instruction->a = scans_earlier(i);
            instruction->b = scans_earlier(i);
            instruction->c = scans_earlier(i);
        }
    }
    scan->instruction_count = all;
    scan->constant_count = SCANS_CONSTANTS;
    scan->column_count = SCANS_COLUMNS;
    scan->tally_count = 1 + (int)random_below(SCANS_TALLIES);
    scan->filter = random_below(3) > 0 ? scans_earlier(all) : -1;
    scan->instructions = made->instructions;
    scan->constants = made->constants;
    scan->columns = made->columns;
    scan->rows = columns[0]->rows;
    scan->tallies = made->tallies;
    for (i = 0; i < scan->tally_count; i++) {
        struct clr_tally *tally = &made->tallies[i];
        tally->operations = masks[random_below(5)];
        tally->x = random_below(8) > 0 || tally->operations != 0 ? scans_earlier(all) : -1;
        tally->y = tally->operations & 1u << CLR_DOT ? scans_earlier(all) : -1;
        tally->filter = random_below(4) == 0 ? scans_earlier(all) : -1;
    }
}

/* The column of NULLs becomes one of codes, and its values those that a lookup has for them. */
static inline void scans_look_up(struct scans_made *made, struct clr_column *codes,
                                 const struct clr_lookup *lookup)
{
    const int column = 4;

    made->columns[column] = codes;
    made->instructions[column] = (struct clr_instruction){CLR_OP_LOOKUP, column, 0, -1};
    made->scan.lookup_count = 1;
    made->scan.lookups = lookup;
}

static inline void scans_take(struct clr_tally *tally, scalar x, scalar y)
{
    bool integers = x.tag == CLR_TAG_INTEGER && y.tag == CLR_TAG_INTEGER;

    if (tally->operations & 1u << CLR_SUM) {
        if (x.tag == CLR_TAG_INTEGER)
            clr_sum_add_integer(&tally->state.sum, x.bits, 1);
        else
            clr_sum_add(&tally->state.sum, VALUE_REAL_OF(x.bits), 1);
    }
    if (tally->operations & 1u << CLR_DOT) {
        if (integers)
            clr_sum_add_integer(&tally->state.sum, (clr_i128)x.bits * y.bits, 1);
        else
            clr_sum_add_product(&tally->state.sum, scalar_to_real(x), scalar_to_real(y), 1);
    }
    if (tally->operations & 1u << CLR_EXTREMES) {
        if (x.tag == CLR_TAG_INTEGER)
            clr_range_add(&tally->state.integers, x.bits);
        else
            clr_range_add(&tally->state.reals, clr_real_to_key(x.bits));
    }
}

/* What a device leaves to the host: an INTEGER times a REAL, and not exact as one. */
static inline bool scans_is_inexact(const struct clr_tally *tally, scalar x, scalar y)
{
    const int64_t most = (int64_t)1 << 53;

    return (tally->operations & 1u << CLR_DOT) && x.tag != y.tag &&
           ((x.tag == CLR_TAG_INTEGER && (x.bits > most || x.bits < -most)) ||
            (y.tag == CLR_TAG_INTEGER && (y.bits > most || y.bits < -most)));
}

/* Computes the tallies; UNSURE as soon as anything is, else NOT_NOW if anything is inexact. */
static inline enum clr_scan_outcome scans_expect(struct clr_scan *scan)
{
    const scalar one = scalar_integer(1);
    scalar r[CLR_MOST_INSTRUCTIONS];
    bool inexact = false;
    size_t row;
    int i;

    for (i = 0; i < scan->tally_count; i++)
        clr_state_clear(&scan->tallies[i].state);
    for (row = 0; row < scan->rows; row++) {
        reference_row(scan, row, r);
        if (scan->filter >= 0 && scalar_is_unknown(r[scan->filter]))
            return CLR_SCAN_UNSURE;
        if (scan->filter >= 0 && !scalar_is_true(r[scan->filter]))
            continue;
        for (i = 0; i < scan->tally_count; i++) {
            struct clr_tally *tally = &scan->tallies[i];
            scalar x = tally->x >= 0 ? r[tally->x] : one, y = tally->y >= 0 ? r[tally->y] : one;
            if (tally->filter >= 0 && scalar_is_unknown(r[tally->filter]))
                return CLR_SCAN_UNSURE;
            if (tally->filter >= 0 && !scalar_is_true(r[tally->filter]))
                continue;
            if (x.tag == VALUE_UNSURE || y.tag == VALUE_UNSURE) /* also beside a NULL */
                return CLR_SCAN_UNSURE;
            if (x.tag >= (tally->operations != 0 ? VALUE_BYTES : VALUE_UNSURE))
                return CLR_SCAN_UNSURE;
            if (x.tag == VALUE_NULL)
                continue;
            if (y.tag >= (tally->operations != 0 ? VALUE_BYTES : VALUE_UNSURE))
                return CLR_SCAN_UNSURE;
            if (y.tag == VALUE_NULL)
                continue;
            tally->state.count++;
            tally->state.non_integers += x.tag != VALUE_INTEGER || y.tag != VALUE_INTEGER;
            inexact = inexact || scans_is_inexact(tally, x, y);
            scans_take(tally, x, y);
        }
    }
    return inexact ? CLR_SCAN_NOT_NOW : CLR_SCAN_DONE;
}

static inline bool scans_same_range(const struct clr_range *a, const struct clr_range *b)
{
    return a->seen == b->seen && (!a->seen || (a->least == b->least && a->greatest == b->greatest));
}

/* Of REALs it is no matter which part of a sum has them: whole ones may be added as integers. */
static inline bool scans_same(struct clr_tally *a, struct clr_tally *b)
{
    double x = clr_sum_round(&a->state.sum, 1), y = clr_sum_round(&b->state.sum, 1);

    return a->state.count == b->state.count && a->state.non_integers == b->state.non_integers &&
           (memcmp(&x, &y, sizeof x) == 0 || (x != x && y != y)) &&
           (a->state.non_integers > 0 || memcmp(&a->state.sum.integer, &b->state.sum.integer,
                                                sizeof a->state.sum.integer) == 0) &&
           scans_same_range(&a->state.integers, &b->state.integers) &&
           scans_same_range(&a->state.reals, &b->state.reals);
}

#endif

/*
 * Rows for the tests of states, added to a state by the library and, beside it, to the tests' own
 * arithmetic, which then writes the state's bytes by the description of the format alone.
 */
#ifndef CLR_TESTS_STATE_ROWS_H
#define CLR_TESTS_STATE_ROWS_H

#include "numeric/bigint.h"
#include "numeric/state_probe.h"
#include "random.h"

struct state_operand {
    bool is_integer;
    int64_t integer;
    double real;
};

/* A state in both arithmetics. */
struct state_rows {
    enum clr_state_kind kind;
    struct clr_sums sums;
    struct clr_sum memory[CLR_MOST_TERMS];
    struct bigint exact[CLR_MOST_TERMS];
    int64_t special[CLR_MOST_TERMS][3]; /* +Inf, -Inf, NaN */
};

static inline void state_rows_begin(struct state_rows *rows, enum clr_state_kind kind)
{
    int i;

    rows->kind = kind;
    rows->sums = state_begin(rows->memory);
    memset(rows->special, 0, sizeof rows->special);
    for (i = 0; i < CLR_MOST_TERMS; i++)
        bigint_clear(&rows->exact[i]);
}

static inline double state_as_real(const struct state_operand *x)
{
    return x->is_integer ? (double)x->integer : x->real;
}

/* Adds x, or x * y, to the sum with that number; weight is 1 or -1. */
static inline void state_rows_add_to(struct state_rows *rows, int i, const struct state_operand *x,
                                     const struct state_operand *y, int weight)
{
    static const struct state_operand one = {.is_integer = true, .integer = 1};
    const struct state_operand *b = y == NULL ? &one : y;
    struct clr_sum *sum = &rows->memory[i];
    struct bigint product;
    double special;

    if (y == NULL && x->is_integer)
        clr_sum_add_integer(sum, x->integer, weight);
    else if (y == NULL)
        clr_sum_add(sum, x->real, weight);
    else if (x->is_integer && y->is_integer)
        clr_sum_add_integer(sum, (clr_i128)x->integer * y->integer, weight);
    else if (x->is_integer)
        clr_sum_add_mixed_product(sum, x->integer, y->real, weight);
    else if (y->is_integer)
        clr_sum_add_mixed_product(sum, y->integer, x->real, weight);
    else
        clr_sum_add_product(sum, x->real, y->real, weight);

    if (!isfinite(state_as_real(x)) || !isfinite(state_as_real(b))) {
        special = state_as_real(x) * state_as_real(b);
        rows->special[i][isnan(special) ? 2 : special < 0] += weight;
        return;
    }
    if (x->is_integer && b->is_integer) {
        bigint_set(&product, (x->integer < 0) != (b->integer < 0), bigint_size_of(x->integer), 0);
        bigint_multiply(&product, bigint_size_of(b->integer));
    } else if (x->is_integer || b->is_integer) {
        int64_t integer = x->is_integer ? x->integer : b->integer;
        bigint_set_double(&product, x->is_integer ? b->real : x->real);
        bigint_multiply(&product, bigint_size_of(integer));
        product.negative = product.negative != (integer < 0);
    } else {
        bigint_clear(&product);
        bigint_add_product(&product, x->real, b->real);
    }
    product.negative = product.negative != (weight < 0);
    bigint_add(&rows->exact[i], &product);
}

/* Adds a row; y counts for DOT and PAIRS only. */
static inline void state_rows_add(struct state_rows *rows, const struct state_operand *x,
                                  const struct state_operand *y, int weight)
{
    enum clr_state_kind kind = rows->kind;
    bool paired = kind == CLR_STATE_DOT || kind == CLR_STATE_PAIRS;

    rows->sums.count += weight;
    rows->sums.non_integers += x->is_integer && (!paired || y->is_integer) ? 0 : weight;
    if (kind == CLR_STATE_DOT) {
        state_rows_add_to(rows, 0, x, y, weight);
        return;
    }
    state_rows_add_to(rows, 0, x, NULL, weight);
    if (kind == CLR_STATE_SQUARES) {
        state_rows_add_to(rows, 1, x, x, weight);
    } else if (kind == CLR_STATE_PAIRS) {
        state_rows_add_to(rows, 1, x, x, weight);
        state_rows_add_to(rows, 2, y, NULL, weight);
        state_rows_add_to(rows, 3, y, y, weight);
        state_rows_add_to(rows, 4, x, y, weight);
    }
}

static inline size_t state_rows_varint(unsigned char *at, uint64_t value)
{
    size_t size = 0;

    do {
        at[size] = value % 128;
        value /= 128;
        if (value != 0)
            at[size] |= 128;
        size++;
    } while (value != 0);
    return size;
}

/* Writes the bytes that the state must have, and returns how many. */
static inline size_t state_rows_bytes(const struct state_rows *rows, unsigned char *buffer)
{
    static const int pairs[] = {0, 2, 1, 3, 4}; /* x, y, x*x, y*y, x*y */
    int sums = clr_state_sums(rows->kind), place, i, j;
    size_t size = 0;

    buffer[size++] = 'c';
    buffer[size++] = 'r';
    buffer[size++] = 1;
    buffer[size++] = (unsigned char)rows->kind;
    size += state_rows_varint(buffer + size, (uint64_t)rows->sums.count);
    size += state_rows_varint(buffer + size, (uint64_t)rows->sums.non_integers);
    for (place = 0; place < sums; place++) {
        i = rows->kind == CLR_STATE_PAIRS ? pairs[place] : place;
        const int64_t *special = rows->special[i];
        bool any = special[0] != 0 || special[1] != 0 || special[2] != 0;
        struct bigint number = rows->exact[i];
        unsigned char bytes[4 * BIGINT_DIGITS];
        int first = 0, last = (int)sizeof bytes - 1, exponent;

        /* Four bits more, and the unit is a power of 256. */
        bigint_shift(&number, 4);
        for (j = 0; j < (int)sizeof bytes; j++)
            bytes[j] = (unsigned char)(number.digit[j / 4] >> (j % 4 * 8));
        while (last >= 0 && bytes[last] == 0)
            last--;
        while (first < last && bytes[first] == 0)
            first++;
        if (last < 0)
            first = 0;
        size += state_rows_varint(buffer + size, (uint64_t)(last - first + 1) * 4 + any * 2 +
                                                     (last >= 0 && number.negative));
        if (last >= 0) {
            exponent = first + (BIGINT_UNIT - 4) / 8;
            size += state_rows_varint(buffer + size,
                                      (uint64_t)(exponent < 0 ? -2 * exponent - 1 : 2 * exponent));
        }
        for (j = first; j <= last; j++)
            buffer[size++] = bytes[j];
        for (j = 0; any && j < 3; j++)
            size += state_rows_varint(buffer + size, (uint64_t)special[j]);
    }
    return size;
}

/* How hard a column of operands is: each makes another part of the sums work. */
enum state_flavour {
    STATE_SMALL,    /* few and small integers */
    STATE_INTEGERS, /* of any size */
    STATE_TAME,     /* REALs near 1 */
    STATE_WHOLE,    /* REALs that are integers */
    STATE_WILD,     /* REALs of any exponent */
    STATE_LOW,      /* the smallest ones */
    STATE_HIGH,     /* the largest ones */
    STATE_MIXED,    /* all of these */
    STATE_INFINITE, /* and infinities */
    STATE_FLAVOURS
};

static inline struct state_operand state_operand(enum state_flavour flavour)
{
    struct state_operand x = {.is_integer = false};

    switch (flavour) {
    case STATE_SMALL:
        x.is_integer = true;
        x.integer = random_between(-100, 100);
        break;
    case STATE_INTEGERS:
        x.is_integer = true;
        x.integer = random_integer();
        break;
    case STATE_TAME:
        x.real = random_hard(1013, 1033);
        break;
    case STATE_WHOLE:
        x.real = (double)random_between(-1000000, 1000000);
        break;
    case STATE_WILD:
        x.real = random_finite();
        break;
    case STATE_LOW:
        x.real = random_hard(0, 60);
        break;
    case STATE_HIGH:
        x.real = random_hard(1980, 2046);
        break;
    case STATE_MIXED:
        return state_operand((enum state_flavour)random_below(STATE_MIXED));
    default:
        if (random_below(4) != 0)
            return state_operand((enum state_flavour)random_below(STATE_MIXED));
        x.real = random_bits() & 1 ? INFINITY : -INFINITY;
        break;
    }
    return x;
}

#endif

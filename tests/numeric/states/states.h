/* What the parts of state-t have in common. */
#ifndef CLR_TESTS_STATES_H
#define CLR_TESTS_STATES_H

#include "numeric/state_rows.h"
#include "numeric/states/state_format.h"
#include "random.h"

#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- States as hexadecimal digits, for the tests of their bytes. */

struct bytes {
    size_t size;
    unsigned char data[CLR_STATE_LIMIT];
};

/* From hexadecimal digits, with spaces between bytes anywhere. */
static inline struct bytes from_hex(const char *text)
{
    struct bytes bytes = {.size = 0};
    unsigned byte;
    int used;

    while (sscanf(text, " %2x%n", &byte, &used) == 1) {
        bytes.data[bytes.size++] = (unsigned char)byte;
        text += used;
    }
    return bytes;
}

static inline bool same(const struct bytes *a, const struct bytes *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static inline void show(const char *what, const struct bytes *bytes)
{
    char text[3 * 64 + 1];
    size_t i;

    for (i = 0; i < bytes->size && i < 64; i++)
        snprintf(text + 3 * i, 4, "%02x ", bytes->data[i]);
    tap_diag("%s %s", what, bytes->size == 0 ? "nothing" : text);
}

/* ---- States of sums, encoded, of random rows. */

static const enum clr_state_kind sum_kinds[] = {CLR_STATE_SUM, CLR_STATE_DOT, CLR_STATE_SQUARES,
                                                CLR_STATE_PAIRS};
enum { SUM_KINDS = 4 };

static inline struct bytes encode(enum clr_state_kind kind, const struct clr_sums *sums)
{
    struct bytes bytes;

    bytes.size = clr_state_encode(kind, sums, bytes.data);
    return bytes;
}

static inline void add_random(struct state_rows *rows, enum state_flavour flavour)
{
    struct state_operand x = state_operand(flavour), y = state_operand(flavour);

    state_rows_add(rows, &x, &y, 1);
    if (random_below(8) == 0) {
        /* in and out again, as in a window */
        x = state_operand(STATE_INFINITE);
        y = state_operand(STATE_INFINITE);
        state_rows_add(rows, &x, &y, 1);
        state_rows_add(rows, &x, &y, -1);
    }
}

/* ---- Random histograms for the tests of states, and the bytes that their states must have,
 * written by the description of the format alone. */

static inline struct clr_value integer(int64_t x)
{
    return (struct clr_value){.kind = CLR_KIND_INTEGER, .as.integer = x};
}

static inline struct clr_value real(double x)
{
    return (struct clr_value){.kind = CLR_KIND_REAL, .as.real = x};
}

enum { MOST_BINS = 40 };

/* Bins between bounds of any types, and how many of some rows are in each. */
struct histogram {
    struct clr_bins bins;
    uint64_t counters[MOST_BINS + 2];
};

static inline void draw_histogram(struct histogram *histogram)
{
    int64_t low = random_between(-1000, 1000), width = random_between(1, 3000);
    bool fractions = random_bits() & 1;
    struct clr_value bound[2];
    int i;

    for (i = 0; i < 2; i++) {
        int64_t whole = low + i * width;
        bound[i] = random_bits() & 1 ? integer(whole) : real((double)whole + fractions * 0.1);
    }
    memset(histogram, 0, sizeof *histogram);
    clr_bins_init(&histogram->bins, &bound[0], &bound[1], random_between(1, MOST_BINS));
    for (i = (int)random_below(40); i > 0; i--) {
        uint64_t rows = random_below(4) != 0 ? 1 : random_bits() >> random_between(8, 63);
        histogram->counters[random_below((uint64_t)histogram->bins.count + 2)] += rows;
    }
}

/* Writes a bound as the format's description has it. */
static inline size_t bound_bytes(const struct clr_value *bound, unsigned char *buffer)
{
    double x = bound->as.real;
    int64_t whole = bound->as.integer;
    uint64_t bits;
    int i;

    if (bound->kind == CLR_KIND_REAL && x != floor(x)) {
        memcpy(&bits, &x, sizeof bits);
        buffer[0] = 2;
        for (i = 0; i < 8; i++)
            buffer[1 + i] = (unsigned char)(bits >> 8 * i);
        return 9;
    }
    if (bound->kind == CLR_KIND_REAL)
        whole = (int64_t)x;
    buffer[0] = 1;
    return 1 + state_rows_varint(buffer + 1, (uint64_t)(whole < 0 ? -2 * whole - 1 : 2 * whole));
}

static inline struct bytes histogram_bytes(const struct histogram *histogram)
{
    struct bytes bytes = {4, {'c', 'r', 1, 7}};
    const uint64_t *counter = histogram->counters, *end = counter + histogram->bins.count + 2;
    uint64_t count = 0, zeros = 0;

    for (; counter < end; counter++)
        count += *counter;
    bytes.size += state_rows_varint(bytes.data + bytes.size, count);
    if (count == 0)
        return bytes;
    bytes.size += bound_bytes(&histogram->bins.low, bytes.data + bytes.size);
    bytes.size += bound_bytes(&histogram->bins.high, bytes.data + bytes.size);
    bytes.size += state_rows_varint(bytes.data + bytes.size, (uint64_t)histogram->bins.count);
    for (counter = histogram->counters; counter < end; counter++) {
        if (*counter == 0) {
            zeros++;
            continue;
        }
        if (zeros > 0) {
            bytes.data[bytes.size++] = 0;
            bytes.size += state_rows_varint(bytes.data + bytes.size, zeros - 1);
        }
        zeros = 0;
        bytes.size += state_rows_varint(bytes.data + bytes.size, *counter);
    }
    return bytes;
}

#endif

#include "opencl/memory/test_values.h"

#include "base/memory.h"
#include "numeric/values/column.h"
#include "opencl/core/device_private.h"

#include <string.h>

/* The bits of -0.0, infinities, the least and the greatest doubles and their neighbours. */
static const uint64_t special_reals[] = {0x8000000000000000, 0,
                                         0x7ff0000000000000, 0xfff0000000000000,
                                         0x0000000000000001, 0x8000000000000001,
                                         0x7fefffffffffffff, 0xffefffffffffffff};
static const int64_t special_integers[] = {INT64_MIN, INT64_MAX, 0, -1, 1, INT64_MIN + 1};

/* A small generator (xorshift64*, Vigna 2016). */
uint64_t clr_test_random(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * UINT64_C(2685821657736338717);
}

void clr_test_values(int64_t *values, size_t count, uint8_t kind)
{
    uint64_t seed = CLR_TEST_SEED, bits;
    double real;
    size_t i;

    for (i = 0; i < count; i++) {
        bits = clr_test_random(&seed);
        if (i % 4 == 0) {
            values[i] = kind == CLR_TAG_REAL ? (int64_t)special_reals[bits >> 61]
                                             : special_integers[(bits >> 32) % 6];
        } else if (i % 4 == 1) {
            real = (double)((int64_t)(bits >> 54) - 512);
            memcpy(&values[i], &real, sizeof real);
            if (kind == CLR_TAG_INTEGER)
                values[i] = (int64_t)(bits >> 54) - 512;
        } else if (kind == CLR_TAG_REAL && (bits >> 52 & 0x7ff) == 0x7ff) {
            values[i] = (int64_t)(bits ^ (uint64_t)1 << 62); /* no NaN */
        } else {
            values[i] = (int64_t)bits;
        }
    }
}

bool clr_test_same_range(const struct clr_range *a, const struct clr_range *b)
{
    return a->seen == b->seen && (!a->seen || (a->least == b->least && a->greatest == b->greatest));
}

struct clr_frame clr_test_frame(uint8_t kind, int64_t least)
{
    return (struct clr_frame){.bytes = (uint8_t)clr_kind_narrow_bytes(kind),
                              .least = least,
                              .power = clr_kind_has_decimals(kind) ? 1e3 : 0.0};
}

int64_t clr_test_frame_value(const struct clr_frame *frame, int64_t value)
{
    const uint64_t word = (uint64_t)value & (((uint64_t)1 << 8 * frame->bytes) - 1);
    const int64_t integer = (int64_t)((uint64_t)frame->least + word);

    if (frame->bytes == 0)
        return value;
    return frame->power == 0.0 ? integer : clr_decimal_bits(integer, frame->power);
}

static void fill(struct clr_device *device, struct clr_resident_column *column, const void *values,
                 const uint8_t *tags, struct clr_status *status)
{
    bool complete = false;

    while (!complete && status->code == CLR_OK)
        clr_resident_column_fill(device, column, values, tags, &complete, status);
}

struct clr_resident_column *clr_test_column(struct clr_device *device, uint8_t kind,
                                            const struct clr_frame *frame, const void *values,
                                            const uint8_t *tags, size_t count,
                                            struct clr_status *status)
{
    struct clr_resident_column *column = clr_resident_column_new(kind, count);
    const size_t bytes = clr_kind_narrow_bytes(kind);
    void *words = bytes == 0 ? NULL : clr_memory_alloc(count * bytes);

    if (column == NULL || (bytes > 0 && words == NULL))
        clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    if (status->code == CLR_OK && words != NULL) {
        clr_resident_column_set_frame(column, frame);
        clr_frame_keep(frame, values, count, words, 0);
    }
    if (status->code == CLR_OK)
        fill(device, column, words != NULL ? words : values, tags, status);
    clr_memory_free(words);
    if (status->code != CLR_OK) {
        clr_resident_column_free(clr_device_unless_lost(device, status), column);
        column = NULL;
    }
    return column;
}

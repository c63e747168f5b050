#include "numeric/states/state_bytes.h"

int clr_state_sums(enum clr_state_kind kind)
{
    return (int)strlen(clr_state_layout(kind));
}

static unsigned char digit_byte(const struct clr_magnitude *value, int i)
{
    return (unsigned char)(value->digit[i / 4] >> (8 * (i % 4)));
}

static void put_sum(struct clr_writer *writer, struct clr_sum *sum)
{
    struct clr_magnitude value;
    bool special = clr_sum_is_unusual(sum);
    int first = 0, last = -1, i;
    unsigned char *at;

    /* Bytes are numbered from the accumulator's lowest, whose weight is a power of 256. */
    _Static_assert(CLR_ACCUMULATOR_BASE % 8 == 0, "the accumulator is made of bytes");
    clr_sum_exact(sum, &value);
    if (value.top >= 0) {
        first = 4 * value.low + __builtin_ctz(value.digit[value.low]) / 8;
        last = 4 * value.top + (31 - __builtin_clz(value.digit[value.top])) / 8;
    }
    clr_writer_put_varint(writer, (uint64_t)(last - first + 1) << 2 | (special ? 2 : 0) |
                                      (value.negative ? 1 : 0));
    if (value.top >= 0)
        clr_writer_put_varint(writer, clr_fold_sign(first + CLR_ACCUMULATOR_BASE / 8));
    at = clr_writer_take(writer, (size_t)(last - first + 1));
    for (i = first; i <= last; i++)
        *at++ = digit_byte(&value, i);
    if (special) {
        clr_writer_put_varint(writer, (uint64_t)sum->plus_infinity);
        clr_writer_put_varint(writer, (uint64_t)sum->minus_infinity);
        clr_writer_put_varint(writer, (uint64_t)sum->nan);
    }
}

size_t clr_state_encode(enum clr_state_kind kind, const struct clr_sums *sums,
                        unsigned char *buffer)
{
    struct clr_writer writer = clr_writer_begin(buffer, kind);
    int count = clr_state_sums(kind), i;

    clr_writer_put_varint(&writer, (uint64_t)sums->count);
    clr_writer_put_varint(&writer, (uint64_t)sums->non_integers);
    for (i = 0; i < count; i++)
        put_sum(&writer, sums->sums[clr_state_term(kind, i)]);
    return writer.size;
}

size_t clr_state_encode_extreme(enum clr_state_kind kind, const struct clr_value *value,
                                unsigned char *buffer)
{
    struct clr_writer writer = clr_writer_begin(buffer, kind);

    clr_writer_put_value(&writer, value);
    return writer.size;
}

#include "numeric/states/state_bytes.h"

int clr_state_sums(enum clr_state_kind kind)
{
    return (int)strlen(clr_state_layout(kind));
}

static unsigned char digit_byte(const struct clr_magnitude *value, int i)
{
    return (unsigned char)(value->digit[i / 4] >> (8 * (i % 4)));
}

static unsigned char *put_sum(unsigned char *at, struct clr_sum *sum)
{
    struct clr_magnitude value;
    bool special = clr_sum_is_unusual(sum);
    int first = 0, last = -1, i;

    /* Bytes are numbered from the accumulator's lowest, whose weight is a power of 256. */
    _Static_assert(CLR_ACCUMULATOR_BASE % 8 == 0, "the accumulator is made of bytes");
    clr_sum_exact(sum, &value);
    if (value.top >= 0) {
        first = 4 * value.low + __builtin_ctz(value.digit[value.low]) / 8;
        last = 4 * value.top + (31 - __builtin_clz(value.digit[value.top])) / 8;
    }
    at = clr_put_varint(at, (uint64_t)(last - first + 1) << 2 | (special ? 2 : 0) |
                                (value.negative ? 1 : 0));
    if (value.top >= 0)
        at = clr_put_varint(at, clr_fold_sign(first + CLR_ACCUMULATOR_BASE / 8));
    for (i = first; i <= last; i++)
        *at++ = digit_byte(&value, i);
    if (special) {
        at = clr_put_varint(at, (uint64_t)sum->plus_infinity);
        at = clr_put_varint(at, (uint64_t)sum->minus_infinity);
        at = clr_put_varint(at, (uint64_t)sum->nan);
    }
    return at;
}

size_t clr_state_encode(const struct clr_state_parts *parts, unsigned char *buffer)
{
    unsigned char *at = clr_put_head(buffer, parts->kind);
    int count = clr_state_sums(parts->kind), i;

    at = clr_put_varint(at, (uint64_t)parts->count);
    at = clr_put_varint(at, (uint64_t)parts->non_integers);
    for (i = 0; i < count; i++)
        at = put_sum(at, parts->sums[i]);
    return (size_t)(at - buffer);
}

size_t clr_state_extreme_size(const struct clr_value *value)
{
    unsigned char varint[10];

    switch (value->kind) {
    case CLR_KIND_INTEGER:
        return CLR_STATE_HEAD + 1 +
               (size_t)(clr_put_varint(varint, clr_fold_sign(value->as.integer)) - varint);
    case CLR_KIND_REAL:
        return CLR_STATE_HEAD + 1 + 8;
    case CLR_KIND_TEXT:
    case CLR_KIND_BLOB:
        return CLR_STATE_HEAD + 1 + value->as.size;
    default:
        return CLR_STATE_HEAD + 1;
    }
}

void clr_state_encode_extreme(enum clr_state_kind kind, const struct clr_value *value,
                              unsigned char *buffer)
{
    unsigned char *at = clr_put_head(buffer, kind);

    *at++ = (unsigned char)value->kind;
    if (value->kind == CLR_KIND_INTEGER)
        clr_put_varint(at, clr_fold_sign(value->as.integer));
    else if (value->kind == CLR_KIND_REAL)
        clr_put_real(at, value->as.real);
    else if (value->kind != CLR_KIND_NONE && value->as.size != 0)
        memcpy(at, value->bytes, value->as.size);
}

/*
 * The least and the greatest x. Reals come as the bits of doubles, and are compared as keys: see
 * clr_real_to_key() in ext/numeric/values/value.h. Follows lanes.cl; needs no floating point.
 *
 * Defined by the host: KEYS (1: the values are bits of doubles; REAL is 0 then as well).
 */
typedef lanes_long lanes;
typedef long element;

/* There is no long accumulator behind these. */
#undef WIDE_ARGUMENT
#undef WIDE_FORMAL
#define WIDE_ARGUMENT
#define WIDE_FORMAL

#undef PADDING
#define PADDING(value) (value)

typedef struct {
    long least, greatest;
} partial;

typedef struct {
    lanes_long least, greatest;
} running;

partial partial_zero(void)
{
    partial none = {LONG_MAX, LONG_MIN};
    return none;
}

running running_zero(void)
{
    running none;
    none.least = LONG_MAX;
    none.greatest = LONG_MIN;
    return none;
}

void running_take(running *range, lanes_long x, lanes_long y)
{
#if KEYS
    x ^= (x >> 63) & LONG_MAX;
#endif
    range->least = min(range->least, x);
    range->greatest = max(range->greatest, x);
}

void partial_merge(partial *range, partial other)
{
    range->least = min(range->least, other.least);
    range->greatest = max(range->greatest, other.greatest);
}

partial running_finish(running range)
{
    partial result = partial_zero();
    long least[LANES], greatest[LANES];
    uint i;

    STORE_LANES(range.least, least);
    STORE_LANES(range.greatest, greatest);
    for (i = 0; i < LANES; i++) {
        partial lane = {least[i], greatest[i]};
        partial_merge(&result, lane);
    }
    return result;
}

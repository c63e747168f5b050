/*
 * The least and the greatest x. Reals come as the bits of doubles, and are compared as keys: see
 * clr_real_to_key() in ext/numeric/values/value.h. Needs no floating point.
 *
 * Defined by the host: KEYS (1: the values are bits of doubles; REAL is 0 then as well).
 */
typedef long element;

typedef struct {
    long least, greatest;
} partial;

typedef partial running;

partial partial_zero(void)
{
    partial none = {LONG_MAX, LONG_MIN};
    return none;
}

void running_take(running *range, long x, long y)
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

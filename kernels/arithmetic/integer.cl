/*
 * Exact addition of integers on a device: totals of 192 bits in two's complement, as in
 * ext/numeric/values/int192.h. Follows lanes.cl in sums and dot products of integers.
 */
typedef lanes_long lanes;
typedef long element;

/* There is no long accumulator behind these. */
#undef WIDE_ARGUMENT
#undef WIDE_FORMAL
#define WIDE_ARGUMENT
#define WIDE_FORMAL

typedef struct {
    ulong low, middle, high;
} partial;

typedef struct {
    lanes_ulong low, middle, high;
} running;

partial partial_zero(void)
{
    partial zero = {0, 0, 0};
    return zero;
}

running running_zero(void)
{
    running zero;
    zero.low = zero.middle = zero.high = 0;
    return zero;
}

/* Adds the 192-bit number in three parts to every lane. */
void running_add(running *sum, lanes_ulong low, lanes_ulong middle, lanes_ulong high)
{
    lanes_ulong carry;

    sum->low += low;
    carry = ONE_IF(sum->low < low);
    middle += carry;
    high += ONE_IF(middle < carry);
    sum->middle += middle;
    sum->high += high + ONE_IF(sum->middle < middle);
}

#if LANES == 1
/* Adds value * count; the count is below 2^63. */
void running_add_times(running *sum, long value, ulong count)
{
    long middle = mul_hi(value, (long)count);

    running_add(sum, (ulong)value * count, (ulong)middle, (ulong)(middle >> 63));
}
#endif

void partial_merge(partial *sum, partial other)
{
    ulong carry;

    sum->low += other.low;
    carry = sum->low < other.low;
    other.middle += carry;
    other.high += other.middle < carry;
    sum->middle += other.middle;
    sum->high += other.high + (sum->middle < other.middle);
}

partial running_finish(running sum)
{
    partial result = partial_zero();
    ulong low[LANES], middle[LANES], high[LANES];
    uint i;

    STORE_LANES(sum.low, low);
    STORE_LANES(sum.middle, middle);
    STORE_LANES(sum.high, high);
    for (i = 0; i < LANES; i++) {
        partial lane = {low[i], middle[i], high[i]};
        partial_merge(&result, lane);
    }
    return result;
}

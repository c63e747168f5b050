/*
 * Exact addition of integers on a device: totals of 192 bits in two's complement, as in
 * ext/numeric/values/int192.h. For sums and dot products of integers.
 */
typedef long element;

typedef struct {
    ulong low, middle, high;
} partial;

typedef partial running;

partial partial_zero(void)
{
    partial zero = {0, 0, 0};
    return zero;
}

/* Adds the 192-bit number in three parts. */
void running_add(running *sum, ulong low, ulong middle, ulong high)
{
    ulong carry;

    sum->low += low;
    carry = sum->low < low;
    middle += carry;
    high += middle < carry;
    sum->middle += middle;
    sum->high += high + (sum->middle < middle);
}

/* Adds value * count; the count is below 2^63. */
void running_add_times(running *sum, long value, ulong count)
{
    long middle = mul_hi(value, (long)count);

    running_add(sum, (ulong)value * count, (ulong)middle, (ulong)(middle >> 63));
}

void partial_merge(partial *sum, partial other)
{
    running_add(sum, other.low, other.middle, other.high);
}

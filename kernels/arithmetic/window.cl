/*
 * Exact addition of doubles on a device by integers alone; their bits come as longs. Each
 * work-item adds significands to a number of 192 bits whose lowest one weighs as much as the lowest
 * of any value within a window of exponents. What lies outside the window goes to the long
 * accumulator of accumulator.cl, which this follows; and if that happens often the
 * window moves to where the values are. Sums and products differ in what is added: the operation's
 * file has that.
 */
typedef long element;

#define EXPONENT(bits) ((uint)((bits) >> 52) & 0x7ff)
#define SIGNIFICAND(bits) (((bits)&0xfffffffffffffUL) | 1UL << 52)
#define IS_ZERO(bits) ((bits) << 1 == 0)

/*
 * How far the exponents of what a window holds are from its begin at most, and how far above it
 * begins below the value that it is chosen for: most values of a column are not much greater, and
 * some are much smaller. A sum has 128 bits of the 192, of which a value takes 53 + WINDOW, and a
 * product 106 + WINDOW of all: no 2^34 of them leave these.
 */
#define WINDOW (OPERANDS == 2 ? 48 : 39)
#define WINDOW_BELOW (OPERANDS == 2 ? 32 : 27)

/* Exponents are biased, those of products twice. One that is at the end of a window is never that
   of infinities. */
#define WINDOW_UNIT (OPERANDS * -1075)
#define WINDOW_LAST_BEGIN (OPERANDS * 2046 - WINDOW)

/* So many steps that the window did not do for move it; twice as many each time, up to the second
   number, while windows do not do for more than an eighth of their steps: maybe none does. */
#define FEW_MISSES 16
#define MOST_MISSES 4096

/* A number, times 2^exponent. */
typedef struct {
    ulong low, middle, high;
    long exponent;
} partial;

/* What is negative was added as ones' complement, and is one too little each. A sum has no high
   part. */
typedef struct {
    ulong low, middle, high, negatives;
    uint begin;
    uint steps, misses; /* since the window began there */
    uint patience;      /* misses that move it */
} running;

partial partial_zero(void)
{
    partial zero = {0, 0, 0, 0};
    return zero;
}

/* The window is chosen as the first value misses one where there is next to none. */
running running_zero(void)
{
    running zero;
    zero.low = zero.middle = zero.high = zero.negatives = 0;
    zero.begin = 1;
    zero.steps = zero.misses = 0;
    zero.patience = 1;
    return zero;
}

void partial_add(partial *sum, ulong low, ulong middle, ulong high)
{
    ulong carry;

    sum->low += low;
    carry = sum->low < low;
    middle += carry;
    high += middle < carry;
    sum->middle += middle;
    sum->high += high + (sum->middle < middle);
}

int partial_is_zero(const partial *sum)
{
    return (sum->low | sum->middle | sum->high) == 0;
}

/*
 * Lowers the exponent by up to 31 where the number then has 160 bits at most: whatever it takes
 * part in, millions of them are no more than those that no shift has made greater. Returns whether
 * it has.
 */
int partial_lower(partial *sum, long exponent)
{
    ulong by = (ulong)(sum->exponent - exponent);

    if (by > 31 || (sum->high + (1UL << (31 - by))) >> (32 - by) != 0)
        return 0;
    sum->high = sum->high << by | sum->middle >> 1 >> (63 - by);
    sum->middle = sum->middle << by | sum->low >> 1 >> (63 - by);
    sum->low <<= by;
    sum->exponent = exponent;
    return 1;
}

/* Of two numbers whose windows are far from each other one goes to the accumulator. */
void partial_merge(partial *sum, partial other, __local uint *wide)
{
    if (partial_is_zero(&other))
        return;
    if (partial_is_zero(sum))
        *sum = other;
    else if (sum->exponent == other.exponent || partial_lower(sum, other.exponent) ||
             partial_lower(&other, sum->exponent))
        partial_add(sum, other.low, other.middle, other.high);
    else
        wide_add_192(wide, other.low, other.middle, other.high, (int)other.exponent);
}

/* Adds high * 2^64 + low, shifted by up to WINDOW bits; sign: 0, or all bits if it is negative. */
void running_add(running *sum, ulong low, ulong high, uint shift, ulong sign)
{
    ulong first = low << shift ^ sign, second = low >> 1 >> (63 - shift) ^ sign, carry;

#if OPERANDS == 2
    second ^= high << shift;
#endif
    sum->low += first;
    carry = sum->low < first;
    second += carry;
    sum->middle += second;
#if OPERANDS == 2
    sum->high += (high >> 1 >> (63 - shift) ^ sign) + (second < carry) + (sum->middle < second);
#endif
    sum->negatives -= sign;
}

partial running_finish(running sum, __local uint *wide)
{
    partial result = {sum.low, sum.middle, sum.high, (long)sum.begin + WINDOW_UNIT};

    partial_add(&result, sum.negatives, 0, 0);
    if (OPERANDS == 1)
        result.high = (ulong)((long)result.middle >> 63);
    return result;
}

/* Takes note of a step that the window does not do for, whose greatest exponent that one can have
   is this, or 0. Returns whether the window has moved there: it may do now. */
int running_miss(running *sum, uint exponent, __local uint *wide)
{
    uint patience = sum->patience;
    partial before;

    if (exponent == 0 || ++sum->misses < patience)
        return 0;
    if (patience == 1 || sum->steps >= 8 * sum->misses)
        patience = FEW_MISSES;
    else
        patience = min(2 * patience, (uint)MOST_MISSES);
    before = running_finish(*sum, wide);
    wide_add_192(wide, before.low, before.middle, before.high, (int)before.exponent);
    *sum = running_zero();
    sum->begin = min(max(exponent, (uint)WINDOW_BELOW + 1) - WINDOW_BELOW, (uint)WINDOW_LAST_BEGIN);
    sum->patience = patience;
    return 1;
}

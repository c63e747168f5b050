/*
 * Exact addition of doubles on a device: a short expansion in each work-item, and behind it the
 * long accumulator of accumulator.cl, which this follows. The limits are those of
 * ext/numeric/exact/expansion.h, where the sources are named.
 */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

#define EXPANSION_LIMIT 0x1p960
#define PRODUCT_FLOOR 0x1p-960

/*
 * Whether an expansion takes x: |x| < EXPANSION_LIMIT, and not all values go to the accumulator
 * now; whether |x| is below the limit and not below PRODUCT_FLOOR; whether x is neither 0 nor -0.
 * All by the bits, as integers: a GPU's units for doubles have enough to do.
 */
#define HIGH_BITS(x) ((uint)(as_ulong(x) >> 32) & 0x7fffffff)
#define IS_TAKEN_BY(sum, x) ((HIGH_BITS(x) | ((sum)->steps & ALL_WIDE)) < 0x7bf00000)
#define FITS_PRODUCT(x) (HIGH_BITS(x) - 0x03f00000 < 0x7bf00000 - 0x03f00000)
#define IS_NOT_ZERO(x) (as_ulong(x) << 1 != 0)

typedef double element;

/* An expansion of three terms. */
typedef struct {
    double first, second, third;
} partial;

/* A flag of the steps, and the numbers of running_went_wide(). */
#define ALL_WIDE (1U << 31)
#define WIDE_STEPS 256
#define WIDE_COST 8
#define MOST_DUE 20

typedef struct {
    double first, second, third;
    uint steps, due; /* see running_went_wide() */
} running;

#define TWO_SUM(a, b, sum, error)                                                                  \
    do {                                                                                           \
        double sum_ = (a) + (b), part_ = sum_ - (a);                                               \
        error = ((a) - (sum_ - part_)) + ((b)-part_);                                              \
        sum = sum_;                                                                                \
    } while (0)

/*
 * Adds x, smaller than EXPANSION_LIMIT, to the expansion and what that drops to the accumulator.
 * The third term is seldom reached: two hold the sum of values that lie within 2^50 of each other.
 */
void partial_add(partial *sum, double x, __local uint *wide)
{
    double error;
    TWO_SUM(sum->first, x, sum->first, error);
    TWO_SUM(sum->second, error, sum->second, error);
    if (error != 0) {
        TWO_SUM(sum->third, error, sum->third, error);
        if (error != 0)
            wide_add(wide, as_ulong(error));
    }
}

void partial_merge(partial *sum, partial other, __local uint *wide)
{
    partial_add(sum, other.first, wide);
    if (other.second != 0)
        partial_add(sum, other.second, wide);
    if (other.third != 0)
        partial_add(sum, other.third, wide);
}

partial partial_zero(void)
{
    partial zero = {0, 0, 0};
    return zero;
}

running running_zero(void)
{
    running zero = {0, 0, 0, 0, WIDE_COST};
    return zero;
}

/*
 * Takes note that a value went to the long accumulator. Where most do, the expansion is work for
 * nothing: all go there, until the next multiple of WIDE_STEPS, which is the same for neighbouring
 * work-items, as each way waits for the other. `due` runs ahead of the steps by WIDE_COST for each
 * such value, and falls back by one with each step.
 */
void running_went_wide(running *sum)
{
    uint steps = sum->steps & ~ALL_WIDE;

    if (sum->steps & ALL_WIDE) {
        if (steps % WIDE_STEPS == 0)
            sum->steps = steps;
        return;
    }
    sum->due = max(sum->due, steps) + WIDE_COST;
    if (sum->due - steps > MOST_DUE)
        sum->steps |= ALL_WIDE;
}

/* Adds what the second term dropped. */
void running_add_rest(running *sum, double x, __local uint *wide)
{
    double error;
    TWO_SUM(sum->third, x, sum->third, error);
    if (IS_NOT_ZERO(error)) {
        wide_add(wide, as_ulong(error));
        running_went_wide(sum);
    }
}

/* As partial_add(). */
void running_add(running *sum, double x, __local uint *wide)
{
    double error;
    TWO_SUM(sum->first, x, sum->first, error);
    TWO_SUM(sum->second, error, sum->second, error);
    if (IS_NOT_ZERO(error))
        running_add_rest(sum, error, wide);
}

/* Adds x and low, which is below an ulp of x, and so starts at the second term. */
void running_add_pair(running *sum, double x, double low, __local uint *wide)
{
    double error;
    TWO_SUM(sum->first, x, sum->first, error);
    TWO_SUM(sum->second, error, sum->second, error);
    TWO_SUM(sum->second, low, sum->second, low);
    if (IS_NOT_ZERO(error) | IS_NOT_ZERO(low)) {
        running_add_rest(sum, error, wide);
        running_add_rest(sum, low, wide);
    }
}

partial running_finish(running sum, __local uint *wide)
{
    partial result = partial_zero();

    partial_add(&result, sum.first, wide);
    partial_add(&result, sum.second, wide);
    partial_add(&result, sum.third, wide);
    return result;
}

/*
 * Exact addition of doubles on a device: a short expansion in each work-item, and behind it the
 * long accumulator of accumulator.cl, which this follows, and lanes.cl. The limits are those of
 * ext/numeric/exact/expansion.h, where the sources are named.
 */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

#define EXPANSION_LIMIT 0x1p960
#define PRODUCT_FLOOR 0x1p-960

/*
 * Whether |x| < EXPANSION_LIMIT; in a GPU's work-item, whether the expansion takes it; whether
 * moreover |x| >= PRODUCT_FLOOR; whether x is neither 0 nor -0. A GPU looks at the bits, by
 * integers: its units for doubles have enough to do.
 */
#if LANES > 1
#define FITS_EXPANSION(x) (fabs(x) < EXPANSION_LIMIT)
#define FITS_PRODUCT(x) (FITS_EXPANSION(x) & (fabs(x) >= PRODUCT_FLOOR))
#define IS_NOT_ZERO(x) ((x) != 0)
#else
#define HIGH_BITS(x) ((uint)(as_ulong(x) >> 32) & 0x7fffffff)
#define FITS_EXPANSION(x) (HIGH_BITS(x) < 0x7bf00000)
#define IS_TAKEN_BY(sum, x) ((HIGH_BITS(x) | ((sum)->steps & ALL_WIDE)) < 0x7bf00000)
#define FITS_PRODUCT(x) (HIGH_BITS(x) - 0x03f00000 < 0x7bf00000 - 0x03f00000)
#define IS_NOT_ZERO(x) (as_ulong(x) << 1 != 0)
#endif

#if LANES == 8
typedef double8 lanes;
#else
typedef double lanes;
#endif
typedef double element;

#undef WIDE_ARGUMENT
#undef WIDE_FORMAL
#define WIDE_ARGUMENT , wide
#define WIDE_FORMAL , __local uint *wide

/* An expansion of three terms; on a CPU device, one in each lane of a vector. */
typedef struct {
    double first, second, third;
} partial;

/* A flag of a GPU's steps, and the numbers of running_went_wide(). */
#define ALL_WIDE (1U << 31)
#define WIDE_STEPS 256
#define WIDE_COST 8
#define MOST_DUE 20

/* The terms of a sum before the last: see blocks.cl. A product has twice the bits. */
#define NUMBERS (OPERANDS + 1)

typedef struct {
    lanes first, second, third;
#if LANES > 1
    lanes number[NUMBERS], bias; /* bias: the first number's */
    uint waiting, wait;
#else
    uint steps, due; /* see running_went_wide() */
#endif
} running;

#define TWO_SUM(type, a, b, sum, error)                                                            \
    do {                                                                                           \
        type sum_ = (a) + (b), part_ = sum_ - (a);                                                 \
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
    TWO_SUM(double, sum->first, x, sum->first, error);
    TWO_SUM(double, sum->second, error, sum->second, error);
    if (error != 0) {
        TWO_SUM(double, sum->third, error, sum->third, error);
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
    running zero;
    zero.first = zero.second = zero.third = 0;
#if LANES > 1
    for (uint i = 0; i < NUMBERS; i++)
        zero.number[i] = 0;
    zero.bias = 0;
    zero.waiting = zero.wait = 0;
#else
    zero.steps = 0;
    zero.due = WIDE_COST;
#endif
    return zero;
}

#if LANES == 1
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
#endif

/* Adds what the second term dropped. */
void running_add_rest(running *sum, lanes x, __local uint *wide)
{
    lanes error;
    TWO_SUM(lanes, sum->third, x, sum->third, error);
    if (ANY(IS_NOT_ZERO(error))) {
        double lane[LANES];
        uint i;
        STORE_LANES(error, lane);
        for (i = 0; i < LANES; i++)
            wide_add(wide, as_ulong(lane[i]));
#if LANES == 1
        running_went_wide(sum);
#endif
    }
}

/* As partial_add(), for every lane. */
void running_add(running *sum, lanes x, __local uint *wide)
{
    lanes error;
    TWO_SUM(lanes, sum->first, x, sum->first, error);
    TWO_SUM(lanes, sum->second, error, sum->second, error);
    if (ANY(IS_NOT_ZERO(error)))
        running_add_rest(sum, error, wide);
}

/* Adds x and low, which is below an ulp of x, and so starts at the second term. */
void running_add_pair(running *sum, lanes x, lanes low, __local uint *wide)
{
    lanes error;
    TWO_SUM(lanes, sum->first, x, sum->first, error);
    TWO_SUM(lanes, sum->second, error, sum->second, error);
    TWO_SUM(lanes, sum->second, low, sum->second, low);
    if (ANY(IS_NOT_ZERO(error) | IS_NOT_ZERO(low))) {
        running_add_rest(sum, error, wide);
        running_add_rest(sum, low, wide);
    }
}

#if LANES > 1
void running_bias(running *sum, lanes squares, __local uint *wide);
#endif

partial running_finish(running sum, __local uint *wide)
{
    partial result = partial_zero();
    double first[LANES], second[LANES], third[LANES];
    uint i;

#if LANES > 1
    running_bias(&sum, (lanes)0, wide);
#endif
    STORE_LANES(sum.first, first);
    STORE_LANES(sum.second, second);
    STORE_LANES(sum.third, third);
    for (i = 0; i < LANES; i++) {
        partial_add(&result, first[i], wide);
        partial_add(&result, second[i], wide);
        partial_add(&result, third[i], wide);
    }
    return result;
}

#include "numeric/bins/bins.h"

#include "numeric/exact/sum.h"

#include <math.h>

/* A guess of this size relative error is never wrong: it is made of four roundings. */
#define GUESS_ERROR 0x1p-50

/* Nor is one for an INTEGER that was rounded to a double, which moves it by 2^-53 of its size. */
#define ROUNDED_ERROR 0x1p-52

/* The exact tests are for numbers of this size, so that neither products nor their errors leave the
   range of doubles. */
#define LARGEST 0x1p900
#define SMALLEST 0x1p-900

static bool to_double(const struct clr_value *value, double *real)
{
    if (value->kind == CLR_KIND_REAL) {
        *real = value->as.real;
        return true;
    }
    *real = (double)value->as.integer;
    return clr_sum_fits_double(value->as.integer);
}

/* Whether a difference is exact, and an error-free product of it as well. */
static bool is_moderate(double size)
{
    return size == 0.0 || (fabs(size) < LARGEST && fabs(size) > SMALLEST);
}

/* Stores a - b; returns whether that is exact. */
static bool subtract(double a, double b, double *difference)
{
    double error;

    *difference = clr_two_sum(a, -b, &error);
    return error == 0.0 && is_moderate(*difference);
}

/* Returns a number as it is compared: of the zeros there is one. */
static struct clr_value one_zero(const struct clr_value *value)
{
    struct clr_value result = *value;

    if (result.kind == CLR_KIND_REAL)
        result.as.real += 0.0;
    return result;
}

static uint64_t distance(const struct clr_value *from, const struct clr_value *to)
{
    return (uint64_t)to->as.integer - (uint64_t)from->as.integer;
}

void clr_bins_init(struct clr_bins *bins, const struct clr_value *low, const struct clr_value *high,
                   int64_t count)
{
    double high_real;
    bool exact = to_double(low, &bins->low_real);

    exact &= to_double(high, &high_real);
    bins->low = one_zero(low);
    bins->high = one_zero(high);
    bins->count = count;
    bins->exact = subtract(high_real, bins->low_real, &bins->range) && exact;
    bins->scale = exact && is_moderate(bins->range) ? (double)count / bins->range : 0.0;
    bins->integers = low->kind == CLR_KIND_INTEGER && high->kind == CLR_KIND_INTEGER;
    bins->integer_scale = bins->integers ? (double)count / (double)distance(low, high) : 0.0;
}

/* Compares an INTEGER that is low + from_low with the lower bound of bin i: all INTEGERs. */
static int compare_distance(const struct clr_bins *bins, uint64_t from_low, int64_t i)
{
    clr_u128 x = (clr_u128)from_low * (uint64_t)bins->count;
    clr_u128 bound = (clr_u128)distance(&bins->low, &bins->high) * (uint64_t)i;

    return (x > bound) - (x < bound);
}

/* Compares x with the lower bound of bin i, where x - low and high - low are doubles. */
static int compare_difference(const struct clr_bins *bins, double difference, int64_t i)
{
    double count = (double)bins->count, part = (double)i;
    double x = difference * count, bound = bins->range * part;
    double error = fma(difference, count, -x), bound_error = fma(bins->range, part, -bound);

    /* Rounded products that differ are in the order of the exact ones. */
    if (x != bound)
        return x < bound ? -1 : 1;
    return (error > bound_error) - (error < bound_error);
}

static void add_product(struct clr_sum *sum, const struct clr_value *value, int64_t factor)
{
    if (value->kind == CLR_KIND_INTEGER)
        clr_sum_add_integer(sum, (clr_i128)value->as.integer * factor, 1);
    else
        clr_sum_add_product(sum, value->as.real, (double)factor, 1);
}

/* Compares any number with the lower bound of bin i: the sign of x*n - low*(n - i) - high*i. */
static int compare_any(const struct clr_bins *bins, const struct clr_value *x, int64_t i)
{
    struct clr_sum sum;
    double rounded;

    clr_sum_clear(&sum);
    add_product(&sum, x, bins->count);
    add_product(&sum, &bins->low, i - bins->count);
    add_product(&sum, &bins->high, -i);
    rounded = clr_sum_round(&sum, 1);
    return (rounded > 0.0) - (rounded < 0.0);
}

/* What is known of the number that is looked for. */
struct sought {
    const struct clr_value *value;
    enum { BY_DISTANCE, BY_DIFFERENCE, BY_SUM } method;
    uint64_t from_low;
    double difference;
};

static int compare(const struct clr_bins *bins, const struct sought *x, int64_t i)
{
    if (x->method == BY_DISTANCE)
        return compare_distance(bins, x->from_low, i);
    if (x->method == BY_DIFFERENCE)
        return compare_difference(bins, x->difference, i);
    return compare_any(bins, x->value, i);
}

/* Chooses the quickest method that is exact. real: the value as a double, which it is exactly or
   not. */
static struct sought seek(const struct clr_bins *bins, const struct clr_value *value, double real,
                          bool exact)
{
    struct sought sought = {.value = value, .method = BY_SUM};

    if (bins->integers && value->kind == CLR_KIND_INTEGER &&
        clr_value_compare(value, &bins->low, 0) >= 0) {
        sought.method = BY_DISTANCE;
        sought.from_low = distance(&bins->low, value);
    } else if (exact && bins->exact && subtract(real, bins->low_real, &sought.difference)) {
        sought.method = BY_DIFFERENCE;
    }
    return sought;
}

int clr_bins_compare(const struct clr_bins *bins, const struct clr_value *x, int64_t i)
{
    const struct clr_value value = one_zero(x);
    struct sought sought;
    double real;
    bool exact = to_double(&value, &real);

    sought = seek(bins, &value, real, exact);
    return compare(bins, &sought, i);
}

/* Finds the bin of a number between low and high, high not included, from a guess that may be
   anything. */
static int64_t search(const struct clr_bins *bins, const struct sought *x, double guess)
{
    int64_t low = 0, high = bins->count, middle;

    if (guess >= 0.0 && guess < (double)bins->count) {
        /* The guess is in its neighbour at worst, if the scale is good. */
        middle = (int64_t)guess;
        if (compare(bins, x, middle) >= 0)
            low = middle;
        else
            high = middle;
        if (low == middle && compare(bins, x, middle + 1) < 0)
            return middle;
        if (high == middle && compare(bins, x, middle - 1) >= 0)
            return middle - 1;
    }
    while (high - low > 1) {
        middle = low + (high - low) / 2;
        if (compare(bins, x, middle) >= 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The bin of a number whose guess is farther from the next bounds than it can be wrong, or -1. */
static inline int64_t find_surely(const struct clr_bins *bins, double real, bool exact,
                                  double guess)
{
    const double margin =
        guess * GUESS_ERROR + (exact ? 0.0 : fabs(real) * bins->scale * ROUNDED_ERROR);
    double part;
    int64_t whole;

    if (!(guess >= 0.0 && guess < (double)bins->count))
        return -1;
    whole = (int64_t)guess;
    part = guess - (double)whole;
    return part > margin && 1.0 - part > margin ? whole : -1;
}

/* Finds the bin of any number, from a guess that may be anything. */
static __attribute__((noinline)) int64_t find_exactly(const struct clr_bins *bins,
                                                      const struct clr_value *x, double guess)
{
    const struct clr_value value = one_zero(x);
    struct sought sought;
    double real;
    int order;
    bool exact;

    if (clr_value_compare(&value, &bins->low, 0) < 0)
        return -1;
    order = clr_value_compare(&value, &bins->high, 0);
    if (order >= 0)
        return order > 0 ? bins->count : bins->count - 1;
    exact = to_double(&value, &real);
    sought = seek(bins, &value, real, exact);
    if (sought.method == BY_DISTANCE)
        guess = (double)sought.from_low * bins->integer_scale;
    return search(bins, &sought, guess);
}

int64_t clr_bins_find(const struct clr_bins *bins, const struct clr_value *x)
{
    double real, guess = -1.0;
    bool exact = to_double(x, &real);
    int64_t sure = -1;

    if (bins->scale != 0.0) {
        guess = (real - bins->low_real) * bins->scale;
        sure = find_surely(bins, real, exact, guess);
    }
    return sure >= 0 ? sure : find_exactly(bins, x, guess);
}

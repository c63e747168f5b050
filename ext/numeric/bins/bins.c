#include "numeric/bins/bins.h"

#include "base/memory.h"
#include "numeric/exact/expansion.h"
#include "numeric/exact/sum.h"
#include "numeric/order/keys.h"
#include "numeric/values/int192.h"

#include <math.h>
#include <string.h>

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

/* Compares a finite number with the lower bound of bin i, 0 .. count, where that of bin `count` is
   high: exactly, as above. Returns a negative number, 0 or a positive one. */
static int bins_compare(const struct clr_bins *bins, const struct clr_value *x, int64_t i)
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

void clr_bins_add(const struct clr_bins *bins, enum clr_kind kind, const void *numbers,
                  size_t count, uint64_t change, uint64_t *counters)
{
    const clr_stored_real *reals = numbers;
    const int64_t *integers = numbers;
    struct clr_value value = {.kind = kind};
    size_t i;

    for (i = 0; i < count; i++) {
        if (kind == CLR_KIND_REAL)
            value.as.real = reals[i];
        else
            value.as.integer = integers[i];
        counters[clr_bins_find(bins, &value) + 1] += change;
    }
}

static bool is_finite(const struct clr_value *value)
{
    return value->kind == CLR_KIND_INTEGER ||
           (value->kind == CLR_KIND_REAL && isfinite(value->as.real));
}

/* Returns what low, high or bins must be, as clr_bins_prepare() does. */
static const char *check(const struct clr_value *arguments, int *wrong)
{
    const struct clr_value low = one_zero(&arguments[0]), high = one_zero(&arguments[1]);
    const struct clr_value *bins = &arguments[2];

    *wrong = 0;
    if (!is_finite(&low))
        return "low must be a finite number";
    *wrong = 1;
    if (!is_finite(&high))
        return "high must be a finite number";
    *wrong = 2;
    if (bins->kind != CLR_KIND_INTEGER || bins->as.integer < 1 || bins->as.integer > CLR_BINS_LIMIT)
        return "bins must be an INTEGER from 1 to 1000000";
    *wrong = 1;
    return clr_value_compare(&low, &high, 0) >= 0 ? "high must be greater than low" : NULL;
}

const char *clr_bins_prepare(struct clr_bins *bins, const struct clr_value *arguments, int *wrong)
{
    const char *must = check(arguments, wrong);

    if (must == NULL)
        clr_bins_init(bins, &arguments[0], &arguments[1], arguments[2].as.integer);
    return must;
}

/* ---- The first key of a bin. Keys are unsigned here: see keys.h. */

struct bounding {
    const struct clr_bins *bins;
    enum clr_kind kind;
    uint64_t least, greatest; /* keys that may be a first one */
    double low, high;         /* rounded, if they are INTEGERs that no double holds */
    /* Where high - low is good for error-free arithmetic: bounds are known to this much. */
    bool precise;
    double range_error, error;
};

static double rounded_bound(const struct clr_value *value)
{
    return value->kind == CLR_KIND_REAL ? value->as.real : (double)value->as.integer;
}

static void begin(struct bounding *bounding, const struct clr_bins *bins, enum clr_kind kind)
{
    double range;

    *bounding = (struct bounding){.bins = bins,
                                  .kind = kind,
                                  .least = 0,
                                  .greatest = UINT64_MAX,
                                  .low = rounded_bound(&bins->low),
                                  .high = rounded_bound(&bins->high),
                                  .precise = bins->scale != 0.0};
    if (kind == CLR_KIND_REAL) {
        bounding->least = clr_double_to_key(-INFINITY) + 1;
        bounding->greatest = clr_double_to_key(INFINITY);
    }
    if (bounding->precise) {
        range = clr_two_sum(bounding->high, -bounding->low, &bounding->range_error);
        bounding->error = (fabs(bounding->low) + range) * 0x1p-100;
    }
}

static struct clr_value value_of(const struct bounding *bounding, uint64_t key)
{
    return clr_sort_key_to_value(bounding->kind, (int64_t)(key ^ CLR_KEY_SIGN));
}

/* Whether the number of a key is in bin i or above, or, of the last bound, above all bins. */
static bool reaches(const struct bounding *bounding, uint64_t key, int64_t i)
{
    const struct clr_value value = value_of(bounding, key);
    int order;

    if (bounding->kind == CLR_KIND_REAL && key == bounding->greatest)
        return true;
    order = bins_compare(bounding->bins, &value, i);
    return i < bounding->bins->count ? order >= 0 : order > 0;
}

/*
 * Computes the lower bound of bin i as head + tail, where the head is that rounded to nearest.
 * Returns whether it is sure on which side of the head the bound is, and that it is no further than
 * the head's neighbour there.
 *
 * The error-free parts are exact since high - low is neither huge nor tiny. With u = 2^-53 what is
 * rounded are three terms of the rest, each u * range at most, and the sum of it and sum_error,
 * which is (low + 5 * range) * u at most: less than 16 * u^2 * (low + range) in all.
 */
static bool compute_bound(const struct bounding *bounding, int64_t i, double *head, double *tail)
{
    const double part = (double)i, count = (double)bounding->bins->count;
    const double range = bounding->bins->range;
    double product = range * part, product_error = fma(range, part, -product);
    double quotient = product / count, remainder = fma(-quotient, count, product);
    double rest = (remainder + product_error + bounding->range_error * part) / count;
    double sum, sum_error;

    sum = clr_two_sum(bounding->low, quotient, &sum_error);
    *head = clr_two_sum(sum, sum_error + rest, tail);
    return bounding->error < fabs(*head) * 0x1p-55 && fabs(*tail) > bounding->error;
}

/* The least integer that is not below head + tail, or the nearest one that there is. */
static int64_t round_up(double head, double tail)
{
    double whole = ceil(head);

    if (whole >= 0x1p63)
        return INT64_MAX;
    if (whole < -0x1p63)
        return INT64_MIN;
    return (int64_t)whole + (whole == head && tail > 0.0 && whole < 0x1p62);
}

/* Returns the first key of bin i, or, if it is not *sure, one that is about there. */
static uint64_t guess_first(const struct bounding *bounding, int64_t i, bool *sure)
{
    double head, tail = 0.0, part;

    *sure = false;
    if (bounding->precise) {
        *sure = compute_bound(bounding, i, &head, &tail);
    } else {
        part = (double)i / (double)bounding->bins->count;
        head = bounding->low * (1.0 - part) + bounding->high * part;
        if (!isfinite(head))
            head = bounding->high;
    }
    if (bounding->kind == CLR_KIND_REAL)
        return clr_double_to_key(head) + (*sure && tail > 0.0);
    /* Integers are some way from what is none itself, as a double. */
    *sure = *sure && fabs(head) < 0x1p52;
    return clr_integer_to_key(round_up(head, tail));
}

/* Finds the first key of bin i, which is `floor` or above. Returns whether there is one. */
static bool search_first(const struct bounding *bounding, int64_t i, uint64_t floor, uint64_t guess,
                         uint64_t *first)
{
    uint64_t low, high, middle, step; /* low does not reach it, high does */

    if (guess < floor)
        guess = floor;
    if (guess > bounding->greatest)
        guess = bounding->greatest;
    low = high = guess;
    if (reaches(bounding, guess, i)) {
        for (step = 1; high == low; step *= 2) {
            *first = high;
            if (high == floor)
                return true;
            low = high - floor > step ? high - step : floor;
            if (reaches(bounding, low, i))
                high = low;
        }
    } else {
        for (step = 1; high == low; step *= 2) {
            if (low == bounding->greatest)
                return false;
            high = bounding->greatest - low > step ? low + step : bounding->greatest;
            if (!reaches(bounding, high, i))
                low = high;
        }
    }
    while (high - low > 1) {
        middle = low + (high - low) / 2;
        if (reaches(bounding, middle, i))
            high = middle;
        else
            low = middle;
    }
    *first = high;
    return true;
}

/* Where all are INTEGERs: low + i * (high - low) / count, rounded up, and the one above high. */
static bool divide_first(const struct clr_bins *bins, int64_t i, uint64_t *first)
{
    const uint64_t range = (uint64_t)bins->high.as.integer - (uint64_t)bins->low.as.integer;
    const uint64_t count = (uint64_t)bins->count;
    clr_u128 product = (clr_u128)range * (uint64_t)i;

    *first = clr_integer_to_key(bins->low.as.integer) + (uint64_t)((product + count - 1) / count);
    if (i == bins->count)
        *first += 1;
    return i < bins->count || bins->high.as.integer < INT64_MAX;
}

static void find_firsts(struct clr_bin_bounds *bounds, const struct clr_bins *bins)
{
    struct bounding bounding;
    uint64_t first, floor;
    bool found = true, sure;
    int64_t i;

    begin(&bounding, bins, bounds->kind);
    floor = bounding.least;
    for (i = 0; i <= bins->count; i++) {
        if (bins->integers && bounds->kind == CLR_KIND_INTEGER) {
            found = divide_first(bins, i, &first);
        } else {
            first = guess_first(&bounding, i, &sure);
            /* That high itself is in the last bin is for the search. */
            if (!sure || i == bins->count)
                found = search_first(&bounding, i, floor, first, &first);
        }
        if (!found)
            return;
        bounds->firsts[i] = (int64_t)(first ^ CLR_KEY_SIGN);
        bounds->count++;
        floor = first;
    }
}

/* ---- The guess. */

/* What the kernel does: see bins.h. */
static uint32_t guess_slot(const struct clr_bin_bounds *bounds, int64_t key)
{
    const double last = (double)(bounds->count - 1);
    double distance = 0.0, origin, place;

    memcpy(&origin, &bounds->origin, sizeof origin);
    if (bounds->kind == CLR_KIND_REAL)
        distance = clr_sort_key_to_value(CLR_KIND_REAL, key).as.real - origin;
    else if (key > bounds->origin)
        distance = (double)((uint64_t)key - (uint64_t)bounds->origin);
    place = distance * bounds->scale + bounds->offset;
    if (place <= 0.0)
        return 0;
    return place < last ? (uint32_t)place : (uint32_t)last;
}

/*
 * Whether the guess is good for every key. It never decreases as keys increase, since each of its
 * operations, rounded, never does: so the first and the last key of each slot tell.
 */
static bool is_good(const struct clr_bin_bounds *bounds)
{
    const int64_t *firsts = bounds->firsts;
    uint32_t slot;

    for (slot = 0; slot <= bounds->count; slot++) {
        if (slot > 0 && slot < bounds->count && firsts[slot - 1] == firsts[slot])
            continue;
        if (slot > 0 && guess_slot(bounds, firsts[slot - 1]) < slot - 1)
            return false;
        if (slot < bounds->count && firsts[slot] > INT64_MIN &&
            guess_slot(bounds, firsts[slot] - 1) > slot)
            return false;
    }
    return true;
}

/*
 * The place in bins is (x - low) * count / (high - low), from which slots are one more. Half a bin
 * is added, so that the guess may be wrong by half a bin, either way.
 */
static void choose_guess(struct clr_bin_bounds *bounds, const struct clr_bins *bins)
{
    const double low = rounded_bound(&bins->low);
    bool one;

    bounds->guesses = false;
    if (bounds->count == 0)
        return;
    bounds->scale = bins->scale != 0.0 ? bins->scale : bins->integer_scale;
    bounds->offset = 0.5;
    if (bounds->kind == CLR_KIND_REAL) {
        memcpy(&bounds->origin, &low, sizeof low);
    } else {
        /* One below the first bin, so that all that is less is guessed to be there, too. */
        one = bounds->firsts[0] > INT64_MIN;
        bounds->origin = bounds->firsts[0] - one;
        bounds->offset +=
            bounds->scale *
            (bins->low.kind == CLR_KIND_REAL ? (double)bounds->origin - low : -(double)one);
    }
    bounds->guesses = bounds->scale > 0.0 && isfinite(bounds->scale) && isfinite(bounds->offset) &&
                      is_good(bounds);
}

/* ---- All of it. */

size_t clr_bin_bounds_size(int64_t bins)
{
    return ((size_t)bins + 1) * sizeof(int64_t);
}

bool clr_bin_bounds_init(struct clr_bin_bounds *bounds, const struct clr_bins *bins,
                         enum clr_kind kind)
{
    *bounds = (struct clr_bin_bounds){.kind = kind, .count = 0};
    bounds->firsts = clr_memory_alloc(clr_bin_bounds_size(bins->count));
    if (bounds->firsts == NULL)
        return false;
    find_firsts(bounds, bins);
    choose_guess(bounds, bins);
    return true;
}

void clr_bin_bounds_clear(struct clr_bin_bounds *bounds)
{
    clr_memory_free(bounds->firsts);
    bounds->firsts = NULL;
}

#include "numeric/bins/bin_bounds.h"

#include "base/memory.h"
#include "numeric/exact/expansion.h"
#include "numeric/order/keys.h"
#include "numeric/values/int192.h"

#include <math.h>
#include <string.h>

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

static double to_double(const struct clr_value *value)
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
                                  .low = to_double(&bins->low),
                                  .high = to_double(&bins->high),
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
    order = clr_bins_compare(bounding->bins, &value, i);
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

/* What the kernel does: see bin_bounds.h. */
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
    const double low = to_double(&bins->low);
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

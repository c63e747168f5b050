/* The results of lookups: what kind they are, whether they are short, and who frees them. */
#include "numeric/scan/lookup.h"

#include "base/memory.h"

#include "tap.h"

enum { MOST = 6 };

static const struct {
    const char *what;
    uint32_t count;
    uint8_t tags[MOST];
    int64_t values[MOST];
    uint8_t kind;
    bool is_short;
} cases[] = {
    {"nothing", 0, {0}, {0}, CLR_TAG_NULL, true},
    {"truth values", 3, {1, 1, 1}, {0, 1, 1}, CLR_TAG_INTEGER, true},
    {"bytes", 2, {1, 1}, {-128, 127}, CLR_TAG_INTEGER, true},
    {"more than a byte", 2, {1, 1}, {0, 128}, CLR_TAG_INTEGER, false},
    {"less than a byte", 2, {1, 1}, {-129, 0}, CLR_TAG_INTEGER, false},
    {"the ends", 2, {1, 1}, {INT64_MIN, INT64_MAX}, CLR_TAG_INTEGER, false},
    {"REALs, whose bits are few", 2, {2, 2}, {0, 1}, CLR_TAG_REAL, false},
    {"NULLs", 2, {0, 0}, {0, 0}, CLR_TAG_NULL, true},
    {"TEXT", 2, {3, 3}, {0, 0}, CLR_TAG_BYTES, true},
    {"errors", 2, {4, 4}, {0, 0}, CLR_TAG_UNSURE, true},
    {"truth values and NULLs", 3, {1, 0, 1}, {1, 0, 0}, CLR_TAG_MIXED, true},
    {"all there is", 5, {0, 1, 2, 3, 4}, {0, 7, 0, 0, 0}, CLR_TAG_MIXED, false},
};

TAP_TEST(test_kinds)
{
    TAP_EACH (i, cases) {
        struct clr_lookup_results *results = clr_lookup_results_new(cases[i].count);
        struct clr_lookup lookup;
        unsigned types = 0;

        TAP_NEED(results != NULL, "no memory");
        for (uint32_t j = 0; j < cases[i].count; j++) {
            results->tags[j] = cases[i].tags[j];
            results->values[j] = cases[i].values[j];
            types |= 1u << cases[i].tags[j];
        }
        results->ranked_count = 5;
        clr_lookup_set(&lookup, results, cases[i].count);
        tap_is_int64(lookup.kind, cases[i].kind, "%s: the kind", cases[i].what);
        tap_is_int64(lookup.types, types, "the types");
        tap_is_int64(lookup.is_short, cases[i].is_short, "whether all are short");
        for (uint32_t j = 0; j < cases[i].count; j++) {
            const bool is_true =
                (cases[i].tags[j] == CLR_TAG_INTEGER || cases[i].tags[j] == CLR_TAG_REAL) &&
                cases[i].values[j] != 0;
            tap_is_int64((int64_t)clr_lookup_is_true(&lookup, j), is_true, "whether %u is true", j);
        }
        tap_ok(lookup.count == cases[i].count && lookup.results == results &&
                   lookup.values == results->values && lookup.tags == results->tags &&
                   lookup.ranked_count == 5 && lookup.rows.bits == NULL,
               "and where they are");
        clr_lookup_free(&lookup);
        tap_ok(lookup.results == NULL && lookup.count == 0, "and nothing then");
    }
}

TAP_TEST(test_references)
{
    struct clr_lookup_results *results = clr_lookup_results_new(3), *other;
    int unsure = 0;

    TAP_NEED(results != NULL, "no memory");
    for (int i = 0; i < 3; i++)
        unsure += results->tags[i] == CLR_TAG_UNSURE && results->values[i] == 0;
    tap_is_int64(unsure, 3, "nothing is known at first");
    tap_ok(clr_lookup_results_retain(results) == results, "another reference");
    clr_lookup_results_release(results);
    tap_is_int64(atomic_load(&results->references), 1, "which is dropped");
    other = clr_lookup_results_new(3);
    tap_ok(other != NULL && other->id != results->id && other->id != 0, "each has a number");
    clr_lookup_results_release(other);
    clr_lookup_results_release(results);
    clr_lookup_results_release(clr_lookup_results_retain(NULL));
    clr_memory_fail_after(0);
    tap_ok(clr_lookup_results_new(3) == NULL, "no memory");
    clr_memory_fail_after(-1);
}

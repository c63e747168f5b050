/*
 * The contract whose numbers are cited here is in aggregates.h. What is counted goes straight to
 * the counters: below low, in each bin, above high.
 */
#include "sqlite/aggregates/histogram.h"

#include "base/float_environment.h"
#include "base/memory.h"
#include "sqlite/aggregates/counters.h"
#include "sqlite/aggregates/function.h"
#include "sqlite/aggregates/histogram_private.h"
#include "sqlite/aggregates/value_memory.h"
#include "sqlite/session/spares.h"
#include "sqlite/session/sql_value.h"

#include <math.h>
#include <string.h>

static size_t counters_size(const struct clr_histogram *histogram)
{
    return ((size_t)histogram->bins.count + 2) * sizeof *histogram->counter;
}

static void free_histogram(struct clr_spare *spare)
{
    clr_memory_free(spare);
}

static const struct clr_spares_kind spares_kind = CLR_SPARES_KIND(free_histogram);

bool clr_histogram_begin(sqlite3_context *sql, struct clr_histogram_context *context,
                         const struct clr_value *low, const struct clr_value *high, int64_t bins)
{
    struct clr_connection *connection = clr_function_connection(sql);
    struct clr_histogram *histogram = clr_spares_take(connection, &spares_kind);
    enum clr_code code = CLR_OK;
    void *memory;

    if (histogram == NULL)
        histogram = clr_memory_alloc(sizeof *histogram);
    if (histogram == NULL)
        return clr_memory_granted(sql, CLR_NOMEM);
    clr_bins_init(&histogram->bins, low, high, bins);
    memory = histogram->few;
    if (bins + 2 > CLR_FEW_COUNTERS)
        code = clr_budget_alloc(&connection->values, counters_size(histogram), &memory);
    if (code != CLR_OK) {
        /* What is finished after an error, too, finds no counters rather than too few. */
        clr_memory_free(histogram);
        return clr_memory_granted_for(sql, code, "a counter for each bin",
                                      connection->values.limit);
    }
    memset(memory, 0, counters_size(histogram));
    histogram->counter = memory;
    histogram->total = 0;
    context->histogram = histogram;
    return true;
}

void clr_histogram_end(sqlite3_context *sql, struct clr_histogram_context *context)
{
    struct clr_connection *connection = clr_function_connection(sql);
    struct clr_histogram *histogram = context->histogram;

    if (histogram == NULL)
        return;
    if (histogram->counter != histogram->few)
        clr_budget_free(&connection->values, histogram->counter, counters_size(histogram));
    clr_spares_give(connection, &spares_kind, &histogram->spare);
    context->histogram = NULL;
}

/* ---- Arguments. */

/* Returns a value as an error shows it, to be freed with sqlite3_free(); NULL without memory. */
static char *describe(sqlite3_value *value)
{
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        return sqlite3_mprintf("%lld", sqlite3_value_int64(value));
    case SQLITE_FLOAT:
        return sqlite3_mprintf("%!.17g", sqlite3_value_double(value));
    case SQLITE_TEXT:
        return sqlite3_mprintf("'%!.60q'", sqlite3_value_text(value));
    case SQLITE_BLOB:
        return sqlite3_mprintf("a BLOB");
    default:
        return sqlite3_mprintf("NULL");
    }
}

/* Sets the error that an argument is not what it must be. */
static void refuse(sqlite3_context *sql, const char *must, sqlite3_value *value)
{
    char *text = describe(value);

    if (text == NULL)
        sqlite3_result_error_nomem(sql);
    else
        clr_set_error(sql, "%s: %s, not %s", clr_function_of(sql)->name, must, text);
    sqlite3_free(text);
}

static bool is_finite(sqlite3_value *value)
{
    int type = sqlite3_value_type(value);

    return type == SQLITE_INTEGER ||
           (type == SQLITE_FLOAT && isfinite(sqlite3_value_double(value)));
}

/* Whether an argument is the number it was in the first row; INTEGER and REAL may be equal. */
static inline bool is_same(sqlite3_value *argument, const struct clr_value *first)
{
    int type = sqlite3_value_type(argument);
    struct clr_value value;

    if (type == SQLITE_INTEGER && first->kind == CLR_KIND_INTEGER)
        return sqlite3_value_int64(argument) == first->as.integer;
    if (type == SQLITE_FLOAT && first->kind == CLR_KIND_REAL)
        return sqlite3_value_double(argument) == first->as.real;
    return (type == SQLITE_INTEGER || type == SQLITE_FLOAT) && clr_value_read(argument, &value) &&
           clr_value_compare(&value, first, 0) == 0;
}

/* Sets up the counters for the arguments of the first row. Returns false with the error set. */
static bool begin_checked(sqlite3_context *sql, struct clr_histogram_context *context,
                          sqlite3_value **values)
{
    struct clr_value low, high;
    sqlite3_int64 bins = sqlite3_value_int64(values[3]);

    if (!is_finite(values[1]))
        refuse(sql, "low must be a finite number", values[1]);
    else if (!is_finite(values[2]))
        refuse(sql, "high must be a finite number", values[2]);
    else if (sqlite3_value_type(values[3]) != SQLITE_INTEGER || bins < 1 || bins > CLR_BINS_LIMIT)
        refuse(sql, "bins must be an INTEGER from 1 to 1000000", values[3]);
    else if (clr_value_read(values[1], &low) && clr_value_read(values[2], &high) &&
             (clr_value_compare(&low, &high, 0) >= 0 || is_same(values[2], &low)))
        refuse(sql, "high must be greater than low", values[2]);
    else
        return clr_histogram_begin(sql, context, &low, &high, bins);
    return false;
}

/* Returns whether the arguments are those of the first row, or valid and this is the first row;
   else the error is set. */
static bool check(sqlite3_context *sql, struct clr_histogram_context *context,
                  sqlite3_value **values)
{
    const struct clr_bins *bins;

    if (context->histogram == NULL)
        return begin_checked(sql, context, values);
    bins = &context->histogram->bins;
    if (!is_same(values[1], &bins->low))
        refuse(sql, "low must be the same on every row", values[1]);
    else if (!is_same(values[2], &bins->high))
        refuse(sql, "high must be the same on every row", values[2]);
    else if (sqlite3_value_type(values[3]) != SQLITE_INTEGER ||
             sqlite3_value_int64(values[3]) != bins->count)
        refuse(sql, "bins must be the same on every row", values[3]);
    else
        return true;
    return false;
}

/* ---- Counting. */

/* Adds change to the counter of an argument, which is a number. */
static void count_value(struct clr_histogram *histogram, sqlite3_value *argument, uint64_t change)
{
    struct clr_value value;

    if (!clr_value_read(argument, &value))
        return;
    histogram->counter[clr_bins_find(&histogram->bins, &value) + 1] += change;
    histogram->total += change;
}

/* Returns false with the error set. */
static bool take_row(sqlite3_context *sql, struct clr_histogram_context *context,
                     sqlite3_value **values)
{
    int type = sqlite3_value_type(values[0]);

    if (!check(sql, context, values))
        return false;
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
        clr_function_connection(sql)->stats.values_fed++;
        count_value(context->histogram, values[0], 1);
    } else if (type != SQLITE_NULL) { /* clause 1 */
        clr_set_error(sql, "input to %s() is not numeric", clr_function_of(sql)->name);
        return false;
    }
    return true;
}

void clr_histogram_step(sqlite3_context *sql, int count, sqlite3_value **values)
{
    struct clr_histogram_context *context = sqlite3_aggregate_context(sql, sizeof *context);
    struct clr_float_environment before;

    (void)count;
    if (context == NULL) {
        sqlite3_result_error_nomem(sql);
        return;
    }
    before = clr_float_environment_begin();
    if (!take_row(sql, context, values))
        clr_histogram_end(sql, context);
    clr_float_environment_end(&before);
}

void clr_histogram_inverse(sqlite3_context *sql, int count, sqlite3_value **values)
{
    struct clr_histogram_context *context = sqlite3_aggregate_context(sql, sizeof *context);

    (void)count;
    if (context != NULL && context->histogram != NULL &&
        sqlite3_value_type(values[0]) != SQLITE_NULL)
        count_value(context->histogram, values[0], (uint64_t)-1); /* clause 7 */
}

/* ---- Results. */

static void show_state(sqlite3_context *sql, const struct clr_histogram *histogram)
{
    static const struct clr_bins no_bins;
    static const uint64_t nothing[2]; /* of rows, too, that have left or are NULL */
    size_t size;
    unsigned char *bytes = histogram == NULL
                               ? clr_counters_to_state(&no_bins, nothing, &size)
                               : clr_counters_to_state(&histogram->bins, histogram->counter, &size);

    if (bytes == NULL)
        sqlite3_result_error_nomem(sql);
    else
        sqlite3_result_blob64(sql, bytes, size, sqlite3_free);
}

static void show_counts(sqlite3_context *sql, const struct clr_histogram *histogram)
{
    size_t size;
    char *text;

    if (histogram == NULL || histogram->total == 0) /* clause 1 */
        return;
    text = clr_counters_to_json(&histogram->bins, histogram->counter, &size);
    if (text == NULL)
        sqlite3_result_error_nomem(sql);
    else
        sqlite3_result_text64(sql, text, size, sqlite3_free, SQLITE_UTF8);
    sqlite3_result_subtype(sql, CLR_JSON_SUBTYPE);
}

void clr_histogram_value(sqlite3_context *sql)
{
    const enum clr_form form = clr_function_of(sql)->form;
    const struct clr_histogram_context *context = sqlite3_aggregate_context(sql, 0);
    const struct clr_histogram *histogram = context != NULL ? context->histogram : NULL;

    if (form == CLR_FORM_STATE || form == CLR_FORM_STATE_MERGE)
        show_state(sql, histogram);
    else
        show_counts(sql, histogram);
}

/* Also runs when a statement is aborted (clause 8). */
void clr_histogram_final(sqlite3_context *sql)
{
    struct clr_histogram_context *context = sqlite3_aggregate_context(sql, 0);

    clr_histogram_value(sql);
    if (context != NULL)
        clr_histogram_end(sql, context);
}

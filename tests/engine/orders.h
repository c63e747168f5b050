/* Columns to be sorted on a device, and the same on the host. For the tests of orders. */
#ifndef CLR_TESTS_ORDERS_H
#define CLR_TESTS_ORDERS_H

#include "base/clock.h"
#include "base/memory.h"
#include "engine/operations/resident_order.h"
#include "engine/scans.h"
#include "numeric/values/value.h"
#include "random.h"

#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

enum { ORDERS_TIMEOUT_MS = 60000 };

static inline bool orders_late(int64_t start)
{
    return clr_clock_ns() - start > (int64_t)ORDERS_TIMEOUT_MS * 1000000;
}

/* A column without NULLs, of which many are equal. */
static inline struct clr_column *orders_column(uint8_t kind, size_t rows)
{
    struct clr_column *column = scans_column(kind, rows, 0);
    size_t i;

    for (i = 0; i < rows; i += 1 + (size_t)random_below(3))
        column->values[i] = kind == CLR_TAG_REAL ? scans_bits(random_below(2) ? -0.0 : 0.0)
                                                 : (int64_t)random_below(100);
    return column;
}

static inline struct clr_resident *orders_resident(struct clr_worker *worker,
                                                   struct clr_column *column)
{
    struct clr_resident *resident = clr_resident_new(worker, column, 0, column->rows);
    int64_t start = clr_clock_ns();

    if (resident == NULL)
        tap_bail("no memory");
    while (clr_resident_state(resident) == CLR_RESIDENT_COMING && !orders_late(start))
        usleep(500);
    return resident;
}

/* Asks until there is an answer, or there will be none. */
static inline enum clr_scan_outcome
orders_ask(struct clr_worker *worker, struct clr_resident *resident, struct clr_order *order,
           struct clr_device_work *work, struct clr_status *status)
{
    int64_t start = clr_clock_ns();
    enum clr_scan_outcome outcome;

    clr_status_clear(status);
    while ((outcome = clr_resident_order(worker, resident, order, ORDERS_TIMEOUT_MS, NULL, work,
                                         status)) == CLR_SCAN_NOT_NOW &&
           clr_resident_state(resident) == CLR_RESIDENT_READY && !orders_late(start))
        usleep(1000);
    return outcome;
}

static inline int orders_compare(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The column's keys in their order, to be freed with free(). */
static inline int64_t *orders_sort(const struct clr_column *column)
{
    int64_t *keys = malloc((column->rows + 1) * sizeof *keys);
    size_t i;

    if (keys == NULL)
        tap_bail("no memory");
    for (i = 0; i < column->rows; i++)
        keys[i] = column->kind == CLR_TAG_REAL ? clr_real_to_key(clr_column_value(column, i))
                                               : clr_column_value(column, i);
    qsort(keys, column->rows, sizeof *keys, orders_compare);
    return keys;
}

static inline void orders_runs(const struct clr_column *column, const int64_t *keys,
                               struct clr_runs *runs)
{
    const bool real = column->kind == CLR_TAG_REAL;
    uint64_t length = 0;
    size_t i;

    memset(runs, 0, sizeof *runs);
    for (i = 0; i < column->rows; i++) {
        bool equal =
            i > 0 && (keys[i] == keys[i - 1] || (real && keys[i] == 0 && keys[i - 1] == -1));
        length = equal ? length + 1 : 1;
        runs->distinct += !equal;
        if (length > runs->longest) {
            runs->longest = length;
            runs->mode = real && keys[i] == -1 ? 0 : keys[i];
        }
    }
}

#endif

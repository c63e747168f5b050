/*
 * What programs are examined by before they are trusted: hard values, and small columns and lookups
 * that are the same on the host and on the device. For ext/opencl alone.
 */
#ifndef CLR_OPENCL_TRIAL_H
#define CLR_OPENCL_TRIAL_H

#include "numeric/states/state.h"
#include "opencl/core/device.h"
#include "opencl/memory/resident_column.h"
#include "opencl/reduction/scan_plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Values and columns. */

/* Returns the next of a sequence of random bits, which is the same on every machine. The seed is
   not 0. */
uint64_t clr_test_random(uint64_t *seed);

/* The seed that the self-tests begin with. */
#define CLR_TEST_SEED UINT64_C(88172645463325252)

/* Whether two ranges are the same. */
bool clr_test_same_range(const struct clr_range *a, const struct clr_range *b);

/*
 * Stores `count` hard values, such as a column of that kind may have, as of
 * clr_column_device_kind(), without codes and of one type: INTEGERs or the bits of REALs. Returns
 * the column with these on the device; or NULL with CLR_NOMEM or CLR_DEVICE in status.
 */
struct clr_resident_column *clr_test_column(struct clr_device *device, uint8_t kind,
                                            int64_t *values, size_t count,
                                            struct clr_status *status);

/* ---- Tables. */

/* More than a group of work-items takes at once, and no multiple of anything. */
enum { CLR_TRIAL_ROWS = 3001 };

/* HARD: values of all sizes. COMMON: small, and those of the scan's constants. OTHERS: common ones,
   and where a column or a lookup has several types some values that are no numbers. ERRORS: common
   ones, and where a lookup has several types some that SQLite alone can tell. */
enum clr_trial_kind {
    CLR_TRIAL_HARD,
    CLR_TRIAL_COMMON,
    CLR_TRIAL_OTHERS,
    CLR_TRIAL_ERRORS,
    CLR_TRIAL_KINDS
};

struct clr_trial_round {
    enum clr_trial_kind kind;
    unsigned types; /* CLR_TYPE() of NULL, INTEGER and REAL: where there may be several, these */
};

/* What a column or a lookup is to have where values are HARD or COMMON, since a program is for no
   others: these types, as far as there may be several and the round has one of them, or else any of
   them; and of INTEGERs so many, from CLR_TRIAL_LEAST on. 0: any. */
enum { CLR_TRIAL_LEAST = -3 };

struct clr_trial_wanted {
    unsigned types;
    int integers;
};

/* What a program computes, as it is kept until the program is built: no tallies, and columns and
   lookups' results in a table alone. */
struct clr_trial_scan {
    struct clr_scan scan; /* its arrays are below */
    struct clr_instruction instructions[CLR_MOST_SCAN_INSTRUCTIONS];
    struct clr_scalar constants[CLR_MOST_SCAN_INSTRUCTIONS];
    struct clr_lookup lookups[CLR_MOST_LOOKUPS];
    uint8_t kinds[CLR_MOST_COLUMNS]; /* of the columns on the device */
    /* What callers set, of the table. */
    struct clr_trial_wanted of_columns[CLR_MOST_COLUMNS], of_lookups[CLR_MOST_LOOKUPS];
    bool repeats; /* some rows beside each other are to be the same in all columns */
};

/* Both are the scan's columns: those of the host and those of the device. */
struct clr_trial_table {
    struct clr_column *here[CLR_MOST_COLUMNS];
    struct clr_resident_column *there[CLR_MOST_COLUMNS];
};

/* Copies what a trial needs of a scan that fits: see clr_scan_plan_fits(). */
void clr_trial_scan_init(struct clr_trial_scan *trial, const struct clr_scan *scan,
                         const uint8_t *kinds);

/*
 * Makes the table of a round, and the lookups' results. Returns CLR_OK; CLR_NOMEM; or CLR_DEVICE.
 * clr_trial_table_free() is due after all of them.
 */
enum clr_code clr_trial_table_make(struct clr_device *device, struct clr_trial_scan *trial,
                                   const struct clr_trial_round *round,
                                   struct clr_trial_table *table, struct clr_status *status);

/* device: NULL after an error of OpenCL's. */
void clr_trial_table_free(struct clr_device *device, struct clr_trial_scan *trial,
                          struct clr_trial_table *table);

#endif

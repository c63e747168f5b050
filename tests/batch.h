/*
 * Many comparisons under one line of TAP: those since the last one's end. The first ones that fail
 * are shown in the log.
 *
 *     for (...)
 *         batch_double(got, want, "value %d", i);
 *     batch_end("all of them");
 */
#ifndef CLR_TESTS_BATCH_H
#define CLR_TESTS_BATCH_H

#include "tap.h"

#include <inttypes.h>
#include <stdint.h>

/* How many rounds of random cases a batch gets that has so many in long runs; quick ones have a
   fifth of them. */
int batch_rounds(int rounds);

bool batch_ok(bool passed, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Equality of bits; all NaNs are one value. */
bool batch_double(double got, double want, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

bool batch_end(const char *name, ...) __attribute__((format(printf, 1, 2)));

#endif

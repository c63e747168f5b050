/*
 * Many comparisons under one line of TAP. The first ones that fail are shown in the log.
 *
 *     batch_begin();
 *     for (...)
 *         batch_double(got, want, "value %d", i);
 *     batch_end("all of them");
 */
#ifndef CLR_TESTS_BATCH_H
#define CLR_TESTS_BATCH_H

#include "tap.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static long batch_checks, batch_failures;

enum { BATCH_SHOWN = 5 };

static inline void batch_begin(void)
{
    batch_checks = batch_failures = 0;
}

/* How many rounds of random cases a batch gets that has so many in long runs; quick ones have a
   fifth of them. */
static inline int batch_rounds(int rounds)
{
    return tap_is_quick() ? rounds / 5 : rounds;
}

static inline bool batch_count(bool passed)
{
    batch_checks++;
    if (!passed)
        batch_failures++;
    return !passed && batch_failures <= BATCH_SHOWN;
}

static inline bool batch_ok(bool passed, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline bool batch_double(double got, double want, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline bool batch_ok(bool passed, const char *format, ...)
{
    char text[512];
    va_list arguments;

    if (batch_count(passed)) {
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        tap_diag("%s", text);
    }
    return passed;
}

/* Equality of bits; all NaNs are one value. */
static inline bool batch_double(double got, double want, const char *format, ...)
{
    bool passed = (got != got && want != want) || memcmp(&got, &want, sizeof got) == 0;
    char text[512];
    va_list arguments;

    if (batch_count(passed)) {
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        tap_diag("%s\n got: %.17g %a\nwant: %.17g %a", text, got, got, want, want);
    }
    return passed;
}

static inline bool batch_end(const char *name, ...) __attribute__((format(printf, 1, 2)));

static inline bool batch_end(const char *name, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, name);
    vsnprintf(text, sizeof text, name, arguments);
    va_end(arguments);
    if (batch_failures > BATCH_SHOWN)
        tap_diag("... %ld of %ld failed", batch_failures, batch_checks);
    /* No comparison at all would be a mistake in the test. */
    return tap_ok(batch_failures == 0 && batch_checks > 0, "%s (%ld comparisons)", text,
                  batch_checks);
}

#endif

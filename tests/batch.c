#include "batch.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static long batch_checks, batch_failures;

enum { BATCH_SHOWN = 5 };

static bool batch_count(bool passed)
{
    batch_checks++;
    if (!passed)
        batch_failures++;
    return !passed && batch_failures <= BATCH_SHOWN;
}

void batch_begin(void)
{
    batch_checks = batch_failures = 0;
}

int batch_rounds(int rounds)
{
    return tap_is_quick() ? rounds / 5 : rounds;
}

bool batch_ok(bool passed, const char *format, ...)
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

bool batch_double(double got, double want, const char *format, ...)
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

bool batch_end(const char *name, ...)
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

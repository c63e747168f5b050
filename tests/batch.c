#include "batch.h"

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

int batch_rounds(int rounds)
{
    return tap_is_quick() ? rounds / 5 : rounds;
}

bool batch_ok(bool passed, const char *format, ...)
{
    char text[512];

    if (batch_count(passed)) {
        TAP_WITH_ARGUMENTS(format, vsnprintf(text, sizeof text, format, arguments));
        tap_diag("%s", text);
    }
    return passed;
}

bool batch_double(double got, double want, const char *format, ...)
{
    bool passed = (got != got && want != want) || memcmp(&got, &want, sizeof got) == 0;
    char text[512];

    if (batch_count(passed)) {
        TAP_WITH_ARGUMENTS(format, vsnprintf(text, sizeof text, format, arguments));
        tap_diag("%s\n got: %.17g %a\nwant: %.17g %a", text, got, got, want, want);
    }
    return passed;
}

bool batch_end(const char *name, ...)
{
    const long checks = batch_checks, failures = batch_failures;
    char text[256];

    TAP_WITH_ARGUMENTS(name, vsnprintf(text, sizeof text, name, arguments));
    batch_checks = batch_failures = 0;
    if (failures > BATCH_SHOWN)
        tap_diag("... %ld of %ld failed", failures, checks);
    /* No comparison at all would be a mistake in the test. */
    return tap_ok(failures == 0 && checks > 0, "%s (%ld comparisons)", text, checks);
}

#include "tap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_run;
static int tap_failed;
static struct tap_test *tap_tests;

void tap_add(struct tap_test *test)
{
    struct tap_test **next = &tap_tests;
    int order;

    for (; *next != NULL; next = &(*next)->next) {
        order = strcmp(test->file, (*next)->file);
        if (order < 0 || (order == 0 && test->line < (*next)->line))
            break;
    }
    test->next = *next;
    *next = test;
}

void tap_run_all(void)
{
    for (const struct tap_test *test = tap_tests; test != NULL; test = test->next)
        test->run();
}

/* Prints one result line, with the name's line breaks and '#' defused: TAP gives them a meaning. */
static void result(bool passed, const char *name, va_list arguments)
{
    char text[512];

    vsnprintf(text, sizeof text, name, arguments);
    for (char *c = text; *c != '\0'; c++) {
        if (*c == '\n' || *c == '\r')
            *c = ' ';
        else if (*c == '#')
            *c = '.';
    }
    tap_run++;
    if (!passed)
        tap_failed++;
    printf("%s %d - %s\n", passed ? "ok" : "not ok", tap_run, text);
    /* A later crash must not take the results so far with it. */
    fflush(stdout);
}

static uint64_t double_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

bool tap_ok(bool passed, const char *name, ...)
{
    TAP_WITH_ARGUMENTS(name, result(passed, name, arguments));
    return passed;
}

bool tap_is_int64(int64_t got, int64_t want, const char *name, ...)
{
    TAP_WITH_ARGUMENTS(name, result(got == want, name, arguments));
    if (got != want)
        tap_diag(" got: %" PRId64 "\nwant: %" PRId64, got, want);
    return got == want;
}

bool tap_is_uint64(uint64_t got, uint64_t want, const char *name, ...)
{
    TAP_WITH_ARGUMENTS(name, result(got == want, name, arguments));
    if (got != want) {
        tap_diag(" got: %" PRIu64 " (0x%016" PRIx64 ")\nwant: %" PRIu64 " (0x%016" PRIx64 ")", got,
                 got, want, want);
    }
    return got == want;
}

bool tap_is_string(const char *got, const char *want, const char *name, ...)
{
    bool same = got == want || (got != NULL && want != NULL && strcmp(got, want) == 0);

    TAP_WITH_ARGUMENTS(name, result(same, name, arguments));
    if (!same) {
        tap_diag(" got: %s", got != NULL ? got : "(NULL)");
        tap_diag("want: %s", want != NULL ? want : "(NULL)");
    }
    return same;
}

bool tap_is_double(double got, double want, const char *name, ...)
{
    bool both_nan = got != got && want != want;
    bool same = both_nan || double_bits(got) == double_bits(want);

    TAP_WITH_ARGUMENTS(name, result(same, name, arguments));
    if (!same) {
        tap_diag(" got: %.17g %a (0x%016" PRIx64 ")\nwant: %.17g %a (0x%016" PRIx64 ")", got, got,
                 double_bits(got), want, want, double_bits(want));
    }
    return same;
}

void tap_skip(int count, const char *reason, ...)
{
    char text[256];

    TAP_WITH_ARGUMENTS(reason, vsnprintf(text, sizeof text, reason, arguments));
    while (count-- > 0)
        printf("ok %d # SKIP %s\n", ++tap_run, text);
    fflush(stdout);
}

void tap_skip_all(const char *reason, ...)
{
    printf("1..0 # SKIP ");
    TAP_WITH_ARGUMENTS(reason, vprintf(reason, arguments));
    printf("\n");
    exit(0);
}

void tap_bail(const char *reason, ...)
{
    printf("Bail out! ");
    TAP_WITH_ARGUMENTS(reason, vprintf(reason, arguments));
    printf("\n");
    exit(1);
}

/* Whether an environment variable is neither empty nor 0. */
static bool is_set(const char *name)
{
    const char *setting = getenv(name);
    return setting != NULL && *setting != '\0' && strcmp(setting, "0") != 0;
}

void tap_no_device(const char *what)
{
    if (is_set("CLREDUCE_REQUIRE_DEVICE"))
        tap_bail("%s, and CLREDUCE_REQUIRE_DEVICE is set", what);
}

bool tap_is_quick(void)
{
    return !is_set("CLREDUCE_TEST_LONG");
}

void tap_diag(const char *text, ...)
{
    char buffer[4096];
    char *line = buffer;

    TAP_WITH_ARGUMENTS(text, vsnprintf(buffer, sizeof buffer, text, arguments));
    while (line != NULL) {
        char *end = strchr(line, '\n');
        if (end != NULL)
            *end++ = '\0';
        printf("# %s\n", line);
        line = end != NULL && *end != '\0' ? end : NULL;
    }
    fflush(stdout);
}

int tap_done(void)
{
    printf("1..%d\n", tap_run);
    if (tap_failed > 0)
        tap_diag("%d of %d checks failed", tap_failed, tap_run);
    fflush(stdout);
    return tap_failed > 0;
}

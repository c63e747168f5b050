/*
 * A small TAP (Test Anything Protocol) producer for the C tests.
 *
 *     TAP_TEST(test_numbers)
 *     {
 *         tap_ok(two() == 2, "two is two");
 *         tap_is_int64(three(), 3, "three of %s", "them");
 *     }
 *
 * A program has all tests of its files; one without a main() of its own has the one of main.c,
 * which runs them. Each check prints one line, and returns whether it passed. tap_done() prints how
 * many have run, so that a test which dies half-way has no plan, and counts as an error. Not for
 * use from several threads at once.
 */
#ifndef CLR_TESTS_TAP_H
#define CLR_TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The items of an array, several of which stand on a line. */
#define TAP_LIST(...)                                                                              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* Makes a call with `arguments`, which are those behind a function's last named one. */
#define TAP_WITH_ARGUMENTS(last, call)                                                             \
    do {                                                                                           \
        va_list arguments;                                                                         \
        va_start(arguments, last);                                                                 \
        call;                                                                                      \
        va_end(arguments);                                                                         \
    } while (0)

/* The head of a loop over an array's indexes. */
#define TAP_EACH(i, array) for (size_t i = 0; i < sizeof(array) / sizeof(array)[0]; i++)

/* A test: the head of its function, in whose place the name alone stands. */
#define TAP_TEST(name)                                                                             \
    static void name(void);                                                                        \
    __attribute__((constructor)) static void name##_added(void)                                    \
    {                                                                                              \
        static struct tap_test test = {name, __FILE__, __LINE__, NULL};                            \
        tap_add(&test);                                                                            \
    }                                                                                              \
    static void name(void)

struct tap_test {
    void (*run)(void);
    const char *file;
    int line;
    struct tap_test *next;
};

/* Adds a test, which lives as long as the program. TAP_TEST() does so before main() begins. */
void tap_add(struct tap_test *test);

/* Runs all tests, file by file, as they stand there. */
void tap_run_all(void);

/* One check. The name is a printf() format. */
bool tap_ok(bool passed, const char *name, ...) __attribute__((format(printf, 2, 3)));

/* Equality, with both values in the diagnostics of a failure. */
bool tap_is_int64(int64_t got, int64_t want, const char *name, ...)
    __attribute__((format(printf, 3, 4)));
bool tap_is_uint64(uint64_t got, uint64_t want, const char *name, ...)
    __attribute__((format(printf, 3, 4)));

/* Equality of two strings, either of which may be NULL. */
bool tap_is_string(const char *got, const char *want, const char *name, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Equality of bits: +0.0 differs from -0.0, and no tolerance is given. All NaNs are one value,
 * because the sign and payload of a computed NaN are the processor's own affair.
 */
bool tap_is_double(double got, double want, const char *name, ...)
    __attribute__((format(printf, 3, 4)));

/* Counts that many checks as skipped, for the reason given. */
void tap_skip(int count, const char *reason, ...) __attribute__((format(printf, 2, 3)));

/* Skips the whole test, before its first check; does not return. */
void tap_skip_all(const char *reason, ...) __attribute__((noreturn, format(printf, 1, 2)));

/*
 * To be called where a test has no device to run on, before it skips what needs one: gives up on
 * the test where CLREDUCE_REQUIRE_DEVICE says that there has to be one.
 */
void tap_no_device(const char *what);

/* Gives up on the test: nothing that follows could be trusted; does not return. */
void tap_bail(const char *reason, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Does so unless the condition holds. The rest is tap_bail()'s, evaluated only then. */
#define TAP_NEED(condition, ...) ((condition) ? (void)0 : tap_bail(__VA_ARGS__))

/* Whether tests are to use some of their cases alone: CLREDUCE_TEST_LONG is not set. */
bool tap_is_quick(void);

/* A comment in the test's log. May have several lines. */
void tap_diag(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* Ends the test; its value is main()'s: 0 if every check passed and the plan was kept, else 1. */
int tap_done(void);

#endif

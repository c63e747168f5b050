/*
 * The runs of a test in which OpenCL fails by means of tests/opencl/failing-opencl.c, which is
 * preloaded into the test's own program run again, with an argument: each failure has a process of
 * its own.
 */
#ifndef CLR_TESTS_FAILING_RUNS_H
#define CLR_TESTS_FAILING_RUNS_H

#include "child.h"

#include <fcntl.h>

enum { FAILURES_LIMIT_S = 120, FAILURES_OUTPUT = 8192 };

/* A run, and all that it printed. */
struct failures_attempt {
    char rule[100];
    pid_t child;
    int output;
    double start, took;
    bool passed;
    char text[FAILURES_OUTPUT];
};

static const char *failures_program, *failures_sanitizer;
static char failures_interposer[1024];

/* Prepares the runs of this program; skips everything where nothing can be made to fail. */
static inline void failures_prepare(const char *program)
{
    const char *build = getenv("CLREDUCE_BUILDDIR");

    snprintf(failures_interposer, sizeof failures_interposer, "%s/tests/opencl/failing-opencl.so",
             build != NULL ? build : ".");
    if (access(failures_interposer, R_OK) != 0) {
        tap_no_device("there is nothing to preload that fails");
        tap_skip_all("there is no %s to preload", failures_interposer);
    }
    failures_program = program;
    failures_sanitizer = getenv("CLREDUCE_PRELOAD");
    if (failures_sanitizer == NULL)
        failures_sanitizer = "";
}

static inline void failures_start(struct failures_attempt *attempt, const char *argument)
{
    int ends[2];

    attempt->start = child_now();
    fflush(stdout);
    if (pipe(ends) != 0 || fcntl(ends[0], F_SETFD, FD_CLOEXEC) != 0 ||
        (attempt->child = fork()) < 0)
        tap_bail("no child: %s", strerror(errno));
    if (attempt->child == 0) {
        char preload[2048];
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        snprintf(preload, sizeof preload, "%s:%s", failures_sanitizer, failures_interposer);
        setenv("LD_PRELOAD", failures_sanitizer[0] != '\0' ? preload : failures_interposer, 1);
        setenv("CLR_FAIL", attempt->rule, 1);
        /* The first calls are those of the work: a GPU would measure its arithmetic first. */
        setenv("CLREDUCE_DEVICE_ARITHMETIC", "fp64", 0);
        alarm(FAILURES_LIMIT_S);
        execl(failures_program, failures_program, argument, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    attempt->output = ends[0];
}

static inline void failures_finish(struct failures_attempt *attempt)
{
    size_t length = 0;
    char rest[1000];
    ssize_t got;

    /* All is read, so that the run can write it; the beginning is kept. */
    while ((got = read(attempt->output, rest, sizeof rest)) > 0) {
        size_t kept = (size_t)got;
        if (kept > sizeof attempt->text - 1 - length)
            kept = sizeof attempt->text - 1 - length;
        memcpy(attempt->text + length, rest, kept);
        length += kept;
    }
    attempt->text[length] = '\0';
    close(attempt->output);
    attempt->passed = child_wait(attempt->child);
    attempt->took = child_now() - attempt->start;
}

static inline bool failures_shows(const struct failures_attempt *attempt, const char *text)
{
    return strstr(attempt->text, text) != NULL;
}

/* Whether a failure came about at all: not every function is called five times. */
static inline bool failures_acted(const struct failures_attempt *attempt)
{
    return failures_shows(attempt, "failing-opencl:");
}

/* Runs the program with that rule and argument; returns whether it ended well. */
static inline bool failures_attempt(struct failures_attempt *attempt, const char *rule,
                                    const char *argument)
{
    snprintf(attempt->rule, sizeof attempt->rule, "%s", rule);
    failures_start(attempt, argument);
    failures_finish(attempt);
    return attempt->passed;
}

#endif

/*
 * Work in a child process: for what happens once in a process, at its end, or not in time. The
 * process that forks must not have started the runtime yet, unless that is what is tested.
 */
#ifndef CLR_TESTS_CHILD_H
#define CLR_TESTS_CHILD_H

#include "tap.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int child_failures;

/*
 * The address sanitizer asks this before it looks for leaks, if a program has it. In the child of a
 * process with threads it would wait for locks that those threads, which the child does not have,
 * were holding.
 */
static bool child_skips_leak_check;
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);

int __lsan_is_turned_off(void)
{
    return child_skips_leak_check;
}

/* To be called by a child whose parent had threads, the runtime's among them. */
static inline void child_leaves_threads_behind(void)
{
    child_skips_leak_check = true;
}

/* In the child: a check without a number of its own; the parent counts the child as one. */
static inline bool child_ok(bool passed, const char *what)
{
    if (!passed) {
        tap_diag("in the child, failed: %s", what);
        child_failures++;
    }
    return passed;
}

/*
 * Forks, does the work in the child, and lets the child end by exit(). An alarm ends a child that
 * takes longer than limit_s seconds.
 */
static inline pid_t child_start(void (*work)(void), unsigned limit_s)
{
    pid_t child;

    fflush(stdout);
    child = fork();
    TAP_NEED(child >= 0, "fork: %s", strerror(errno));
    if (child != 0)
        return child;
    alarm(limit_s);
    child_failures = 0;
    work();
    exit(child_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Waits for the child's end; returns whether all was well, and says what was not. */
static inline bool child_wait(pid_t child)
{
    int status;

    while (waitpid(child, &status, 0) < 0)
        TAP_NEED(errno == EINTR, "waitpid: %s", strerror(errno));
    if (WIFSIGNALED(status))
        tap_diag("the child was ended by signal %d%s", WTERMSIG(status),
                 WTERMSIG(status) == SIGALRM ? ": it took too long" : "");
    else if (WEXITSTATUS(status) != EXIT_SUCCESS)
        tap_diag("the child ended with status %d", WEXITSTATUS(status));
    return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

/* Both of the above. */
static inline bool child_run(void (*work)(void), unsigned limit_s)
{
    return child_wait(child_start(work, limit_s));
}

static inline double child_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Runs work for each value of *number from 0 to count - 1, in children two at a time. Returns
   whether all passed. */
static inline bool child_run_numbered(void (*work)(void), unsigned limit_s, long *number,
                                      long count)
{
    bool passed = true;

    for (long i = 0; i < count; i += 2) {
        pid_t first, second = 0;

        *number = i;
        first = child_start(work, limit_s);
        *number = i + 1;
        if (*number < count)
            second = child_start(work, limit_s);
        passed = child_wait(first) && passed;
        if (second != 0)
            passed = child_wait(second) && passed;
    }
    return passed;
}

#endif

/*
 * Measuring: several cases in alternating runs, so that a machine's moods meet all of them alike;
 * medians; and a line of JSON for each result.
 */
#ifndef CLR_BENCH_MEASURE_H
#define CLR_BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BENCH_MOST_RUNS = 99, BENCH_NOTES = 256 };

/* One thing to measure. */
struct bench_case {
    /* Does it once and returns how many nanoseconds that took. */
    int64_t (*run)(void *argument);
    void *argument;
    int count; /* runs measured */
    int64_t times[BENCH_MOST_RUNS];
};

/*
 * Runs each case once to warm up, then all of them in turn, `runs` times; from the third round on
 * stops when `seconds` have passed.
 */
void bench_measure(struct bench_case *cases, size_t count, int runs, double seconds);

int64_t bench_median(const struct bench_case *one);

/* Returns the median, over the rounds, of the reference's time divided by the case's. */
double bench_ratio(const struct bench_case *one, const struct bench_case *reference);

/* Whether a result was compared with the right answer. */
enum bench_exact { BENCH_NOT_COMPARED, BENCH_EQUAL, BENCH_DIFFERENT };

/* What a line of the output says; texts that are NULL become null. */
struct bench_line {
    const char *part, *name, *device, *element, *operation;
    int64_t bytes;                      /* 0: not about bytes */
    const struct bench_case *times;     /* always there */
    const struct bench_case *reference; /* the plain read of as many bytes; NULL: none */
    enum bench_exact exact;
    const int *spread; /* bits over which the values' exponents are spread; NULL: not about that */
    double ratio;      /* of speeds, as the notes say; 0: none */
    char notes[BENCH_NOTES];
};

/* Writes the line to the standard output. */
void bench_print(const struct bench_line *line);

/* Says on the standard error, if that is a terminal, what is being measured. */
void bench_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Remembers that a result was wrong, says so, and makes the program's exit status 1. */
void bench_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool bench_any_wrong(void);

#endif

#include "measure.h"

#include "base/clock.h"
#include "output.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool any_wrong;

void bench_measure(struct bench_case *cases, size_t count, int runs, double seconds)
{
    int64_t start;
    size_t i;
    int run;

    for (i = 0; i < count; i++) {
        cases[i].count = 0;
        cases[i].run(cases[i].argument);
    }
    start = clr_clock_ns();
    for (run = 0; run < runs && run < BENCH_MOST_RUNS; run++) {
        if (run >= 3 && (double)(clr_clock_ns() - start) > seconds * 1e9)
            break;
        for (i = 0; i < count; i++)
            cases[i].times[cases[i].count++] = cases[i].run(cases[i].argument);
    }
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int compare_ratios(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sort_times(const struct bench_case *one, int64_t *sorted)
{
    memcpy(sorted, one->times, (size_t)one->count * sizeof *sorted);
    qsort(sorted, (size_t)one->count, sizeof *sorted, compare_times);
}

int64_t bench_median(const struct bench_case *one)
{
    int64_t sorted[BENCH_MOST_RUNS];

    if (one->count == 0)
        return 0;
    sort_times(one, sorted);
    return sorted[one->count / 2];
}

double bench_ratio(const struct bench_case *one, const struct bench_case *reference)
{
    double ratios[BENCH_MOST_RUNS];
    int count = one->count < reference->count ? one->count : reference->count, i;

    if (count == 0)
        return 0;
    for (i = 0; i < count; i++)
        ratios[i] = (double)reference->times[i] / (double)(one->times[i] > 0 ? one->times[i] : 1);
    qsort(ratios, (size_t)count, sizeof *ratios, compare_ratios);
    return ratios[count / 2];
}

static void print_member(const char *key, const char *text)
{
    printf(", \"%s\": ", key);
    bench_print_text(text);
}

void bench_print(const struct bench_line *line)
{
    static const char *const exact[] = {"null", "true", "false"};
    int64_t sorted[BENCH_MOST_RUNS] = {0}, median = bench_median(line->times);
    int runs = line->times->count;

    sort_times(line->times, sorted);
    printf("{\"part\": \"%s\"", line->part);
    print_member("name", line->name);
    print_member("device", line->device);
    print_member("element", line->element);
    print_member("operation", line->operation);
    printf(", \"bytes\": %lld, \"runs\": %d", (long long)line->bytes, runs);
    printf(", \"median_ns\": %lld, \"min_ns\": %lld, \"max_ns\": %lld", (long long)median,
           (long long)sorted[0], (long long)sorted[runs > 0 ? runs - 1 : 0]);
    if (line->bytes > 0 && median > 0)
        printf(", \"gbytes_per_s\": %.4g", (double)line->bytes / (double)median);
    else
        printf(", \"gbytes_per_s\": null");
    if (line->reference != NULL)
        printf(", \"share_of_read\": %.4f", bench_ratio(line->times, line->reference));
    else
        printf(", \"share_of_read\": null");
    if (line->spread != NULL)
        printf(", \"spread\": %d", *line->spread);
    if (line->ratio > 0)
        printf(", \"ratio\": %.4g", line->ratio);
    printf(", \"exact\": %s", exact[line->exact]);
    print_member("notes", line->notes);
    printf("}\n");
    fflush(stdout);
}

void bench_progress(const char *format, ...)
{
    va_list arguments;

    if (!isatty(STDERR_FILENO))
        return;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

void bench_wrong(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bench_complain(format, arguments);
    va_end(arguments);
    any_wrong = true;
}

bool bench_any_wrong(void)
{
    return any_wrong;
}

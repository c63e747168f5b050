/* The plain, inexact sum on a device, in the variant that suits it best. */
#ifndef CLR_BENCH_PLAIN_H
#define CLR_BENCH_PLAIN_H

#include "target.h"

enum { BENCH_PLAIN_KERNELS = 8, BENCH_PLAIN_MOST_GROUPS = 65536 };

struct bench_plain {
    const struct bench_target *target;
    struct bench_plain_kernel {
        cl_kernel kernel;
        size_t vector, unroll, largest_group;
    } kernels[BENCH_PLAIN_KERNELS];
    int kernel_count;
    cl_mem result;

    /* The variant in use, and what it reads. */
    const struct bench_plain_kernel *kernel;
    size_t group, groups_per_unit;
    cl_mem buffer;
    size_t bytes;
};

void bench_plain_open(struct bench_plain *plain, const struct bench_target *target);
void bench_plain_close(struct bench_plain *plain);

/* Takes the quickest variant for the doubles in so many bytes, a multiple of 64, of a buffer. */
void bench_plain_tune(struct bench_plain *plain, cl_mem buffer, size_t bytes);

/* bench_case's run, with a struct bench_plain. */
int64_t bench_plain_run(void *argument);

/* Ends the program if the sum differs from the right one by more than rounding explains. */
void bench_plain_verify(struct bench_plain *plain, double right, double sum_of_sizes);

/* Writes the variant's description. */
void bench_plain_describe(const struct bench_plain *plain, char *text, size_t size);

#endif

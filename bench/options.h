/* What the command line asked for. */
#ifndef CLR_BENCH_OPTIONS_H
#define CLR_BENCH_OPTIONS_H

#include "opencl/core/catalog.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BENCH_MOST_SIZES = 32 };

struct bench_options {
    const char *program; /* to run again in another process */
    const char *device;  /* as the device setting */
    const char *type;    /* "cpu" or "gpu": treat the device as one; NULL: as what it is */
    size_t sizes[BENCH_MOST_SIZES], size_count; /* bytes; none: choose */
    int runs;
    double seconds; /* to spend on a part, about */
};

/* The parts, each in a file of its own. */
void bench_part_bandwidth(const struct bench_options *options);
void bench_part_kernel(const struct bench_options *options);
void bench_part_narrow(const struct bench_options *options);
void bench_part_star(const struct bench_options *options);
void bench_part_host(const struct bench_options *options);
void bench_part_exponents(const struct bench_options *options);
void bench_part_transfer(const struct bench_options *options);
void bench_part_devices(const struct bench_options *options);
void bench_part_startup(const struct bench_options *options);
void bench_part_startup_once(const struct bench_options *options);
void bench_part_ladder(const struct bench_options *options);

/*
 * Stores the sizes to measure and returns how many: those asked for, or else powers of 4 (and the
 * largest) between least and most for as long as `cases` runs of each of them fit into the seconds
 * at gbytes_per_s. Sizes above limit bytes are left out always.
 */
size_t bench_choose_sizes(const struct bench_options *options, size_t least, size_t most,
                          size_t limit, double cases, double gbytes_per_s,
                          size_t sizes[BENCH_MOST_SIZES]);

/* Whether there is a device that fits the options. */
bool bench_has_device(const struct bench_options *options);

/* Finds the device, or ends the program. */
struct clr_device_info bench_find_device(const struct bench_options *options);

#endif

/* Loading a table by several devices, which bench/devices.c measures besides. */
#ifndef CLR_BENCH_DEVICES_LOAD_H
#define CLR_BENCH_DEVICES_LOAD_H

#include "base/settings.h"
#include "opencl/core/catalog.h"
#include "options.h"

/* Measures and prints the first query of a view by devices like that one, by as many as each of
   the `count` counts says, up to CLR_DEVICES_LIMIT of them, the first of which is 1. */
void bench_devices_load(const struct bench_options *options, const struct clr_device_info *info,
                        const int *counts, int count);

#endif

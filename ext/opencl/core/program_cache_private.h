/*
 * Programs that are kept on disk as their drivers' binaries (OpenCL 1.2, 5.6.1), so that another
 * process need not compile them. For ext/opencl/core alone.
 */
#ifndef CLR_OPENCL_PROGRAM_CACHE_PRIVATE_H
#define CLR_OPENCL_PROGRAM_CACHE_PRIVATE_H

#include "opencl/core/api.h"
#include "opencl/core/catalog.h"
#include "opencl/core/program_cache.h"

#include <stddef.h>

/* All that a program's binary depends on: the text itself, the options, the device, its driver. */
struct clr_program_key {
    char *bytes; /* NULL: the program is not kept */
    size_t size;
};

/*
 * Makes the key of a program of count sources, which clr_program_key_free() frees. There is none
 * where the setting program_cache is off, on CPU devices, and where there is no folder for it, no
 * memory, or no answer of the device's. Drivers of CPU devices keep their programs themselves;
 * PoCL's, asked for a binary, compiles each kernel once more, for work-groups of any size, which
 * takes seconds.
 */
void clr_program_key_make(struct clr_program_key *key, const struct clr_device_info *device,
                          const char *options, const char *const *sources, cl_uint count);
void clr_program_key_free(struct clr_program_key *key);

/* Returns the program that was kept for a key, ready for its kernels and the caller's to release;
   or NULL: there is none that the driver takes. */
cl_program clr_program_cache_load(const struct clr_program_key *key, cl_context context,
                                  const struct clr_device_info *device, const char *options);

/* Keeps a program that was compiled for the one device of its context, if that can be done. */
void clr_program_cache_keep(const struct clr_program_key *key, cl_program program);

/* Counts a program that was taken, its kernels included. */
void clr_program_cache_count(void);

#endif

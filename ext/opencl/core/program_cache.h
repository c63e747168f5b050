/* The programs that were compiled for devices and are kept on disk, for the process's statistics.
 */
#ifndef CLR_OPENCL_PROGRAM_CACHE_H
#define CLR_OPENCL_PROGRAM_CACHE_H

#include <stdint.h>

/* Returns how many programs this process has taken from there. Any thread may call this. */
int64_t clr_program_cache_taken(void);

#endif

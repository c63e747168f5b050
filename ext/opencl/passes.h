/* The passes of a reduction over values that lie in a device's memory. */
#ifndef CLR_OPENCL_PASSES_H
#define CLR_OPENCL_PASSES_H

#include "base/status.h"
#include "numeric/accumulator.h"
#include "numeric/state.h"
#include "opencl/api.h"
#include "opencl/program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The words of the long accumulator, and behind them those of a scan's counts. */
enum { CLR_MOST_PASSES = 8, CLR_WIDE_WORDS = 2 * CLR_ACCUMULATOR_DIGITS + 4, CLR_COUNT_WORDS = 6 };

/* What the rows of a scan were: see kernels/scan.cl. */
struct clr_row_counts {
    int64_t counted, non_integers;
    bool unsure, inexact;
};

/*
 * The buffers and events of one reduction, to be used again and again, for one reduction at a time.
 * Owned by the caller, and zeroed before clr_passes_open().
 */
struct clr_passes {
    cl_mem partials[2]; /* in turn source and target of a pass */
    cl_mem wide;        /* the long accumulator: see kernels/exact.cl; then the counts */
    bool wide_is_zero;  /* as the last reduction left it: it need not be filled again */
    int count;          /* passes launched */
    cl_event kernels[CLR_MOST_PASSES], result_read, wide_read;
    char result[CLR_PARTIAL_SIZE];
    cl_uint wide_result[CLR_WIDE_WORDS + CLR_COUNT_WORDS];
    struct clr_row_counts counts; /* after clr_passes_finish() of a program that counts */
};

/*
 * Makes the buffers for a device. Returns CLR_OK, or CLR_DEVICE after which only
 * clr_passes_close() may follow.
 */
enum clr_code clr_passes_open(struct clr_passes *passes, cl_context context,
                              const struct clr_device_info *device, struct clr_status *status);

/* Releases the buffers. Nothing may be under way. */
void clr_passes_close(struct clr_passes *passes);

/*
 * Starts, in an in-order queue, the reduction of count values (1 and up) of source from number
 * `begin` on; those of the second operand, if the program has one, come `second` values further on
 * (0: they are the same). Failure: CLR_DEVICE.
 */
enum clr_code clr_passes_start(struct clr_passes *passes, cl_command_queue queue,
                               const struct clr_program *program, cl_mem source, size_t begin,
                               size_t second, size_t count, struct clr_status *status);

/*
 * The same for a program whose first kernel has other arguments: the caller has set them, the
 * first `arguments` of them, and the kernel goes through count rows.
 */
enum clr_code clr_passes_start_rows(struct clr_passes *passes, cl_command_queue queue,
                                    const struct clr_program *program, cl_uint arguments,
                                    size_t count, struct clr_status *status);

/*
 * Waits for the reduction and adds its result to state's ranges, or its sum of the term.
 * *kernel_time and *read_time are increased by nanoseconds, by event profiling. Failure:
 * CLR_DEVICE.
 */
enum clr_code clr_passes_finish(struct clr_passes *passes, const struct clr_program *program,
                                struct clr_state *state, int term, int64_t *kernel_time,
                                int64_t *read_time, struct clr_status *status);

/* Returns the nanoseconds that a command took, or 0 where profiling does not tell, and releases
   its event; NULL is fine. */
int64_t clr_event_take_time(cl_event *event);

#endif

/* The passes of a reduction over values that lie in a device's memory. */
#ifndef CLR_OPENCL_PASSES_H
#define CLR_OPENCL_PASSES_H

#include "base/status.h"
#include "numeric/exact/sum.h"
#include "numeric/states/state.h"
#include "opencl/core/calls.h"
#include "opencl/core/device.h"
#include "opencl/reduction/program.h"
#include "opencl/reduction/scan_plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a reduction leaves, in words: the long accumulator and a scan's counts, to which all
 * work-groups add, and a partial result of each group. See kernels/reduction/group.cl.
 */
enum {
    CLR_WIDE_WORDS = 2 * CLR_ACCUMULATOR_DIGITS + 4,
    CLR_COUNT_WORDS = 6,
    CLR_SHARED_WORDS = CLR_WIDE_WORDS + CLR_COUNT_WORDS,
    CLR_PARTIAL_WORDS = CLR_PARTIAL_SIZE / 4
};

/* What the rows of a scan were: see kernels/scan/scan.cl. */
struct clr_row_counts {
    int64_t counted, non_integers;
    bool unsure, inexact;
};

/* A reduction of the batch under way, or the last one. */
struct clr_started {
    size_t shared, partials; /* its words among the results: of all groups, and of each */
    size_t groups;
};

/*
 * What reductions need that run one after the other in a queue, and whose results come back
 * together, in one transfer to pinned memory: each further one, and any to other memory, takes
 * NVIDIA's driver about as long as a kernel over 100 MiB. The host merges the groups' partial
 * results: that takes less time than the launch of a kernel that does.
 *
 * Owned by the caller, and zeroed before clr_passes_open().
 */
struct clr_passes {
    cl_command_queue queue;   /* in order, profiling; the caller's */
    cl_mem results;           /* zero between batches, */
    bool clean;               /* unless this is false */
    size_t size;              /* its bytes */
    struct clr_pinned pinned; /* the host's copy of those */
    bool doubles;             /* how the device computes REALs */
    bool timed; /* set by a caller to whom each kernel's own time is worth what its event costs */
    cl_ulong *ended; /* set by a caller who has others use the queue: when their last batch ended */

    /* Of the batch under way. */
    int started, launched;
    size_t used; /* words of the results */
    struct clr_started *reductions;
    cl_event *kernels;  /* if timed */
    int64_t begun, end; /* if not, in the clock's nanoseconds: launched the first kernel, and all */
    cl_event fetched;
};

/*
 * Makes the buffers for batches of up to `most` reductions on a device. Returns CLR_OK; or
 * CLR_NOMEM or CLR_DEVICE with passes as they were.
 */
enum clr_code clr_passes_open(struct clr_passes *passes, cl_context context, cl_command_queue queue,
                              const struct clr_device_info *device, int most,
                              struct clr_status *status);

/* After a failure with CLR_NOMEM in status: waits for what is under way and forgets it, so that
   another batch can begin. If that fails as well, the code becomes CLR_DEVICE. */
void clr_passes_recover(struct clr_passes *passes, struct clr_status *status);

/* Releases the buffers. Nothing may be under way. Fine for one that was never opened. */
void clr_passes_close(struct clr_passes *passes);

/*
 * Adds a reduction to the batch and starts it (program: not of a scan): of count values (1 and up)
 * of source from number `begin` on; those of the second operand, if the program has one, come
 * `second` values further on (0: they are the same). The batch's reductions are numbered from 0.
 * Failure: CLR_DEVICE.
 */
enum clr_code clr_passes_start(struct clr_passes *passes, const struct clr_program *program,
                               cl_mem source, size_t begin, size_t second, size_t count,
                               struct clr_status *status);

/* How many arguments more a kernel has than its caller gives. */
enum { CLR_PASSES_ARGUMENTS = 3 };

/*
 * The same for a program whose kernel has other arguments, of which the list has the first `count`,
 * and room for CLR_PASSES_ARGUMENTS more; it goes through so many rows. Adds as many reductions as
 * the program has steps.
 */
enum clr_code clr_passes_start_rows(struct clr_passes *passes, const struct clr_program *program,
                                    struct clr_argument *list, cl_uint count, size_t rows,
                                    struct clr_status *status);

/* Starts the transfer of the batch's results, and sees to it that the device begins. Failure:
   CLR_DEVICE. */
enum clr_code clr_passes_fetch(struct clr_passes *passes, struct clr_status *status);

/*
 * Waits for the results and ends the batch; they stay until the next one's are fetched. Adds the
 * batch's kernels and nanoseconds to work: unless timed, those from the first kernel's launch to
 * the transfer's start. Failure: CLR_DEVICE.
 */
enum clr_code clr_passes_wait(struct clr_passes *passes, struct clr_device_work *work,
                              struct clr_status *status);

/* Adds the result of the batch's reduction of that number, which was of that kind, to state's
   ranges, or its sum of the term. */
void clr_passes_take(const struct clr_passes *passes, int number, enum clr_operation operation,
                     enum clr_element element, struct clr_state *state, int term);

/* Returns what the rows were, if that reduction was of a scan. */
struct clr_row_counts clr_passes_counts(const struct clr_passes *passes, int number);

#endif

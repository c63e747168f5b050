/*
 * The reduction of chunks on a device. There are several slots, each with its own in-order queue
 * and buffers, so that one chunk's staging buffer is filled while another's kernels run.
 */
#ifndef CLR_OPENCL_REDUCER_H
#define CLR_OPENCL_REDUCER_H

#include "base/status.h"
#include "numeric/exact/operation.h"
#include "numeric/states/state.h"
#include "opencl/core/device.h"

#include <stdbool.h>
#include <stdint.h>

enum { CLR_REDUCER_SLOTS = 2 };

/*
 * Builds the program of an operation (below CLR_OPERATIONS) and element type, unless it is built
 * already. As clr_program_build(), also for *log.
 */
enum clr_code clr_reducer_build(struct clr_device *device, enum clr_operation operation,
                                enum clr_element element, char **log, struct clr_status *status);

/*
 * Copies the values of the element types in the mask (bits 1 << element; at least one value of
 * each; the programs of the operation's terms are built) into the slot's staging buffers and starts
 * their reduction. The chunk is not needed afterwards. On failure returns CLR_NOMEM, if the device
 * was short of something: nothing is under way in the slot, which can be used again; or CLR_DEVICE:
 * the device must not be used again, not even be closed, since the state of its queues is unknown.
 */
enum clr_code clr_reducer_begin(struct clr_device *device, int slot, const struct clr_chunk *chunk,
                                unsigned elements, struct clr_status *status);

/*
 * Waits for the slot's reduction and adds its result to state's sums or ranges, and its cost to
 * work. The state has the further sums of the chunk's operation. Failure as above.
 */
enum clr_code clr_reducer_finish(struct clr_device *device, int slot, struct clr_state *state,
                                 struct clr_device_work *work, struct clr_status *status);

/*
 * Reduces hard values (wide exponents, subnormals, cancellation, infinities, a length that is no
 * multiple of anything) on the device, which has the program built, and compares the result with
 * the host's to the bit. Returns CLR_OK, CLR_NOMEM, or CLR_DEVICE with a message: a driver that
 * rounds or contracts on its own terms must not serve.
 */
enum clr_code clr_self_test(struct clr_device *device, enum clr_operation operation,
                            enum clr_element element, struct clr_status *status);

/* For ext/opencl alone: returns the program of an operation and element type; one that is not built
   if nobody has asked for it. */
struct clr_program;
const struct clr_program *clr_reducer_program(const struct clr_device *device,
                                              enum clr_operation operation,
                                              enum clr_element element);

/*
 * ---- Which arithmetic sums REALs quicker on a device that has both. Many GPUs compute with
 * doubles at 1/32 to 1/64 of the rate of integers: there the sums by integers that devices without
 * doubles compute (kernels/arithmetic/window.cl) are the quicker ones. The bits are the same.
 */

/* The times of a sum of the same values, in nanoseconds on the device; 0: it could not be
   computed, or was wrong. */
struct clr_arithmetic_times {
    int64_t doubles, integers;
};

/* Whether integers are clearly quicker: by more than what two equal times differ by. */
static inline bool clr_arithmetic_prefers_integers(const struct clr_arithmetic_times *times)
{
    return times->doubles > 0 && times->integers > 0 &&
           times->integers < times->doubles - times->doubles / 8;
}

/*
 * Measures both on an opened device: builds the program of the sum of REALs in each arithmetic, and
 * runs both over the same values, by turns. A time that cannot be had is 0. Takes 16 MiB on the
 * device meanwhile. Returns CLR_OK; or CLR_DEVICE with the reason, after a failure that leaves the
 * device unknown.
 */
enum clr_code clr_arithmetic_measure(struct clr_device *device, struct clr_arithmetic_times *times,
                                     struct clr_status *status);

/*
 * Decides for a device that has just been opened: where device_arithmetic leaves the choice, and
 * the device is no CPU (whose doubles are as quick as its integers), it measures. Sums,
 * scans and groups whose programs are built from then on are computed so. Returns as
 * clr_arithmetic_measure().
 */
enum clr_code clr_arithmetic_choose(struct clr_device *device, struct clr_status *status);

#endif

/*
 * The reduction of chunks on a device. There are several slots, each with its own in-order queue
 * and buffers, so that one chunk's staging buffer is filled while another's kernels run. As for all
 * of a device, one thread at a time calls these.
 */
#ifndef CLR_OPENCL_REDUCER_H
#define CLR_OPENCL_REDUCER_H

#include "base/status.h"
#include "numeric/exact/operation.h"
#include "numeric/states/state.h"
#include "opencl/core/device.h"

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

#endif

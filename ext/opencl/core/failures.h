/*
 * What becomes of a call of OpenCL's that fails: the one place that tells failures that pass from
 * those after which a device is of no use. For ext/opencl alone.
 */
#ifndef CLR_OPENCL_FAILURES_H
#define CLR_OPENCL_FAILURES_H

#include "opencl/core/api.h"

/*
 * Sets status to the call's name and OpenCL's name of the error, and returns its code:
 *
 *     CLR_NOMEM    the device or its driver is short of memory or of something else for the moment:
 *                  the piece of work is not done, and the device stays in use. error is the
 *                  error where a device that is lost says the same (NVIDIA's, whose context is
 *                  broken by a fault, has no "resources" from then on): who sees it again and again
 *                  has to think so. It is 0 where there is just no room for a buffer.
 *     CLR_DEVICE   anything else: the state of the device and its queues is unknown.
 *
 * After CLR_NOMEM what was begun may be under way: see the next two functions.
 */
enum clr_code clr_opencl_failed(struct clr_status *status, const char *call, cl_int error);

/*
 * The same for calls that make or first use a buffer. That the device has no room for it is
 * CLR_NOMEM too: drivers say so when a buffer is made, or when it is first used (OpenCL 1.2, 5.2.1
 * and 5.2.2).
 */
enum clr_code clr_opencl_buffer_failed(struct clr_status *status, const char *call, cl_int error);

/* Waits for an event; the event is kept. Returns CLR_OK or the failure, that of the event's command
   if there is one. */
enum clr_code clr_event_wait(cl_event event, struct clr_status *status);

/*
 * After CLR_NOMEM in status, and only then: wait until what was begun in a queue, or ends with an
 * event, is over, so that its memory is the caller's again. They try for a while, as what has
 * failed may fail once more. If they can't wait, the code in status becomes CLR_DEVICE. The event
 * is released then and set to NULL, in any case; a queue or an event that is NULL is fine.
 */
void clr_queue_drain(cl_command_queue queue, struct clr_status *status);
void clr_event_drain(cl_event *event, struct clr_status *status);

/* Releases an event, unless it is NULL, and sets it to NULL. */
void clr_event_release(cl_event *event);

/* Returns the nanoseconds that a command took, or 0 where profiling does not tell, and releases
   its event; NULL is fine. */
int64_t clr_event_take_time(cl_event *event);

#endif

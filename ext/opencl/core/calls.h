/*
 * Calls of OpenCL's: what becomes of those that fail, and the short forms of those that are made
 * often. This is the one place that tells failures that pass from those after which a device is of
 * no use. For ext/opencl alone.
 */
#ifndef CLR_OPENCL_CALLS_H
#define CLR_OPENCL_CALLS_H

#include "opencl/core/api.h"

#include <stddef.h>

/* ---- Failures. */

/*
 * Returns CLR_OK if the call's error is none. Else sets status to the call's name and OpenCL's name
 * of the error, and returns its code:
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
enum clr_code clr_opencl_check(struct clr_status *status, const char *call, cl_int error);

/*
 * The same for calls that make or first use a buffer. That the device has no room for it is
 * CLR_NOMEM too: drivers say so when a buffer is made, or when it is first used (OpenCL 1.2, 5.2.1
 * and 5.2.2).
 */
enum clr_code clr_opencl_check_buffer(struct clr_status *status, const char *call, cl_int error);

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

/* Returns OpenCL's own name for an error number of its specification or of the ICD extension, or
   "unknown OpenCL error". Static text. */
const char *clr_opencl_error_name(int error);

/* Makes a queue, in order and with those properties. Returns CLR_OK; or CLR_NOMEM or CLR_DEVICE,
   and stores NULL. */
enum clr_code clr_queue_make(cl_context context, cl_device_id device,
                             cl_command_queue_properties properties, cl_command_queue *queue,
                             struct clr_status *status);

/* Releases a queue, unless it is NULL. */
void clr_queue_release(cl_command_queue queue);

/* ---- Memory on a device, and the host's side of it. */

/* A buffer that is to be made. */
struct clr_wanted_buffer {
    cl_mem *buffer;
    cl_mem_flags flags;
    size_t size;
};

/* Makes the buffers of a list, an array, in its order. Returns CLR_OK; or CLR_NOMEM or CLR_DEVICE:
   those before are made, and those from the one that failed on are NULL. */
#define CLR_BUFFERS_MAKE(context, list, status)                                                    \
    clr_buffers_make((context), (list), sizeof(list) / sizeof(list)[0], (status))
enum clr_code clr_buffers_make(cl_context context, const struct clr_wanted_buffer *wanted,
                               size_t count, struct clr_status *status);

/* Releases a buffer, unless it is NULL, and sets it to NULL. */
void clr_buffer_release(cl_mem *buffer);

/* Has the first size bytes of a buffer, a multiple of 4, be zero, by a command of that queue.
   Returns CLR_OK, CLR_NOMEM or CLR_DEVICE. */
enum clr_code clr_buffer_clear(cl_command_queue queue, cl_mem buffer, size_t size,
                               struct clr_status *status);

/*
 * Memory of the host's that stays mapped, as the source or target of transfers: pinned memory where
 * the driver has it (OpenCL 1.2, 5.2.1, CL_MEM_ALLOC_HOST_PTR), from which a write runs at the
 * bus's full speed. NULL where there is none.
 */
struct clr_pinned {
    cl_mem buffer;
    void *mapped;
};

/* Makes and maps it, in that queue. Returns as clr_buffers_make(); clr_pinned_release() is to
   follow in any case. */
enum clr_code clr_pinned_make(cl_context context, cl_command_queue queue, size_t size,
                              struct clr_pinned *pinned, struct clr_status *status);

/* Gives it back; all NULL is fine. */
void clr_pinned_release(cl_command_queue queue, struct clr_pinned *pinned);

/* ---- Launches of kernels, with their arguments in a list. */

struct clr_argument {
    size_t size;
    const void *value; /* NULL: local memory of that size */
};

#define CLR_VALUE(variable) ((struct clr_argument){sizeof(variable), &(variable)})
#define CLR_LOCAL(size) ((struct clr_argument){(size), NULL})

/*
 * Sets a kernel's arguments, count of them, and enqueues `groups` work-groups of group_size
 * work-items; neither is 0. *event is the caller's to release; event may be NULL. Returns CLR_OK,
 * CLR_NOMEM where the device has no room for a buffer that is used for the first time, or
 * CLR_DEVICE.
 */
enum clr_code clr_launch(cl_command_queue queue, cl_kernel kernel,
                         const struct clr_argument *arguments, cl_uint count, size_t groups,
                         size_t group_size, cl_event *event, struct clr_status *status);

#endif

/*
 * The way of bytes to a device's memory, and back, through staging buffers that stay mapped: made
 * when the first ones come. A device whose memory is the host's needs none. For ext/opencl alone.
 */
#ifndef CLR_OPENCL_UPLOAD_H
#define CLR_OPENCL_UPLOAD_H

#include "opencl/core/api.h"
#include "opencl/core/device.h"

#include <stddef.h>

struct clr_upload;

/* Large enough for a bus's full speed, and short enough for whoever waits behind it. */
enum { CLR_UPLOAD_PIECE = 8 << 20 };

/* Makes the queue and the staging buffers, if there are none: all of them, or, if it does not
   return CLR_OK but CLR_NOMEM or CLR_DEVICE, nothing. */
enum clr_code clr_upload_open(struct clr_device *device, struct clr_status *status);

/* Returns the device's, or NULL while it has none. */
struct clr_upload *clr_upload_of(const struct clr_device *device);

/* Returns its queue, which is in order. */
cl_command_queue clr_upload_queue(const struct clr_upload *upload);

/*
 * Sends size bytes to the buffer, at that offset, in pieces, by commands of that queue, which is
 * flushed. They have been read when it returns. The upload is open. Returns CLR_OK,
 * CLR_NOMEM, if there is no room for the buffer, or another failure passes: then nothing is under
 * way; or CLR_DEVICE.
 */
enum clr_code clr_upload_send(struct clr_upload *upload, cl_command_queue queue, cl_mem buffer,
                              size_t offset, const void *source, size_t size,
                              struct clr_status *status);

/* Copies the first size bytes of a buffer to target. Returns as clr_upload_send(). */
enum clr_code clr_upload_take(struct clr_upload *upload, cl_mem buffer, char *target, size_t size,
                              struct clr_status *status);

/* Waits until nothing is under way. Returns as clr_upload_send(). */
enum clr_code clr_upload_settle(struct clr_upload *upload, struct clr_status *status);

#endif

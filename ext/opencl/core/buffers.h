/* Memory on a device, and the host's side of it. For ext/opencl alone. */
#ifndef CLR_OPENCL_BUFFERS_H
#define CLR_OPENCL_BUFFERS_H

#include "opencl/core/api.h"

#include <stddef.h>

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

#endif

/*
 * The room of devices: the bytes of the buffers that a context may have, those apart that lie in
 * memory of the host's. What does not fit fails with CL_MEM_OBJECT_ALLOCATION_FAILURE.
 */
#ifndef CLR_TESTS_FAILING_ROOM_H
#define CLR_TESTS_FAILING_ROOM_H

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdbool.h>

/* Takes so many bytes of the context's room, which may be less than none. Returns whether there was
   room for them. */
bool failing_room_takes(cl_context context, long bytes);

#endif

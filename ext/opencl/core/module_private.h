/* What modules are made of, for ext/opencl alone. */
#ifndef CLR_OPENCL_MODULE_PRIVATE_H
#define CLR_OPENCL_MODULE_PRIVATE_H

#include "opencl/core/device_private.h"
#include "opencl/core/module.h"

#include <stdbool.h>
#include <stddef.h>

enum { CLR_MODULE_KERNELS = 6, CLR_MODULE_SHARED = 2 }; /* at most */

/* What a device has of a module: the module's own structure begins with it. */
struct clr_module {
    struct clr_attachment attachment;
    cl_command_queue queue; /* in order, with profiling */
    cl_kernel kernels[CLR_MODULE_KERNELS];
    bool tested;
    struct clr_status status; /* why it is of no use, if it is not CLR_OK */
};

struct clr_module_kind {
    struct clr_attachment_kind attachment; /* its release is clr_module_release() */
    const char *shared[CLR_MODULE_SHARED]; /* go before the source, as far as they are not NULL */
    const char *source;
    const char *const *kernel_names;
    int kernel_count;
    /* Writes the compiler's options behind those that all have; may be NULL. */
    void (*write_options)(const struct clr_device_info *device, char *options, size_t size);
    /* Chooses sizes for the device and the kernels. Returns OpenCL's error. */
    cl_int (*choose_sizes)(struct clr_module *module, const struct clr_device_info *device);
    /* Makes and gives back what else it keeps; may be NULL. After a failure of the first the other
       is called. */
    enum clr_code (*make)(struct clr_device *device, struct clr_module *module,
                          struct clr_status *status);
    void (*release)(struct clr_module *module);
    /* Compares what the device does with what the host does. Returns CLR_OK, CLR_NOMEM when nothing
       is under way, or CLR_DEVICE with a message; the module is left to itself then, since after an
       error of OpenCL's its queue is in an unknown state. */
    enum clr_code (*test)(struct clr_device *device, struct clr_status *status);
};

/* Of clr_attachment_kind. */
void clr_module_release(struct clr_attachment *attachment);

#endif

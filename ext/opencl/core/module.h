/*
 * Modules: each is a device's program for one thing, with its kernels, its queue and what else it
 * keeps, made when it is first needed and tried against the host before it serves. As for all of a
 * device, one thread at a time calls these.
 */
#ifndef CLR_OPENCL_MODULE_H
#define CLR_OPENCL_MODULE_H

#include "base/status.h"
#include "opencl/core/device.h"

/* What a module is: a constant, described in module_private.h. */
struct clr_module_kind;

/*
 * Builds a module's program, makes what it needs and tests it, as far as that has not been done.
 * Returns CLR_OK; CLR_NOMEM, on the host or the device, when it may be tried again; or CLR_DEVICE
 * with the reason, now and ever after. All that concerns this module alone. *log is the compiler's
 * whole output if it failed, and the caller's to free with clr_memory_free(), or NULL.
 */
enum clr_code clr_module_open(struct clr_device *device, const struct clr_module_kind *kind,
                              char **log, struct clr_status *status);

/* Returns what the opening returned that is final: CLR_OK, or CLR_DEVICE with the reason; or
   CLR_NOMEM if the module has to be opened yet. */
enum clr_code clr_module_state(const struct clr_device *device, const struct clr_module_kind *kind,
                               struct clr_status *status);

#endif

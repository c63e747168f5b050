#include "opencl/core/module.h"

#include "opencl/core/build.h"
#include "opencl/core/failures.h"
#include "opencl/core/module_private.h"

#include <stdio.h>
#include <string.h>

static enum clr_code build_kernels(struct clr_device *device, const struct clr_module_kind *kind,
                                   struct clr_module *module, char **log, struct clr_status *status)
{
    char options[128] = "-cl-std=CL1.2";
    const char *sources[CLR_MODULE_SHARED + 1];
    struct clr_build build = {0, sources, options, kind->kernel_count, kind->kernel_names};
    const size_t used = strlen(options);

    while (build.source_count < CLR_MODULE_SHARED && kind->shared[build.source_count] != NULL) {
        sources[build.source_count] = kind->shared[build.source_count];
        build.source_count++;
    }
    sources[build.source_count++] = kind->source;
    if (kind->write_options != NULL)
        kind->write_options(&device->info, options + used, sizeof options - used);
    return clr_build_kernels(&build, device->context, &device->info, module->kernels, log, status);
}

static enum clr_code make(struct clr_device *device, const struct clr_module_kind *kind,
                          struct clr_module *module, char **log, struct clr_status *status)
{
    cl_int error;

    if (build_kernels(device, kind, module, log, status) != CLR_OK)
        return status->code;
    module->queue =
        clCreateCommandQueue(device->context, device->info.id, CL_QUEUE_PROFILING_ENABLE, &error);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clCreateCommandQueue", error);
    error = kind->choose_sizes(module, &device->info);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clGetKernelWorkGroupInfo", error);
    return kind->make == NULL ? CLR_OK : kind->make(device, module, status);
}

void clr_module_release(struct clr_attachment *attachment)
{
    struct clr_module *module = (struct clr_module *)(void *)attachment;
    const struct clr_module_kind *kind =
        (const struct clr_module_kind *)(const void *)attachment->kind;
    int i;

    if (kind->release != NULL)
        kind->release(module);
    for (i = 0; i < kind->kernel_count; i++) {
        if (module->kernels[i] != NULL)
            clReleaseKernel(module->kernels[i]);
    }
    if (module->queue != NULL)
        clReleaseCommandQueue(module->queue);
}

/* Builds what has not been built. What there was no memory for is all that is done again: who asks
   may ask often. */
static enum clr_code build(struct clr_device *device, const struct clr_module_kind *kind,
                           char **log, struct clr_status *status)
{
    struct clr_module *module = clr_device_find(device, &kind->attachment);

    *log = NULL;
    if (module != NULL) {
        *status = module->status;
        return status->code;
    }
    module = clr_device_attach(device, &kind->attachment, status);
    if (module == NULL)
        return status->code;
    if (make(device, kind, module, log, status) == CLR_NOMEM)
        clr_device_detach(device, &module->attachment);
    else
        module->status = *status;
    return status->code;
}

enum clr_code clr_module_open(struct clr_device *device, const struct clr_module_kind *kind,
                              char **log, struct clr_status *status)
{
    struct clr_module *module;

    if (build(device, kind, log, status) != CLR_OK)
        return status->code;
    module = clr_device_find(device, &kind->attachment);
    if (!module->tested)
        module->tested = kind->test(device, status) == CLR_OK;
    if (status->code == CLR_DEVICE)
        module->status = *status;
    return status->code;
}

enum clr_code clr_module_state(const struct clr_device *device, const struct clr_module_kind *kind,
                               struct clr_status *status)
{
    const struct clr_module *module = clr_device_find(device, &kind->attachment);

    if (module == NULL || (module->status.code == CLR_OK && !module->tested))
        return CLR_NOMEM;
    *status = module->status;
    return status->code;
}

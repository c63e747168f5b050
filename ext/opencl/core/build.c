#include "opencl/core/build.h"

#include "base/memory.h"
#include "opencl/core/calls.h"
#include "opencl/core/device.h"

static char *get_log(cl_program program, cl_device_id device)
{
    size_t size = 0;
    char *log;

    if (clr_cl.GetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) !=
            CL_SUCCESS ||
        size == 0)
        return NULL;
    log = clr_memory_alloc(size + 1);
    if (log == NULL)
        return NULL;
    log[size] = '\0';
    if (clr_cl.GetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL) !=
        CL_SUCCESS)
        log[0] = '\0';
    return log;
}

enum clr_code clr_build_kernels(const struct clr_build *build, cl_context context,
                                const struct clr_device_info *device, cl_kernel *kernels,
                                char **log, struct clr_status *status)
{
    const cl_device_id id = device->id;
    const char *call = "clBuildProgram";
    cl_program program;
    cl_int error;
    int i;

    *log = NULL;
    for (i = 0; i < build->kernel_count; i++)
        kernels[i] = NULL;
    program =
        clr_cl.CreateProgramWithSource(context, build->source_count, build->sources, NULL, &error);
    if (clr_opencl_check(status, "clCreateProgramWithSource", error) != CLR_OK)
        return status->code;
    error = clr_cl.BuildProgram(program, 1, &id, build->options, NULL, NULL);
    if (error != CL_SUCCESS)
        *log = get_log(program, id);
    for (i = 0; i < build->kernel_count && error == CL_SUCCESS; i++) {
        call = "clCreateKernel";
        kernels[i] = clr_cl.CreateKernel(program, build->kernel_names[i], &error);
    }
    clr_cl.ReleaseProgram(program);
    return clr_opencl_check(status, call, error);
}

/* Lowers *size to what the kernel can have on the device, and stores what number the device prefers
   a multiple of. */
static cl_int limit_by_kernel(cl_kernel kernel, cl_device_id device, size_t *size, size_t *multiple)
{
    size_t most = 1;
    cl_int error;

    error = clr_cl.GetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most,
                                          &most, NULL);
    if (error != CL_SUCCESS)
        return error;
    if (most < *size)
        *size = most;
    return clr_cl.GetKernelWorkGroupInfo(kernel, device,
                                         CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                                         sizeof *multiple, multiple, NULL);
}

static cl_int limit_by_memory(const struct clr_group_limit *limit, cl_device_id device,
                              size_t *size)
{
    cl_ulong local = 0;
    cl_int error =
        clr_cl.GetDeviceInfo(device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL);

    if (error != CL_SUCCESS)
        return error;
    if (local < limit->local_of_group + limit->local_per_item)
        return CL_INVALID_WORK_GROUP_SIZE; /* for good */
    if ((local - limit->local_of_group) / limit->local_per_item < *size)
        *size = (size_t)((local - limit->local_of_group) / limit->local_per_item);
    return CL_SUCCESS;
}

cl_int clr_choose_group_size(const struct clr_device_info *device, const cl_kernel *kernels,
                             int count, const struct clr_group_limit *limit, size_t *size)
{
    size_t most = limit->most, multiple = 1;
    cl_int error = CL_SUCCESS;
    int i;

    *size = 1;
    if (device->type == CLR_DEVICE_CPU)
        return CL_SUCCESS;
    for (i = 0; i < count && error == CL_SUCCESS; i++)
        error = limit_by_kernel(kernels[i], device->id, &most, &multiple);
    if (error == CL_SUCCESS && limit->local_per_item > 0)
        error = limit_by_memory(limit, device->id, &most);
    if (multiple > 1 && most > multiple)
        most -= most % multiple;
    *size = most;
    return error;
}

#include "opencl/core/build.h"

#include "base/memory.h"
#include "opencl/core/failures.h"
#include "opencl/core/program_cache_private.h"

static char *get_log(cl_program program, cl_device_id device)
{
    size_t size = 0;
    char *log;

    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) !=
            CL_SUCCESS ||
        size == 0)
        return NULL;
    log = clr_memory_alloc(size + 1);
    if (log == NULL)
        return NULL;
    log[size] = '\0';
    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL) != CL_SUCCESS)
        log[0] = '\0';
    return log;
}

/* Stores a program's kernels: those before the first that fails, if one does, and NULL. */
static cl_int make_kernels(const struct clr_build *build, cl_program program, cl_kernel *kernels)
{
    cl_int error = CL_SUCCESS;
    int i;

    for (i = 0; i < build->kernel_count; i++)
        kernels[i] = NULL;
    for (i = 0; i < build->kernel_count && error == CL_SUCCESS; i++)
        kernels[i] = clCreateKernel(program, build->kernel_names[i], &error);
    return error;
}

static void release_kernels(const struct clr_build *build, cl_kernel *kernels)
{
    int i;

    for (i = 0; i < build->kernel_count; i++) {
        if (kernels[i] != NULL)
            clReleaseKernel(kernels[i]);
        kernels[i] = NULL;
    }
}

/* Makes the kernels of the program that was kept. Returns whether there is one, and it has them. */
static bool load_kernels(const struct clr_build *build, const struct clr_program_key *key,
                         cl_context context, const struct clr_device_info *device,
                         cl_kernel *kernels)
{
    cl_program program = clr_program_cache_load(key, context, device, build->options);
    cl_int error;

    if (program == NULL)
        return false;
    error = make_kernels(build, program, kernels);
    clReleaseProgram(program);
    if (error != CL_SUCCESS)
        release_kernels(build, kernels);
    return error == CL_SUCCESS;
}

static enum clr_code compile_kernels(const struct clr_build *build,
                                     const struct clr_program_key *key, cl_context context,
                                     const struct clr_device_info *device, cl_kernel *kernels,
                                     char **log, struct clr_status *status)
{
    const cl_device_id id = device->id;
    cl_program program;
    cl_int error;

    program = clCreateProgramWithSource(context, build->source_count, build->sources, NULL, &error);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clCreateProgramWithSource", error);
    error = clBuildProgram(program, 1, &id, build->options, NULL, NULL);
    if (error != CL_SUCCESS) {
        *log = get_log(program, id);
        clr_opencl_failed(status, "clBuildProgram", error);
    } else {
        error = make_kernels(build, program, kernels);
        if (error != CL_SUCCESS)
            clr_opencl_failed(status, "clCreateKernel", error);
        else
            clr_program_cache_keep(key, program);
    }
    clReleaseProgram(program);
    return status->code;
}

enum clr_code clr_build_kernels(const struct clr_build *build, cl_context context,
                                const struct clr_device_info *device, cl_kernel *kernels,
                                char **log, struct clr_status *status)
{
    struct clr_program_key key;
    int i;

    *log = NULL;
    for (i = 0; i < build->kernel_count; i++)
        kernels[i] = NULL;
    clr_program_key_make(&key, device, build->options, build->sources, build->source_count);
    if (load_kernels(build, &key, context, device, kernels))
        clr_program_cache_count();
    else
        compile_kernels(build, &key, context, device, kernels, log, status);
    clr_program_key_free(&key);
    return status->code;
}

/* Lowers *size to what the kernel can have on the device, and stores what number the device prefers
   a multiple of. */
static cl_int limit_by_kernel(cl_kernel kernel, cl_device_id device, size_t *size, size_t *multiple)
{
    size_t most = 1;
    cl_int error;

    error = clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most,
                                     NULL);
    if (error != CL_SUCCESS)
        return error;
    if (most < *size)
        *size = most;
    return clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                                    sizeof *multiple, multiple, NULL);
}

static cl_int limit_by_memory(const struct clr_group_limit *limit, cl_device_id device,
                              size_t *size)
{
    cl_ulong local = 0;
    cl_int error = clGetDeviceInfo(device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL);

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

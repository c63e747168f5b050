#include "target.h"

#include "measure.h"
#include "opencl/core/calls.h"
#include "opencl/reduction/passes.h"
#include "output.h"

#include <stdio.h>
#include <string.h>

void bench_check(cl_int error, const char *call)
{
    if (error != CL_SUCCESS)
        bench_die("%s: %s (%d)", call, clr_opencl_error_name(error), error);
}

cl_command_queue bench_queue(const struct bench_target *target)
{
    cl_int error;
    cl_command_queue queue = clr_cl.CreateCommandQueue(target->context, target->info.id,
                                                       CL_QUEUE_PROFILING_ENABLE, &error);
    bench_check(error, "clCreateCommandQueue");
    return queue;
}

void bench_target_open(struct bench_target *target, const struct bench_options *options)
{
    char vendor[CLR_DEVICE_NAME_SIZE] = "";
    cl_ulong largest = 0;
    cl_device_id id;
    cl_int error;

    memset(target, 0, sizeof *target);
    target->info = bench_find_device(options);
    id = target->info.id;
    if (!target->info.fp64)
        bench_die("%s has no exact double precision", target->info.name);
    target->context = clr_cl.CreateContext(NULL, 1, &id, NULL, NULL, &error);
    bench_check(error, "clCreateContext");
    target->queue = bench_queue(target);
    error = clr_cl.GetDeviceInfo(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, NULL);
    bench_check(error, "clGetDeviceInfo");
    if (largest > target->info.memory / 3)
        largest = target->info.memory / 3;
    target->largest_buffer = (size_t)largest;
    error = clr_cl.GetDeviceInfo(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof target->largest_group,
                                 &target->largest_group, NULL);
    bench_check(error, "clGetDeviceInfo");
    clr_cl.GetDeviceInfo(id, CL_DEVICE_VENDOR, sizeof vendor - 1, vendor, NULL);
    target->nvidia = strstr(vendor, "NVIDIA") != NULL;
}

void bench_target_close(struct bench_target *target)
{
    clr_cl.ReleaseCommandQueue(target->queue);
    clr_cl.ReleaseContext(target->context);
}

cl_mem bench_buffer(const struct bench_target *target, cl_mem_flags flags, size_t size)
{
    cl_int error;
    cl_mem buffer = clr_cl.CreateBuffer(target->context, flags, size, NULL, &error);
    bench_check(error, "clCreateBuffer");
    return buffer;
}

void bench_upload(const struct bench_target *target, cl_mem buffer, const void *values, size_t size)
{
    cl_int error =
        clr_cl.EnqueueWriteBuffer(target->queue, buffer, CL_TRUE, 0, size, values, 0, NULL, NULL);
    bench_check(error, "clEnqueueWriteBuffer");
}

cl_kernel bench_kernel(const struct bench_target *target, const char *const *sources, cl_uint count,
                       const char *name, const char *options, bool needed)
{
    cl_device_id id = target->info.id;
    char log[8192] = "";
    cl_program program;
    cl_kernel kernel = NULL;
    cl_int error;

    program = clr_cl.CreateProgramWithSource(target->context, count, (const char **)sources, NULL,
                                             &error);
    bench_check(error, "clCreateProgramWithSource");
    error = clr_cl.BuildProgram(program, 1, &id, options, NULL, NULL);
    if (error == CL_SUCCESS) {
        kernel = clr_cl.CreateKernel(program, name, &error);
    } else {
        clr_cl.GetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        fprintf(stderr, "device-bench: %s (%s) can't be built: %s\n%s\n", name, options,
                clr_opencl_error_name(error), log);
    }
    clr_cl.ReleaseProgram(program);
    if (needed)
        bench_check(error, "clBuildProgram");
    return error == CL_SUCCESS ? kernel : NULL;
}

int64_t bench_event_time(cl_event event)
{
    bench_check(clr_cl.WaitForEvents(1, &event), "clWaitForEvents");
    return clr_event_take_time(&event);
}

#include "opencl/program.h"

#include "numeric/accumulator.h"
#include "opencl/compile.h"
#include "opencl/kernels.h"

#include <stdio.h>
#include <string.h>

/* A GPU gains nothing from larger groups: they only wait longer for their slowest member. */
enum { GROUP_SIZE_LIMIT = 256, SOURCES = 8 };

/*
 * Work-groups a compute unit. On a GPU: about as many as are resident at a time, which depends on
 * the kernel's registers; a few more, and a compute unit ends with a wave that fills it partly.
 * Measured on an H200 by `make bench BENCH=kernel`. On a CPU device: a few, so that the unit that
 * ends first has something left to do.
 */
static const size_t gpu_groups_per_unit[CLR_OPERATIONS][CLR_ELEMENTS] = {
    [CLR_SUM] = {[CLR_REAL] = 6, [CLR_INTEGER] = 8},
    [CLR_DOT] = {[CLR_REAL] = 16, [CLR_INTEGER] = 8},
    [CLR_EXTREMES] = {[CLR_REAL] = 8, [CLR_INTEGER] = 8},
};
static const size_t cpu_groups_per_unit = 4;

/* The kernel files of an operation, in the order in which they build on each other. */
static cl_uint choose_sources(enum clr_operation operation, enum clr_element element,
                              const char *rows, const char *sources[SOURCES])
{
    cl_uint count = 0;

    sources[count++] = clr_kernel_lanes;
    if (operation == CLR_EXTREMES) {
        sources[count++] = clr_kernel_extremes;
    } else {
        if (element == CLR_REAL) {
            sources[count++] = clr_kernel_exact;
            sources[count++] = clr_kernel_blocks;
        } else {
            sources[count++] = clr_kernel_integer;
        }
        sources[count++] = operation == CLR_DOT ? clr_kernel_dot : clr_kernel_sum;
    }
    sources[count++] = clr_kernel_reduce;
    if (rows != NULL) {
        sources[count++] = clr_kernel_values;
        sources[count++] = rows;
        sources[count++] = clr_kernel_scan;
    }
    return count;
}

static cl_int choose_group_size(struct clr_program *program, const struct clr_device_info *device)
{
    size_t limit = GROUP_SIZE_LIMIT, multiple = 1;
    cl_ulong local = 0, used;
    cl_int error;

    program->group_size = 1;
    if (device->type == CLR_DEVICE_CPU)
        return CL_SUCCESS;
    error = clr_limit_group(program->first, device->id, &limit, &multiple);
    if (error == CL_SUCCESS)
        error = clr_limit_group(program->next, device->id, &limit, &multiple);
    if (error == CL_SUCCESS)
        error = clGetDeviceInfo(device->id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    if (error != CL_SUCCESS)
        return error;
    /* Twice the accumulator's words, for what the driver itself puts into local memory. */
    used = program->wide ? 16 * CLR_ACCUMULATOR_DIGITS : 0;
    if (local < used + program->partial_size)
        return CL_OUT_OF_RESOURCES;
    if ((local - used) / program->partial_size < limit)
        limit = (size_t)((local - used) / program->partial_size);
    if (multiple > 1 && limit > multiple)
        limit -= limit % multiple;
    program->group_size = limit;
    return CL_SUCCESS;
}

static enum clr_code build(struct clr_program *program, cl_context context,
                           const struct clr_device_info *device, enum clr_operation operation,
                           enum clr_element element, const char *rows, char **log,
                           struct clr_status *status)
{
    const char *sources[SOURCES];
    cl_uint count = choose_sources(operation, element, rows, sources);
    const char *call = "clCreateKernel";
    cl_program built;
    char options[256];
    cl_int error;

    *log = NULL;
    memset(program, 0, sizeof *program);
    program->operation = operation;
    program->element = element;
    program->wide = element == CLR_REAL && operation != CLR_EXTREMES;
    program->counts = rows != NULL;
    program->most_groups = device->type == CLR_DEVICE_CPU ? cpu_groups_per_unit
                                                          : gpu_groups_per_unit[operation][element];
    program->most_groups *= device->compute_units > 0 ? device->compute_units : 1;
    program->partial_size = operation == CLR_EXTREMES ? 2 * sizeof(cl_long) : 3 * sizeof(cl_long);
    /* Extremes compare the bits of doubles as integers. */
    snprintf(options, sizeof options,
             "-cl-std=CL1.2 -DCPU=%d -DREAL=%d -DKEYS=%d -DOPERANDS=%d -DDIGITS=%d "
             "-DACCUMULATOR_BASE=%d -DSCAN=%d",
             device->type == CLR_DEVICE_CPU, program->wide,
             element == CLR_REAL && operation == CLR_EXTREMES, (int)clr_operation_width(operation),
             CLR_ACCUMULATOR_DIGITS, CLR_ACCUMULATOR_BASE, rows != NULL);

    built = clr_compile(context, device->id, count, sources, options, log, status);
    if (built == NULL)
        return status->code;
    program->first = clCreateKernel(built, rows != NULL ? "scan_first" : "reduce_first", &error);
    if (error != CL_SUCCESS)
        goto done;
    program->next = clCreateKernel(built, "reduce_next", &error);
    if (error != CL_SUCCESS)
        goto done;
    call = "clGetKernelWorkGroupInfo";
    error = choose_group_size(program, device);
done:
    clReleaseProgram(built);
    if (error != CL_SUCCESS) {
        clr_program_release(program);
        return clr_opencl_failed(status, call, error);
    }
    program->built = true;
    return CLR_OK;
}

enum clr_code clr_program_build(struct clr_program *program, cl_context context,
                                const struct clr_device_info *device, enum clr_operation operation,
                                enum clr_element element, char **log, struct clr_status *status)
{
    return build(program, context, device, operation, element, NULL, log, status);
}

enum clr_code clr_program_build_scan(struct clr_program *program, cl_context context,
                                     const struct clr_device_info *device,
                                     enum clr_operation operation, enum clr_element element,
                                     const char *rows, char **log, struct clr_status *status)
{
    return build(program, context, device, operation, element, rows, log, status);
}

void clr_program_release(struct clr_program *program)
{
    if (program->first != NULL)
        clReleaseKernel(program->first);
    if (program->next != NULL)
        clReleaseKernel(program->next);
    memset(program, 0, sizeof *program);
}

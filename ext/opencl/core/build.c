#include "opencl/core/build.h"

#include "base/file_cache.h"
#include "base/memory.h"
#include "base/settings.h"
#include "opencl/core/calls.h"
#include "opencl/core/device.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- Programs that are kept on disk as their drivers' binaries (OpenCL 1.2, 5.6.1), so that
   another process need not compile them. */

enum { INFO_SIZE = 1024, HEAD_SIZE = 8 * INFO_SIZE };

static atomic_int_least64_t programs_taken;

int64_t clr_programs_taken(void)
{
    return atomic_load(&programs_taken);
}

/* All that a program's binary depends on: the text itself, the options, the device, its driver. */
struct program_key {
    char *bytes; /* NULL: the program is not kept */
    size_t size;
};

/* The beginning of a key: texts with a 0 byte behind each. */
struct head {
    char text[HEAD_SIZE];
    size_t length;
    bool complete;
};

static void add_text(struct head *head, const char *text)
{
    const size_t size = strlen(text) + 1;

    if (size > sizeof head->text - head->length) {
        head->complete = false;
        return;
    }
    memcpy(head->text + head->length, text, size);
    head->length += size;
}

static void add_platform(struct head *head, cl_platform_id platform, cl_platform_info what)
{
    char text[INFO_SIZE] = "";

    if (clGetPlatformInfo(platform, what, sizeof text - 1, text, NULL) != CL_SUCCESS)
        head->complete = false;
    add_text(head, text);
}

static void add_device(struct head *head, cl_device_id device, cl_device_info what)
{
    char text[INFO_SIZE] = "";

    if (clGetDeviceInfo(device, what, sizeof text - 1, text, NULL) != CL_SUCCESS)
        head->complete = false;
    add_text(head, text);
}

/* Whose program it is, and for what: everything but the text. */
static void fill_head(struct head *head, const struct clr_device_info *device, const char *options)
{
    cl_platform_id platform = NULL;
    cl_uint vendor = 0, bits = 0;
    char numbers[64];

    head->length = 0;
    head->complete =
        clGetDeviceInfo(device->id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) ==
            CL_SUCCESS &&
        clGetDeviceInfo(device->id, CL_DEVICE_VENDOR_ID, sizeof vendor, &vendor, NULL) ==
            CL_SUCCESS &&
        clGetDeviceInfo(device->id, CL_DEVICE_ADDRESS_BITS, sizeof bits, &bits, NULL) == CL_SUCCESS;
    if (!head->complete)
        return;
    snprintf(numbers, sizeof numbers, "%lu %lu", (unsigned long)vendor, (unsigned long)bits);
    add_text(head, "clreduce " PACKAGE_VERSION);
    add_platform(head, platform, CL_PLATFORM_NAME);
    add_platform(head, platform, CL_PLATFORM_VERSION);
    add_device(head, device->id, CL_DEVICE_NAME);
    add_device(head, device->id, CL_DEVICE_VENDOR);
    add_device(head, device->id, CL_DEVICE_VERSION);
    add_device(head, device->id, CL_DRIVER_VERSION);
    add_text(head, numbers);
    add_text(head, options);
}

/*
 * Makes the key of a program of count sources; its bytes are the caller's to free. There is none
 * where the setting program_cache is off, on CPU devices, and where there is no folder for it, no
 * memory, or no answer of the device's. Drivers of CPU devices keep their programs themselves;
 * PoCL's, asked for a binary, compiles each kernel once more, for work-groups of any size, which
 * takes seconds.
 */
static void make_key(struct program_key *key, const struct clr_device_info *device,
                     const char *options, const char *const *sources, cl_uint count)
{
    struct head head;
    cl_uint i;

    key->bytes = NULL;
    if (clr_process_setting(CLR_PROGRAM_CACHE) == 0 || device->type == CLR_DEVICE_CPU ||
        !clr_file_cache_is_usable())
        return;
    fill_head(&head, device, options);
    if (!head.complete)
        return;
    key->size = head.length;
    for (i = 0; i < count; i++)
        key->size += strlen(sources[i]);
    key->bytes = clr_memory_alloc(key->size);
    if (key->bytes == NULL)
        return;
    memcpy(key->bytes, head.text, head.length);
    key->size = head.length;
    for (i = 0; i < count; i++) {
        const size_t length = strlen(sources[i]);
        memcpy(key->bytes + key->size, sources[i], length);
        key->size += length;
    }
}

/* Returns the program that was kept for a key, ready for its kernels and the caller's to release;
   or NULL: there is none that the driver takes. */
static cl_program load_program(const struct program_key *key, cl_context context,
                               const struct clr_device_info *device, const char *options)
{
    const cl_device_id id = device->id;
    const unsigned char *binary;
    cl_program program;
    cl_int error, of_binary = CL_SUCCESS;
    size_t size;
    void *content;

    content = key->bytes == NULL ? NULL : clr_file_cache_read(key->bytes, key->size, &size);
    if (content == NULL)
        return NULL;
    binary = content;
    program = clCreateProgramWithBinary(context, 1, &id, &size, &binary, &of_binary, &error);
    clr_memory_free(content);
    if (error != CL_SUCCESS)
        return NULL;
    if (of_binary == CL_SUCCESS &&
        clBuildProgram(program, 1, &id, options, NULL, NULL) == CL_SUCCESS)
        return program;
    clReleaseProgram(program);
    return NULL;
}

/* Keeps a program that was compiled for the one device of its context, if that can be done. */
static void keep_program(const struct program_key *key, cl_program program)
{
    unsigned char *binary;
    size_t size = 0;

    if (key->bytes == NULL ||
        clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) !=
            CL_SUCCESS ||
        size == 0 || size > CLR_FILE_CACHE_MOST)
        return;
    binary = clr_memory_alloc(size);
    if (binary == NULL)
        return;
    if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS)
        clr_file_cache_write(key->bytes, key->size, binary, size);
    clr_memory_free(binary);
}

/* ---- Building. */

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
static bool load_kernels(const struct clr_build *build, const struct program_key *key,
                         cl_context context, const struct clr_device_info *device,
                         cl_kernel *kernels)
{
    cl_program program = load_program(key, context, device, build->options);
    cl_int error;

    if (program == NULL)
        return false;
    error = make_kernels(build, program, kernels);
    clReleaseProgram(program);
    if (error != CL_SUCCESS)
        release_kernels(build, kernels);
    return error == CL_SUCCESS;
}

static enum clr_code compile_kernels(const struct clr_build *build, const struct program_key *key,
                                     cl_context context, const struct clr_device_info *device,
                                     cl_kernel *kernels, char **log, struct clr_status *status)
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
            keep_program(key, program);
    }
    clReleaseProgram(program);
    return status->code;
}

enum clr_code clr_build_kernels(const struct clr_build *build, cl_context context,
                                const struct clr_device_info *device, cl_kernel *kernels,
                                char **log, struct clr_status *status)
{
    struct program_key key;
    int i;

    *log = NULL;
    for (i = 0; i < build->kernel_count; i++)
        kernels[i] = NULL;
    make_key(&key, device, build->options, build->sources, build->source_count);
    if (load_kernels(build, &key, context, device, kernels))
        atomic_fetch_add(&programs_taken, 1); /* its kernels included */
    else
        compile_kernels(build, &key, context, device, kernels, log, status);
    clr_memory_free(key.bytes);
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

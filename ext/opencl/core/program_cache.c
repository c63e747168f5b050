#include "opencl/core/program_cache.h"

#include "base/file_cache.h"
#include "base/memory.h"
#include "base/settings.h"
#include "opencl/core/program_cache_private.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { INFO_SIZE = 1024, HEAD_SIZE = 8 * INFO_SIZE };

static atomic_int_least64_t taken;

int64_t clr_program_cache_taken(void)
{
    return atomic_load(&taken);
}

void clr_program_cache_count(void)
{
    atomic_fetch_add(&taken, 1);
}

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

void clr_program_key_make(struct clr_program_key *key, const struct clr_device_info *device,
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

void clr_program_key_free(struct clr_program_key *key)
{
    clr_memory_free(key->bytes);
}

cl_program clr_program_cache_load(const struct clr_program_key *key, cl_context context,
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

void clr_program_cache_keep(const struct clr_program_key *key, cl_program program)
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

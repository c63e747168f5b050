#include "opencl/core/catalog.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/settings.h"
#include "base/system.h"
#include "opencl/core/api.h"
#include "opencl/core/calls.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum {
    TRIES = 4,
    PLATFORM_NOT_FOUND = -1001 /* CL_PLATFORM_NOT_FOUND_KHR, which not every header has */
};

static const char *const type_names[] = {"gpu", "accelerator", "cpu", "other"};

const char *clr_device_type_name(enum clr_device_type type)
{
    return type_names[type];
}

/* Returns whether the driver is short of something for the moment, and then sets status: what it
   does not tell now it may tell a moment later. */
static bool is_shortage(cl_int error, const char *call, struct clr_status *status)
{
    struct clr_status found;

    if (clr_opencl_check(&found, call, error) != CLR_NOMEM)
        return false;
    *status = found;
    return true;
}

/* A device that is asked about, and the status for a shortage. */
struct inquiry {
    cl_device_id id;
    struct clr_status *status;
};

/* Returns whether the device has the answer. The value is as it was if not. */
static bool get_info(const struct inquiry *inquiry, cl_device_info what, void *value, size_t size)
{
    cl_int error = clr_cl.GetDeviceInfo(inquiry->id, what, size, value, NULL);

    is_shortage(error, "clGetDeviceInfo", inquiry->status);
    return error == CL_SUCCESS;
}

static void get_text(const struct inquiry *inquiry, cl_device_info what, char *text)
{
    char whole[1024] = "";
    size_t length;

    if (!get_info(inquiry, what, whole, sizeof whole))
        snprintf(whole, sizeof whole, "unknown");
    whole[sizeof whole - 1] = '\0';
    length = strlen(whole);
    while (length > 0 && whole[length - 1] == ' ')
        whole[--length] = '\0';
    snprintf(text, CLR_DEVICE_NAME_SIZE, "%.*s", CLR_DEVICE_NAME_SIZE - 1, whole);
}

static enum clr_device_type get_type(const struct inquiry *inquiry)
{
    cl_device_type type = 0;

    get_info(inquiry, CL_DEVICE_TYPE, &type, sizeof type);
    if (type & CL_DEVICE_TYPE_GPU)
        return CLR_DEVICE_GPU;
    if (type & CL_DEVICE_TYPE_ACCELERATOR)
        return CLR_DEVICE_ACCELERATOR;
    if (type & CL_DEVICE_TYPE_CPU)
        return CLR_DEVICE_CPU;
    return CLR_DEVICE_OTHER;
}

/* Expansions need correct rounding, gradual underflow, infinities and fma: OpenCL C requires them
   of full-profile doubles, and some drivers say otherwise. */
static bool has_exact_doubles(const struct inquiry *inquiry)
{
    const cl_device_fp_config needed =
        CL_FP_ROUND_TO_NEAREST | CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_FMA;
    cl_device_fp_config config = 0;

    get_info(inquiry, CL_DEVICE_DOUBLE_FP_CONFIG, &config, sizeof config);
    return (config & needed) == needed;
}

/* Returns whether OpenCL C has atomic maxima of 64 bits; false as well if the device has more
   extensions than drivers do have. */
static bool has_long_maxima(const struct inquiry *inquiry)
{
    char all[16384] = "";

    return get_info(inquiry, CL_DEVICE_EXTENSIONS, all, sizeof all - 1) &&
           strstr(all, "cl_khr_int64_extended_atomics") != NULL;
}

/* Zero copy needs whole pages on Intel's and AMD's GPUs, whose guides ask for these, and never less
   than what buffers in buffers are aligned to (OpenCL 1.2, table 4.3, in bits). */
enum { LEAST_SHARED_ALIGNMENT = 4096 };

static size_t get_shared_alignment(const struct inquiry *inquiry)
{
    cl_bool unified = CL_FALSE;
    cl_uint bits = 0;

    if (clr_process_setting(CLR_DEVICE_COLUMNS) == CLR_DEVICE_COLUMNS_COPIED ||
        !get_info(inquiry, CL_DEVICE_HOST_UNIFIED_MEMORY, &unified, sizeof unified) || !unified)
        return 0;
    get_info(inquiry, CL_DEVICE_MEM_BASE_ADDR_ALIGN, &bits, sizeof bits);
    return bits / 8 > LEAST_SHARED_ALIGNMENT ? bits / 8 : LEAST_SHARED_ALIGNMENT;
}

static void describe(const struct inquiry *inquiry, const char *platform,
                     struct clr_device_info *device)
{
    cl_bool available = CL_FALSE, compiler = CL_FALSE, little = CL_FALSE;
    cl_uint units = 0;
    cl_ulong memory = 0, largest = 0, local = 0;

    memset(device, 0, sizeof *device);
    device->id = inquiry->id;
    snprintf(device->platform, sizeof device->platform, "%s", platform);
    get_text(inquiry, CL_DEVICE_NAME, device->name);
    get_text(inquiry, CL_DEVICE_VERSION, device->version);
    device->type = get_type(inquiry);
    get_info(inquiry, CL_DEVICE_MAX_COMPUTE_UNITS, &units, sizeof units);
    get_info(inquiry, CL_DEVICE_GLOBAL_MEM_SIZE, &memory, sizeof memory);
    get_info(inquiry, CL_DEVICE_MAX_MEM_ALLOC_SIZE, &largest, sizeof largest);
    get_info(inquiry, CL_DEVICE_LOCAL_MEM_SIZE, &local, sizeof local);
    get_info(inquiry, CL_DEVICE_AVAILABLE, &available, sizeof available);
    get_info(inquiry, CL_DEVICE_COMPILER_AVAILABLE, &compiler, sizeof compiler);
    get_info(inquiry, CL_DEVICE_ENDIAN_LITTLE, &little, sizeof little);
    device->compute_units = units;
    device->memory = memory;
    device->shared_alignment = get_shared_alignment(inquiry);
    device->largest_buffer = largest;
    device->local_memory = local;
    device->fp64 = has_exact_doubles(inquiry);
    device->long_maxima = has_long_maxima(inquiry);
    device->doubles =
        device->fp64 && clr_process_setting(CLR_DEVICE_ARITHMETIC) != CLR_ARITHMETIC_INTEGER;
    if (!available)
        snprintf(device->unusable, sizeof device->unusable, "the driver says: not available");
    else if (!compiler)
        snprintf(device->unusable, sizeof device->unusable, "the driver has no compiler");
    else if (strncmp(device->version, "OpenCL 1.0", 10) == 0 ||
             strncmp(device->version, "OpenCL 1.1", 10) == 0)
        snprintf(device->unusable, sizeof device->unusable, "OpenCL 1.2 is needed");
    else if (!little) /* the host's words are sent as they are */
        snprintf(device->unusable, sizeof device->unusable, "a little-endian device is needed");
}

/* Adds the devices of a platform. */
static void add_platform(struct clr_catalog *catalog, cl_platform_id platform, const char *name)
{
    struct clr_device_info *devices;
    cl_device_id *ids = NULL;
    cl_uint count = 0, i;
    cl_int error;

    error = clr_cl.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count);
    if (error != CL_SUCCESS || count == 0) {
        if (error != CL_DEVICE_NOT_FOUND)
            clr_opencl_check(&catalog->status, "clGetDeviceIDs", error);
        return;
    }
    ids = clr_memory_alloc(count * sizeof *ids);
    devices = clr_memory_realloc(catalog->devices, (catalog->count + count) * sizeof *devices);
    if (devices != NULL)
        catalog->devices = devices;
    if (ids == NULL || devices == NULL) {
        clr_status_set(&catalog->status, CLR_NOMEM, 0, "no memory for the list of devices");
        goto done;
    }
    error = clr_cl.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids, NULL);
    if (clr_opencl_check(&catalog->status, "clGetDeviceIDs", error) != CLR_OK)
        goto done;
    for (i = 0; i < count; i++) {
        const struct inquiry inquiry = {ids[i], &catalog->status};
        describe(&inquiry, name, &catalog->devices[catalog->count++]);
    }
done:
    clr_memory_free(ids);
}

/* Platforms with CPU devices alone. PoCL can be built for others, which a setting then names. */
static bool has_cpus_alone(const char *platform)
{
    return strcmp(platform, "Portable Computing Language") == 0 ||
           strcmp(platform, "Intel(R) CPU Runtime for OpenCL(TM) Applications") == 0;
}

/* Adds the devices of the platforms that were not asked before. */
static void add_platforms(struct clr_catalog *catalog, enum clr_reach before)
{
    cl_platform_id platforms[32];
    cl_uint count = 0, i;
    cl_int error;

    if (clr_opencl_load(&catalog->status) != CLR_OK)
        return;
    error = clr_cl.GetPlatformIDs(sizeof platforms / sizeof platforms[0], platforms, &count);
    if (error != CL_SUCCESS) {
        if (error != PLATFORM_NOT_FOUND)
            clr_opencl_check(&catalog->status, "clGetPlatformIDs", error);
        count = 0;
    }
    if (count > sizeof platforms / sizeof platforms[0])
        count = sizeof platforms / sizeof platforms[0];
    for (i = 0; i < count; i++) {
        char name[CLR_DEVICE_NAME_SIZE] = "unknown";
        enum clr_reach needed;

        /* A platform of CPUs is known by its name alone. */
        if (is_shortage(
                clr_cl.GetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name - 1, name, NULL),
                "clGetPlatformInfo", &catalog->status))
            continue;
        needed = has_cpus_alone(name) ? CLR_REACH_ALL : CLR_REACH_GPUS;
        if (catalog->reach < needed)
            snprintf(catalog->left_out, sizeof catalog->left_out,
                     "%s was not asked for its devices, which are CPUs, as the host's threads are "
                     "as quick. SELECT clreduce_set('device', 'cpu') has it asked",
                     name);
        else if (before < needed)
            add_platform(catalog, platforms[i], name);
    }
    if (catalog->count == 0 && catalog->status.code == CLR_OK && catalog->left_out[0] == '\0') {
        if (error == CL_SUCCESS)
            error = CL_DEVICE_NOT_FOUND;
        clr_status_set(&catalog->status, CLR_DEVICE, error,
                       "OpenCL has no device here. Install the OpenCL driver of your device, which "
                       "registers itself in /etc/OpenCL/vendors. %s: %s (%d)",
                       error == PLATFORM_NOT_FOUND ? "clGetPlatformIDs" : "clGetDeviceIDs",
                       clr_opencl_error_name(error), error);
    }
}

enum clr_reach clr_catalog_reach(const char *setting)
{
    if (strcasecmp(setting, "host") == 0)
        return CLR_REACH_NONE;
    if (strcasecmp(setting, "auto") == 0)
        return CLR_REACH_TRACES;
    if (strcasecmp(setting, "gpu") == 0 || strcasecmp(setting, "accelerator") == 0)
        return CLR_REACH_GPUS;
    return CLR_REACH_ALL;
}

/* Begins with a copy of the known devices. */
static void fill(struct clr_catalog *catalog, const struct clr_catalog *known, enum clr_reach reach)
{
    const enum clr_reach before = known != NULL ? known->reach : CLR_REACH_NONE;

    memset(catalog, 0, sizeof *catalog);
    catalog->reach = reach;
    if (known != NULL && known->count > 0) {
        catalog->devices = clr_memory_alloc(known->count * sizeof *known->devices);
        if (catalog->devices == NULL) {
            clr_status_set(&catalog->status, CLR_NOMEM, 0, "no memory for the list of devices");
            return;
        }
        memcpy(catalog->devices, known->devices, known->count * sizeof *known->devices);
        catalog->count = known->count;
    }
    if (reach == CLR_REACH_NONE) {
        snprintf(catalog->left_out, sizeof catalog->left_out,
                 "no device was looked for, as the setting device is 'host'. "
                 "SELECT clreduce_set('device', 'auto') has GPUs looked for");
    } else if (reach == CLR_REACH_TRACES && !clr_system_may_have_device()) {
        snprintf(
            catalog->left_out, sizeof catalog->left_out,
            "no device was looked for, as there is no trace of a GPU (/dev/nvidia*, "
            "/dev/dri/render*, /dev/kfd, /dev/dxg or /dev/mali*). "
            "SELECT clreduce_set('device', 'gpu') has GPUs looked for all the same; with 'cpu' "
            "it is CPU devices, and the host's threads are as quick as these");
    } else {
        if (reach == CLR_REACH_TRACES)
            catalog->reach = CLR_REACH_GPUS;
        add_platforms(catalog, before);
        if (catalog->left_out[0] == '\0')
            catalog->reach = CLR_REACH_ALL;
    }
}

/* What is not found now is not found at all: a driver that is short of memory is asked again. */
void clr_catalog_fill(struct clr_catalog *catalog, const struct clr_catalog *known,
                      enum clr_reach reach)
{
    const struct timespec pause = {0, 50000000};
    const int64_t start = clr_clock_ns();
    int i;

    fill(catalog, known, reach);
    for (i = 1; i < TRIES && catalog->status.code == CLR_NOMEM; i++) {
        nanosleep(&pause, NULL);
        clr_memory_free(catalog->devices);
        fill(catalog, known, reach);
    }
    if (known != NULL && catalog->status.code == CLR_OK)
        catalog->status = known->status;
    catalog->time = clr_clock_ns() - start + (known != NULL ? known->time : 0);
}

static bool contains(const char *text, const char *part)
{
    size_t length = strlen(part);

    for (; *text != '\0'; text++) {
        if (strncasecmp(text, part, length) == 0)
            return true;
    }
    return false;
}

bool clr_catalog_is_keyword(const char *setting)
{
    return strcasecmp(setting, "auto") == 0 || strcasecmp(setting, "host") == 0 ||
           strcasecmp(setting, "gpu") == 0 || strcasecmp(setting, "accelerator") == 0 ||
           strcasecmp(setting, "cpu") == 0;
}

bool clr_catalog_matches(const struct clr_device_info *device, const char *setting)
{
    if (strcasecmp(setting, "host") == 0)
        return false;
    if (strcasecmp(setting, "auto") == 0)
        return device->type == CLR_DEVICE_GPU || device->type == CLR_DEVICE_ACCELERATOR;
    if (clr_catalog_is_keyword(setting))
        return strcasecmp(setting, type_names[device->type]) == 0;
    return contains(device->name, setting) || contains(device->platform, setting);
}

bool clr_catalog_is_alike(const struct clr_device_info *device, const struct clr_device_info *other)
{
    return device->unusable[0] == '\0' && other->unusable[0] == '\0' &&
           device->type == other->type && strcmp(device->platform, other->platform) == 0 &&
           strcmp(device->name, other->name) == 0 && strcmp(device->version, other->version) == 0;
}

int clr_catalog_choose(const struct clr_catalog *catalog, const char *setting)
{
    int best = -1;
    size_t i;

    for (i = 0; i < catalog->count; i++) {
        const struct clr_device_info *device = &catalog->devices[i];
        if (device->unusable[0] == '\0' && clr_catalog_matches(device, setting) &&
            (best < 0 || device->type < catalog->devices[best].type))
            best = (int)i;
    }
    return best;
}

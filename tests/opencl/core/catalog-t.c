/* The choice among devices, on catalogs made up for it, and the catalog of this machine. */
#include "opencl/core/catalog.h"

#include "base/memory.h"
#include "opencl/core/api.h"

#include "tap.h"

#include <stdio.h>
#include <string.h>

static struct clr_device_info made_up(enum clr_device_type type, const char *platform,
                                      const char *name)
{
    struct clr_device_info device = {.type = type};
    snprintf(device.platform, sizeof device.platform, "%s", platform);
    snprintf(device.name, sizeof device.name, "%s", name);
    return device;
}

static void chooses(const struct clr_catalog *catalog, const char *setting, int want)
{
    tap_is_int64(clr_catalog_choose(catalog, setting), want, "'%s' is device %d", setting, want);
}

TAP_TEST(test_choice)
{
    struct clr_device_info devices[] = {
        made_up(CLR_DEVICE_CPU, "Portable Computing Language", "pthread-Xeon"),
        made_up(CLR_DEVICE_OTHER, "Strange", "Thing"),
        made_up(CLR_DEVICE_GPU, "NVIDIA CUDA", "NVIDIA H200 (A)"),
        made_up(CLR_DEVICE_GPU, "NVIDIA CUDA", "NVIDIA H200 (B)"),
        made_up(CLR_DEVICE_ACCELERATOR, "Board Makers", "FPGA 100%"),
        made_up(CLR_DEVICE_CPU, "Intel(R) OpenCL", "Xeon"),
    };
    struct clr_catalog catalog = {.devices = devices, .count = 6};

    chooses(&catalog, "auto", 2);
    chooses(&catalog, "gpu", 2);
    chooses(&catalog, "accelerator", 4);
    chooses(&catalog, "cpu", 0);
    chooses(&catalog, "host", -1);
    chooses(&catalog, "GPU", 2);
    chooses(&catalog, "Auto", 2);
    chooses(&catalog, "HOST", -1);
    chooses(&catalog, "(b)", 3);   /* part of a name, in any case of letters */
    chooses(&catalog, "h200", 2);  /* the first of two */
    chooses(&catalog, "xeon", 0);  /* of one type the first */
    chooses(&catalog, "intel", 5); /* a platform */
    chooses(&catalog, "portable", 0);
    chooses(&catalog, "100%", 4);  /* no pattern, no format */
    chooses(&catalog, "thing", 1); /* a device of an unknown type serves if it is named */
    chooses(&catalog, "Radeon", -1);
    chooses(&catalog, "NVIDIA H200 (A) and more", -1);

    snprintf(devices[2].unusable, sizeof devices[2].unusable, "broken");
    chooses(&catalog, "auto", 3);
    chooses(&catalog, "(A)", -1);
    snprintf(devices[3].unusable, sizeof devices[3].unusable, "broken");
    chooses(&catalog, "auto", 4);
    chooses(&catalog, "gpu", -1);
    chooses(&catalog, "cuda", -1);
    snprintf(devices[4].unusable, sizeof devices[4].unusable, "broken");
    chooses(&catalog, "auto", -1); /* never a CPU device */
    tap_ok(clr_catalog_matches(&devices[2], "gpu"), "a device that can't be used still matches");

    catalog.count = 0;
    chooses(&catalog, "auto", -1);
    chooses(&catalog, "x", -1);
}

TAP_TEST(test_keywords)
{
    static const char *const keywords[] = {"auto", "gpu", "accelerator", "cpu", "host", "HoSt"};
    static const char *const names[] = {"", "other", "autos", "g", "h200", "pocl"};

    TAP_EACH (i, keywords)
        tap_ok(clr_catalog_is_keyword(keywords[i]), "'%s' is a keyword", keywords[i]);
    TAP_EACH (i, names)
        tap_ok(!clr_catalog_is_keyword(names[i]), "'%s' is none", names[i]);
    tap_is_string(clr_device_type_name(CLR_DEVICE_GPU), "gpu", "a type's name");
    tap_is_string(clr_device_type_name(CLR_DEVICE_ACCELERATOR), "accelerator", "a type's name");
    tap_is_string(clr_device_type_name(CLR_DEVICE_CPU), "cpu", "a type's name");
    tap_is_string(clr_device_type_name(CLR_DEVICE_OTHER), "other", "a type's name");
}

/* Whatever this machine has: a catalog is valid with no devices, and says why there are none. */
TAP_TEST(test_machine)
{
    struct clr_catalog catalog;

    clr_catalog_fill(&catalog, NULL, CLR_REACH_ALL);
    tap_ok(catalog.count > 0 || catalog.status.code != CLR_OK,
           "devices, or a reason why there are none");
    tap_diag("%zu devices; %s", catalog.count,
             catalog.status.code == CLR_OK ? "no error" : catalog.status.message);
    tap_ok(catalog.time > 0, "the time that it took");
    for (size_t i = 0; i < catalog.count; i++) {
        const struct clr_device_info *device = &catalog.devices[i];
        char setting[CLR_DEVICE_NAME_SIZE];
        int chosen;
        tap_diag("%s, %s, %s, %s, fp64 %d%s%s", clr_device_type_name(device->type),
                 device->platform, device->name, device->version, device->fp64,
                 device->unusable[0] != '\0' ? ", unusable: " : "", device->unusable);
        tap_ok(device->id != NULL && device->name[0] != '\0' && device->platform[0] != '\0',
               "device %zu has names", i);
        tap_ok(strncmp(device->version, "OpenCL ", 7) == 0, "and a version");
        tap_ok(device->compute_units > 0 && device->memory > 0, "and units and memory");
        snprintf(setting, sizeof setting, "%s", device->name);
        chosen = clr_catalog_choose(&catalog, setting);
        tap_ok(device->unusable[0] != '\0' ||
                   (chosen >= 0 && strstr(catalog.devices[chosen].name, device->name) != NULL),
               "and is chosen by its name");
    }
    clr_memory_free(catalog.devices);
}

/* ---- Platforms that are made up, and how far is looked. */

static const char *const platforms[] = {"Portable Computing Language", "Made Up"};
static int asked[2]; /* how often each was asked for its devices */

static cl_int get_platform_ids(cl_uint room, cl_platform_id *ids, cl_uint *count)
{
    cl_uint i;

    for (i = 0; i < 2 && i < room; i++)
        ids[i] = (cl_platform_id)(platforms + i);
    *count = 2;
    return CL_SUCCESS;
}

static cl_int get_platform_info(cl_platform_id id, cl_platform_info what, size_t size, void *value,
                                size_t *length)
{
    (void)what, (void)length;
    snprintf(value, size, "%s", *(const char *const *)id);
    return CL_SUCCESS;
}

static cl_int get_device_ids(cl_platform_id id, cl_device_type type, cl_uint room,
                             cl_device_id *ids, cl_uint *count)
{
    const size_t i = (size_t)((const char *const *)id - platforms);

    (void)type;
    asked[i] += room == 0;
    if (room == 0)
        *count = 1;
    else
        ids[0] = (cl_device_id)id;
    return CL_SUCCESS;
}

static cl_int get_made_up(cl_device_id id, cl_device_info what, size_t size, void *value,
                          size_t *length)
{
    static const cl_device_type cpu = CL_DEVICE_TYPE_CPU, gpu = CL_DEVICE_TYPE_GPU;

    (void)length;
    memset(value, 0, size);
    if (what == CL_DEVICE_NAME || what == CL_DEVICE_VERSION)
        snprintf(value, size, "OpenCL 3.0");
    else if (what == CL_DEVICE_TYPE)
        memcpy(value, (const char *const *)id == platforms ? &cpu : &gpu, sizeof cpu);
    return CL_SUCCESS;
}

static void has(const struct clr_catalog *catalog, enum clr_reach reach, size_t devices,
                const char *what)
{
    tap_ok(catalog->reach == reach && catalog->count == devices &&
               (catalog->left_out[0] == '\0') == (reach == CLR_REACH_ALL),
           "%s: %zu devices; %s", what, catalog->count, catalog->left_out);
    tap_is_int64(asked[1], devices > 0, "the platform of GPUs was asked once, if at all");
    tap_is_int64(asked[0], devices > 1, "and that of CPU devices");
}

TAP_TEST(test_reach)
{
    const struct clr_opencl real = clr_cl;
    struct clr_catalog none, traces, gpus, all, again;

    tap_ok(clr_catalog_reach("host") == CLR_REACH_NONE &&
               clr_catalog_reach("Auto") == CLR_REACH_TRACES &&
               clr_catalog_reach("gpu") == CLR_REACH_GPUS &&
               clr_catalog_reach("accelerator") == CLR_REACH_GPUS &&
               clr_catalog_reach("cpu") == CLR_REACH_ALL &&
               clr_catalog_reach("pocl") == CLR_REACH_ALL,
           "how far settings need devices to be looked for");
    clr_catalog_fill(&none, NULL, CLR_REACH_NONE);
    has(&none, CLR_REACH_NONE, 0, "nowhere");
    if (clr_cl.GetPlatformIDs == NULL) {
        tap_skip(12, "there is no OpenCL to be replaced");
        return;
    }
    clr_cl.GetPlatformIDs = get_platform_ids;
    clr_cl.GetPlatformInfo = get_platform_info;
    clr_cl.GetDeviceIDs = get_device_ids;
    clr_cl.GetDeviceInfo = get_made_up;
    clr_catalog_fill(&traces, &none, CLR_REACH_TRACES);
    /* Whether there are traces of a GPU depends on the machine. */
    if (traces.reach == CLR_REACH_TRACES)
        has(&traces, CLR_REACH_TRACES, 0, "in /dev");
    else
        has(&traces, CLR_REACH_GPUS, 1, "in /dev, and on");
    clr_catalog_fill(&gpus, &traces, CLR_REACH_GPUS);
    has(&gpus, CLR_REACH_GPUS, 1, "for GPUs");
    clr_catalog_fill(&all, &gpus, CLR_REACH_ALL);
    has(&all, CLR_REACH_ALL, 2, "for all");
    tap_ok(all.devices != gpus.devices && all.devices[0].id == gpus.devices[0].id &&
               all.devices[0].type == CLR_DEVICE_GPU && all.devices[1].type == CLR_DEVICE_CPU,
           "whose first device is that of before");
    asked[0] = asked[1] = 0;
    clr_catalog_fill(&again, NULL, CLR_REACH_ALL);
    has(&again, CLR_REACH_ALL, 2, "for all at once");
    clr_cl = real;
    clr_memory_free(traces.devices);
    clr_memory_free(gpus.devices);
    clr_memory_free(all.devices);
    clr_memory_free(again.devices);
}

/* ---- Devices whose words are in the other order. */

static __typeof__(clr_cl.GetDeviceInfo) get_device_info;

static cl_int get_big_endian(cl_device_id id, cl_device_info what, size_t size, void *value,
                             size_t *length)
{
    static const cl_bool is_little = CL_FALSE;
    const cl_int error = get_device_info(id, what, size, value, length);

    if (error == CL_SUCCESS && what == CL_DEVICE_ENDIAN_LITTLE)
        memcpy(value, &is_little, sizeof is_little);
    return error;
}

TAP_TEST(test_big_endian)
{
    struct clr_catalog catalog;

    get_device_info = clr_cl.GetDeviceInfo;
    if (get_device_info == NULL)
        return;
    clr_cl.GetDeviceInfo = get_big_endian;
    clr_catalog_fill(&catalog, NULL, CLR_REACH_ALL);
    clr_cl.GetDeviceInfo = get_device_info;
    for (size_t i = 0; i < catalog.count; i++)
        tap_is_string(catalog.devices[i].unusable, "a little-endian device is needed",
                      "device %zu, were it big-endian", i);
    tap_is_int64(clr_catalog_choose(&catalog, "auto"), -1, "then none is chosen");
    clr_memory_free(catalog.devices);
}

/* A catalog that there was no memory for is made once more. */
TAP_TEST(test_memory)
{
    struct clr_catalog whole, catalog;
    bool failed = true;

    clr_catalog_fill(&whole, NULL, CLR_REACH_ALL);
    for (long after = 0; failed; after++) {
        clr_memory_fail_after(after);
        clr_catalog_fill(&catalog, NULL, CLR_REACH_ALL);
        failed = clr_memory_fail_after(-1);
        if (failed)
            tap_ok(catalog.status.code == whole.status.code && catalog.count == whole.count,
                   "a catalog without allocation %ld", after);
        clr_memory_free(catalog.devices);
    }
    clr_memory_free(whole.devices);
}

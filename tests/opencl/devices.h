/* The devices that tests run on. */
#ifndef CLR_TESTS_DEVICES_H
#define CLR_TESTS_DEVICES_H

#include "base/memory.h"
#include "opencl/core/api.h"
#include "opencl/core/catalog.h"
#include "opencl/memory/resident_column.h"
#include "opencl/scan/scanner.h"

#include "tap.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The kind of the best device of the catalog, "cpu" if there is none. */
static inline const char *devices_best(const struct clr_catalog *catalog)
{
    if (clr_catalog_choose(catalog, "gpu") >= 0)
        return "gpu";
    return clr_catalog_choose(catalog, "accelerator") >= 0 ? "accelerator" : "cpu";
}

/* The setting of the device to test on, if the environment has it, or NULL. */
static inline const char *devices_asked_for(void)
{
    const char *setting = getenv("CLREDUCE_TEST_DEVICE");

    return setting != NULL && setting[0] != '\0' ? setting : NULL;
}

/*
 * The setting of the device to test on: CLREDUCE_TEST_DEVICE, else the kind of the best device that
 * OpenCL has here. A child looks for it, so that no driver is in this process by that, and the
 * environment keeps it for processes that this one starts.
 */
static inline const char *devices_setting(void)
{
    struct clr_catalog catalog;
    char kind[20];
    int ends[2];
    pid_t child;

    if (devices_asked_for() != NULL)
        return devices_asked_for();
    fflush(stdout);
    TAP_NEED(pipe(ends) == 0, "no pipe");
    child = fork();
    if (child == 0) {
        clr_catalog_fill(&catalog, NULL, CLR_REACH_ALL);
        snprintf(kind, sizeof kind, "%s", devices_best(&catalog));
        /* Not by its status: a sanitizer has that say what it found in the driver. */
        _exit(write(ends[1], kind, sizeof kind) > 0 ? 0 : 1);
    }
    close(ends[1]);
    TAP_NEED(child >= 0 && read(ends[0], kind, sizeof kind) == sizeof kind,
             "the search for devices failed");
    close(ends[0]);
    waitpid(child, NULL, 0);
    setenv("CLREDUCE_TEST_DEVICE", kind, 1);
    return getenv("CLREDUCE_TEST_DEVICE");
}

/* The device to test on; skips everything where there is none. */
static inline struct clr_device_info devices_choose(void)
{
    const char *setting = devices_asked_for();
    struct clr_device_info info;
    struct clr_catalog catalog;
    int chosen;

    clr_catalog_fill(&catalog, NULL, CLR_REACH_ALL);
    chosen = clr_catalog_choose(&catalog, setting != NULL ? setting : devices_best(&catalog));
    if (chosen < 0) {
        tap_no_device("no OpenCL device is chosen");
        tap_skip_all("no OpenCL device for '%s': %s", setting,
                     catalog.status.code != CLR_OK ? catalog.status.message : "none fits");
    }
    info = catalog.devices[chosen];
    tap_diag("%s (%s)", info.name, info.platform);
    clr_memory_free(catalog.devices);
    return info;
}

static inline void devices_bail_on(const struct clr_status *status, const char *what)
{
    TAP_NEED(status->code == CLR_OK, "%s: %s", what, status->message);
}

/* Opens a device; its description stays where it is for as long. */
static inline struct clr_device *devices_open(const struct clr_device_info *info)
{
    struct clr_status status = {.code = CLR_OK};
    struct clr_device *device;

    clr_device_open(info, &device, &status);
    devices_bail_on(&status, "clr_device_open");
    return device;
}

/*
 * Whether two devices alike may bring the process down: those of PoCL from version 4 on, which are
 * called "cpu-..." instead of "pthread-...", start kernels with a list that is made anew with each
 * of them, and abort (PoCL 5.0: pocl_release_dlhandle_cache; issue 1612).
 */
static inline bool devices_clash(const struct clr_device_info *info)
{
    return strstr(info->version, "PoCL HSTR: cpu-") != NULL;
}

/* Runs the test on each device that can be used. CPU devices are taken for GPUs with memory of
   their own, so that the code for those is tested where there is none; and for what they are, but
   for quick runs, in which the tests of views do that. Skips everything where there is no device.
 */
static inline void devices_each(void (*test)(const struct clr_device_info *info), bool doubles)
{
    /* Workers look at their device's information for as long as the process lives. */
    static struct clr_device_info as_gpu;
    static struct clr_catalog catalog;
    int tested = 0;

    /* What a GPU would choose by measuring, differs from run to run: each would compile others. */
    if (tap_is_quick())
        setenv("CLREDUCE_DEVICE_ARITHMETIC", "fp64", 0);
    if (catalog.count == 0)
        clr_catalog_fill(&catalog, NULL, CLR_REACH_ALL);
    for (size_t i = 0; i < catalog.count; i++) {
        if (catalog.devices[i].unusable[0] != '\0' || (doubles && !catalog.devices[i].doubles))
            continue;
        tested++;
        if (catalog.devices[i].type != CLR_DEVICE_CPU || !tap_is_quick())
            test(&catalog.devices[i]);
        if (catalog.devices[i].type == CLR_DEVICE_CPU) {
            as_gpu = catalog.devices[i];
            as_gpu.type = CLR_DEVICE_GPU;
            as_gpu.shared_alignment = 0;
            test(&as_gpu);
        }
    }
    if (tested == 0) {
        tap_no_device("no OpenCL device can be used");
        tap_skip_all("no OpenCL device%s", doubles ? " with doubles" : "");
    }
}

/* Has the device's column, which is new, filled. */
static inline struct clr_resident_column *devices_fill(struct clr_device *device,
                                                       struct clr_resident_column *column,
                                                       const void *values, const uint8_t *tags)
{
    struct clr_status status = {.code = CLR_OK};
    bool complete = false;

    while (!complete) {
        clr_resident_column_fill(device, column, values, tags, NULL, &complete, &status);
        devices_bail_on(&status, "clr_resident_column_fill");
    }
    return column;
}

/* Returns a column of that kind on the device, with the values. */
static inline struct clr_resident_column *devices_upload(struct clr_device *device, uint8_t kind,
                                                         const int64_t *values, size_t count)
{
    struct clr_resident_column *column = clr_resident_column_new(kind, count);

    TAP_NEED(column != NULL, "no memory");
    return devices_fill(device, column, values, NULL);
}

/* Asks for the programs of a plan, by a scan of no rows. Returns whether some are to be built. */
static inline bool devices_request(struct clr_device *device, const struct clr_scan_plan *plan,
                                   struct clr_status *status)
{
    static struct clr_resident_column *const unused[CLR_MOST_COLUMNS];
    const struct clr_row_ranges none = {.count = 0};
    struct clr_scan scan = *plan->scan;
    struct clr_scan_plan empty = *plan;
    struct clr_device_work work = {0};
    struct clr_scan_slot *slot;
    enum clr_scan_outcome outcome;
    bool requested;

    scan.ranges = &none;
    empty.scan = &scan;
    clr_scanner_begin(device, &empty, unused, &slot, &outcome, &requested, &work, status);
    if (slot != NULL)
        clr_scanner_end(device, slot, &empty, unused, &outcome, &work, status);
    return requested;
}

/* Copies a column of 8 bytes a row back, by the device's own queue. Returns OpenCL's error. */
static inline cl_int devices_read(const struct clr_device *device,
                                  const struct clr_resident_column *column, int64_t *values)
{
    struct clr_status status = {.code = CLR_OK};

    clr_upload_take(clr_upload_of(device), column->values, (char *)values,
                    column->rows * sizeof *values, &status);
    return status.code == CLR_OK ? CL_SUCCESS : status.error;
}

#endif

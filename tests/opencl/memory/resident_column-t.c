/*
 * Columns that are made of others on a device: what is copied there is there when the call returns,
 * with rows that are sent behind it and without any. A copy is held up by an event until long after
 * it was asked for.
 */
#include "opencl/core/api.h"
#include "opencl/core/device.h"
#include "opencl/devices.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 3000, KEPT = 2500, HELD_UP_US = 50000 };

/* Functions that the extension does not call. */
static cl_event (*create_event)(cl_context, cl_int *);
static cl_int (*set_event)(cl_event, cl_int);

static __typeof__(clr_cl.EnqueueCopyBuffer) copy_buffer;
static cl_event gate;
static atomic_bool is_open;

static void *find(const char *name)
{
    static void *library;

    if (library == NULL)
        library = dlopen("libOpenCL.so.1", RTLD_NOW);
    return library == NULL ? NULL : dlsym(library, name);
}

/* Copies when the gate opens. */
static cl_int copy_later(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                         size_t to_offset, size_t size, cl_uint count, const cl_event *events,
                         cl_event *event)
{
    (void)count, (void)events;
    return copy_buffer(queue, from, to, from_offset, to_offset, size, 1, &gate, event);
}

static void *open_gate(void *argument)
{
    (void)argument;
    usleep(HELD_UP_US);
    atomic_store(&is_open, true);
    set_event(gate, CL_COMPLETE);
    return NULL;
}

static bool has(struct clr_device *device, const struct clr_resident_column *column,
                const int64_t *want, size_t rows)
{
    static int64_t found[ROWS];

    return devices_read(device, column, found) == CL_SUCCESS &&
           memcmp(found, want, rows * sizeof *want) == 0;
}

/* A column of so many rows of another one, of which the ranges are sent. */
static void test_change(struct clr_device *device, struct clr_resident_column *other,
                        const int64_t *values, size_t rows, const struct clr_row_ranges *ranges,
                        const char *name)
{
    struct clr_resident_column *column = clr_resident_column_new(CLR_TAG_INTEGER, rows);
    struct clr_status status = {.code = CLR_OK};
    pthread_t thread;
    cl_int error;
    bool was_open;

    gate = create_event(device->context, &error);
    TAP_NEED(column != NULL && error == CL_SUCCESS, "no event: %d", (int)error);
    atomic_store(&is_open, false);
    TAP_NEED(pthread_create(&thread, NULL, open_gate, NULL) == 0, "no thread");
    clr_cl.EnqueueCopyBuffer = copy_later;
    clr_resident_column_change(device, column, other, false, values, NULL, ranges, &status);
    was_open = atomic_load(&is_open);
    clr_cl.EnqueueCopyBuffer = copy_buffer;
    pthread_join(thread, NULL);
    devices_bail_on(&status, "clr_resident_column_change");
    tap_ok(was_open, "what is copied is waited for, %s", name);
    tap_ok(has(device, column, values, rows), "and is there, %s", name);
    clr_cl.ReleaseEvent(gate);
    clr_resident_column_free(device, column);
}

/* A column that may take what another one has, and does if that has as many rows. */
static void test_take(struct clr_device *device, int64_t *values, size_t rows)
{
    static const struct clr_row_ranges fresh = {2, {{5, 3}, {KEPT - 1, ROWS - KEPT + 1}}};
    struct clr_resident_column *other = devices_upload(device, CLR_TAG_INTEGER, values, rows);
    struct clr_resident_column *column = clr_resident_column_new(CLR_TAG_INTEGER, ROWS);
    struct clr_status status = {.code = CLR_OK};

    TAP_NEED(column != NULL, "no memory");
    for (int i = 5; i < 8; i++)
        values[i] += i;
    values[KEPT - 1]++;
    clr_resident_column_change(device, column, other, true, values, NULL, &fresh, &status);
    devices_bail_on(&status, "clr_resident_column_change");
    tap_ok(has(device, column, values, ROWS), "what was taken of %zu rows is changed", rows);
    tap_is_int64(other->values == NULL, rows == ROWS, "the other one has nothing left");
    clr_resident_column_free(device, column);
    clr_resident_column_free(device, other);
}

static void test_device(const struct clr_device_info *info)
{
    static const struct clr_row_ranges none = {.count = 0}, empty = {1, {{KEPT, 0}}},
                                       some = {1, {{KEPT, ROWS - KEPT}}};
    struct clr_resident_column *other;
    static int64_t values[ROWS];
    struct clr_device *device;

    tap_diag("%s, as a device of type %s", info->name, clr_device_type_name(info->type));
    device = devices_open(info);
    for (int i = 0; i < ROWS; i++)
        values[i] = (int64_t)i * i * 1000003 - 77;
    other = devices_upload(device, CLR_TAG_INTEGER, values, KEPT);
    test_change(device, other, values, KEPT, &none, "with no rows to send");
    test_change(device, other, values, KEPT - 900, &empty, "with a range of no rows");
    test_change(device, other, values, ROWS, &some, "with rows to send");
    clr_resident_column_free(device, other);
    test_take(device, values, ROWS);
    test_take(device, values, KEPT);
    clr_device_close(device);
}

TAP_TEST(all_tests)
{
    struct clr_status status = {.code = CLR_OK};
    void *create, *set;

    if (clr_opencl_load(&status) != CLR_OK)
        tap_skip_all("%s", status.message);
    copy_buffer = clr_cl.EnqueueCopyBuffer;
    create = find("clCreateUserEvent");
    set = find("clSetUserEventStatus");
    if (create == NULL || set == NULL)
        tap_skip_all("no OpenCL library has events of its user's");
    memcpy(&create_event, &create, sizeof create);
    memcpy(&set_event, &set, sizeof set);
    devices_each(test_device, false);
}

#include "opencl/bins/binner.h"

#include "base/memory.h"
#include "numeric/values/column.h"
#include "opencl/core/build.h"
#include "opencl/core/calls.h"
#include "opencl/core/kernels.h"
#include "opencl/memory/trial.h"
#include "opencl/scan/row_programs.h"

#include <stdio.h>
#include <string.h>

/* Room for so many slots at first. */
enum { FIRST_SLOTS = 4096 };

/*
 * Groups as large as in reductions, about as many as a GPU has resident at a time, and as many
 * copies of the counters as work-items count at the same moment. Half of the local memory, so that
 * a compute unit has several groups even where that is all it has. LOADS: twice those of a scan,
 * since a work-item has little else in its registers.
 */
enum { GROUP_SIZE = 256, GROUPS_PER_UNIT = 8, MOST_COPIES = 32, LOADS = 8 };

/* A launch of so many values takes some milliseconds where it matters that others wait. */
static const uint64_t most_values = (uint64_t)1 << 31;

enum { IN_GROUP, IN_MEMORY, KERNELS };

/* Memory for a number of slots. */
struct bin_room {
    size_t slots;
    cl_mem firsts, counts;    /* 8 and 4 bytes for each */
    struct clr_pinned pinned; /* the host's side of both: */
    int64_t *sent;            /* the first keys that firsts has */
    cl_uint *found;           /* counts, as they come back */
};

/* The one program. */
struct bin_program {
    struct clr_row_program row; /* its trial is a struct trial */
    cl_kernel kernels[KERNELS];
};

struct clr_binner {
    struct clr_row_programs programs;
    const struct bin_program *program; /* that has been compiled */
    struct bin_room room;              /* for the most that has been asked, and what comes next */
    size_t sent; /* how many first keys the device has: those of the last question */
    bool clean;  /* all counts on the device are 0 */
    /* The sizes that tests change. */
    size_t group_size;    /* work-items of a group */
    size_t most_groups;   /* that are worth having in a launch */
    size_t most_copies;   /* of a group's counters */
    size_t local_memory;  /* bytes that a group may use */
    uint64_t most_values; /* of a launch: counts have 32 bits */
};

/* ---- Memory. */

static void release_room(cl_command_queue queue, struct bin_room *room)
{
    clr_pinned_release(queue, &room->pinned);
    clr_buffer_release(&room->firsts);
    clr_buffer_release(&room->counts);
    memset(room, 0, sizeof *room);
}

static enum clr_code make_room(const struct clr_device *device, cl_command_queue queue,
                               struct bin_room *room, size_t slots, struct clr_status *status)
{
    const size_t firsts = slots * sizeof(cl_long), counts = slots * sizeof(cl_uint);
    const struct clr_wanted_buffer wanted[] = {
        {&room->firsts, CL_MEM_READ_ONLY, firsts},
        {&room->counts, CL_MEM_READ_WRITE, counts},
    };

    memset(room, 0, sizeof *room);
    room->slots = slots;
    if (CLR_BUFFERS_MAKE(device->context, wanted, status) != CLR_OK ||
        clr_pinned_make(device->context, queue, firsts + counts, &room->pinned, status) != CLR_OK)
        return status->code;
    room->sent = room->pinned.mapped;
    room->found = (cl_uint *)(room->sent + slots);
    return CLR_OK;
}

static void release_program(struct clr_row_program *program)
{
    struct bin_program *own = (struct bin_program *)(void *)program;
    int i;

    for (i = 0; i < KERNELS; i++) {
        if (own->kernels[i] != NULL)
            clr_cl.ReleaseKernel(own->kernels[i]);
        own->kernels[i] = NULL;
    }
}

static void release(struct clr_device_part *attachment)
{
    struct clr_binner *binner = (struct clr_binner *)(void *)attachment;

    release_room(binner->programs.queue, &binner->room);
    clr_row_programs_close(&binner->programs);
}

static const struct clr_row_programs_kind binner_kind;

static struct clr_binner *binner_of(const struct clr_device *device)
{
    return clr_device_find(device, &binner_kind.part);
}

/* Has room for so many slots, at least. */
static enum clr_code grow(struct clr_device *device, size_t slots, struct clr_status *status)
{
    struct clr_binner *binner = binner_of(device);
    struct bin_room room;

    if (slots <= binner->room.slots)
        return CLR_OK;
    if (make_room(device, binner->programs.queue, &room, slots > FIRST_SLOTS ? slots : FIRST_SLOTS,
                  status) != CLR_OK) {
        if (status->code == CLR_NOMEM)
            release_room(binner->programs.queue, &room);
        return status->code;
    }
    release_room(binner->programs.queue, &binner->room);
    binner->room = room;
    binner->sent = 0;
    binner->clean = false;
    return CLR_OK;
}

/* ---- What is asked of the device. */

/* Sends the first keys, unless they are those of the last question. */
static enum clr_code send_firsts(struct clr_binner *binner, const struct clr_bin_bounds *bounds,
                                 struct clr_status *status)
{
    const size_t size = bounds->count * sizeof *bounds->firsts;

    if (binner->sent == bounds->count && memcmp(binner->room.sent, bounds->firsts, size) == 0)
        return CLR_OK;
    binner->sent = 0;
    memcpy(binner->room.sent, bounds->firsts, size);
    return clr_opencl_check_buffer(status, "clEnqueueWriteBuffer",
                                   clr_cl.EnqueueWriteBuffer(binner->programs.queue,
                                                             binner->room.firsts, CL_FALSE, 0, size,
                                                             binner->room.sent, 0, NULL, NULL));
}

static enum clr_code clean(struct clr_binner *binner, struct clr_status *status)
{
    if (!binner->clean)
        binner->clean = clr_buffer_clear(binner->programs.queue, binner->room.counts,
                                         binner->room.slots * sizeof(cl_uint), status) == CLR_OK;
    return status->code;
}

static size_t local_size(size_t count, size_t copies)
{
    return count * sizeof(cl_long) + (count + 1) * copies * sizeof(cl_uint);
}

/* How many copies of the counters fit into a group's memory; 0: not even one. */
static size_t choose_copies(const struct clr_binner *binner, size_t count)
{
    size_t copies = binner->most_copies;

    while (copies > 0 && local_size(count, copies) > binner->local_memory)
        copies /= 2;
    return copies;
}

static size_t choose_groups(const struct clr_binner *binner, uint64_t values)
{
    uint64_t groups = (values - 1) / binner->group_size + 1;

    return groups < binner->most_groups ? (size_t)groups : binner->most_groups;
}

/* Launches the kernel for the values from number begin up to end. */
static enum clr_code launch(const struct clr_device *device,
                            const struct clr_resident_column *column,
                            const struct clr_bin_bounds *bounds, cl_ulong begin, cl_ulong end,
                            cl_event *event, struct clr_status *status)
{
    struct clr_binner *binner = binner_of(device);
    const size_t copies = choose_copies(binner, bounds->count);
    const int number = copies > 0 ? IN_GROUP : IN_MEMORY;
    const cl_uint count = bounds->count, real = bounds->kind == CLR_KIND_REAL;
    const cl_uint bytes = (cl_uint)clr_kind_value_bytes(column->kind);
    const cl_uint guesses = bounds->guesses && device->info.doubles, group_copies = (cl_uint)copies;
    const struct clr_argument arguments[] = {
        CLR_VALUE(column->values),
        CLR_VALUE(bytes),
        CLR_VALUE(column->frame.least),
        CLR_VALUE(column->power),
        CLR_VALUE(column->reciprocal),
        CLR_VALUE(begin),
        CLR_VALUE(end),
        CLR_VALUE(binner->room.firsts),
        CLR_VALUE(count),
        CLR_VALUE(real),
        CLR_VALUE(guesses),
        CLR_VALUE(bounds->origin),
        CLR_VALUE(bounds->scale), /* which the kernel takes as bits */
        CLR_VALUE(bounds->offset),
        CLR_VALUE(binner->room.counts),
        /* Of the one in the group's memory alone. */
        CLR_VALUE(group_copies),
        CLR_LOCAL(count * sizeof(cl_long)),
        CLR_LOCAL((count + 1) * copies * sizeof(cl_uint)),
    };
    const cl_uint all = sizeof arguments / sizeof arguments[0];

    binner->clean = false;
    return clr_launch(binner->programs.queue, binner->program->kernels[number], arguments,
                      number == IN_GROUP ? all : all - 3, choose_groups(binner, end - begin),
                      binner->group_size, event, status);
}

/* Counts the values from number begin up to end, and adds that to the counts. */
static enum clr_code count_part(const struct clr_device *device,
                                const struct clr_resident_column *column,
                                const struct clr_bin_bounds *bounds, uint64_t begin, uint64_t end,
                                uint64_t *counts, struct clr_device_work *work,
                                struct clr_status *status)
{
    struct clr_binner *binner = binner_of(device);
    const size_t slots = (size_t)bounds->count + 1;
    cl_event launched = NULL, read = NULL;
    cl_int error;
    size_t i;

    if (clean(binner, status) != CLR_OK ||
        launch(device, column, bounds, begin, end, &launched, status) != CLR_OK)
        return status->code;
    error = clr_cl.EnqueueReadBuffer(binner->programs.queue, binner->room.counts, CL_FALSE, 0,
                                     slots * sizeof(cl_uint), binner->room.found, 0, NULL, &read);
    /* For the next ones, while these are on their way. */
    if (clr_opencl_check(status, "clEnqueueReadBuffer", error) == CLR_OK &&
        clean(binner, status) == CLR_OK &&
        clr_opencl_check(status, "clFlush", clr_cl.Flush(binner->programs.queue)) == CLR_OK)
        clr_event_wait(read, status);
    if (status->code != CLR_OK) {
        clr_event_release(&launched);
        clr_event_release(&read);
        return status->code;
    }
    for (i = 0; i < slots; i++)
        counts[i] += binner->room.found[i];
    work->kernels++;
    work->passes++;
    work->kernel_time += clr_event_take_time(&launched);
    work->transfer_time += clr_event_take_time(&read);
    return CLR_OK;
}

/* After a failure that passes, what the device has of the last question is not known. */
static enum clr_code recover(struct clr_binner *binner, struct clr_status *status)
{
    clr_queue_drain(binner->programs.queue, status);
    binner->clean = false;
    binner->sent = 0;
    return status->code;
}

/* Stores how many values of a column each slot has. Returns CLR_OK, CLR_NOMEM or CLR_DEVICE. */
static enum clr_code count_values(struct clr_device *device,
                                  const struct clr_resident_column *column,
                                  const struct clr_bin_bounds *bounds, uint64_t *counts,
                                  struct clr_device_work *work, struct clr_status *status)
{
    struct clr_binner *binner = binner_of(device);
    const uint64_t rows = column->rows;
    uint64_t begin, part;

    memset(counts, 0, ((size_t)bounds->count + 1) * sizeof *counts);
    if (bounds->count == 0) {
        counts[0] = rows;
        return CLR_OK;
    }
    if (grow(device, (size_t)bounds->count + 1, status) != CLR_OK ||
        send_firsts(binner, bounds, status) != CLR_OK)
        return recover(binner, status);
    for (begin = 0; begin < rows; begin += part) {
        part = rows - begin < binner->most_values ? rows - begin : binner->most_values;
        if (count_part(device, column, bounds, begin, begin + part, counts, work, status) != CLR_OK)
            return recover(binner, status);
    }
    binner->sent = bounds->count;
    return CLR_OK;
}

/* ---- The test. */

/* Several launches of several groups each; multiples of nothing. */
enum { VALUES = 10007, LAUNCH = 3001, MOST_BINS = 6007 };

/* What the test needs on the host. */
struct trial {
    int64_t values[VALUES];
    uint64_t expected[MOST_BINS + 2], found[MOST_BINS + 2];
};

/* The ends of the last are so far apart that there is no guess. */
static const struct {
    struct clr_value low, high;
    int64_t count;
    size_t copies; /* of a group's counters: 0 for those in memory */
} tests[] = {
    {{CLR_KIND_REAL, {.real = -512.5}, NULL}, {CLR_KIND_REAL, {.real = 511.25}, NULL}, 37, 32},
    {{CLR_KIND_INTEGER, {.integer = -512}, NULL},
     {CLR_KIND_INTEGER, {.integer = 512}, NULL},
     MOST_BINS,
     0},
    {{CLR_KIND_REAL, {.real = -1.7e308}, NULL}, {CLR_KIND_REAL, {.real = 1.7e308}, NULL}, 19, 2},
};

static void expect_counts(struct trial *trial, const struct clr_bins *bins, enum clr_kind kind)
{
    memset(trial->expected, 0, sizeof trial->expected);
    clr_bins_add(bins, kind, trial->values, VALUES, 1, trial->expected);
}

/* One of the tests, on a column. */
static enum clr_code test_case(struct clr_device *device, struct trial *trial, size_t number,
                               const struct clr_resident_column *column, enum clr_kind kind,
                               struct clr_status *status)
{
    struct clr_device_work work = {0, 0, 0, 0, 0};
    struct clr_bin_bounds bounds;
    struct clr_bins bins;

    clr_bins_init(&bins, &tests[number].low, &tests[number].high, tests[number].count);
    if (!clr_bin_bounds_init(&bounds, &bins, kind))
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    expect_counts(trial, &bins, kind);
    memset(trial->found, 0, sizeof trial->found);
    binner_of(device)->most_copies = tests[number].copies;
    if (count_values(device, column, &bounds, trial->found, &work, status) == CLR_OK &&
        memcmp(trial->found, trial->expected, sizeof trial->found) != 0)
        clr_status_set(status, CLR_DEVICE, 0,
                       "self-test: the device's bins differ from the host's");
    clr_bin_bounds_clear(&bounds);
    return status->code;
}

/* device_kind: as of clr_column_device_kind(). */
static enum clr_code test_kind(struct clr_device *device, struct trial *trial, uint8_t device_kind,
                               struct clr_status *status)
{
    const enum clr_kind kind =
        clr_kind_wide(device_kind) == CLR_TAG_REAL ? CLR_KIND_REAL : CLR_KIND_INTEGER;
    struct clr_resident_column *column;
    size_t i;

    column = clr_test_column(device, device_kind, trial->values, VALUES, status);
    for (i = 0; i < sizeof tests / sizeof tests[0] && status->code == CLR_OK; i++)
        test_case(device, trial, i, column, kind, status);
    clr_resident_column_free(clr_device_unless_lost(device, status), column);
    return status->code;
}

/* Counts INTEGERs and hard REALs by few bins and by more than a group's memory has room for, with
   and without a guess, in several launches, and compares the counts with the host's. */
static enum clr_code test_program(struct clr_device *device, struct clr_row_program *program,
                                  struct clr_status *status)
{
    struct trial *trial = program->trial;
    const size_t copies = binner_of(device)->most_copies;
    const uint64_t values = binner_of(device)->most_values;
    static const uint8_t kinds[] = {CLR_TAG_INTEGER,
                                    CLR_TAG_REAL,
                                    CLR_TAG_NARROW + 1,
                                    CLR_TAG_NARROW + 2,
                                    CLR_TAG_NARROW + 4,
                                    CLR_TAG_NARROW_REAL + CLR_TAG_DECIMALS + 1,
                                    CLR_TAG_NARROW_REAL + CLR_TAG_DECIMALS + 2,
                                    CLR_TAG_NARROW_REAL + CLR_TAG_DECIMALS + 4};
    size_t i;

    binner_of(device)->most_values = LAUNCH;
    for (i = 0; i < sizeof kinds && status->code == CLR_OK; i++)
        test_kind(device, trial, kinds[i], status);
    binner_of(device)->most_values = values;
    binner_of(device)->most_copies = copies;
    return status->code;
}

/* ---- The program. */

static cl_int choose_sizes(struct clr_binner *binner, const struct clr_device_info *device,
                           const cl_kernel *kernels)
{
    const size_t units = device->compute_units > 0 ? device->compute_units : 1;
    const struct clr_group_limit limit = {.most = GROUP_SIZE};
    cl_ulong local = 0;
    cl_int error;

    binner->most_values = most_values;
    binner->most_copies = MOST_COPIES;
    binner->most_groups = units * GROUPS_PER_UNIT;
    error = clr_cl.GetDeviceInfo(device->id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    binner->local_memory = (size_t)(local / 2);
    if (error != CL_SUCCESS)
        return error;
    return clr_choose_group_size(device, kernels, KERNELS, &limit, &binner->group_size);
}

static enum clr_code compile(struct clr_device *device, struct clr_row_program *program, char **log,
                             struct clr_status *status)
{
    static const char *const names[KERNELS] = {
        [IN_GROUP] = "histogram_in_group",
        [IN_MEMORY] = "histogram_in_memory",
    };
    const char *sources[] = {clr_kernel_reals, clr_kernel_loads, clr_kernel_histogram};
    struct bin_program *own = (struct bin_program *)(void *)program;
    struct clr_binner *binner = binner_of(device);
    char options[64];
    const struct clr_build build = {sizeof sources / sizeof *sources, sources, options, KERNELS,
                                    names};

    snprintf(options, sizeof options, "-cl-std=CL1.2 -DDOUBLES=%d -DLOADS=%d", device->info.doubles,
             LOADS);
    if (clr_build_kernels(&build, device->context, &device->info, own->kernels, log, status) !=
        CLR_OK)
        return status->code;
    binner->program = own;
    return clr_opencl_check(status, "clGetKernelWorkGroupInfo",
                            choose_sizes(binner, &device->info, own->kernels));
}

static const struct clr_row_programs_kind binner_kind = {
    .part = {sizeof(struct clr_binner), "histograms", release, clr_row_programs_build},
    .compile = compile,
    .test = test_program,
    .release = release_program};

enum clr_code clr_binner_run(struct clr_device *device, const struct clr_resident_column *column,
                             const struct clr_bin_bounds *bounds, uint64_t *counts,
                             enum clr_scan_outcome *outcome, bool *requested,
                             struct clr_device_work *work, struct clr_status *status)
{
    static const struct clr_row_key key = {.length = 1};
    struct clr_binner *binner = clr_row_programs_open(device, &binner_kind, status);
    struct clr_row_program *program;

    *outcome = CLR_SCAN_NOT_NOW;
    *requested = false;
    if (binner == NULL)
        return status->code;
    program = clr_row_programs_find(&binner->programs, &key);
    if (program == NULL)
        program = clr_row_programs_add(&binner->programs, sizeof(struct bin_program),
                                       clr_memory_alloc(sizeof(struct trial)), &key, status);
    if (program == NULL)
        return status->code;
    *requested = program->phase == CLR_ROW_PROGRAM_REQUESTED;
    if (program->phase == CLR_ROW_PROGRAM_BUILT &&
        count_values(device, column, bounds, counts, work, status) == CLR_OK)
        *outcome = CLR_SCAN_DONE;
    return status->code;
}

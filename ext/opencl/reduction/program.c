#include "opencl/reduction/program.h"

#include "numeric/exact/sum.h"
#include "opencl/core/build.h"
#include "opencl/core/calls.h"
#include "opencl/core/kernels.h"

#include <stdio.h>
#include <string.h>

/* A GPU gains nothing from larger groups: they only wait longer for their slowest member. */
enum { GROUP_SIZE_LIMIT = 256 };
_Static_assert((int)GROUP_SIZE_LIMIT <= (int)CLR_QUEUED_GROUP_SIZE, "the queue has no room");

/*
 * Work-groups a compute unit: about as many as a GPU has resident at a time, which depends on the
 * kernel's registers; a few more, and a compute unit ends with a wave that fills it partly; or
 * twice as many. Measured on an H200 by `make bench BENCH=kernel`.
 */
static const size_t groups_per_unit[CLR_OPERATIONS][CLR_ELEMENTS] = {
    [CLR_SUM] = {[CLR_REAL] = 6, [CLR_INTEGER] = 8},
    [CLR_DOT] = {[CLR_REAL] = 8, [CLR_INTEGER] = 8},
    [CLR_EXTREMES] = {[CLR_REAL] = 8, [CLR_INTEGER] = 8},
};
static const size_t groups_per_unit_of_bundles = 4;

/* Rows that are loaded at a time, at most: by several steps, which need registers, and by a CPU
   device, whose compiler takes its time for each. */
enum { BATCH_OF_BUNDLE = 2, BATCH_OF_CPU = 4 };

/* The files of all kinds of a scan, those of its rows, and a few more. */
enum { MOST_SOURCES = 7 * CLR_MOST_BUNDLE + 13 };

struct sources {
    const char *texts[MOST_SOURCES];
    cl_uint count;
};

static void add(struct sources *sources, const char *text)
{
    sources->texts[sources->count++] = text;
}

/* The kernel files of an operation, in the order in which they build on each other, behind those
   that all operations share. */
static void add_operation(struct sources *sources, enum clr_operation operation,
                          enum clr_element element, bool doubles)
{
    if (operation == CLR_EXTREMES) {
        add(sources, clr_kernel_extremes);
    } else {
        if (element == CLR_REAL && doubles) {
            add(sources, clr_kernel_exact);
        } else if (element == CLR_REAL) {
            add(sources, clr_kernel_window);
        } else {
            add(sources, clr_kernel_integer);
        }
        add(sources, operation == CLR_DOT ? clr_kernel_dot : clr_kernel_sum);
    }
    add(sources, clr_kernel_group);
}

static bool is_wide(const struct clr_step_kind *kind)
{
    return clr_kernel_kind_of(kind->operation, kind->element)->real;
}

static void add_reduction(struct sources *sources, const struct clr_step_kind *kind, bool doubles)
{
    if (is_wide(kind)) {
        add(sources, clr_kernel_atomics);
        add(sources, clr_kernel_accumulator);
    }
    add_operation(sources, kind->operation, kind->element, doubles);
    add(sources, clr_kernel_reduce);
}

/* A step's text defines its kind, whose files follow it where it is the first of that kind; its row
   follows the text once more. */
static void add_scan(struct sources *sources, const struct clr_step_kind *kinds, int count,
                     const char *text, bool doubles)
{
    const char *steps[CLR_MOST_BUNDLE], *step = text;
    bool wide = false;
    int i, j;

    for (i = 0; i < count; i++) {
        steps[i] = step += strlen(step) + 1;
        wide = wide || is_wide(&kinds[i]);
    }
    add(sources, clr_kernel_kinds);
    add(sources, text);
    add(sources, clr_kernel_reals);
    add(sources, clr_kernel_loads);
    add(sources, clr_kernel_values);
    add(sources, clr_kernel_values_logic);
    add(sources, clr_kernel_atomics);
    if (wide)
        add(sources, clr_kernel_accumulator);
    for (i = 0; i < count; i++) {
        for (j = 0; j < i && memcmp(&kinds[j], &kinds[i], sizeof *kinds) != 0; j++)
            ;
        if (j < i)
            continue;
        add(sources, steps[i]);
        add_operation(sources, kinds[i].operation, kinds[i].element, doubles);
    }
    add(sources, clr_kernel_counts);
    for (i = 0; i < count; i++) {
        add(sources, steps[i]);
        add(sources, clr_kernel_row);
    }
    add(sources, clr_kernel_narrow);
    add(sources, clr_kernel_filter);
    add(sources, clr_kernel_scan);
}

/* COPIES of kernels/arithmetic/accumulator.cl: more make nothing quicker. */
enum { MOST_COPIES = 8 };

/* The bytes of a group's long accumulator, WIDE_LOCAL_WORDS of kernels/arithmetic/accumulator.cl
   with digits of 18 bits. */
static size_t wide_size(int copies)
{
    return sizeof(cl_uint) * (((size_t)32 * CLR_ACCUMULATOR_DIGITS / 18 + 2) * (size_t)copies + 4);
}

/* Returns how many copies of its digits each of so many long accumulators may have, for half of the
   local memory. */
static int choose_copies(const struct clr_device_info *device, int wide)
{
    int copies = MOST_COPIES;

    while (copies > 1 && (size_t)wide * wide_size(copies) > device->local_memory / 2)
        copies /= 2;
    return copies;
}

/* Makes the kernel from the sources. wide: how many long accumulators a group has, of so many
   copies each. */
static enum clr_code build(struct clr_program *program, cl_context context,
                           const struct clr_device_info *device, struct sources *sources,
                           const char *options, int wide, int copies, char **log,
                           struct clr_status *status)
{
    const char *const name = program->scans ? "scan" : "reduce";
    const size_t queue = program->scans ? CLR_QUEUE_BYTES : 0;
    const struct clr_build build = {sources->count, sources->texts, options, 1, &name};
    /* Some more, for what the driver itself puts into local memory. */
    const struct clr_group_limit limit = {
        GROUP_SIZE_LIMIT, program->partial_size,
        queue + (size_t)wide * (wide_size(copies) + 8 * CLR_ACCUMULATOR_DIGITS)};

    if (clr_build_kernels(&build, context, device, &program->kernel, log, status) == CLR_OK)
        clr_opencl_check(
            status, "clGetKernelWorkGroupInfo",
            clr_choose_group_size(device, &program->kernel, 1, &limit, &program->group_size));
    if (status->code != CLR_OK)
        clr_program_release(program);
    else
        program->built = true;
    return status->code;
}

enum clr_code clr_program_build(struct clr_program *program, cl_context context,
                                const struct clr_device_info *device,
                                const struct clr_step_kind *kinds, int count, const char *text,
                                char **log, struct clr_status *status)
{
    const struct clr_kernel_kind *macros = clr_kernel_kind_of(kinds->operation, kinds->element);
    const size_t units = device->compute_units > 0 ? device->compute_units : 1;
    const bool doubles = clr_device_sums_doubles(device);
    struct sources sources = {.count = 0};
    char options[256];
    const int batch = count > 1                        ? BATCH_OF_BUNDLE
                      : device->type == CLR_DEVICE_CPU ? BATCH_OF_CPU
                                                       : CLR_MOST_BATCH;
    int wide = 0, copies, end, i;

    for (i = 0; i < count; i++)
        wide += is_wide(&kinds[i]);
    copies = choose_copies(device, wide);
    *program = (struct clr_program){
        .steps = count,
        .scans = text != NULL,
        .partial_size = text == NULL && kinds->operation == CLR_EXTREMES ? 2 * sizeof(cl_long)
                                                                         : CLR_PARTIAL_SIZE,
        .most_groups = units * (count == 1 ? groups_per_unit[kinds->operation][kinds->element]
                                           : groups_per_unit_of_bundles)};
    end = snprintf(options, sizeof options,
                   "-cl-std=CL1.2 -DDOUBLES=%d -DDIGITS=%d -DACCUMULATOR_BASE=%d -DCOPIES=%d"
                   " -DMOST_BATCH=%d -DMOST_ITEMS=%d",
                   doubles, CLR_ACCUMULATOR_DIGITS, CLR_ACCUMULATOR_BASE, copies, batch,
                   GROUP_SIZE_LIMIT);
    if (text != NULL) {
        add_scan(&sources, kinds, count, text, doubles);
    } else {
        add_reduction(&sources, kinds, doubles);
        snprintf(options + end, sizeof options - (size_t)end, " -DREAL=%d -DKEYS=%d -DOPERANDS=%d",
                 macros->real, macros->keys, macros->operands);
    }
    return build(program, context, device, &sources, options, wide, copies, log, status);
}

void clr_program_release(struct clr_program *program)
{
    if (program->kernel != NULL)
        clr_cl.ReleaseKernel(program->kernel);
    memset(program, 0, sizeof *program);
}

/* ---- Groups. */

/* Work-items that share a table: as many as hide the memory's latency where a compute unit has
   local memory for a few tables alone. */
enum { GROUP_SIZE = 512 };

static const char *const kernel_names[CLR_GROUP_KERNELS] = {
    [CLR_GROUP_LOCALLY] = "group_rows_locally", [CLR_GROUP_GLOBALLY] = "group_rows_globally"};

enum clr_code clr_group_kernels_build(const char *text, bool queued, cl_context context,
                                      const struct clr_device_info *info,
                                      cl_kernel kernels[CLR_GROUP_KERNELS], size_t *group_size,
                                      char **log, struct clr_status *status)
{
    const char *sources[] = {clr_kernel_reals,
                             clr_kernel_loads,
                             clr_kernel_values,
                             clr_kernel_values_logic,
                             text,
                             clr_kernel_atomics,
                             clr_kernel_digits,
                             clr_kernel_filter,
                             clr_kernel_grouping,
                             clr_kernel_group_rows,
                             clr_kernel_group_records};
    const int most = queued ? CLR_QUEUED_GROUP_SIZE : GROUP_SIZE;
    const struct clr_group_limit limit = {.most = (size_t)most,
                                          .local_per_item = CLR_GROUP_STAGED_BYTES,
                                          .local_of_group = queued ? CLR_QUEUE_BYTES : 0};
    /* PoCL 3.1 aborts on a loop of loads that is unrolled before a barrier. */
    const int batch = info->type == CLR_DEVICE_CPU && !queued ? 1 : CLR_MOST_BATCH;
    char options[128];
    const struct clr_build build = {sizeof sources / sizeof *sources, sources, options,
                                    CLR_GROUP_KERNELS, kernel_names};

    snprintf(options, sizeof options,
             "-cl-std=CL1.2 -DDOUBLES=%d -DHALVES=%d -DMOST_BATCH=%d -DMOST_ITEMS=%d",
             clr_device_sums_doubles(info), !info->long_maxima, batch, most);
    if (clr_build_kernels(&build, context, info, kernels, log, status) != CLR_OK)
        return status->code;
    return clr_opencl_check(
        status, "clGetKernelWorkGroupInfo",
        clr_choose_group_size(info, kernels, CLR_GROUP_KERNELS, &limit, group_size));
}

/* The programs that a device has built for groups, which are tested before they serve. */
#include "base/memory.h"
#include "opencl/core/build.h"
#include "opencl/core/calls.h"
#include "opencl/core/kernels.h"
#include "opencl/groups/group_test.h"
#include "opencl/groups/grouper_private.h"

#include <stdio.h>

/* Work-items that share a table: as many as hide the memory's latency where a compute unit has
   local memory for a few tables alone. LOADS: rows whose values each of them has on their way, and
   MOST_LOADS of sorted rows, which wait for their numbers too. TEAM: those that go through a tile
   of sorted rows together. */
enum { GROUP_SIZE = 512, LOADS = 4, MOST_LOADS = 8, TEAM = 128 };

static const char *const kernel_names[CLR_GROUP_KERNELS] = {
    [CLR_GROUP_LOCALLY] = "group_rows_locally",
    [CLR_GROUP_SORTED] = "group_rows_sorted",
    [CLR_GROUP_GLOBALLY] = "group_rows_globally",
    [CLR_GROUP_TILES] = "group_tiles"};

void clr_group_program_release(struct clr_row_program *program)
{
    struct clr_group_program *own = (struct clr_group_program *)(void *)program;
    int i;

    for (i = 0; i < CLR_GROUP_KERNELS; i++)
        if (own->kernels[i] != NULL)
            clReleaseKernel(own->kernels[i]);
    clr_group_trial_free(own->trial);
}

/* Requests the program for the key that the grouper has. Returns NULL without memory. */
static struct clr_group_program *request(struct clr_grouper *grouper,
                                         const struct clr_group_plan *plan, const uint8_t *kinds)
{
    struct clr_group_trial *trial = clr_group_trial_new(plan, kinds);
    struct clr_group_program *program = clr_memory_alloc_zero(sizeof *program);

    if (trial == NULL || program == NULL) {
        clr_group_trial_free(trial);
        clr_memory_free(program);
        return NULL;
    }
    program->trial = trial;
    return clr_row_programs_add(&grouper->programs, &program->row, &grouper->key) ? program : NULL;
}

enum clr_code clr_group_program_find(struct clr_grouper *grouper, const struct clr_group_plan *plan,
                                     const uint8_t *kinds, struct clr_group_program **found,
                                     struct clr_status *status)
{
    clr_group_key(&grouper->key, plan, kinds);
    grouper->programs.scan++;
    *found = (struct clr_group_program *)(void *)clr_row_programs_find(&grouper->programs,
                                                                       &grouper->key);
    if (*found != NULL)
        return CLR_OK;
    clr_group_text(&grouper->text, &grouper->key);
    if (!grouper->text.complete)
        return CLR_OK;
    *found = request(grouper, plan, kinds);
    return *found != NULL ? CLR_OK : clr_status_set(status, CLR_NOMEM, 0, "no memory for groups");
}

/* What a trial's run needs besides what it is given. */
struct trial {
    struct clr_device *device;
    const struct clr_group_program *program;
};

/* The ways of a trial: those of as many places as local memory has room for, of about twice and of
   eight times as many; and in global memory. */
enum { OF_FEW, OF_TWICE, OF_EIGHT_TIMES, GLOBALLY, WAYS };

static enum clr_code run_trial(void *context, int way, const struct clr_group_plan *plan,
                               struct clr_resident_column *const *columns,
                               struct clr_group_result *result, enum clr_scan_outcome *outcome,
                               struct clr_status *status)
{
    const struct trial *trial = context;
    struct clr_grouper *grouper = clr_grouper_of(trial->device);
    const size_t record = clr_group_device_words(plan) * sizeof(cl_long);
    const size_t all = grouper->local_memory;
    const size_t places = (size_t)plan->places >> (way == OF_TWICE ? 1 : 3);
    const size_t part = (places + 1) * record + sizeof(cl_long);
    enum clr_group_kernel kernel;
    struct clr_device_work work = {0};

    if (way > OF_FEW && part < all)
        grouper->local_memory = part;
    kernel = way == GLOBALLY ? CLR_GROUP_GLOBALLY : clr_group_choose_kernel(trial->device, plan);
    clr_grouper_try(trial->device, trial->program, kernel, plan, columns, result, outcome, &work,
                    status);
    grouper->local_memory = all;
    return status->code;
}

enum clr_code clr_group_program_compile(struct clr_group_program *program, const char *text,
                                        cl_context context, const struct clr_device_info *info,
                                        char **log, struct clr_status *status)
{
    const char *sources[] = {clr_kernel_reals,
                             clr_kernel_loads,
                             clr_kernel_values,
                             clr_kernel_values_logic,
                             text,
                             clr_kernel_atomics,
                             clr_kernel_digits,
                             clr_kernel_grouping,
                             clr_kernel_group_tiles,
                             clr_kernel_group_rows,
                             clr_kernel_group_records};
    const struct clr_group_limit limit = {.most = GROUP_SIZE,
                                          .local_per_item = CLR_GROUP_STAGED_BYTES};
    /* PoCL 3.1 aborts on a loop of loads that is unrolled before a barrier. */
    const bool cpu = info->type == CLR_DEVICE_CPU;
    char options[96];
    const struct clr_build build = {sizeof sources / sizeof *sources, sources, options,
                                    CLR_GROUP_KERNELS, kernel_names};
    cl_int error;

    snprintf(options, sizeof options,
             "-cl-std=CL1.2 -DDOUBLES=%d -DHALVES=%d -DLOADS=%d -DMOST_LOADS=%d -DTEAM=%d",
             clr_device_sums_doubles(info), !info->long_maxima, cpu ? 1 : LOADS,
             cpu ? 1 : MOST_LOADS, TEAM);
    if (clr_build_kernels(&build, context, info, program->kernels, log, status) != CLR_OK)
        return status->code;
    error = clr_choose_group_size(info, program->kernels, CLR_GROUP_KERNELS, &limit,
                                  &program->group_size);
    return error == CL_SUCCESS ? CLR_OK
                               : clr_opencl_failed(status, "clGetKernelWorkGroupInfo", error);
}

static enum clr_code build(struct clr_device *device, struct clr_group_program *program, char **log,
                           struct clr_status *status)
{
    struct clr_grouper *grouper = clr_grouper_of(device);
    struct trial trial = {device, program};
    const struct clr_group_run run = {&trial, WAYS, run_trial};

    clr_group_key(&grouper->key, clr_group_trial_plan(program->trial),
                  clr_group_trial_kinds(program->trial));
    clr_group_text(&grouper->text, &grouper->key);
    if (clr_group_program_compile(program, grouper->text.text, device->context, &device->info, log,
                                  status) != CLR_OK)
        return status->code;
    return clr_group_test(device, program->trial, &run, status);
}

bool clr_grouper_build(struct clr_device *device, char **log, struct clr_status *status)
{
    struct clr_grouper *grouper = clr_grouper_of(device);
    struct clr_group_program *program;

    *log = NULL;
    if (grouper == NULL || grouper->status.code != CLR_OK)
        return false;
    program = (struct clr_group_program *)(void *)clr_row_programs_requested(&grouper->programs);
    if (program == NULL)
        return false;
    build(device, program, log, status);
    if (clr_device_unless_lost(device, status) == NULL) {
        grouper->status = *status;
        return false;
    }
    /* The trial's lookups are of no more use. */
    clr_lookup_cache_clear(&grouper->lookup_cache);
    clr_group_trial_free(program->trial);
    program->trial = NULL;
    return clr_row_programs_end_build(&grouper->programs, &program->row, status->code);
}

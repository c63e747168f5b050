#include "opencl/cells/cell_decoder_private.h"
#include "opencl/core/build.h"
#include "opencl/core/failures.h"
#include "opencl/core/kernels.h"

#include <stdio.h>
#include <string.h>

/* Work-items of a GPU's group, which takes a page: about as many as a page has cells. */
enum { GPU_GROUP_SIZE = 128 };

/* Groups that narrow a column: about as many as are resident at a time, which go over all rows. */
enum { GPU_GROUPS_PER_UNIT = 16, CPU_GROUPS_PER_UNIT = 4 };

/* Half of the local memory is left to what the kernel itself has, and to other groups. On a CPU
   device, where local memory is memory like any other, a copy would be of no use. */
static cl_int choose_sizes(struct clr_module *module, const struct clr_device_info *device)
{
    struct clr_cell_decoder *decoder = (struct clr_cell_decoder *)module;
    const bool cpu = device->type == CLR_DEVICE_CPU;
    const struct clr_group_limit limit = {.most = GPU_GROUP_SIZE};
    const struct clr_group_limit narrow_limit = {.most = GPU_GROUP_SIZE,
                                                 .local_per_item = CLR_NARROW_LOCAL};
    cl_ulong local = 0;
    cl_int error = clr_choose_group_size(device, module->kernels, 1, &limit, &decoder->group_size);

    if (error == CL_SUCCESS)
        error = clr_choose_group_size(device, module->kernels + 1, CLR_CELLS_KERNELS - 1,
                                      &narrow_limit, &decoder->narrow_group_size);
    decoder->narrow_groups = (device->compute_units > 0 ? device->compute_units : 1) *
                             (size_t)(cpu ? CPU_GROUPS_PER_UNIT : GPU_GROUPS_PER_UNIT);
    if (error != CL_SUCCESS || cpu)
        return error;
    error = clGetDeviceInfo(device->id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    decoder->copy_room = (size_t)(local / 2);
    return error;
}

static void release_stage(cl_command_queue queue, struct clr_stage *stage)
{
    clr_event_release(&stage->written);
    clr_event_release(&stage->decoded);
    clr_pinned_release(queue, &stage->pinned);
    clr_buffer_release(&stage->content);
    memset(stage, 0, sizeof *stage);
}

static void release(struct clr_module *module)
{
    struct clr_cell_decoder *decoder = (struct clr_cell_decoder *)module;
    int i;

    for (i = 0; i < CLR_MOST_STAGES; i++)
        release_stage(module->queues[CLR_CELL_TRANSFERS], &decoder->stages[i]);
    clr_skipped_pages_release(&decoder->skipped);
}

static void write_options(const struct clr_device_info *device, char *options, size_t size)
{
    snprintf(options, size, " -DDOUBLES=0 -DCPU=%d", device->type == CLR_DEVICE_CPU);
}

static const char *const kernel_names[CLR_CELLS_KERNELS] = {
    [CLR_CELLS_DECODE] = "decode_cells",
    [CLR_CELLS_BOUNDS] = "find_bounds",
    [CLR_CELLS_NARROW] = "narrow_values",
};

const struct clr_module_kind clr_cell_decoder_kind = {
    .attachment = {sizeof(struct clr_cell_decoder), "a decoder", clr_module_release},
    .shared = {clr_kernel_reals, clr_kernel_narrowing},
    .source = clr_kernel_cells,
    .kernel_names = kernel_names,
    .kernel_count = CLR_CELLS_KERNELS,
    .queue_count = 2,
    .write_options = write_options,
    .choose_sizes = choose_sizes,
    .release = release,
    .test = clr_cell_decoder_test,
};

/* ---- Stages. */

/* Writes a byte: drivers that find memory when a buffer is first used find it now, or never. */
static enum clr_code touch(cl_command_queue queue, cl_mem buffer, struct clr_status *status)
{
    const unsigned char zero = 0;
    cl_int error = clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 1, &zero, 0, NULL, NULL);

    return error == CL_SUCCESS ? CLR_OK
                               : clr_opencl_buffer_failed(status, "clEnqueueWriteBuffer", error);
}

static enum clr_code make_stage(struct clr_device *device, struct clr_stage *stage,
                                struct clr_status *status)
{
    const cl_command_queue queue = clr_cell_decoder_of(device)->module.queues[CLR_CELL_TRANSFERS];
    const struct clr_wanted_buffer wanted[] = {{&stage->content, CL_MEM_READ_ONLY, CLR_STAGE_SENT}};

    if (clr_pinned_make(device->context, queue, CLR_STAGE_SENT, &stage->pinned, status) != CLR_OK ||
        CLR_BUFFERS_MAKE(device->context, wanted, status) != CLR_OK)
        return status->code;
    return touch(queue, stage->content, status);
}

static enum clr_code make_stages(struct clr_device *device, int count, struct clr_status *status)
{
    struct clr_cell_decoder *decoder = clr_cell_decoder_of(device);

    while (decoder->count < count && status->code == CLR_OK) {
        if (make_stage(device, &decoder->stages[decoder->count], status) == CLR_OK)
            decoder->count++;
        else if (status->code == CLR_NOMEM)
            release_stage(decoder->module.queues[CLR_CELL_TRANSFERS],
                          &decoder->stages[decoder->count]);
    }
    return status->code;
}

enum clr_code clr_cell_decoder_open(struct clr_device *device, int stages, char **log,
                                    struct clr_status *status)
{
    if (clr_module_build(device, &clr_cell_decoder_kind, log, status) != CLR_OK)
        return status->code;
    make_stages(device, stages, status);
    clr_cell_decoder_recover(device, status);
    return clr_module_test(device, &clr_cell_decoder_kind, status);
}

void clr_cell_decoder_recover(struct clr_device *device, struct clr_status *status)
{
    struct clr_cell_decoder *decoder = clr_cell_decoder_of(device);
    int i;

    if (status->code != CLR_NOMEM)
        return;
    clr_queue_drain(decoder->module.queues[CLR_CELL_TRANSFERS], status);
    clr_queue_drain(decoder->module.queues[CLR_CELL_DECODING], status);
    for (i = 0; i < CLR_MOST_STAGES; i++) {
        clr_event_release(&decoder->stages[i].written);
        clr_event_release(&decoder->stages[i].decoded);
    }
    clr_event_release(&decoder->skipped.counted);
}

bool clr_cell_decoder_claim(struct clr_device *device)
{
    struct clr_cell_decoder *decoder = clr_cell_decoder_of(device);
    const bool was_claimed = decoder->claimed;

    decoder->claimed = true;
    return !was_claimed;
}

void clr_cell_decoder_release(struct clr_device *device)
{
    clr_cell_decoder_of(device)->claimed = false;
}

int clr_cell_decoder_stages(const struct clr_device *device)
{
    return clr_cell_decoder_of(device)->count;
}

unsigned char *clr_cell_decoder_stage(const struct clr_device *device, int stage)
{
    return clr_cell_decoder_of(device)->stages[stage].pinned.mapped;
}

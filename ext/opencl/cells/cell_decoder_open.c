#include "opencl/cells/cell_decoder_open.h"

#include "base/memory.h"
#include "opencl/cells/cell_decoder_parts.h"
#include "opencl/cells/cell_decoder_test.h"
#include "opencl/core/compile.h"
#include "opencl/core/device_private.h"
#include "opencl/core/failures.h"
#include "opencl/core/kernels.h"

#include <string.h>

/* Work-items of a GPU's group, which takes a page: about as many as a page has cells. */
enum { GPU_GROUP_SIZE = 128 };

static cl_int choose_size(struct clr_cell_decoder *decoder, const struct clr_device_info *device)
{
    size_t limit = GPU_GROUP_SIZE, multiple = 1;
    cl_int error;

    decoder->group_size = 1;
    if (device->type == CLR_DEVICE_CPU)
        return CL_SUCCESS;
    error = clr_limit_group(decoder->kernel, device->id, &limit, &multiple);
    if (multiple > 1 && limit > multiple)
        limit -= limit % multiple;
    decoder->group_size = limit;
    return error;
}

static enum clr_code build(struct clr_device *device, struct clr_cell_decoder *decoder, char **log,
                           struct clr_status *status)
{
    const char *sources[] = {clr_kernel_cells};
    cl_command_queue *queues[] = {&decoder->transfers, &decoder->decoding};
    const char *call = "clCreateKernel";
    cl_int error;
    cl_program program;
    int i;

    if (!device->info.fp64)
        return clr_status_set(status, CLR_DEVICE, 0, "the device has no exact double precision");
    program =
        clr_compile(device->context, device->info.id, 1, sources, "-cl-std=CL1.2", log, status);
    if (program == NULL)
        return status->code;
    decoder->kernel = clCreateKernel(program, "decode_cells", &error);
    for (i = 0; i < 2 && error == CL_SUCCESS; i++) {
        call = "clCreateCommandQueue";
        *queues[i] = clCreateCommandQueue(device->context, device->info.id, 0, &error);
    }
    if (error == CL_SUCCESS) {
        call = "clGetKernelWorkGroupInfo";
        error = choose_size(decoder, &device->info);
    }
    clReleaseProgram(program);
    return error == CL_SUCCESS ? CLR_OK : clr_opencl_failed(status, call, error);
}

static void release_stage(cl_command_queue queue, struct clr_stage *stage)
{
    const cl_mem buffers[] = {stage->pinned, stage->content};
    size_t i;

    clr_event_release(&stage->written);
    clr_event_release(&stage->decoded);
    if (stage->mapped != NULL)
        clEnqueueUnmapMemObject(queue, stage->pinned, stage->mapped, 0, NULL, NULL);
    for (i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        if (buffers[i] != NULL)
            clReleaseMemObject(buffers[i]);
    }
    memset(stage, 0, sizeof *stage);
}

/* Writes a byte: drivers that find memory when a buffer is first used find it now, or never. */
static enum clr_code touch(cl_command_queue queue, cl_mem buffer, struct clr_status *status)
{
    const unsigned char zero = 0;
    cl_int error = clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 1, &zero, 0, NULL, NULL);

    return error == CL_SUCCESS ? CLR_OK
                               : clr_opencl_buffer_failed(status, "clEnqueueWriteBuffer", error);
}

/* The host's side is pinned memory, where the driver has it: see clr_upload_open(). */
static enum clr_code make_stage(struct clr_device *device, struct clr_stage *stage,
                                struct clr_status *status)
{
    const cl_command_queue queue = clr_cell_decoder_of(device)->transfers;
    const struct {
        cl_mem *buffer;
        cl_mem_flags flags;
        size_t size;
    } wanted[] = {
        {&stage->pinned, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, CLR_STAGE_SENT},
        {&stage->content, CL_MEM_READ_ONLY, CLR_STAGE_SENT},
    };
    cl_int error;
    size_t i;

    for (i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        *wanted[i].buffer =
            clCreateBuffer(device->context, wanted[i].flags, wanted[i].size, NULL, &error);
        if (error != CL_SUCCESS)
            return clr_opencl_buffer_failed(status, "clCreateBuffer", error);
    }
    stage->mapped = clEnqueueMapBuffer(queue, stage->pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                       wanted[0].size, 0, NULL, NULL, &error);
    if (error != CL_SUCCESS)
        return clr_opencl_buffer_failed(status, "clEnqueueMapBuffer", error);
    return touch(queue, stage->content, status);
}

static enum clr_code make_stages(struct clr_device *device, int count, struct clr_status *status)
{
    struct clr_cell_decoder *decoder = clr_cell_decoder_of(device);

    while (decoder->count < count && status->code == CLR_OK) {
        if (make_stage(device, &decoder->stages[decoder->count], status) == CLR_OK)
            decoder->count++;
        else if (status->code == CLR_NOMEM)
            release_stage(decoder->transfers, &decoder->stages[decoder->count]);
    }
    return status->code;
}

static void close_cell_decoder(struct clr_device *device)
{
    struct clr_cell_decoder *decoder = clr_cell_decoder_of(device);
    int i;

    clr_device_detach(device, &decoder->attachment);
    for (i = 0; i < CLR_MOST_STAGES; i++)
        release_stage(decoder->transfers, &decoder->stages[i]);
    clr_odds_release(&decoder->odds);
    if (decoder->kernel != NULL)
        clReleaseKernel(decoder->kernel);
    if (decoder->transfers != NULL)
        clReleaseCommandQueue(decoder->transfers);
    if (decoder->decoding != NULL)
        clReleaseCommandQueue(decoder->decoding);
    clr_memory_free(decoder);
}

const struct clr_attachment_kind clr_cell_decoder_kind = {close_cell_decoder};

enum clr_code clr_cell_decoder_open(struct clr_device *device, int stages, char **log,
                                    struct clr_status *status)
{
    struct clr_cell_decoder *decoder = clr_cell_decoder_of(device);

    *log = NULL;
    if (decoder == NULL) {
        decoder = clr_memory_alloc(sizeof *decoder);
        if (decoder == NULL)
            return clr_status_set(status, CLR_NOMEM, 0, "no memory for a decoder");
        memset(decoder, 0, sizeof *decoder);
        clr_device_attach(device, &clr_cell_decoder_kind, &decoder->attachment);
        if (build(device, decoder, log, status) == CLR_NOMEM) {
            close_cell_decoder(device);
            return status->code;
        }
    } else {
        *status = decoder->status;
    }
    /* What there was no memory for is all that is done again: who asks may ask often. */
    if (status->code == CLR_OK)
        make_stages(device, stages, status);
    if (status->code == CLR_OK && !decoder->tested)
        decoder->tested = clr_cell_decoder_test(device, status) == CLR_OK;
    clr_cell_decoder_recover(device, status);
    /* After an error of OpenCL's in the test, the queues are in an unknown state: they are left. */
    if (status->code == CLR_DEVICE)
        decoder->status = *status;
    return status->code;
}

void clr_cell_decoder_recover(struct clr_device *device, struct clr_status *status)
{
    struct clr_cell_decoder *decoder = clr_cell_decoder_of(device);
    int i;

    if (status->code != CLR_NOMEM)
        return;
    clr_queue_drain(decoder->transfers, status);
    clr_queue_drain(decoder->decoding, status);
    for (i = 0; i < CLR_MOST_STAGES; i++) {
        clr_event_release(&decoder->stages[i].written);
        clr_event_release(&decoder->stages[i].decoded);
    }
    clr_event_release(&decoder->odds.counted);
}

enum clr_code clr_cell_decoder_state(const struct clr_device *device, struct clr_status *status)
{
    const struct clr_cell_decoder *decoder = clr_cell_decoder_of(device);

    if (decoder == NULL || (decoder->status.code == CLR_OK && !decoder->tested))
        return CLR_NOMEM;
    *status = decoder->status;
    return status->code;
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
    return clr_cell_decoder_of(device)->stages[stage].mapped;
}

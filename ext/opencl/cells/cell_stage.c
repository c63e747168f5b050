#include "opencl/cells/cell_decoder_private.h"
#include "opencl/core/failures.h"
#include "opencl/core/launch.h"
#include "opencl/memory/resident_column_private.h"

#include <string.h>

/* Sends the pages, and the places behind them. Stores the byte offset of those. */
static enum clr_code send(struct clr_cell_decoder *decoder, struct clr_stage *stage,
                          const struct clr_stage_content *content, cl_uint *places,
                          struct clr_status *status)
{
    const size_t places_size = content->count * sizeof *content->places;
    cl_int error;

    *places = (cl_uint)((content->bytes + 7) & ~(size_t)7);
    stage->bytes = *places + places_size;
    memcpy((unsigned char *)stage->pinned.mapped + *places, content->places, places_size);
    /* After the launches that read what was there before. */
    error = clEnqueueWriteBuffer(decoder->module.queues[CLR_CELL_TRANSFERS], stage->content,
                                 CL_FALSE, 0, stage->bytes, (unsigned char *)stage->pinned.mapped,
                                 stage->decoded != NULL,
                                 stage->decoded != NULL ? &stage->decoded : NULL, &stage->written);
    clr_event_release(&stage->decoded);
    if (error != CL_SUCCESS)
        return clr_opencl_buffer_failed(status, "clEnqueueWriteBuffer", error);
    /* The other queue is to wait for it (OpenCL 1.2, 5.15). */
    error = clFlush(decoder->module.queues[CLR_CELL_TRANSFERS]);
    return error == CL_SUCCESS ? CLR_OK : clr_opencl_failed(status, "clFlush", error);
}

/* The queue is in order: the first launch waits for the transfer, and the last one ends them. */
static enum clr_code launch(struct clr_cell_decoder *decoder, struct clr_stage *stage,
                            const struct clr_stage_content *content, cl_uint places,
                            const struct clr_cell_want *want, bool is_first, bool is_last,
                            struct clr_status *status)
{
    /* The database has the stage's pages, at least: as long may a payload be. */
    const cl_uint most = (cl_uint)content->bytes;
    const struct clr_field *field = want->field;
    const struct clr_scalar missing =
        field->is_real ? clr_scalar_to_real(field->missing) : field->missing;
    const cl_uint is_real = field->is_real, tag = missing.tag;
    const cl_int index = field->index;
    const struct clr_argument arguments[] = {
        CLR_VALUE(stage->content),
        CLR_VALUE(places),
        CLR_VALUE(content->usable_size),
        CLR_VALUE(most),
        CLR_VALUE(index),
        CLR_VALUE(is_real),
        CLR_VALUE(missing.bits),
        CLR_VALUE(tag),
        CLR_VALUE(want->column->values),
        CLR_VALUE(want->column->tags),
        CLR_VALUE(want->column->kinds),
        CLR_VALUE(decoder->skipped.bytes),
        CLR_VALUE(decoder->skipped.count),
    };

    return clr_launch_after(decoder->module.queues[CLR_CELL_DECODING], decoder->module.kernels[0],
                            CLR_ARGUMENTS(arguments), content->count, decoder->group_size,
                            is_first ? &stage->written : NULL, is_last ? &stage->decoded : NULL,
                            status);
}

/* Has the launches begin. */
static enum clr_code flush(struct clr_cell_decoder *decoder, struct clr_status *status)
{
    cl_int error =
        clr_skipped_pages_ask(&decoder->skipped, decoder->module.queues[CLR_CELL_DECODING]);

    if (error != CL_SUCCESS)
        return clr_opencl_buffer_failed(status, "clEnqueueReadBuffer", error);
    error = clFlush(decoder->module.queues[CLR_CELL_DECODING]);
    return error == CL_SUCCESS ? CLR_OK : clr_opencl_failed(status, "clFlush", error);
}

/* Waits for what has been begun, so that the stage is not under way. */
static enum clr_code abandon(struct clr_cell_decoder *decoder, struct clr_stage *stage,
                             struct clr_status *status)
{
    clr_queue_drain(decoder->module.queues[CLR_CELL_TRANSFERS], status);
    clr_queue_drain(decoder->module.queues[CLR_CELL_DECODING], status);
    clr_event_release(&stage->written);
    clr_event_release(&stage->decoded);
    return status->code;
}

enum clr_code clr_cell_decoder_send(struct clr_device *device, int stage,
                                    const struct clr_stage_content *content,
                                    const struct clr_cell_want *wants, int count,
                                    struct clr_status *status)
{
    struct clr_cell_decoder *decoder = clr_cell_decoder_of(device);
    struct clr_stage *used = &decoder->stages[stage];
    cl_uint places;
    int i;

    send(decoder, used, content, &places, status);
    for (i = 0; i < count && status->code == CLR_OK; i++)
        launch(decoder, used, content, places, &wants[i], i == 0, i == count - 1, status);
    used->launches = count;
    if (status->code == CLR_OK)
        flush(decoder, status);
    return status->code == CLR_NOMEM ? abandon(decoder, used, status) : status->code;
}

enum clr_code clr_cell_event_look(cl_event event, const char *call, bool *complete,
                                  struct clr_status *status)
{
    cl_int state = CL_QUEUED;
    cl_int error =
        clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);

    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clGetEventInfo", error);
    if (state < 0) /* an error that ended the command (OpenCL 1.2, 5.9) */
        return clr_opencl_failed(status, call, state);
    *complete = state == CL_COMPLETE;
    return CLR_OK;
}

enum clr_code clr_cell_decoder_receive(struct clr_device *device, int stage, bool wait,
                                       bool *complete, struct clr_device_work *work,
                                       struct clr_status *status)
{
    struct clr_stage *used = &clr_cell_decoder_of(device)->stages[stage];

    *complete = false;
    if (wait && clr_event_wait(used->written, status) != CLR_OK)
        return status->code;
    if (clr_cell_event_look(used->written, "clEnqueueWriteBuffer", complete, status) != CLR_OK ||
        !*complete ||
        clr_skipped_pages_take(&clr_cell_decoder_of(device)->skipped, status) != CLR_OK)
        return status->code;
    clr_event_release(&used->written);
    work->bytes += (int64_t)used->bytes;
    work->kernels += used->launches;
    work->passes += used->launches;
    return CLR_OK;
}

#include "opencl/cells/cell_decoder_private.h"
#include "opencl/core/failures.h"
#include "opencl/core/launch.h"
#include "opencl/memory/resident_column_private.h"

#include <string.h>

/* Bytes of a piece that the kernel copies, and its arguments before the columns. */
enum { PIECE = 16, ARGUMENTS = 10 };

/* Byte offsets in a stage that has been sent. */
struct sent {
    cl_uint places, wants;
};

static struct clr_stage_want want_of(const struct clr_field *field)
{
    const struct clr_scalar missing =
        field->is_real ? clr_scalar_to_real(field->missing) : field->missing;

    return (struct clr_stage_want){.missing_bits = missing.bits,
                                   .column = field->index,
                                   .missing_tag = missing.tag,
                                   .is_real = field->is_real};
}

/* Sends the pages, and behind them their places and what is wanted. */
static enum clr_code send(struct clr_cell_decoder *decoder, struct clr_stage *stage,
                          const struct clr_stage_content *content,
                          const struct clr_cell_want *const *wants, int count, struct sent *sent,
                          struct clr_status *status)
{
    unsigned char *const mapped = stage->pinned.mapped;
    const size_t places_size = content->count * sizeof *content->places;
    struct clr_stage_want want;
    cl_int error;
    int i;

    sent->places = (cl_uint)((content->bytes + 7) & ~(size_t)7);
    sent->wants = sent->places + (cl_uint)places_size;
    stage->bytes = sent->wants + (size_t)count * sizeof want;
    memcpy(mapped + sent->places, content->places, places_size);
    for (i = 0; i < count; i++) {
        want = want_of(wants[i]->field);
        memcpy(mapped + sent->wants + (size_t)i * sizeof want, &want, sizeof want);
    }
    /* After the launches that read what was there before. */
    error = clEnqueueWriteBuffer(decoder->module.queues[CLR_CELL_TRANSFERS], stage->content,
                                 CL_FALSE, 0, stage->bytes, mapped, stage->decoded != NULL,
                                 stage->decoded != NULL ? &stage->decoded : NULL, &stage->written);
    clr_event_release(&stage->decoded);
    if (error != CL_SUCCESS)
        return clr_opencl_buffer_failed(status, "clEnqueueWriteBuffer", error);
    /* The other queue is to wait for it (OpenCL 1.2, 5.15). */
    error = clFlush(decoder->module.queues[CLR_CELL_TRANSFERS]);
    return error == CL_SUCCESS ? CLR_OK : clr_opencl_failed(status, "clFlush", error);
}

/* Columns of the kernel's that a launch has no use for are its first one. */
static void set_columns(struct clr_argument *arguments, const struct clr_cell_want *const *wants,
                        int count)
{
    int k;

    for (k = 0; k < CLR_LAUNCH_WANTS; k++) {
        const struct clr_resident_column *column = wants[k < count ? k : 0]->column;

        *arguments++ = CLR_VALUE(column->values);
        *arguments++ = CLR_VALUE(column->tags);
        *arguments++ = CLR_VALUE(column->kinds);
    }
}

/* Decodes the columns from number `first` on, as many as one launch can. The queue is in order: the
   first launch waits for the transfer, and the last one ends them. */
static enum clr_code launch(struct clr_cell_decoder *decoder, struct clr_stage *stage,
                            const struct clr_stage_content *content, const struct sent *sent,
                            const struct clr_cell_want *const *wants, int first, int count,
                            struct clr_status *status)
{
    const int left = count - first, used = left < CLR_LAUNCH_WANTS ? left : CLR_LAUNCH_WANTS;
    /* The database has the stage's pages, at least: as long may a payload be. */
    const cl_uint most = (cl_uint)content->bytes, number = (cl_uint)used;
    const cl_uint at = sent->wants + (cl_uint)first * (cl_uint)sizeof(struct clr_stage_want);
    const size_t copy_size = (content->usable_size / PIECE + 2) * PIECE;
    const cl_uint is_copied = copy_size <= decoder->copy_room;
    struct clr_argument arguments[ARGUMENTS + 3 * CLR_LAUNCH_WANTS] = {
        CLR_VALUE(stage->content),
        CLR_VALUE(sent->places),
        CLR_VALUE(at),
        CLR_VALUE(number),
        CLR_VALUE(content->usable_size),
        CLR_VALUE(most),
        CLR_VALUE(is_copied),
        CLR_LOCAL(is_copied ? copy_size : PIECE),
        CLR_VALUE(decoder->skipped.bytes),
        CLR_VALUE(decoder->skipped.count),
    };

    set_columns(arguments + ARGUMENTS, wants + first, used);
    return clr_launch_after(
        decoder->module.queues[CLR_CELL_DECODING], decoder->module.kernels[CLR_CELLS_DECODE],
        CLR_ARGUMENTS(arguments), content->count, decoder->group_size,
        first == 0 ? &stage->written : NULL, used == left ? &stage->decoded : NULL, status);
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

/* The kernel reads a record once, from its first column on. */
static void sort(const struct clr_cell_want **sorted, const struct clr_cell_want *wants, int count)
{
    int i, k;

    for (i = 0; i < count; i++) {
        for (k = i; k > 0 && sorted[k - 1]->field->index > wants[i].field->index; k--)
            sorted[k] = sorted[k - 1];
        sorted[k] = &wants[i];
    }
}

enum clr_code clr_cell_decoder_send(struct clr_device *device, int stage,
                                    const struct clr_stage_content *content,
                                    const struct clr_cell_want *wants, int count,
                                    struct clr_status *status)
{
    struct clr_cell_decoder *decoder = clr_cell_decoder_of(device);
    struct clr_stage *used = &decoder->stages[stage];
    const struct clr_cell_want *sorted[CLR_MOST_COLUMNS];
    struct sent sent;
    int i;

    sort(sorted, wants, count);
    used->launches = 0;
    send(decoder, used, content, sorted, count, &sent, status);
    for (i = 0; i < count && status->code == CLR_OK; i += CLR_LAUNCH_WANTS, used->launches++)
        launch(decoder, used, content, &sent, sorted, i, count, status);
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

#include "opencl/cells/cell_decoder_private.h"
#include "opencl/core/failures.h"

#include <string.h>

/* The device is asked after so many stages again: to ask takes a third of the time of sending one.
 */
enum { ASK_EVERY = 16 };

static void release_buffers(struct clr_skipped_pages *skipped)
{
    clr_buffer_release(&skipped->bytes);
    clr_buffer_release(&skipped->count);
    skipped->room = 0;
}

void clr_skipped_pages_release(struct clr_skipped_pages *skipped)
{
    release_buffers(skipped);
    clr_event_release(&skipped->counted);
}

static enum clr_code make_room(struct clr_device *device, size_t leaves, struct clr_status *status)
{
    struct clr_skipped_pages *skipped = &clr_cell_decoder_of(device)->skipped;
    const struct clr_wanted_buffer wanted[] = {
        {&skipped->bytes, CL_MEM_READ_WRITE, leaves},
        {&skipped->count, CL_MEM_READ_WRITE, sizeof skipped->answer},
    };

    if (leaves <= skipped->room)
        return CLR_OK;
    release_buffers(skipped);
    if (CLR_BUFFERS_MAKE(device->context, wanted, status) == CLR_OK)
        skipped->room = leaves;
    else
        release_buffers(skipped);
    return status->code;
}

enum clr_code clr_cell_decoder_begin(struct clr_device *device, size_t leaves,
                                     struct clr_status *status)
{
    struct clr_cell_decoder *decoder = clr_cell_decoder_of(device);
    struct clr_skipped_pages *skipped = &decoder->skipped;
    const cl_uchar zero = 0;
    cl_int error = CL_SUCCESS;

    /* A question of those before is answered, late as it may be: nothing is under way. */
    if (skipped->counted != NULL && clr_event_wait(skipped->counted, status) != CLR_OK)
        return status->code;
    if (clr_skipped_pages_take(skipped, status) != CLR_OK ||
        make_room(device, leaves, status) != CLR_OK)
        return status->code;
    skipped->known = skipped->sends = 0;
    error = clEnqueueFillBuffer(decoder->module.queues[CLR_CELL_DECODING], skipped->bytes, &zero,
                                sizeof zero, 0, leaves, 0, NULL, NULL);
    if (error == CL_SUCCESS)
        error = clEnqueueFillBuffer(decoder->module.queues[CLR_CELL_DECODING], skipped->count,
                                    &zero, sizeof zero, 0, sizeof skipped->answer, 0, NULL, NULL);
    return error == CL_SUCCESS ? CLR_OK
                               : clr_opencl_buffer_failed(status, "clEnqueueFillBuffer", error);
}

cl_int clr_skipped_pages_ask(struct clr_skipped_pages *skipped, cl_command_queue queue)
{
    if (skipped->sends++ % ASK_EVERY != 0 || skipped->counted != NULL)
        return CL_SUCCESS;
    return clEnqueueReadBuffer(queue, skipped->count, CL_FALSE, 0, sizeof skipped->answer,
                               &skipped->answer, 0, NULL, &skipped->counted);
}

enum clr_code clr_skipped_pages_take(struct clr_skipped_pages *skipped, struct clr_status *status)
{
    bool complete = false;

    if (skipped->counted == NULL)
        return CLR_OK;
    if (clr_cell_event_look(skipped->counted, "clEnqueueReadBuffer", &complete, status) != CLR_OK)
        return status->code;
    if (!complete)
        return CLR_OK;
    skipped->known = skipped->answer;
    clr_event_release(&skipped->counted);
    return CLR_OK;
}

enum clr_code clr_cell_decoder_skipped(struct clr_device *device, size_t first, size_t count,
                                       uint8_t *skipped, struct clr_status *status)
{
    struct clr_cell_decoder *decoder = clr_cell_decoder_of(device);
    cl_int error =
        clEnqueueReadBuffer(decoder->module.queues[CLR_CELL_DECODING], decoder->skipped.bytes,
                            CL_TRUE, first, count, skipped, 0, NULL, NULL);

    return error == CL_SUCCESS ? CLR_OK
                               : clr_opencl_buffer_failed(status, "clEnqueueReadBuffer", error);
}

size_t clr_cell_decoder_skipped_count(const struct clr_device *device)
{
    return clr_cell_decoder_of(device)->skipped.known;
}

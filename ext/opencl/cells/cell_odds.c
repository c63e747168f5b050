#include "opencl/cells/cell_decoder_parts.h"
#include "opencl/core/device_private.h"
#include "opencl/core/failures.h"

#include <string.h>

/* The device is asked after so many stages again: to ask takes a third of the time of sending one.
 */
enum { ASK_EVERY = 16 };

static void release_buffers(struct clr_odds *odds)
{
    if (odds->bytes != NULL)
        clReleaseMemObject(odds->bytes);
    if (odds->count != NULL)
        clReleaseMemObject(odds->count);
    odds->bytes = odds->count = NULL;
    odds->room = 0;
}

void clr_odds_release(struct clr_odds *odds)
{
    release_buffers(odds);
    if (odds->counted != NULL)
        clReleaseEvent(odds->counted);
    odds->counted = NULL;
}

static enum clr_code make_room(struct clr_device *device, size_t leaves, struct clr_status *status)
{
    struct clr_odds *odds = &clr_cell_decoder_of(device)->odds;
    cl_int error;

    if (leaves <= odds->room)
        return CLR_OK;
    release_buffers(odds);
    odds->bytes = clCreateBuffer(device->context, CL_MEM_READ_WRITE, leaves, NULL, &error);
    if (error == CL_SUCCESS)
        odds->count =
            clCreateBuffer(device->context, CL_MEM_READ_WRITE, sizeof odds->answer, NULL, &error);
    if (error == CL_SUCCESS)
        odds->room = leaves;
    else
        release_buffers(odds);
    return error == CL_SUCCESS ? CLR_OK : clr_opencl_buffer_failed(status, "clCreateBuffer", error);
}

enum clr_code clr_cell_decoder_begin(struct clr_device *device, size_t leaves,
                                     struct clr_status *status)
{
    struct clr_cell_decoder *decoder = clr_cell_decoder_of(device);
    struct clr_odds *odds = &decoder->odds;
    const cl_uchar zero = 0;
    cl_int error = CL_SUCCESS;

    /* A question of those before is answered, late as it may be: nothing is under way. */
    if (odds->counted != NULL && clr_event_wait(odds->counted, status) != CLR_OK)
        return status->code;
    if (clr_odds_take(odds, status) != CLR_OK || make_room(device, leaves, status) != CLR_OK)
        return status->code;
    odds->known = odds->sends = 0;
    error = clEnqueueFillBuffer(decoder->decoding, odds->bytes, &zero, sizeof zero, 0, leaves, 0,
                                NULL, NULL);
    if (error == CL_SUCCESS)
        error = clEnqueueFillBuffer(decoder->decoding, odds->count, &zero, sizeof zero, 0,
                                    sizeof odds->answer, 0, NULL, NULL);
    return error == CL_SUCCESS ? CLR_OK
                               : clr_opencl_buffer_failed(status, "clEnqueueFillBuffer", error);
}

cl_int clr_odds_ask(struct clr_odds *odds, cl_command_queue queue)
{
    if (odds->sends++ % ASK_EVERY != 0 || odds->counted != NULL)
        return CL_SUCCESS;
    return clEnqueueReadBuffer(queue, odds->count, CL_FALSE, 0, sizeof odds->answer, &odds->answer,
                               0, NULL, &odds->counted);
}

enum clr_code clr_odds_take(struct clr_odds *odds, struct clr_status *status)
{
    bool complete = false;

    if (odds->counted == NULL)
        return CLR_OK;
    if (clr_cell_event_look(odds->counted, "clEnqueueReadBuffer", &complete, status) != CLR_OK)
        return status->code;
    if (!complete)
        return CLR_OK;
    odds->known = odds->answer;
    clReleaseEvent(odds->counted);
    odds->counted = NULL;
    return CLR_OK;
}

enum clr_code clr_cell_decoder_odds(struct clr_device *device, size_t first, size_t count,
                                    uint8_t *odds, struct clr_status *status)
{
    struct clr_cell_decoder *decoder = clr_cell_decoder_of(device);
    cl_int error = clEnqueueReadBuffer(decoder->decoding, decoder->odds.bytes, CL_TRUE, first,
                                       count, odds, 0, NULL, NULL);

    return error == CL_SUCCESS ? CLR_OK
                               : clr_opencl_buffer_failed(status, "clEnqueueReadBuffer", error);
}

size_t clr_cell_decoder_odd_count(const struct clr_device *device)
{
    return clr_cell_decoder_of(device)->odds.known;
}

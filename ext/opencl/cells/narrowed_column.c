#include "opencl/cells/narrowed_column.h"

#include "base/memory.h"
#include "numeric/values/column.h"
#include "opencl/cells/cell_decoder_private.h"
#include "opencl/core/buffers.h"
#include "opencl/core/failures.h"
#include "opencl/core/launch.h"
#include "opencl/memory/resident_column_private.h"

/* What a group has found, as kernels/columns/narrowing.cl has it. */
struct clr_found_bounds {
    int64_t least, greatest;
    int64_t low, high;
    int64_t power;
};

_Static_assert(sizeof(struct clr_found_bounds) == CLR_NARROW_LOCAL,
               "a work-item has its bounds in local memory");

/* What the work on one column needs. found: of each group, and then, in its beginning, whether a
   value did not fit. */
struct narrowing {
    const struct clr_cell_decoder *decoder;
    cl_command_queue queue;
    cl_ulong rows;
    size_t groups;
    cl_mem found, words;
};

static enum clr_code read_found(const struct narrowing *narrowing, void *to, size_t size,
                                struct clr_status *status)
{
    const cl_int error = clEnqueueReadBuffer(narrowing->queue, narrowing->found, CL_TRUE, 0, size,
                                             to, 0, NULL, NULL);

    return error == CL_SUCCESS ? CLR_OK
                               : clr_opencl_buffer_failed(status, "clEnqueueReadBuffer", error);
}

/* Returns the bounds of all groups' rows, as clr_frame_find() does. */
static struct clr_frame join_found(const struct clr_found_bounds *found, size_t groups)
{
    struct clr_frame bits = CLR_FRAME_OF_NONE, decimals = CLR_FRAME_OF_NONE;
    bool are_decimals = true;
    size_t i;

    for (i = 0; i < groups; i++) {
        const struct clr_frame own = {.known_least = found[i].least,
                                      .known_greatest = found[i].greatest};
        const struct clr_frame own_decimals = {.known_least = found[i].low,
                                               .known_greatest = found[i].high,
                                               .power = (double)found[i].power};

        clr_frame_join(&bits, &own);
        are_decimals = are_decimals && found[i].power != 0;
        if (are_decimals)
            clr_frame_join(&decimals, &own_decimals);
    }
    return are_decimals && (decimals.known_least != 0 || decimals.known_greatest != 0) ? decimals
                                                                                       : bits;
}

static enum clr_code find_bounds(const struct narrowing *narrowing,
                                 const struct clr_resident_column *column, struct clr_frame *bounds,
                                 struct clr_status *status)
{
    const size_t size = narrowing->groups * sizeof(struct clr_found_bounds);
    const struct clr_argument arguments[] = {
        CLR_VALUE(column->values),
        CLR_VALUE(narrowing->rows),
        CLR_LOCAL(narrowing->decoder->narrow_group_size * sizeof(struct clr_found_bounds)),
        CLR_VALUE(narrowing->found),
    };
    struct clr_found_bounds *found = clr_memory_alloc(size);

    if (found == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory to narrow a column");
    if (clr_launch_after(narrowing->queue, narrowing->decoder->module.kernels[CLR_CELLS_BOUNDS],
                         CLR_ARGUMENTS(arguments), narrowing->groups,
                         narrowing->decoder->narrow_group_size, NULL, NULL, status) == CLR_OK &&
        read_found(narrowing, found, size, status) == CLR_OK)
        *bounds = join_found(found, narrowing->groups);
    clr_memory_free(found);
    return status->code;
}

/* Makes the words of a frame. *fits: all values have theirs. */
static enum clr_code narrow(struct narrowing *narrowing, const struct clr_device *device,
                            const struct clr_resident_column *column, const struct clr_frame *frame,
                            bool *fits, struct clr_status *status)
{
    const struct clr_wanted_buffer wanted[] = {
        {&narrowing->words, CL_MEM_READ_WRITE, narrowing->rows * frame->bytes}};
    const cl_uint bytes = frame->bytes, none = 0;
    const cl_long least = frame->least, power = (cl_long)frame->power;
    const struct clr_argument arguments[] = {
        CLR_VALUE(column->values),
        CLR_VALUE(narrowing->rows),
        CLR_VALUE(bytes),
        CLR_VALUE(least),
        CLR_VALUE(power),
        CLR_VALUE(narrowing->words),
        CLR_VALUE(narrowing->found),
    };
    cl_uint unfit = 1;
    cl_int error;

    if (CLR_BUFFERS_MAKE(device->context, wanted, status) != CLR_OK)
        return status->code;
    error = clEnqueueFillBuffer(narrowing->queue, narrowing->found, &none, sizeof none, 0,
                                sizeof none, 0, NULL, NULL);
    if (error != CL_SUCCESS)
        return clr_opencl_buffer_failed(status, "clEnqueueFillBuffer", error);
    if (clr_launch_after(narrowing->queue, narrowing->decoder->module.kernels[CLR_CELLS_NARROW],
                         CLR_ARGUMENTS(arguments), narrowing->groups,
                         narrowing->decoder->narrow_group_size, NULL, NULL, status) == CLR_OK)
        read_found(narrowing, &unfit, sizeof unfit, status);
    *fits = unfit == 0;
    return status->code;
}

/* Has the column keep the words. */
static void take(struct narrowing *narrowing, struct clr_resident_column *column,
                 const struct clr_frame *frame)
{
    clr_buffer_release(&column->values);
    column->values = narrowing->words;
    narrowing->words = NULL;
    column->kind = clr_kind_framed(column->kind, frame);
    clr_resident_column_set_frame(column, frame);
    column->copied = clr_resident_column_size(column->kind, column->rows);
}

static enum clr_code run(struct narrowing *narrowing, const struct clr_device *device,
                         struct clr_resident_column *column, struct clr_status *status)
{
    const struct clr_wanted_buffer wanted[] = {
        {&narrowing->found, CL_MEM_READ_WRITE,
         narrowing->groups * sizeof(struct clr_found_bounds)}};
    struct clr_frame frame;
    bool fits = false;

    if (CLR_BUFFERS_MAKE(device->context, wanted, status) != CLR_OK ||
        find_bounds(narrowing, column, &frame, status) != CLR_OK)
        return status->code;
    frame = clr_frame_choose(&frame, 1);
    if (frame.bytes != 0 && narrow(narrowing, device, column, &frame, &fits, status) == CLR_OK &&
        fits)
        take(narrowing, column, &frame);
    return status->code;
}

enum clr_code clr_decoded_column_narrow(struct clr_device *device,
                                        struct clr_resident_column *column,
                                        struct clr_status *status)
{
    const struct clr_cell_decoder *decoder = clr_cell_decoder_of(device);
    struct narrowing narrowing = {.decoder = decoder,
                                  .queue = decoder->module.queues[CLR_CELL_DECODING],
                                  .rows = column->rows,
                                  .groups = decoder->narrow_groups};

    if (column->rows == 0 || !clr_kind_has_values(column->kind))
        return CLR_OK;
    run(&narrowing, device, column, status);
    clr_buffer_release(&narrowing.found);
    clr_buffer_release(&narrowing.words);
    /* The queue reads the values, at most, of which the column keeps all bytes then. */
    if (status->code == CLR_NOMEM)
        clr_status_clear(status);
    return status->code;
}

/* What a decoder of cells is made of, for ext/opencl alone. */
#ifndef CLR_OPENCL_CELL_DECODER_PRIVATE_H
#define CLR_OPENCL_CELL_DECODER_PRIVATE_H

#include "numeric/scan/scan.h"
#include "opencl/cells/cell_decoder.h"
#include "opencl/core/buffers.h"
#include "opencl/core/module_private.h"

#include <stdbool.h>
#include <stddef.h>

/* Columns that a launch decodes at most; as kernels/columns/cells.cl has it. */
enum { CLR_LAUNCH_WANTS = 8 };

/* What is wanted of each cell, as kernels/columns/cells.cl has it. */
struct clr_stage_want {
    int64_t missing_bits;
    int32_t column; /* in the records; below 0: the rowid */
    uint8_t missing_tag, is_real, unused[2];
};

/* Bytes of a stage that are sent: pages, then their places, and then what is wanted. */
enum {
    CLR_STAGE_SENT = CLR_STAGE_BYTES + CLR_STAGE_LEAVES * (int)sizeof(struct clr_leaf_place) +
                     CLR_MOST_COLUMNS * (int)sizeof(struct clr_stage_want),
};

struct clr_stage {
    struct clr_pinned pinned; /* the host's side: CLR_STAGE_SENT bytes */
    cl_mem content;           /* the device's side */
    cl_event written;         /* the transfer that is under way, or NULL */
    cl_event decoded; /* the last launch that reads the content, or NULL if there was none */
    size_t bytes;     /* sent */
    int launches;
};

/* What the device says of skipped pages: a byte for each leaf, and their number. */
struct clr_skipped_pages {
    cl_mem bytes, count; /* count: as bytes, at its beginning */
    size_t room;         /* of bytes */
    cl_event counted;    /* the last question about the count, until it is answered */
    cl_uint answer;      /* where that goes */
    size_t known;        /* the last one */
    unsigned sends;      /* since the beginning */
};

/* The module's kernels: those behind the first one are of kernels/columns/narrowing.cl, which takes
   so many bytes of local memory for each work-item. */
enum { CLR_CELLS_DECODE, CLR_CELLS_BOUNDS, CLR_CELLS_NARROW, CLR_CELLS_KERNELS };
enum { CLR_NARROW_LOCAL = 40 };

/* The module's queues, which are in order; a stage's first launch waits for its bytes. */
enum { CLR_CELL_TRANSFERS, CLR_CELL_DECODING };

struct clr_cell_decoder {
    struct clr_module module;
    size_t group_size; /* work-items of a group; tests change it */
    size_t copy_room;  /* bytes of local memory for a page; 0: it is read where it is; likewise */
    size_t narrow_group_size, narrow_groups; /* likewise, of the others */
    bool claimed;
    struct clr_skipped_pages skipped;
    int count; /* of stages that there are */
    struct clr_stage stages[CLR_MOST_STAGES];
};

/* Stores whether a command has ended, by its event; `call` is what enqueued it. Returns CLR_OK or
   CLR_DEVICE. */
enum clr_code clr_cell_event_look(cl_event event, const char *call, bool *complete,
                                  struct clr_status *status);

/* Releases everything. */
void clr_skipped_pages_release(struct clr_skipped_pages *skipped);

/* Counts a stage that has been sent, and asks for the number of skipped pages now and then. Returns
   OpenCL's error. */
cl_int clr_skipped_pages_ask(struct clr_skipped_pages *skipped, cl_command_queue queue);

/* Takes the answer, if it is there. */
enum clr_code clr_skipped_pages_take(struct clr_skipped_pages *skipped, struct clr_status *status);

/*
 * The module's test: decodes pages with values of every serial type, short records, payloads that
 * do not end in the page, and skipped pages of each sort, in all stages at once, and compares the
 * columns with what was put into the pages.
 */
enum clr_code clr_cell_decoder_test(struct clr_device *device, struct clr_status *status);

/* The part of it that narrows columns, of INTEGERs and REALs that can be kept in few bytes or
   can't, and compares what they are with what the host makes of them. */
enum clr_code clr_narrowed_column_test(struct clr_device *device, struct clr_status *status);

/* Returns the device's, or NULL while it has none. */
static inline struct clr_cell_decoder *clr_cell_decoder_of(const struct clr_device *device)
{
    return clr_device_find(device, &clr_cell_decoder_kind.attachment);
}

#endif

/*
 * A device's decoder of leaf pages: from staging buffers, which hold pages as a database file has
 * them, values go straight into columns in the device's memory; see kernels/columns/cells.cl. As
 * for all of a device, one thread at a time calls these, but any thread may fill a stage that is
 * not under way. Errors of OpenCL are final, as in opencl/core/device.h.
 */
#ifndef CLR_OPENCL_CELL_DECODER_H
#define CLR_OPENCL_CELL_DECODER_H

#include "base/status.h"
#include "numeric/values/field.h"
#include "opencl/core/module.h"
#include "opencl/memory/resident_column.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A stage: bytes of pages, and leaf pages of 512 bytes that it has room for; how many there are. */
enum { CLR_STAGE_BYTES = 2 << 20, CLR_STAGE_LEAVES = CLR_STAGE_BYTES / 512, CLR_MOST_STAGES = 24 };

/* Module: see opencl/core/module.h. */
extern const struct clr_module_kind clr_cell_decoder_kind;

/* A leaf page in a stage, whose header the host has checked; as kernels/columns/cells.cl has it. */
struct clr_leaf_place {
    uint64_t row;      /* of its first cell, in the columns */
    uint32_t at;       /* byte offset of the page in the stage, a multiple of 512 */
    uint32_t pointers; /* byte offset of the cell pointers in the page */
    uint32_t cells;    /* 1 or more; the pointers are within the page */
    uint32_t leaf;     /* a number of its own, below those of clr_cell_decoder_begin() */
};

/* A value that is wanted of each cell. */
struct clr_cell_want {
    const struct clr_field *field; /* without bytes; where `missing` is UNSURE and needed, the page
                                      is skipped */
    struct clr_resident_column *column; /* where it goes; has room for the rows, see below */
};

/*
 * What lies in a stage: different pages of one database. A payload that would be longer than all of
 * them, and so perhaps than the database, has its page skipped.
 */
struct clr_stage_content {
    size_t bytes;         /* of pages, from the stage's first on */
    uint32_t usable_size; /* bytes of a page: the page size without what is reserved at its end */
    const struct clr_leaf_place *places;
    size_t count; /* of places, 1 to CLR_STAGE_LEAVES */
};

/*
 * Opens the module with `stages` stages, 1 to CLR_MOST_STAGES, which the test goes through as well.
 * Returns as clr_module_open().
 */
enum clr_code clr_cell_decoder_open(struct clr_device *device, int stages, char **log,
                                    struct clr_status *status);

/*
 * After a failure with CLR_NOMEM in status: waits for what is under way, after which no stage is.
 * If that fails as well, the code becomes CLR_DEVICE. Other codes: nothing is done.
 */
void clr_cell_decoder_recover(struct clr_device *device, struct clr_status *status);

/* Returns how many stages there are, and the memory of one: mapped for good, CLR_STAGE_BYTES and
   more. The decoder is open. */
int clr_cell_decoder_stages(const struct clr_device *device);
unsigned char *clr_cell_decoder_stage(const struct clr_device *device, int stage);

/* Begins with pages of which none is skipped; their leaves are numbered from 0 to leaves - 1.
   Returns CLR_OK; CLR_NOMEM: no room on the device; CLR_DEVICE. Nothing may be under way. */
enum clr_code clr_cell_decoder_begin(struct clr_device *device, size_t leaves,
                                     struct clr_status *status);

/*
 * Sends a stage's content and starts its decoding, into `count` columns, 1 to CLR_MOST_COLUMNS, in
 * any order. The stage is under way then, and the places are not needed any more. Returns CLR_OK;
 * CLR_NOMEM: no room on the device, nothing is under way, and the rows are undefined; CLR_DEVICE.
 */
enum clr_code clr_cell_decoder_send(struct clr_device *device, int stage,
                                    const struct clr_stage_content *content,
                                    const struct clr_cell_want *wants, int count,
                                    struct clr_status *status);

/*
 * Asks for, or, if `wait`, waits for the end of a stage's way to the device. *complete: it has
 * ended, the stage can be filled again, and work is increased.
 */
enum clr_code clr_cell_decoder_receive(struct clr_device *device, int stage, bool wait,
                                       bool *complete, struct clr_device_work *work,
                                       struct clr_status *status);

/*
 * Waits until all that was sent has been decoded, and stores which of `count` leaves from `first`
 * on have skipped pages, that are left to the host: skipped[i] is not 0 where a cell is not sound,
 * rowids do not ascend, or a value is not all in the page. The rows of such a page are undefined.
 */
enum clr_code clr_cell_decoder_skipped(struct clr_device *device, size_t first, size_t count,
                                       uint8_t *skipped, struct clr_status *status);

/* Returns how many pages are skipped, as far as is known: the device is asked now and then. */
size_t clr_cell_decoder_skipped_count(const struct clr_device *device);

/* Takes the open decoder for somebody, until it is released. Returns false if somebody has it. */
bool clr_cell_decoder_claim(struct clr_device *device);
void clr_cell_decoder_release(struct clr_device *device);

#endif

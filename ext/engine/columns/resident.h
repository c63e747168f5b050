/*
 * Columns that lie in a device's memory. All functions may be called by any thread; the OpenCL
 * calls are made by the device's worker.
 */
#ifndef CLR_ENGINE_RESIDENT_H
#define CLR_ENGINE_RESIDENT_H

#include "engine/worker/worker.h"
#include "numeric/scan/scan.h"
#include "numeric/values/column.h"

#include <stddef.h>

/* A copy of a column, or of some of its rows, on a device; or these rows themselves, which a device
   shares whose memory is the host's. */
struct clr_resident;

enum clr_residence { CLR_RESIDENT_COMING, CLR_RESIDENT_READY, CLR_RESIDENT_FAILED };

/*
 * Starts copying rows of a column, so many from row `first` on, their values or their codes, to the
 * worker's device, in the background: staged through mapped buffers in pieces, between which the
 * worker serves its other jobs. Takes a reference to the column and drops it when the copy is
 * complete or has failed. A device whose memory is the host's gets no copy, unless it needs the
 * column in another form, the rows are not aligned for it, or its driver refuses to: then the
 * reference is kept as long as the resident, and if the device fails to the end of the process.
 * Returns NULL without memory. The column's values must not change any more.
 */
struct clr_resident *clr_resident_new(struct clr_worker *worker, struct clr_column *column,
                                      size_t first, size_t rows);

/*
 * Starts making a copy of a column from that of another one, which may be any as long as it is not
 * freed: see clr_sharded_change(). Returns NULL as that does.
 */
struct clr_resident *clr_resident_change(struct clr_resident *before, struct clr_column *column,
                                         const struct clr_row_ranges *ranges);

/*
 * Returns how far it is. FAILED: no room on the device, or a device that failed. If it may succeed
 * another time, the copy is started again now and then by who asks this, and is COMING then.
 */
enum clr_residence clr_resident_state(struct clr_resident *resident);

/* Whether it has FAILED; it is not tried again for that. */
bool clr_resident_has_failed(const struct clr_resident *resident);

/* Returns the bytes of device memory that it takes, none of a column that is shared or where it has
   FAILED. */
size_t clr_resident_size(const struct clr_resident *resident);

/* Returns the bytes that a copy of so many rows of a column would take of the worker's device: none
   where it is to be shared. */
size_t clr_resident_cost(const struct clr_worker *worker, const struct clr_column *column,
                         size_t rows);

/* Returns whether the column is shared, or is to be. */
bool clr_resident_is_shared(const struct clr_resident *resident);

/* For the owner: whether the column is shared, and nothing is under way that reads it or could
   begin to. Then it may be changed, if the resident is not used any more. */
bool clr_resident_lends(const struct clr_resident *resident);

/* Returns the bytes of columns of tables that this process has copied to devices. */
int64_t clr_resident_copied(void);

/* For the owner: gives the device's memory back, once nobody uses it, and the object. Never waits.
   NULL is fine. */
void clr_resident_free(struct clr_resident *resident);

#endif

/*
 * The values of a column in a device's memory, sorted: a copy of its own. As for all of a device,
 * one thread at a time calls these, except for clr_sorted_column_size(). Errors of OpenCL are
 * final, as in opencl/core/device.h.
 *
 * What is sorted are keys: INTEGERs as they are, and of REALs clr_real_to_key()
 * (numeric/values/value.h), so that -0.0 comes right before +0.0.
 */
#ifndef CLR_OPENCL_SORTED_COLUMN_H
#define CLR_OPENCL_SORTED_COLUMN_H

#include "base/status.h"
#include "numeric/scan/scan.h"
#include "opencl/core/device.h"
#include "opencl/memory/resident_column.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clr_sorted_column;

/* The most ranks that are asked for at a time: for each question of a scan two neighbours, and the
   ends. */
enum { CLR_MOST_RANKS = 2 * CLR_MOST_QUESTIONS + 2 };

/* Runs of equal keys; -0.0 is equal to +0.0. */
struct clr_runs {
    uint64_t distinct; /* how many there are */
    uint64_t longest;  /* the keys of the longest one; 0 if there are none */
    int64_t mode;      /* the least key of which there are so many; of zeros, that of +0.0 */
};

/* Returns a column of that kind, CLR_TAG_INTEGER or CLR_TAG_REAL, without memory on the device yet,
   or NULL. */
struct clr_sorted_column *clr_sorted_column_new(uint8_t kind, size_t rows);

/*
 * Does the next step of sorting the source, which is complete and has that kind and number of rows:
 * makes the buffers, or launches what takes some milliseconds and waits for what the step before
 * has launched. The source is not needed any more once *complete becomes true. The sorter
 * (sorter.h) is open. Returns CLR_OK; CLR_NOMEM: no room on the device, which stays usable, or on
 * the host; CLR_INVALID: 2^32 rows or more; CLR_DEVICE. After a failure only
 * clr_sorted_column_free() may follow.
 */
enum clr_code clr_sorted_column_step(struct clr_device *device, struct clr_sorted_column *sorted,
                                     const struct clr_resident_column *source, bool *complete,
                                     struct clr_status *status);

/* What sorting has cost so far. */
const struct clr_device_work *clr_sorted_column_work(const struct clr_sorted_column *sorted);

/* What the runs are; sorting is complete. */
const struct clr_runs *clr_sorted_column_runs(const struct clr_sorted_column *sorted);

/*
 * Reads the keys of `count` ranks (0: the least key; each below the rows), at most CLR_MOST_RANKS,
 * in the order of the ranks: one launch and one transfer, however many they are. Sorting is
 * complete. work is increased. Returns CLR_OK; CLR_NOMEM: no room on the device, which stays
 * usable; CLR_DEVICE.
 */
enum clr_code clr_sorted_column_find(struct clr_device *device,
                                     const struct clr_sorted_column *sorted, const uint64_t *ranks,
                                     int count, int64_t *keys, struct clr_device_work *work,
                                     struct clr_status *status);

/* Reads `count` keys from rank `first` on, none of them past the rows. Otherwise as above, without
   CLR_NOMEM. */
enum clr_code clr_sorted_column_read(struct clr_device *device,
                                     const struct clr_sorted_column *sorted, uint64_t first,
                                     size_t count, int64_t *keys, struct clr_device_work *work,
                                     struct clr_status *status);

/* Returns the bytes on the device that the keys of so many rows take: while they are being sorted
   there are two copies, and counts of digits, which are little beside them. */
size_t clr_sorted_column_size(size_t rows, bool complete);

/* Gives back the device's memory and the column. device is NULL for one that has failed: what lies
   there is left to the end of the process. No column is fine. */
void clr_sorted_column_free(struct clr_device *device, struct clr_sorted_column *sorted);

#endif

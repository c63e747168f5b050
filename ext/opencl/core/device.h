/*
 * An opened device: its context, and what the parts of this floor keep with it. All functions on
 * one device, and on what is on it, are called by one thread at a time: that of its worker. Errors
 * of OpenCL are final, see clr_device_unless_lost(): the device is not even closed then.
 */
#ifndef CLR_OPENCL_DEVICE_H
#define CLR_OPENCL_DEVICE_H

#include "base/status.h"
#include "opencl/core/catalog.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a piece of work cost; times in nanoseconds. */
struct clr_device_work {
    int64_t bytes, kernels, passes;
    int64_t transfer_time; /* filling the staging buffer, and the transfers by event profiling */
    int64_t kernel_time;   /* by event profiling */
};

/* Increases work by what was done. */
static inline void clr_device_work_add(struct clr_device_work *work,
                                       const struct clr_device_work *done)
{
    work->bytes += done->bytes;
    work->kernels += done->kernels;
    work->passes += done->passes;
    work->transfer_time += done->transfer_time;
    work->kernel_time += done->kernel_time;
}

struct clr_device;

/* Opens a device. On failure returns CLR_DEVICE or CLR_NOMEM and stores NULL. */
enum clr_code clr_device_open(const struct clr_device_info *info, struct clr_device **device,
                              struct clr_status *status);

/* Releases everything; nothing may be under way. NULL is fine. */
void clr_device_close(struct clr_device *device);

/*
 * Builds and tests one of the programs that scans, groups and histograms have asked for, while none
 * of these is under way; a failure, in status, concerns it alone. *log as in clr_program_build().
 * Returns whether there was one.
 */
bool clr_device_build(struct clr_device *device, char **log, struct clr_status *status);

/* ---- What a device is made of, for the files that work on it: ext/opencl alone. */

/*
 * What a part of this floor keeps with a device, made when it is first needed: the part's own
 * structure begins with it. The device knows of it only how it is given back.
 */
struct clr_device_part {
    const struct clr_device_part_kind *kind;
    struct clr_device_part *next;
};

/* A part has one, a constant. */
struct clr_device_part_kind {
    size_t size;      /* bytes of the part's structure */
    const char *what; /* the part in words: "no memory for ..." */
    /* Gives back what the part keeps with the device; the structure itself is the device's. */
    void (*release)(struct clr_device_part *attachment);
    /* Does what clr_device_build() says, of the part's programs. NULL: it has none. */
    bool (*build)(struct clr_device *device, struct clr_device_part *attachment, char **log,
                  struct clr_status *status);
};

struct clr_device {
    struct clr_device_info info;
    struct _cl_context *context;         /* a cl_context */
    struct clr_device_part *attachments; /* the last one that was made first */
};

/* Gives a device an attachment, which it has none of this kind of: zeroed. Returns the structure
   that begins with it, or NULL with CLR_NOMEM in status. */
void *clr_device_attach(struct clr_device *device, const struct clr_device_part_kind *kind,
                        struct clr_status *status);

/* Gives back one that the device has. */
void clr_device_detach(struct clr_device *device, struct clr_device_part *attachment);

/* Returns the device's attachment of a kind, as the structure that begins with it, or NULL. */
void *clr_device_find(const struct clr_device *device, const struct clr_device_part_kind *kind);

/*
 * Returns the device for what a test gives back; or NULL after an error of OpenCL's, when nothing
 * is known of what lies there.
 */
static inline struct clr_device *clr_device_unless_lost(struct clr_device *device,
                                                        const struct clr_status *status)
{
    return status->code == CLR_DEVICE && status->error != 0 ? NULL : device;
}

#endif

/* What a device is made of, for the files that work on it: ext/opencl alone. */
#ifndef CLR_OPENCL_DEVICE_PRIVATE_H
#define CLR_OPENCL_DEVICE_PRIVATE_H

#include "opencl/core/api.h"
#include "opencl/core/device.h"

#include <stddef.h>

/*
 * What a part of this floor keeps with a device, made when it is first needed: the part's own
 * structure begins with it. The device knows of it only how it is given back.
 */
struct clr_attachment {
    const struct clr_attachment_kind *kind;
    struct clr_attachment *next;
};

/* A part has one, a constant. */
struct clr_attachment_kind {
    size_t size;      /* bytes of the part's structure */
    const char *what; /* the part in words: "no memory for ..." */
    /* Gives back what the part keeps with the device; the structure itself is the device's. */
    void (*release)(struct clr_attachment *attachment);
};

struct clr_device {
    struct clr_device_info info;
    cl_context context;
    struct clr_attachment *attachments; /* the last one that was made first */
};

/* Gives a device an attachment, which it has none of this kind of: zeroed. Returns the structure
   that begins with it, or NULL with CLR_NOMEM in status. */
void *clr_device_attach(struct clr_device *device, const struct clr_attachment_kind *kind,
                        struct clr_status *status);

/* Gives back one that the device has. */
void clr_device_detach(struct clr_device *device, struct clr_attachment *attachment);

/* Returns the device's attachment of a kind, as the structure that begins with it, or NULL. */
void *clr_device_find(const struct clr_device *device, const struct clr_attachment_kind *kind);

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

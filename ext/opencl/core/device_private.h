/* What a device is made of, for the files that work on it: ext/opencl alone. */
#ifndef CLR_OPENCL_DEVICE_PRIVATE_H
#define CLR_OPENCL_DEVICE_PRIVATE_H

#include "opencl/core/api.h"
#include "opencl/core/device.h"

/*
 * What a part of this floor keeps with a device, made when it is first needed: the part's own
 * structure begins with it. The device knows of it only that it is to be closed.
 */
struct clr_attachment {
    const struct clr_attachment_kind *kind;
    struct clr_attachment *next;
};

/* A part has one, a constant. close() detaches and frees what the part keeps with the device. */
struct clr_attachment_kind {
    void (*close)(struct clr_device *device);
};

struct clr_device {
    struct clr_device_info info;
    cl_context context;
    struct clr_attachment *attachments; /* the last one that was made first */
};

/* Give a device an attachment, which it has none of this kind of, and take one away. */
void clr_device_attach(struct clr_device *device, const struct clr_attachment_kind *kind,
                       struct clr_attachment *attachment);
void clr_device_detach(struct clr_device *device, struct clr_attachment *attachment);

/* Returns the device's attachment of a kind, as the structure that begins with it, or NULL. */
void *clr_device_find(const struct clr_device *device, const struct clr_attachment_kind *kind);

#endif

#include "opencl/core/device.h"

#include "base/memory.h"
#include "opencl/core/calls.h"

enum clr_code clr_device_open(const struct clr_device_info *info, struct clr_device **result,
                              struct clr_status *status)
{
    struct clr_device *device = clr_memory_alloc_zero(sizeof *device);
    cl_device_id id = info->id;
    cl_int error;

    *result = NULL;
    if (device == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for a device");
    device->info = *info;
    device->context = clr_cl.CreateContext(NULL, 1, &id, NULL, NULL, &error);
    if (clr_opencl_check(status, "clCreateContext", error) == CLR_OK)
        *result = device;
    else
        clr_memory_free(device);
    return status->code;
}

void clr_device_close(struct clr_device *device)
{
    if (device == NULL)
        return;
    while (device->attachments != NULL)
        clr_device_detach(device, device->attachments);
    clr_cl.ReleaseContext(device->context);
    clr_memory_free(device);
}

bool clr_device_build(struct clr_device *device, char **log, struct clr_status *status)
{
    struct clr_device_part *part = device->attachments;

    *log = NULL;
    while (part != NULL &&
           (part->kind->build == NULL || !part->kind->build(device, part, log, status)))
        part = part->next;
    return part != NULL;
}

void *clr_device_attach(struct clr_device *device, const struct clr_device_part_kind *kind,
                        struct clr_status *status)
{
    struct clr_device_part *attachment = clr_memory_alloc_zero(kind->size);

    if (attachment == NULL) {
        clr_status_set(status, CLR_NOMEM, 0, "no memory for %s", kind->what);
        return NULL;
    }
    attachment->kind = kind;
    attachment->next = device->attachments;
    device->attachments = attachment;
    return attachment;
}

void clr_device_detach(struct clr_device *device, struct clr_device_part *attachment)
{
    CLR_UNLINK(device->attachments, attachment);
    attachment->kind->release(attachment);
    clr_memory_free(attachment);
}

void *clr_device_find(const struct clr_device *device, const struct clr_device_part_kind *kind)
{
    struct clr_device_part *attachment = device->attachments;

    while (attachment != NULL && attachment->kind != kind)
        attachment = attachment->next;
    return attachment;
}

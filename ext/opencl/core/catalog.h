/* The catalog of the OpenCL devices that this machine has, and the choice among them. */
#ifndef CLR_OPENCL_CATALOG_H
#define CLR_OPENCL_CATALOG_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLR_DEVICE_NAME_SIZE = 128 };

/* In the order in which "auto" prefers them. */
enum clr_device_type { CLR_DEVICE_GPU, CLR_DEVICE_ACCELERATOR, CLR_DEVICE_CPU, CLR_DEVICE_OTHER };

struct clr_device_info {
    void *id; /* cl_device_id; never released, as OpenCL owns root devices */
    char platform[CLR_DEVICE_NAME_SIZE], name[CLR_DEVICE_NAME_SIZE];
    char version[CLR_DEVICE_NAME_SIZE];
    enum clr_device_type type;
    uint32_t compute_units;
    uint64_t memory;         /* bytes of global memory */
    uint64_t largest_buffer; /* bytes that a buffer may have; 0: not known */
    uint64_t local_memory;   /* bytes that a work-group may have; 0: not known */
    /* Of a device whose memory is the host's, and which is to use columns where they lie: bytes to
       which arrays have to be aligned for that. 0: columns are copied to it. */
    size_t shared_alignment;
    bool fp64;         /* has doubles with the rounding, denormals and fma that exactness needs */
    bool doubles;      /* and may use them, rather than integers on the REALs' bits */
    bool long_maxima;  /* has cl_khr_int64_extended_atomics: a maximum of 64 bits by an atomic */
    bool slow_doubles; /* but sums REALs quicker by integers: set once that has been measured */
    char unusable[CLR_DEVICE_NAME_SIZE]; /* why it can't serve at all; empty if it can */
};

/* Whether reductions, scans and groups compute REALs in doubles. */
static inline bool clr_device_sums_doubles(const struct clr_device_info *device)
{
    return device->doubles && !device->slow_doubles;
}

/*
 * How far devices are looked for: each step includes those before it. Drivers are code of others,
 * in the application's process: what no setting needs is not opened. A driver for the processor
 * is the first example: PoCL ends the process where there is no /sys.
 */
enum clr_reach {
    CLR_REACH_NONE,   /* nowhere */
    CLR_REACH_TRACES, /* in /dev and, if a GPU has left traces there, as far as the next step */
    CLR_REACH_GPUS,   /* on all platforms of OpenCL but those with CPU devices alone */
    CLR_REACH_ALL     /* on these too */
};

struct clr_catalog {
    struct clr_device_info *devices;
    size_t count;
    enum clr_reach reach;
    int64_t time;             /* nanoseconds that discovery took, all of it */
    struct clr_status status; /* why discovery failed, if it did */
    /* What was not looked for, and how to have it looked for; empty if nothing was left out. An
       empty catalog has this, or a status. */
    char left_out[CLR_STATUS_MESSAGE];
};

/* Returns how far a setting of the device needs devices to be looked for. */
enum clr_reach clr_catalog_reach(const char *setting);

/*
 * Looks for devices as far as the reach says, but not again where the known catalog (NULL: none)
 * has them already: its devices are the first ones of the new catalog too, which has arrays of its
 * own. Takes milliseconds to seconds if OpenCL is opened, as drivers load. Nothing else of OpenCL's
 * is called before it. Always leaves a valid catalog, maybe an empty one. The devices are to be
 * freed by clr_memory_free(), if nobody refers to them any more.
 */
void clr_catalog_fill(struct clr_catalog *catalog, const struct clr_catalog *known,
                      enum clr_reach reach);

/*
 * Returns the index of the device that a setting selects: "auto" (a GPU or an accelerator), "gpu",
 * "accelerator", "cpu", or part of the name of a device or its platform, in any case of letters;
 * the first one in the order of types. -1 if there is none, and for "host".
 */
int clr_catalog_choose(const struct clr_catalog *catalog, const char *setting);

/* Returns whether devices may share work: if the driver says the same of both. */
bool clr_catalog_is_alike(const struct clr_device_info *device,
                          const struct clr_device_info *other);

/* Returns whether a setting is one of the words above, "host" among them, rather than a name. */
bool clr_catalog_is_keyword(const char *setting);

/* Returns whether the device's type or names fit the setting. */
bool clr_catalog_matches(const struct clr_device_info *device, const char *setting);

/* "gpu", "accelerator", "cpu" or "other". */
const char *clr_device_type_name(enum clr_device_type type);

#endif

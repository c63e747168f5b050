/* What a device is made of, for the files that work on it: ext/opencl alone. */
#ifndef CLR_OPENCL_DEVICE_PRIVATE_H
#define CLR_OPENCL_DEVICE_PRIVATE_H

#include "opencl/api.h"
#include "opencl/device.h"
#include "opencl/passes.h"
#include "opencl/program.h"

/* The reduction of a chunk's values of one element type. */
struct clr_part {
    enum clr_operation operation;
    int terms; /* of the operation; 0 while nothing is under way */
    cl_mem staging;
    size_t staging_size;
    int64_t bytes, fill_time;
    cl_event unmapped;
};

struct clr_slot {
    cl_command_queue queue;
    struct clr_part parts[CLR_ELEMENTS];
    struct clr_passes passes; /* opened as they are first used */
};

enum { CLR_UPLOAD_STAGES = 2 };

/* The way of columns to the device, and back: made when the first one comes. */
struct clr_upload {
    cl_command_queue queue;
    cl_mem staging[CLR_UPLOAD_STAGES];
    char *mapped[CLR_UPLOAD_STAGES];
    cl_event moved[CLR_UPLOAD_STAGES]; /* NULL: nothing is under way */
    int next;
};

struct clr_device {
    struct clr_device_info info;
    cl_context context;
    struct clr_program programs[CLR_OPERATIONS][CLR_ELEMENTS];
    struct clr_slot slots[CLR_DEVICE_SLOTS];
    struct clr_upload upload;
    struct clr_scanner *scanner;      /* made by the first scan */
    struct clr_sorter *sorter;        /* made when a column is to be sorted */
    struct clr_binner *binner;        /* made for the first histogram */
    struct clr_cell_decoder *decoder; /* made when pages are to be decoded here */
};

#endif

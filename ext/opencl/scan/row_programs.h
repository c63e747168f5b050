/*
 * What all programs that go through rows have in common on a device: the programs themselves, of
 * which those used last are kept; what their kernels are given, which is columns, constants and the
 * results of lookups, of which those used last stay in the device's memory; and their queue. For
 * ext/opencl alone.
 */
#ifndef CLR_OPENCL_ROW_PROGRAMS_H
#define CLR_OPENCL_ROW_PROGRAMS_H

#include "numeric/scan/scan.h"
#include "opencl/core/calls.h"
#include "opencl/core/device.h"
#include "opencl/memory/resident_column.h"
#include "opencl/scan/row_text.h"

#include <stddef.h>
#include <stdint.h>

/* ---- Lookups. */

/* Results that are there. */
struct clr_kept_lookup {
    uint64_t id;              /* theirs; 0: nothing is kept here */
    struct clr_lookup lookup; /* of few entries, with a reference to the results; else zeros */
    cl_mem values;            /* a byte each if they are short; NULL: the kind says all */
    cl_mem tags;              /* of CLR_TAG_MIXED */
    cl_mem truths;            /* likewise unless the kind says all */
    size_t size;              /* bytes of all of them */
    uint64_t used;            /* by which scan, last */
};

/* Room for those of any one scan. Zeroed by its owner at first. */
struct clr_lookup_cache {
    struct clr_kept_lookup kept[CLR_MOST_LOOKUPS];
    uint64_t scan; /* the number of the one that asks */
};

/*
 * Brings a scan's lookups to the device, by commands of that queue, which is in order: the same
 * results are not sent again. Stores where each is, for as long as nothing else is brought. Adds
 * the bytes that were sent to work. Returns CLR_OK; CLR_NOMEM without room for them, or when it
 * failed for now; or CLR_DEVICE.
 */
enum clr_code clr_lookup_cache_bring(struct clr_lookup_cache *cache, struct clr_device *device,
                                     cl_command_queue queue, const struct clr_scan *scan,
                                     const struct clr_kept_lookup *found[CLR_MOST_LOOKUPS],
                                     struct clr_device_work *work, struct clr_status *status);

/* Gives back all of it. */
void clr_lookup_cache_clear(struct clr_lookup_cache *cache);

/* ---- Arguments. */

/* So many arguments at most. */
enum {
    CLR_MOST_ROW_ARGUMENTS =
        7 * CLR_MOST_COLUMNS + 3 * CLR_MOST_LOOKUPS + CLR_MOST_SCAN_INSTRUCTIONS + 1
};

/* The words of the narrow columns that a filter compares with constants. */
struct clr_row_bounds {
    struct {
        cl_uint least, more;
    } columns[CLR_MOST_COLUMNS];
    cl_uint any; /* 0: some column has none */
};

/*
 * Stores what the generated text calls ROW_FORMALS in list, which has room for
 * CLR_MOST_ROW_ARGUMENTS: those of the scan, whose columns and lookups are there. They point to
 * these, to the scan's constants and to the bounds, which it stores. Returns how many they are.
 */
cl_uint clr_row_arguments_list(const struct clr_row_arguments *arguments,
                               const struct clr_scan *scan,
                               struct clr_resident_column *const *columns,
                               const struct clr_kept_lookup *const *lookups,
                               struct clr_row_bounds *bounds, struct clr_argument *list);

/* ---- Programs. */

/* Room for the programs of any one scan. */
enum { CLR_ROW_PROGRAMS = CLR_MOST_SCAN_STEPS };

enum clr_row_program_phase {
    CLR_ROW_PROGRAM_REQUESTED,
    CLR_ROW_PROGRAM_BUILT, /* and tested */
    CLR_ROW_PROGRAM_UNBUILDABLE
};

/* A program's owner has more of it, in a struct that begins with this one. */
struct clr_row_program {
    enum clr_row_program_phase phase;
    int16_t *key; /* key_length words */
    size_t key_length;
    void *trial;   /* what it is tested by, one piece of memory; NULL once it is built */
    uint64_t used; /* by which scan, last */
};

struct clr_row_programs;

/* What the owner does for programs: a constant. */
struct clr_row_programs_kind {
    /* Its release() ends with clr_row_programs_close(), its build is clr_row_programs_build(). */
    struct clr_device_part_kind part;
    /* Makes what the owner needs besides, when it is opened; may be NULL. */
    enum clr_code (*make)(struct clr_device *device, struct clr_row_programs *programs,
                          struct clr_status *status);
    /* Compiles the program that the trial is of. *log as in clr_program_build(). */
    enum clr_code (*compile)(struct clr_device *device, struct clr_row_program *program, char **log,
                             struct clr_status *status);
    /* Compares what the program finds with what the host finds. */
    enum clr_code (*test)(struct clr_device *device, struct clr_row_program *program,
                          struct clr_status *status);
    /* Gives back what was compiled, if anything was; the program may be compiled again. */
    void (*release)(struct clr_row_program *program);
};

/* What is kept with a device: its owner has more of it, in a struct that begins with this one. */
struct clr_row_programs {
    struct clr_device_part attachment;
    const struct clr_row_programs_kind *kind;
    cl_command_queue queue; /* in order, with profiling */
    struct clr_lookup_cache lookup_cache;
    struct clr_row_program *programs[CLR_ROW_PROGRAMS]; /* or NULL */
    uint64_t scan;                                      /* the number of the one that asks */
    uint64_t kept_from; /* scans from this number on are under way, and keep their programs */
    /* An error of OpenCL's in a program's test: the queue is in an unknown state, and is left. */
    struct clr_status status;
};

/* Returns the device's, which is made if there is none, or NULL: then status has CLR_NOMEM, or
   CLR_DEVICE, which is final if it is of a program's test. */
void *clr_row_programs_open(struct clr_device *device, const struct clr_row_programs_kind *kind,
                            struct clr_status *status);

/* Gives back all that it has. */
void clr_row_programs_close(struct clr_row_programs *programs);

/* Returns the program with that key, which is then one of those used last, or NULL. */
struct clr_row_program *clr_row_programs_find(struct clr_row_programs *programs,
                                              const struct clr_row_key *key);

/*
 * Requests a program of `size` bytes under that key, which no other has; it takes the place of one
 * that has not been used for longest. The trial becomes the program's; NULL: there was no memory
 * for it. Returns NULL without memory, as status says, or while all programs that there are belong
 * to scans under way.
 */
struct clr_row_program *clr_row_programs_add(struct clr_row_programs *programs, size_t size,
                                             void *trial, const struct clr_row_key *key,
                                             struct clr_status *status);

/* A part's build(): without memory a program is forgotten, and who looks for it requests it anew.
 */
bool clr_row_programs_build(struct clr_device *device, struct clr_device_part *attachment,
                            char **log, struct clr_status *status);

#endif

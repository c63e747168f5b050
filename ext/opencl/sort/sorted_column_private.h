/* What a sorted column is made of, for ext/opencl alone. */
#ifndef CLR_OPENCL_SORTED_COLUMN_PRIVATE_H
#define CLR_OPENCL_SORTED_COLUMN_PRIVATE_H

#include "opencl/core/api.h"
#include "opencl/sort/sorted_column.h"

#include <stddef.h>

enum clr_sort_phase {
    CLR_PHASE_UNMADE,
    CLR_PHASE_BEGIN,
    CLR_PHASE_COUNT,
    CLR_PHASE_SCAN,
    CLR_PHASE_SCATTER,
    CLR_PHASE_RUNS,
    CLR_PHASE_COMPLETE
};

struct clr_sorted_column {
    uint8_t kind;
    size_t rows;
    enum clr_sort_phase phase;
    size_t span;          /* keys of a group */
    size_t groups;        /* of a pass */
    size_t launch_groups; /* of a launch at most */
    size_t group;         /* the next one to be launched */
    cl_mem keys[2];
    int current; /* which of the two the next kernel reads */
    cl_mem counts, totals, results;
    int64_t least;             /* of the keys */
    cl_uint shift, last_shift; /* of the digit that is sorted by; of the last one */
    struct clr_runs runs;
    struct clr_device_work work;
};

#endif

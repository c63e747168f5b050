/* What kernels that evaluate a row's expressions are given: for ext/opencl alone. */
#ifndef CLR_OPENCL_ROW_ARGUMENTS_H
#define CLR_OPENCL_ROW_ARGUMENTS_H

#include "opencl/core/launch.h"
#include "opencl/memory/resident_column.h"
#include "opencl/scan/lookup_cache.h"
#include "opencl/scan/row_text.h"

/* So many arguments at most. */
enum {
    CLR_MOST_ROW_ARGUMENTS =
        5 * CLR_MOST_COLUMNS + 2 * CLR_MOST_LOOKUPS + CLR_MOST_SCAN_INSTRUCTIONS
};

/*
 * Stores what the generated text calls ROW_FORMALS in list, which has room for
 * CLR_MOST_ROW_ARGUMENTS: those of the scan, whose columns and lookups are there. They point to
 * these and to the scan's constants. Returns how many they are.
 */
cl_uint clr_row_arguments_list(const struct clr_row_arguments *arguments,
                               const struct clr_scan *scan,
                               struct clr_resident_column *const *columns,
                               const struct clr_kept_lookup *const *lookups,
                               struct clr_argument *list);

#endif

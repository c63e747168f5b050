#include "opencl/scan/row_arguments.h"

#include "opencl/memory/resident_column_private.h"

cl_uint clr_row_arguments_list(const struct clr_row_arguments *arguments,
                               const struct clr_scan *scan,
                               struct clr_resident_column *const *columns,
                               const struct clr_kept_lookup *const *lookups,
                               struct clr_argument *list)
{
    cl_uint count = 0;
    int i;

    for (i = 0; i < arguments->column_count; i++) {
        const struct clr_resident_column *column = columns[arguments->columns[i]];
        list[count++] = CLR_VALUE(column->values);
        if (clr_kind_wide(column->kind) == CLR_TAG_MIXED)
            list[count++] = CLR_VALUE(column->tags);
        if (clr_kind_narrow_bytes(column->kind) > 0)
            list[count++] = CLR_VALUE(column->frame.least);
        if (clr_kind_has_decimals(column->kind)) {
            list[count++] = CLR_VALUE(column->power);
            list[count++] = CLR_VALUE(column->reciprocal);
        }
    }
    for (i = 0; i < arguments->lookup_count; i++) {
        const struct clr_kept_lookup *kept = lookups[arguments->lookups[i]];
        list[count++] = CLR_VALUE(kept->values);
        if (arguments->lookup_kinds[i] == CLR_TAG_MIXED)
            list[count++] = CLR_VALUE(kept->tags);
    }
    for (i = 0; i < arguments->constant_count; i++)
        list[count++] = CLR_VALUE(scan->constants[arguments->constants[i]].bits);
    return count;
}

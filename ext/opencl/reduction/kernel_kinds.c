#include "opencl/reduction/kernel_kinds.h"

const struct clr_kernel_kind *clr_kernel_kind_of(enum clr_operation operation,
                                                 enum clr_element element)
{
    static const struct clr_kernel_kind kinds[CLR_OPERATIONS][CLR_ELEMENTS] = {
        [CLR_SUM] = {{"real_sum", true, false, 1}, {"integer_sum", false, false, 1}},
        [CLR_DOT] = {{"real_dot", true, false, 2}, {"integer_dot", false, false, 2}},
        [CLR_EXTREMES] = {{"real_extremes", false, true, 1}, {"integer_extremes", false, false, 1}},
    };

    return &kinds[operation][element];
}

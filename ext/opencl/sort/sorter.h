/* What sorts columns on a device (kernels/columns/sort.cl): a module, see opencl/core/module.h. */
#ifndef CLR_OPENCL_SORTER_H
#define CLR_OPENCL_SORTER_H

#include "opencl/core/module.h"

extern const struct clr_module_kind clr_sorter_kind;

#endif

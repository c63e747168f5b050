/* What the reduction of chunks keeps with a device, and the programs that others run too: for
   ext/opencl alone. */
#ifndef CLR_OPENCL_REDUCER_PRIVATE_H
#define CLR_OPENCL_REDUCER_PRIVATE_H

#include "opencl/reduction/program.h"
#include "opencl/reduction/reducer.h"

/* Returns the program of an operation and element type; one that is not built if nobody has asked
   for it. */
const struct clr_program *clr_reducer_program(const struct clr_device *device,
                                              enum clr_operation operation,
                                              enum clr_element element);

#endif

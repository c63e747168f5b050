/* The names of OpenCL's error numbers. */
#ifndef CLR_OPENCL_ERROR_NAMES_H
#define CLR_OPENCL_ERROR_NAMES_H

/* Returns OpenCL's own name for an error number of its specification or of the ICD extension, or
   "unknown OpenCL error". Static text. */
const char *clr_opencl_error_name(int error);

#endif

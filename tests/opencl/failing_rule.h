/* The rule by which calls of OpenCL's fail: see failing-opencl.c for what it says. */
#ifndef CLR_TESTS_FAILING_RULE_H
#define CLR_TESTS_FAILING_RULE_H

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdbool.h>

/* Whether this call of the function is to act; its action then, and for how many milliseconds it
   hangs. Any call is delayed: see failing_delays.h. */
bool failing_rule_acts(const char *function, char action[32], long *ms);

/* Returns the error that the call has to return instead of being passed on, or CL_SUCCESS. */
cl_int failing_rule_intercept(const char *function);

#endif

/* The operators of kernels/scan/values.cl as devices without doubles have them: the same tests. */
#define DOUBLES 0
#include "numeric/values/values-t.c"

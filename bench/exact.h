/* The project's exact reduction of values that a device holds, as something to measure. */
#ifndef CLR_BENCH_EXACT_H
#define CLR_BENCH_EXACT_H

#include "numeric/states/state.h"
#include "opencl/reduction/passes.h"
#include "target.h"

struct bench_exact_reduction {
    const struct bench_target *target;
    enum clr_operation operation;
    enum clr_element element;
    struct clr_program program;
    struct clr_passes passes;

    cl_mem buffer; /* the values; pairs: x, then y right behind it */
    size_t count;  /* values or pairs */
    bool wall;     /* measure from the first call to the last answer, not the kernels alone */
    struct clr_state state; /* the latest result */
    int launched;           /* passes that it took */
};

void bench_exact_open(struct bench_exact_reduction *reduction, const struct bench_target *target,
                      enum clr_operation operation, enum clr_element element);
void bench_exact_close(struct bench_exact_reduction *reduction);

/* bench_case's run, with a struct bench_exact_reduction. */
int64_t bench_exact_run(void *argument);

#endif
